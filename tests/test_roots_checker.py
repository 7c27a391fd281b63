"""The checker of all splits of the root: it states nothing that brute force refutes."""

import collections
import copy

import numpy as np
import pytest

from _errors_proofs import LIES_OF_ROOTS, random_proof, truth
from _proofs import checked
from _roots_mutants import BodyMutator, RootsMutator
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.proof.all_splits import arrangement_bound
from miptree.proof.space import space_of

pytestmark = pytest.mark.usefixtures("bugs_show")

CASES = {
    "all three splits": {"seed": 89, "n": 8, "d": 1, "is_weighted": True},
    "one feature": {"seed": 2, "n": 8, "d": 1},
    "three features": {"seed": 256, "n": 8, "d": 3, "n_classes": 4},
    "weights": {"seed": 4, "n": 8, "d": 1, "is_weighted": True},
    "three classes": {"seed": 6, "n": 8, "n_classes": 3},
    "four classes": {"seed": 21, "n": 8, "n_classes": 4, "is_weighted": True},
    "five classes": {"seed": 7, "n": 7, "d": 1, "n_classes": 5},
    "values and a sum": {"seed": 12, "n": 8, "d": 1, "more": True, "n_classes": 3},
}
LARGER = {
    "cases": {"seed": 15, "n": 16},
    "many lemmas": {"seed": 41, "n": 17, "n_classes": 4},
    "cases and splits": {"seed": 7, "n": 18, "n_classes": 3},
}
"""With lemmas of several cases: too large for brute force."""
N_RANDOM, N_MUTANTS, N_LONG = 20, 25, 2_000

