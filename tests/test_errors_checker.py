"""The checker of proofs of errors: it states nothing that brute force refutes."""

import collections
import copy
import json

import numpy as np
import pytest

from _errors_mutants import Mutator
from _errors_proofs import LIES, random_proof, truth
from _proofs import checked

pytestmark = pytest.mark.usefixtures("bugs_show")

CASES = {
    "stump": {"seed": 3, "n": 7},
    "one feature": {"seed": 2, "n": 7, "d": 1},
    "weights": {"seed": 4, "n": 7, "is_weighted": True},
    "two levels": {"seed": 5, "n": 7, "d": 1, "depth": 2},
    "two levels, three classes": {"seed": 6, "n": 7, "depth": 2, "n_classes": 3},
    "four classes": {"seed": 21, "n": 7, "n_classes": 4, "is_weighted": True},
    "deep": {"seed": 7, "n": 7, "d": 1, "depth": 3, "n_classes": 3},
    "parts": {"seed": 19, "n": 8, "d": 1, "is_halved": True},
    "parts with weights": {
        "seed": 19,
        "n": 8,
        "d": 1,
        "is_halved": True,
        "is_weighted": True,
    },
    "values and a sum": {"seed": 12, "n": 7, "d": 1, "more": True},
}
N_RANDOM, N_MUTANTS, N_LONG = 40, 25, 2_000

_made = {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("errors")


def case(name):
    if name not in _made:
        _made[name] = random_proof(**CASES[name])
    lines, frame = _made[name]
    return copy.deepcopy(lines), frame


@pytest.mark.parametrize("name", CASES)
def test_an_honest_proof_is_confirmed(folder, name):
    lines, frame = case(name)
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 0, outcome.sentence
    assert 0 < outcome.bound <= truth(lines[0], frame)


def options_of(rng):
    n_classes = int(rng.integers(2, 5))
    depth = int(rng.integers(1, 4))
    return {
        "n": int(rng.integers(max(4, n_classes), 8)),
        "d": int(rng.integers(1, 3)),
        "depth": depth,
        "n_classes": n_classes,
        "is_weighted": bool(rng.random() < 0.5),
        "is_halved": bool(rng.random() < 0.3),
        "more": bool(rng.random() < 0.3),
    }


def random_proofs_hold(seeds, folder):
    """Check proofs of random problems; return how often something was shown."""
    n_shown = 0
    for seed in seeds:
        rng = np.random.default_rng([seed, 2026])
        lines, frame = random_proof(seed, **options_of(rng))
        outcome = checked(lines, frame, folder)
        assert outcome.exit_code == 0, (seed, outcome.sentence)
        best = truth(lines[0], frame)
        assert outcome.bound <= best, seed
        n_shown += outcome.bound > 0
    return n_shown


def test_no_bound_is_above_the_best_tree(folder):
    assert random_proofs_hold(range(N_RANDOM), folder) > N_RANDOM / 5


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_no_bound_of_many_is(folder):
    assert random_proofs_hold(range(1000, 2000), folder) > 200


# -------------------------------------------------------------------------- lies


def lies_prove_nothing(seeds, lie, folder):
    """Count what comes out where the search believes in a wrong space."""
    counts = collections.Counter()
    for seed in seeds:
        rng = np.random.default_rng([seed, 2026])
        lines, frame = random_proof(seed, **options_of(rng), lie=lie)
        lines[0]["claim"]["bound"] = 1e-9
        outcome = checked(lines, frame, folder)
        counts[outcome.sentence.split(":")[0]] += 1
        if outcome.bound is not None:
            assert outcome.bound <= truth(lines[0], frame), seed
    return counts


@pytest.mark.parametrize("lie", LIES)
def test_a_search_in_a_wrong_space_proves_nothing_false(folder, lie):
    counts = lies_prove_nothing(range(25), lie, folder)
    assert counts["Not checked"] > 0


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("lie", LIES)
def test_many_searches_in_a_wrong_space_do_not(folder, lie):
    assert lies_prove_nothing(range(2000, 2400), lie, folder)["Not checked"] > 20


# ------------------------------------------------------------------------- mutants


def survivors(name, n, rng, folder):
    """Check n mutants of a proof; count what came out, and refute what is false."""
    counts = collections.Counter()
    lines, frame = case(name)
    mutator = Mutator(rng)
    for _ in range(n):
        mutant = mutator.mutant(lines)
        outcome = checked(mutant, frame, folder)
        counts[outcome.sentence.split(":")[0]] += 1
        if outcome.bound is None:
            assert outcome.exit_code in (1, 2)
            continue
        counts["stated"] += 1
        if outcome.bound > 0:
            counts["stated, bound above 0"] += 1
            assert outcome.bound <= truth(mutant[0], frame), mutant
        if outcome.exit_code == 0:
            assert mutant[0]["claim"]["bound"] <= outcome.bound * (1 + 1e-8)
    return counts


@pytest.mark.parametrize("name", CASES)
def test_no_mutant_makes_it_state_something_false(folder, name):
    rng = np.random.default_rng(len(name))
    counts = survivors(name, N_MUTANTS, rng, folder)
    assert counts["stated"] > 0
    assert counts["Not checked"] > 0


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", CASES)
def test_no_mutant_of_many_does(folder, name):
    n = -(-N_LONG // len(CASES))
    rng = np.random.default_rng([list(CASES).index(name), 2026])
    counts = survivors(name, n, rng, folder)
    assert counts["stated"] > n / 20
    assert counts["stated, bound above 0"] > 0


# ----------------------------------------------------------- damaged and hostile files


def place_of(lines, kind):
    return next(k for k, line in enumerate(lines[2:-1], 2) if line[0] == kind)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("family", "depth"), 6, "whole number 1 to 5"),
        (("family", "margin"), 0, "(1e-9, 1]"),
        (("family", "margin"), 1.5, "(1e-9, 1]"),
        (("family", "kind"), "other", "must have the entries"),
        (("family", "max_features"), 0, "whole number"),
        (("costs",), [[0, 1], [2, 0]], "costs by class"),
        (("weights",), [0] * 8, "weight 0"),
        (("weights",), [-1] * 8, "negative"),
    ],
)
def test_odd_headers_are_refused(folder, path, value, words):
    lines, frame = case("parts")
    inside = lines[0]
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    refused(lines, frame, folder, words)


