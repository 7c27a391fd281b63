"""The checker of oblique proofs: it states nothing that brute force refutes."""

import collections
import copy
import functools
import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest

from _proofs import checked, write_lines
from _routes_mutants import Mutator
from _routes_proofs import Points, objective_of, random_proof, truth
from miptree.checker import check_proof, proof_file
from miptree.checker.routes import structures, walk
from miptree.checker.routes.sentence import verdict
from miptree.checker.values import TooMuch

pytestmark = pytest.mark.usefixtures("bugs_show")

CASES = {
    "stump": {"seed": 16, "n": 6, "depth": 1},
    "plain": {"seed": 4, "n": 5},
    "weights": {"seed": 5, "n": 5},
    "below the optimum": {"seed": 5, "n": 5, "part": 0.9},
    "one feature": {"seed": 1, "n": 6, "d": 1},
    "three classes": {"seed": 4, "n": 5, "n_classes": 3},
    "cost matrix": {"seed": 4, "n": 5, "costs": "matrix"},
    "row costs": {"seed": 6, "n": 5, "costs": "rows"},
    "gaps and a category": {"seed": 3, "n": 6, "d": 1, "more": True},
    "two parts": {"seed": 2, "n": 6, "n_parts": 2},
    "one of three": {"seed": 8, "n": 6, "d": 3, "depth": 1, "most": 1},
    "two of three": {"seed": 8, "n": 6, "d": 3, "depth": 1, "most": 2},
    "one of two": {"seed": 8, "n": 4, "most": 1, "part": 1.1},
    "one of three columns": {"seed": 7, "d": 1, "depth": 1, "more": True, "most": 1},
    "one of two, two parts": {"seed": 5, "n": 6, "depth": 1, "most": 1, "n_parts": 2},
    "deep": {"seed": 16, "n": 5, "d": 1, "depth": 3, "part": 1.1},
}
N_MUTANTS, N_LONG = 30, 10_000
TOLERANCE = 1e-6
"""What the LPs of the brute force may be off."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("routes")


_made = {}


def case(name):
    if name not in _made:
        _made[name] = random_proof(**CASES[name])
    lines, frame, _ = _made[name]
    return copy.deepcopy(lines), frame


@pytest.mark.parametrize("name", CASES)
def test_an_honest_proof_is_confirmed(folder, name):
    lines, frame = case(name)
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 0, outcome.sentence
    claim = lines[0]["claim"]
    assert float(outcome.cost) == pytest.approx(claim["cost"], rel=1e-12)
    assert float(outcome.bound) == pytest.approx(claim["bound"], abs=1e-5)
    assert outcome.bound <= truth(lines[0], frame) + TOLERANCE


def test_batches_do_not_matter(folder, monkeypatch):
    lines, frame = case("three classes")
    whole = checked(lines, frame, folder)
    monkeypatch.setattr(walk, "MOST_NODES", 3)
    assert checked(lines, frame, folder) == whole


def test_without_a_structure_less_is_said(folder):
    lines, frame = case("plain")
    starts = [k for k, line in enumerate(lines[2:-1], 2) if line[0] == "s"]
    full = checked(lines, frame, folder)
    del lines[starts[-1] : -1]
    lines[1]["lines"] = len(lines) - 3
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 1
    assert outcome.bound < full.bound
    claimed, shown = outcome.sentence.split(", and that is not shown. ")
    assert claimed.startswith("Does not hold as claimed: the file claims that its tree")
    assert shown.startswith("With these data the proof shows only that the tree has ")
    assert ", and that no decision tree" in shown
    assert shown.endswith("unchanged and with their rows in the same order?")
    assert "optimal" not in outcome.sentence
    assert "no tree is better" not in outcome.sentence


def test_a_higher_threshold_is_no_higher_bound(folder):
    lines, frame = case("plain")
    best = truth(lines[0], frame)
    for factor in (1.2, 2.0, 1e6):
        more = copy.deepcopy(lines)
        more[2][3] *= factor
        more[0]["claim"]["bound"] *= factor
        outcome = checked(more, frame, folder)
        assert outcome.exit_code == 1
        assert outcome.bound <= best + TOLERANCE


# -------------------------------------------------------------------------- lies


OF_USES = ["too few features", "no branch on features", "features left out"]
"""Lies about which features splits use; the last one where they may use all."""


@pytest.mark.parametrize(("seed", "depth"), [(5, 2), (16, 1), (12, 1)])
@pytest.mark.parametrize(
    "lie",
    [
        "fix",
        "leaf left out",
        "envelopes without a chord",
        "any partner",
        "caps",
        "margins twice",
        "open margins",
        "open sides",
        "norms",
        "box",
        "balance",
        "shares",
        "points in two parts",
        *OF_USES,
    ],
)
def test_a_prover_that_breaks_a_rule_proves_nothing_false(folder, lie, seed, depth):
    n_parts = 2 if lie in ("shares", "points in two parts") else 1
    options = {"n": 7 - depth, "depth": depth, "n_parts": n_parts, "part": 1.5}
    if lie in OF_USES:
        most = None if lie == OF_USES[-1] else 2
        options |= {"n": 6, "d": 3, "depth": 1, "most": most}
    lines, frame, _ = random_proof(seed, lie=lie, **options)
    outcome = checked(lines, frame, folder)
    if outcome.bound is None:
        assert outcome.exit_code == 1
        assert outcome.sentence.startswith("Not checked: ")
    else:
        assert outcome.bound <= truth(lines[0], frame) + TOLERANCE


# ------------------------------------------------------------------------- mutants


def survivors(names, n, rng, folder):
    """Check n mutants of each proof; count what came out, and refute what is false."""
    counts = collections.Counter()
    for name in names:
        lines, frame = case(name)
        mutator = Mutator(rng, _made[name][2])
        for _ in range(n):
            mutant = mutator.mutant(lines)
            outcome = checked(mutant, frame, folder)
            counts[outcome.sentence.split(":")[0]] += 1
            if outcome.bound is None:
                assert outcome.exit_code in (1, 2)
                continue
            counts["stated"] += 1
            assert_true(outcome, mutant, frame)
            if mutant[0] == lines[0] and outcome.bound > 0:
                counts["stated of the same data, bound above 0"] += 1
    return counts


def assert_true(outcome, mutant, frame):
    header = mutant[0]
    cost = objective_of(header, frame)
    assert float(outcome.cost) == pytest.approx(cost, rel=1e-9), mutant
    # Sums of costs bound every tree, so that not each mutant needs brute force.
    trivial = Points(header, frame).cost.min(axis=1).sum()
    if outcome.bound > Fraction(trivial) + Fraction(TOLERANCE):
        assert outcome.bound <= truth(header, frame) + TOLERANCE, mutant


@pytest.mark.parametrize("name", CASES)
def test_no_mutant_makes_it_state_something_false(folder, name):
    rng = np.random.default_rng(len(name))
    counts = survivors([name], N_MUTANTS, rng, folder)
    assert counts["stated"] > 0
    assert counts["Not checked"] > 0


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", CASES)
def test_no_mutant_of_many_does(folder, name):
    """Ten thousand in all; benchmarks/results/mutants.md says what came out."""
    n = -(-N_LONG // len(CASES))
    rng = np.random.default_rng([list(CASES).index(name), 2026])
    counts = survivors([name], n, rng, folder)
    assert counts["stated"] > n / 10


# ----------------------------------------------------------- damaged and hostile files


def refused(lines, frame, folder, words, code=1, **options):
    write_lines(folder / "bad.proof", lines)
    frame.to_csv(folder / "bad.csv", index=False)
    outcome = check_proof(folder / "bad.proof", folder / "bad.csv", **options)
    assert outcome.exit_code == code, outcome.sentence
    assert words in outcome.sentence
    assert "\n" not in outcome.sentence
    assert outcome.bound is None


def test_a_proof_of_another_table_is_refused(folder):
    lines, frame = case("plain")
    lines[0]["target"] = "y"
    names = [lines[0]["classes"][k] for k in lines[0]["labels"]]
    whole = frame.assign(y=names)
    assert checked(lines, whole, folder).exit_code == 0
    assert "labels" not in checked(lines, whole, folder).sentence
    refused(lines, whole.iloc[:-1], folder, "4 rows, the proof is about 5")
    other = whole.assign(y=names[0])
    refused(lines, other, folder, "in the proof file it is ")
    assert "another order" not in checked(lines, other, folder).sentence
    refused(lines, whole[::-1], folder, "needs them in the order of the fit")
    named = copy.deepcopy(lines)
    named[2][1] = [*range(len(whole)), len(whole)][1:]
    refused(named, whole, folder, "Are these the data of the fit, unchanged")
    refused(lines, whole.drop(columns="x1"), folder, "no column 'x1'")
    refused(lines, whole.assign(x1=None), folder, "Column 'x1' has a gap")
    other = checked(lines, whole.assign(x0=whole["x0"][::-1].to_numpy()), folder)
    assert other.exit_code == 1
    assert other.sentence.startswith("Does not hold as claimed: ")


def test_a_damaged_or_cut_proof_is_refused(folder):
    lines, frame = case("plain")
    checked(lines, frame, folder)
    content = (folder / "a.proof").read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.choice(len(content) - 100, 20, replace=False).tolist():
        harmed = bytearray(content)
        harmed[place] ^= 1
        (folder / "a.proof").write_bytes(harmed)
        assert check_proof(folder / "a.proof", folder / "a.csv").exit_code == 1
    for size in (0, 10, len(content) // 2, len(content) - 3):
        (folder / "a.proof").write_bytes(content[:size])
        outcome = check_proof(folder / "a.proof", folder / "a.csv")
        assert outcome.exit_code == 1
        assert outcome.sentence.startswith("Not checked: ")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ((0, "version"), 4, "another version"),
        ((0, "family", "kind"), "other", "kind 'other'"),
        ((0, "family", "depth"), 4, "whole number 1 to 3"),
        ((0, "family", "margin"), 0, "(0, 1]"),
        ((0, "family", "l1_penalty"), 0, "above 0"),
        ((0, "family", "slack_penalty"), -1, "negative"),
        ((0, "family", "max_features"), 0, "whole number"),
        ((0, "tree", 0, "coef"), [[1, 1.0], [0, 1.0]], "ascending"),
        ((0, "tree", 0, "coef"), [[7, 1.0]], "whole number"),
        ((0, "columns", 0, "kind"), "subset", "unknown kind"),
        ((0, "weights"), [0, 0, 0, 0, 0], "weight 0"),
        ((0, "weights"), [1e300, 1, 1, 1, 1], "too large"),
        ((1, "section"), "points-anchors", "unknown kind"),
        ((1, "exponent"), 99, "whole number"),
        ((1, "lines"), 3, "whole number"),
        ((2,), ["part", None, [3, 2], 1.0], "more than the whole"),
        ((2,), ["part", [0, 0], [1, 1], 1.0], "in another part"),
        ((2,), ["part", [77], [1, 1], 1.0], "point 77"),
        ((2,), ["part", None, [1, 1], -1.0], "not above 0"),
        ((2,), ["s", [0, 1]], "outside of all parts"),
        ((2,), ["c", [], []], "not known"),
        ((3,), ["s", [0, 7]], "structure"),
        ((3,), ["s", [True, False]], "structure"),
        ((3,), ["s", [[[0, 1], 0], 1]], "too deep"),
        ((4,), ["x"], "not known"),
        ((4,), ["c", [0, 0, 0, 0.5], []], "not known"),
        ((4,), ["c", [0, 0, 0, 10**18], []], "not known"),
        ((4,), ["c", [0, 0, 0, 2**53], []], "too large"),
        ((4,), ["c", [0, 0, 0, -1], []], "negative"),
        ((4,), ["c", [0, 0, 0], []], "cut off"),
        ((4,), ["c", [0, 9, 0, 1], []], "unknown kind"),
        ((4,), ["c", [9, 0, 0, 1], []], "a split that is none"),
        ((4,), ["c", [0, 0, -1, 1], []], "a point -1"),
        ((4,), ["c", [0, 0, 0, 1], []], "still open"),
        ((4,), ["c", [], [0, 0, 1, -1] * 2], "twice"),
        ((4,), ["c", [], [0, 0, 1, 1]], "partner"),
        ((4,), ["b", 0, 1], "leaves out a leaf"),
        ((4,), ["b", 0, 4, 3], "unknown leaves"),
        ((4,), ["b", 99, 1, 2], "a point 99"),
        ((4,), ["f", 0], "may not"),
        ((4,), ["u", 0, 0], "leaves out features"),
        ((4,), ["u", 0], "a feature"),
    ],
)
def test_odd_values_are_refused(folder, path, value, words):
    lines, frame = case("plain")
    k = next(k for k, line in enumerate(lines[2:-1], 2) if line[0] == "s")
    lines[k:k] = [["s", [0, 1]], ["b", 0, 1, 2], ["c", [], []], ["c", [], []]]
    if path == (4,) and value[0] == "c":
        del lines[5:7]
    lines[1]["lines"] = len(lines) - 3
    inside = functools.reduce(lambda whole, key: whole[key], path[:-1], lines)
    inside[path[-1]] = value
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 1, outcome.sentence
    assert words in outcome.sentence


@pytest.mark.parametrize(
    "text", ['["c",[1-2],[]]', '["c",[,],[]]', '["b",]', '["c",[0],[]', '["l",[[]]]']
)
def test_lines_that_are_no_json_are_refused(folder, text):
    lines, frame = case("plain")
    body = [json.dumps(line) for line in lines[:-1]]
    body[4] = text
    body = ("\n".join(body) + "\n").encode()
    digest = json.dumps({"digest": hashlib.sha256(body).hexdigest()})
    (folder / "text.proof").write_bytes(body + digest.encode() + b"\n")
    frame.to_csv(folder / "text.csv", index=False)
    outcome = check_proof(folder / "text.proof", folder / "text.csv")
    assert outcome.exit_code == 1
    assert outcome.sentence.startswith("Not checked: ")


def test_time_and_sizes_have_limits(folder, monkeypatch):
    lines, frame = case("plain")
    refused(lines, frame, folder, "longer than allowed", 2, minutes=0.0)
    monkeypatch.setattr(structures, "MAX_STRUCTURES", 1)
    refused(lines, frame, folder, "too many structures", 2)


# --------------------------------------------------------------------- the tree itself


def test_the_tree_must_be_one_of_those_compared(folder):
    lines, frame = case("plain")
    lines[0]["family"]["max_features"] = 1
    assert checked(lines, frame, folder).exit_code == 0
    lines[0]["tree"][0]["coef"] = [[0, 1.0], [1, 2.0]]
    refused(lines, frame, folder, "weighs 2 features")
    lines, frame = case("stump")
    inner = {"coef": [], "threshold": 0.0, "left": 3, "right": 4}
    lines[0]["tree"][1:] = [inner, *[{"class": 0}] * 3]
    refused(lines, frame, folder, "deeper than 1")


@pytest.mark.parametrize("seed", range(5))
def test_any_tree_is_recounted(folder, seed):
    """Trees in and out of the box, with points on their splits."""
    lines, frame = case("weights")
    rng = np.random.default_rng(seed)
    for scale in (0.1, 1.0, 50.0):
        splits = [
            {
                "coef": [[0, scale * int(rng.integers(-2, 3))], [1, scale]],
                "threshold": scale * int(rng.integers(-1, 4)) / 2,
                "left": left,
                "right": right,
            }
            for left, right in [(1, 2), (3, 4)]
        ]
        leaves = [{"class": int(k)} for k in rng.integers(0, 2, 3)]
        lines[0]["tree"] = [splits[0], splits[1], *leaves]
        outcome = checked(lines, frame, folder)
        expected = objective_of(lines[0], frame)
        assert float(outcome.cost) == pytest.approx(expected, rel=1e-9)


def test_the_sentence_is_one_that_a_manager_understands(folder):
    lines, frame = case("stump")
    assert checked(lines, frame, folder).sentence == (
        "Checked: no decision tree of depth up to 1 whose splits may use all 2 "
        "columns has an objective below 2.5159999 on these 6 rows (with the labels "
        "and weights of the proof file); the tree in the file has 6.86, so no tree is "
        "better by more than 63.4 % (the objective is errors by weight + 1.4 times "
        "what rows lack of a distance of 0.5 to the splits on their way + 0.04 times "
        "the size of the splits' weights, with features scaled to 0 to 1 and scores "
        "within -1 and 1)."
    )


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (Fraction(0), "so it is optimal"),
        (Fraction(1, 10**10), "so it is optimal to within one part in a billion"),
        (Fraction(1, 10**6), "so it is optimal to within one part in a million"),
        (Fraction(1, 999_999), "so no tree is better by more than 0.000101 %"),
        (Fraction(1, 8), "so no tree is better by more than 12.5 %"),
        (Fraction(1), "so no tree is better by more than 100 %"),
    ],
)
def test_no_tolerance_is_hidden(gap, words):
    assert verdict(Fraction(3), 3 * (1 - gap)) == words


def test_a_column_is_not_counted_twice(folder):
    lines, frame = case("plain")
    doubled = copy.deepcopy(lines)
    doubled[0]["columns"].append(doubled[0]["columns"][0])
    refused(doubled, frame, folder, "names a column twice")


@pytest.mark.parametrize("n_looks", [0, 3])
def test_reading_ends_at_the_deadline(folder, monkeypatch, n_looks):
    """A small file may unpack to many lines, before anything in it is known."""
    lines, frame = case("plain")
    checked(lines, frame, folder)
    left = iter([0.0] * n_looks)

    def look(deadline):
        if next(left, None) is None:
            raise TooMuch("The check takes longer than allowed: allow more minutes.")

    monkeypatch.setattr(proof_file, "LINES_AT_ONCE", 1)
    monkeypatch.setattr(proof_file, "check_time", look)
    outcome = check_proof(folder / "a.proof", folder / "a.csv")
    assert outcome.exit_code == 2
    assert "allow more minutes" in outcome.sentence


# ----------------------------------------------------------------- features of a split


def test_the_sentence_says_how_many_features_a_split_may_use(folder):
    lines, frame = case("two of three")
    words = "may use all 3 columns, at most 2 of them in a split, has an"
    assert words in checked(lines, frame, folder).sentence
    lines, frame = case("one of three columns")
    words = "reads as 3 columns of numbers, at most 1 of them in a split, has an"
    assert words in checked(lines, frame, folder).sentence


def test_a_proof_that_needs_no_limit_is_one_of_all_trees(folder):
    """Files of older programs name a limit that their proofs do not use."""
    lines, frame = case("one feature")
    lines[0]["family"]["max_features"] = 1
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 0
    assert "may use the one column has an objective" in outcome.sentence
    lines, frame = case("plain")
    plain = checked(lines, frame, folder)
    lines[0]["family"]["max_features"] = 1
    assert checked(lines, frame, folder) == plain
    assert "may use all 2 columns has an objective" in plain.sentence


def test_the_limit_of_the_header_is_the_one_that_counts(folder):
    """A limit of 2 in place of 1 leaves cases open; none at all refuses the lines."""
    lines, frame = case("one of three")
    strict = checked(lines, frame, folder)
    lines[0]["family"]["max_features"] = 2
    outcome = checked(lines, frame, folder)
    assert outcome.exit_code == 1
    assert outcome.bound is None or outcome.bound < strict.bound
    lines[0]["family"]["max_features"] = None
    refused(lines, frame, folder, "leaves out features that trees may use")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["u", 0, 3], "a feature that is not open"),
        (["u", 0, -1], "a feature that is not open"),
        (["u", 1, 0], "a feature that is not open"),
        (["u", -1, 0], "a feature that is not open"),
        (["u", 0, 0, 0], "a feature"),
        (["u", 0, 0.5], "not known"),
        (["u", True, 0], "not known"),
    ],
)
def test_odd_features_are_refused(folder, line, words):
    lines, frame = case("one of three")
    k = next(k for k, line in enumerate(lines[2:-1], 2) if line[0] == "s")
    lines.insert(k + 1, line)
    lines[1]["lines"] = len(lines) - 3
    refused(lines, frame, folder, words)


def test_a_feature_is_decided_once(folder):
    lines, frame = case("one of three")
    k = next(k for k, line in enumerate(lines[2:-1], 2) if line[0] == "u")
    lines.insert(k + 1, lines[k])
    lines[1]["lines"] = len(lines) - 3
    refused(lines, frame, folder, "a feature that is not open")