_made = {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("roots")


def case(name):
    if name not in _made:
        options = CASES.get(name) or LARGER[name]
        _made[name] = random_proof(**options, depth=2, by_roots=True)
    lines, frame = _made[name]
    return copy.deepcopy(lines), frame


@pytest.mark.parametrize("name", CASES)
def test_an_honest_proof_is_confirmed(folder, name):
    lines, frame = case(name)
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 0, outcome.sentence
    assert 0 < outcome.bound <= truth(lines[0], frame)


def options_of(rng):
    n_classes = int(rng.integers(2, 6))
    return {
        "n": int(rng.integers(max(5, n_classes), 9)),
        "d": int(rng.integers(1, 4)),
        "depth": 2,
        "n_classes": n_classes,
        "is_weighted": bool(rng.random() < 0.4),
        "more": bool(rng.random() < 0.2),
        "by_roots": True,
        "is_fine": bool(rng.random() < 0.3),
    }


def random_proofs_hold(seeds, folder):
    """Check proofs of random problems; count what was shown, and what is optimal."""
    counts = collections.Counter()
    for seed in seeds:
        rng = np.random.default_rng([seed, 2027])
        lines, frame = random_proof(seed, **options_of(rng))
        outcome = checked(lines, frame, folder)
        assert outcome.exit_code == 0, (seed, outcome.sentence)
        best = truth(lines[0], frame)
        assert lines[0]["claim"]["bound"] <= outcome.bound <= best, seed
        counts["shown"] += outcome.bound > 0
        counts["optimal"] += outcome.bound == best > 0
        counts["searched"] += any(line[0] == "choice" for line in lines[2:-1])
    return counts


def test_no_bound_is_above_the_best_tree(folder):
    counts = random_proofs_hold(range(N_RANDOM), folder)
    assert counts["searched"] > N_RANDOM / 4
    assert counts["optimal"] > counts["shown"] / 2


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_no_bound_of_many_is(folder):
    assert random_proofs_hold(range(1000, 2000), folder)["optimal"] > 300


# -------------------------------------------------------------------------- lies


def lies_prove_nothing(seeds, lie, folder):
    """Count what comes out where the search believes in a wrong space."""
    counts = collections.Counter()
    for seed in seeds:
        rng = np.random.default_rng([seed, 2027])
        options = options_of(rng) | {"is_fine": bool(rng.random() < 0.8)}
        lines, frame = random_proof(seed, **options, lie=lie)
        lines[0]["claim"]["bound"] = 1e-9
        outcome = checked(lines, frame, folder)
        counts[outcome.sentence.split(":")[0]] += 1
        if outcome.bound is not None:
            assert outcome.bound <= truth(lines[0], frame), seed
    return counts


@pytest.mark.parametrize("lie", LIES_OF_ROOTS)
def test_a_search_in_a_wrong_space_proves_nothing_false(folder, lie):
    counts = lies_prove_nothing(range(20), lie, folder)
    assert counts["Not checked"] > 0


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("lie", LIES_OF_ROOTS)
def test_many_searches_in_a_wrong_space_do_not(folder, lie):
    assert lies_prove_nothing(range(2000, 2400), lie, folder)["Not checked"] > 20


# ------------------------------------------------------------------------- mutants


def survivors(name, n, mutator, folder, best=None):
    """Check n mutants of a proof; count what came out, and refute what is false.

    ``best`` is the optimum, where mutants leave the header as it is.
    """
    counts = collections.Counter()
    lines, frame = case(name)
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
            known = truth(mutant[0], frame) if best is None else best
            assert outcome.bound <= known, mutant
        if outcome.exit_code == 0:
            assert mutant[0]["claim"]["bound"] <= outcome.bound * (1 + 1e-8)
    return counts


@pytest.mark.parametrize("name", CASES)
def test_no_mutant_makes_it_state_something_false(folder, name):
    rng = np.random.default_rng(len(name))
    counts = survivors(name, N_MUTANTS, RootsMutator(rng), folder)
    assert counts["stated"] > 0
    assert counts["Not checked"] > 0


@pytest.mark.parametrize("name", LARGER)
def test_no_mutant_of_a_larger_proof_does(folder, name):
    larger_mutants_do_not(name, 15, folder)


def larger_mutants_do_not(name, n, folder):
    lines, frame = case(name)
    kinds = {line[0] for line in lines[2:-1]}
    assert {"near", "lemma", "choice", "p", "x", "e"} <= kinds
    best = fewest(lines[0], frame)
    assert 0 < checked(lines, frame, folder).bound <= best
    rng = np.random.default_rng(len(name))
    assert survivors(name, n, BodyMutator(rng), folder, best)["Not checked"] > 0


def fewest(header, frame):
    """Errors of the best tree of equal rows, by all splits of the points."""
    y = np.array(header["labels"])
    problem = Problem.from_data(frame.to_numpy(), y, len(header["classes"]))
    space = space_of(problem, header["family"]["margin"])
    return arrangement_bound(problem, space, 2, np.inf, clock=Clock()).bound


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", CASES)
def test_no_mutant_of_many_does(folder, name):
    n = -(-N_LONG // len(CASES))
    rng = np.random.default_rng([list(CASES).index(name), 2027])
    counts = survivors(name, n, RootsMutator(rng), folder)
    assert counts["stated"] > n / 20
    assert counts["stated, bound above 0"] > 0


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", LARGER)
def test_no_mutant_of_many_of_a_larger_proof_does(folder, name):
    larger_mutants_do_not(name, 500, folder)


# ------------------------------------------------------------------- hostile lines


def refused(lines, frame, folder, words):
    lines[1]["lines"] = len(lines) - 3
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 1, outcome.sentence
    assert outcome.bound is None
    assert outcome.sentence.startswith("Not checked: ")
    assert words in outcome.sentence
    assert "\n" not in outcome.sentence


def place_of(lines, kind):
    return next(k for k, line in enumerate(lines[2:-1], 2) if line[0] == kind)


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("near", ["near", -1, [0, 1], [1, 1]], "whole number"),
        ("near", ["near", 0, [0, 1], [99, 1]], "a point 99"),
        ("near", ["near", 0, [0, 1], [[], 1]], "a point []"),
        ("near", ["near", 0, [0, 1], [1, 0]], "whole number 1 to"),
        ("near", ["near", 0, [0, 1], [1, 10**30]], "whole number 1 to"),
        ("near", ["near", 0, [0, 1], [1]], "a list of"),
        ("near", ["near", 0, [0, 1], [1, 1, 2]], "twice"),
        ("near", ["near", 0, [0, 1], [0, 1]], "on both sides"),
        ("near", ["near", 0, [0, 1]], "a list of"),
        ("near", ["near"], "a list of"),
        ("near", [], "not known"),
        ("near", {"near": 1}, "not known"),
        ("lemma", ["lemma", 0, 0, [], []], "a pair None"),
        ("lemma", ["lemma", 0, 0, [], [[0, []]]], "a pair [0, []]"),
        ("lemma", ["lemma", 0, 0, [7], [0]], "a lemma 7"),
        ("lemma", ["lemma", 0, 0, [[]], [0]], "a lemma []"),
        ("lemma", ["lemma", 0, "0", [], [0]], "a number"),
        ("lemma", ["lemma", 0, 0, [], 5], "a pair None"),
        ("choice", ["choice", [1, 0], [0, 1], 1], "not in order"),
        ("choice", ["choice", [0, 0], [0, 1], 1], "not in order"),
        ("choice", ["choice", [0, 9], [0, 1], 1], "whole number"),
        ("choice", ["choice", [0], [0, 1], 1], "a list of"),
        ("choice", ["p", 0], "outside of all choices"),
        ("choice", ["x", 0], "outside of all choices"),
        ("choice", ["t", 0, [0]], "outside of all choices"),
        ("p", ["p", 99], "a point 99"),
        ("p", ["p", "0"], "a point '0'"),
        ("p", ["e", None, None], "too little counts"),
        ("p", ["e", 99, None], "a lemma 99"),
        ("p", ["x", 99], "a pair 99"),
        ("p", ["t", 0, []], "is possible"),
        ("p", ["part", None, 0, []], "not known"),
        ("h", ["near", 0, [0, 1], [1, 1]], "does not limit every column"),
    ],
)
def test_odd_lines_are_refused(folder, kind, value, words):
    lines, frame = case("one feature")
    lines[place_of(lines, kind)] = value
    refused(lines, frame, folder, words)