def refused(lines, frame, folder, words):
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 1, outcome.sentence
    assert outcome.bound is None
    assert outcome.sentence.startswith("Not checked: ")
    assert words in outcome.sentence
    assert "\n" not in outcome.sentence


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("part", ["part", [0, 0], 0.5, []], "named twice"),
        ("part", ["part", [77], 0.5, []], "point 77"),
        ("part", ["part", [], 0.5, []], "a list of"),
        ("part", ["part", None, 0.5, [0]], "a list of 0 entries"),
        ("part", ["part", None, "all", []], "a number"),
        ("part", ["x"], "not known"),
        ("h", ["h", 0, [0, 1]], "do not add to 0"),
        ("h", ["h", 99, [0, 1, 1, -1]], "a column that is none"),
        ("h", ["h", 0, [0, 1, 0, -1]], "twice"),
        ("h", ["h", 0, [0, 1, 99, -1]], "a point that is none"),
        ("h", ["h", 0, [0, 1.5]], "not known"),
        ("h", ["w", 0, [0, 1]], "no sum of other columns"),
        ("h", ["w", 0, []], "without a reason"),
        ("h", ["w", 0, [99, 1, 0, 1]], "a column that is none"),
        ("b", ["b", 77], "a point 77"),
        ("b", ["b", -9, [0, 1]], "cut off"),
        ("b", ["b", -9, [9, 1, -9, 1, -8, 1]], "a split that is none"),
        ("b", ["b", -9, [0, 2, -9, 1, -8, 1]], "a split that is none"),
        ("b", ["b", -9, [0, 1, -9, 0, -9, 1]], "not above 0"),
        ("b", ["b", -9, [0, 1, -9, 1, -9, 1]], "on one side only"),
        ("b", ["b", -9, [0, 1, -9, 1, -8, 1]], "elsewhere"),
        ("b", ["b", -9, [0, 1, -9, 10**18, -8, 1]], "not known"),
        ("b", ["b", -9, 1], "not known"),
        ("b", ["b", -9, [[0]]], "not known"),
        ("b", ["b", -1], "not known"),
    ],
)
def test_odd_lines_are_refused(folder, kind, value, words):
    lines, frame = case("parts")
    if kind == "b":  # points of its part
        own, other = lines[place_of(lines, "part")][1][:2]
        value = json.loads(json.dumps(value).replace("-9", str(own)))
        value = json.loads(json.dumps(value).replace("-8", str(other)))
    lines[place_of(lines, kind)] = value
    refused(lines, frame, folder, words)


def test_the_order_of_lines_matters(folder):
    lines, frame = case("parts")
    part = place_of(lines, "part")
    branch = lines.pop(part + 1)
    lines.insert(part, branch)
    refused(lines, frame, folder, "outside of all parts")
    lines, frame = case("parts")
    limit = place_of(lines, "h")
    lines.insert(-1, lines[limit])
    lines[1]["lines"] += 1
    refused(lines, frame, folder, "after its first part")
    lines, frame = case("parts")
    del lines[-2]
    lines[1]["lines"] -= 1
    refused(lines, frame, folder, "is not complete")
    lines.insert(-1, ["b", 0])
    lines.insert(-1, ["b", 0])
    lines[1]["lines"] += 2
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 1
    assert outcome.bound is None


def test_without_a_part_only_what_is_counted_is_said(folder):
    lines, frame = case("stump")
    full = checked(lines, frame, folder)
    del lines[place_of(lines, "part") : -1]
    lines[1]["lines"] = len(lines) - 3
    lines[0]["claim"]["bound"] = 0.0
    outcome = checked(lines, frame, folder)
    assert outcome.bound < full.bound
    assert outcome.sentence.startswith("Checked: ")
    lines[0]["claim"]["bound"] = float(full.bound)
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 1
    assert outcome.sentence.startswith("Does not hold as claimed: the file claims that")


def test_the_sentence_is_one_that_a_manager_understands(folder):
    lines, frame = case("weights")
    sentence = checked(lines, frame, folder).sentence
    assert sentence.startswith(
        "Checked: no decision tree of depth up to 1 whose splits may use all 2 "
        "columns makes errors and close calls of a weight below "
    )
    assert "with the labels and weights of the proof file" in sentence