def test_the_order_of_lines_matters(folder):
    lines, frame = case("one feature")
    lines.insert(-1, lines[place_of(lines, "h")])
    refused(lines, frame, folder, "after its first pair")
    for kind in ("near", "lemma"):
        lines, frame = case("one feature")
        lines.insert(-1, lines[place_of(lines, kind)])
        refused(lines, frame, folder, "of one name")
    lines, frame = case("one feature")
    del lines[-2]
    refused(lines, frame, folder, "is not complete")
    lines, frame = case("one feature")
    lines.insert(-1, ["p", 0])
    refused(lines, frame, folder, "goes on too long")
    lines, frame = case("one feature")
    point = place_of(lines, "p")
    lines.insert(point, lines[point])
    refused(lines, frame, folder, "on a side of the root twice")


def test_cases_that_are_nested_too_deeply_are_refused(folder):
    lines, frame = case("one feature")
    node = [0]
    for _ in range(300):
        node = [0, [0, node]]
    lines[place_of(lines, "lemma")][-1] = node
    refused(lines, frame, folder, "")


def test_other_depths_and_tables_are_refused(folder):
    lines, frame = case("three classes")
    lines[0]["family"]["depth"] = 1
    refused(lines, frame, folder, "another depth")
    lines, frame = case("three classes")
    refused(lines, frame.assign(x0=frame["x1"]), folder, "")
    refused(lines, frame.iloc[:-1], folder, "")


def test_a_choice_that_is_left_out_is_counted(folder):
    lines, frame = case("cases")
    full = checked(lines, frame, folder)
    del lines[place_of(lines, "choice") : -1]
    lines[1]["lines"] = len(lines) - 3
    lines[0]["claim"]["bound"] = 0.0
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.bound < full.bound


def test_a_lemma_is_about_two_classes(folder):
    lines, frame = case("three classes")
    labels = lines[0]["labels"]
    of_pair = {
        line[1]: {labels[i] for i in line[2][::2] + line[3][::2]}
        for line in lines[2:-1]
        if line[0] == "near"
    }
    lemmas = [line for line in lines[2:-1] if line[0] == "lemma"]
    first = lemmas[0]
    others = [n for n, own in of_pair.items() if own != of_pair[first[4][0]]]
    last = next(k for k in lemmas[::-1] if of_pair[k[4][0]] != of_pair[first[4][0]])
    last[3] = [first[1]]
    refused(lines, frame, folder, "is not about two classes")
    last[3] = []
    first[4] = [first[4][0], others[0]]
    refused(lines, frame, folder, "is of no use where it is")
