"""The checker of proofs by root: it states nothing that brute force refutes."""

import collections
import copy
import hashlib
import json
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

from _by_root_proofs import RootMutator, random_by_root
from _proofs import checked_with_count
from _routes_proofs import Points, objective_of, truth
from miptree.checker import check_proof
from miptree.checker.routes import by_root, check, walk
from miptree.checker.routes.numbers import Numbers

pytestmark = pytest.mark.usefixtures("bugs_show")

TOLERANCE = 1e-6
"""What the LPs of the brute force may be off."""
N_MUTANTS, N_LONG = 80, 3000
SEEDS, MANY = range(24), range(100, 400)
FAMILIES = [
    (range(60, 80), {"slack_penalty": 0.4, "l1_penalty": 0.1, "margin": 0.25}),
    (range(80, 100), {"slack_penalty": 0.5, "l1_penalty": 0.01, "margin": 0.9}),
]
"""Seeds of trees that rather miss margins, and of those that are tight in the box."""
BIG = range(300, 310)
"""Seeds of proofs about two points more than the others."""
MUTATED = (1, 5, 19, 26, 29, 47, 61, 67, 74, 85)
"""Seeds whose bound is the optimum, so that all that raises it shows."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("by_root")


def options_of(seed):
    """Sizes, costs, parts and thresholds that go round, each with its own period."""
    return {
        "n": (4, 5, 6, 6)[seed % 4] + 2 * (seed in BIG),
        "d": 1 + seed % 2,
        "n_classes": 2 + seed % 3,
        "costs": (None, "matrix", "rows")[seed // 2 % 3],
        "part": (1.2, 1.2, 1.5, 0.9, 1.05)[seed % 5],
        "n_parts": 1 + (seed % 7 == 3),
        "family": next((own for seeds, own in FAMILIES if seed in seeds), {}),
    }


_made = {}


def case(seed):
    if seed not in _made:
        _made[seed] = random_by_root(seed, **options_of(seed))
    lines, frame, _ = _made[seed]
    return copy.deepcopy(lines), frame


def assert_honest(seed, folder):
    lines, frame = case(seed)
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.exit_code == 0, outcome.sentence
    assert float(outcome.bound) >= lines[0]["claim"]["bound"] - 1e-7
    best = truth(lines[0], frame)
    assert outcome.bound <= best + TOLERANCE
    return float(outcome.bound) >= min(1, options_of(seed)["part"]) * best - 1e-5


def assert_true(outcome, lines, frame):
    header = lines[0]
    assert float(outcome.cost) == pytest.approx(objective_of(header, frame), rel=1e-9)
    # Sums of costs bound every tree, so that not each mutant needs brute force.
    trivial = Points(header, frame).cost.min(axis=1).sum()
    if outcome.bound > Fraction(trivial) + Fraction(TOLERANCE):
        assert outcome.bound <= truth(header, frame) + TOLERANCE, lines


# ------------------------------------------------------------------- honest proofs


@pytest.mark.parametrize("seed", SEEDS)
def test_an_honest_proof_is_confirmed(folder, seed):
    assert_honest(seed, folder)


def test_many_bounds_are_the_optimum(folder):
    seeds = [seed for seed in SEEDS if options_of(seed)["n_parts"] == 1]
    assert sum(assert_honest(seed, folder) for seed in seeds) > 0.6 * len(seeds)
    n_lemmas = [sum(line[0] == "lemma" for line in case(s)[0][2:-1]) for s in seeds]
    assert sum(n > 1 for n in n_lemmas) > 0.5 * len(seeds)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_honest_proofs_are_confirmed(folder):
    assert sum(assert_honest(seed, folder) for seed in MANY) > 0.5 * len(MANY)


def test_lemmas_without_a_tree_of_sides_prove_nothing_of_the_part(folder):
    lines, frame = case(4)
    full = checked_with_count(lines, frame, folder).bound
    del lines[lines.index(["roots"]) : -1]
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.exit_code == 1
    assert outcome.bound < full


def test_the_tree_of_sides_says_nothing_of_leaves_alone(folder):
    """A constant tree is one without a root: its errors are all that counts."""
    lines, frame = case(4)
    n = len(frame)
    lines[0] |= {"labels": [0] * n, "costs": None, "row_costs": None}
    lines[0]["labels"][0] = 1
    lines[2][3] = 1000.0
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.bound is None or outcome.bound <= truth(lines[0], frame) + TOLERANCE


def test_structures_of_the_part_may_come_before_lemmas(folder):
    lines, frame = case(4)
    same = checked_with_count(lines, frame, folder)
    lines[3:3] = [["s", 0], ["c", [], []], ["s", [0, 1]], ["c", [], []]]
    assert checked_with_count(lines, frame, folder) == same


def test_batches_do_not_matter(folder, monkeypatch):
    lines, frame = case(16)
    same = checked_with_count(lines, frame, folder)
    monkeypatch.setattr(walk, "MOST_NODES", 1)
    assert checked_with_count(lines, frame, folder) == same


def test_lemmas_and_sides_have_the_numbers_of_their_points(folder, monkeypatch):
    """Those of a lemma are what a part of its points alone would have."""
    lines, frame = case(61)
    parts, lemmas, trees = [], [], []
    made, some, begun = check.numbers_of, Numbers.some, by_root.Walk

    def numbers(*given):
        parts.append((given, made(*given)))
        return parts[-1][1]

    def noted(self, chosen, threshold):
        lemmas.append((chosen, threshold, some(self, chosen, threshold)))
        return lemmas[-1][2]

    monkeypatch.setattr(check, "numbers_of", numbers)
    monkeypatch.setattr(Numbers, "some", noted)
    monkeypatch.setattr(by_root, "Walk", lambda *a: trees.append(a) or begun(*a))
    assert checked_with_count(lines, frame, folder).exit_code == 0
    (given, part), (tree,) = parts[0], trees
    points, places, objective, share, _ = given
    assert len(lemmas) > 10
    for chosen, threshold, found in lemmas:
        own = [places[i] for i in chosen]
        same_numbers(found, made(points, own, objective, share, threshold))
    same_numbers(replace(tree[0], cost=part.cost), part)
    assert tree[0].cost.max() == 0
    assert tree[1].shape == (0, 0)


def same_numbers(a, b):
    for field in fields(a):
        assert np.array_equal(getattr(a, field.name), getattr(b, field.name))


# ------------------------------------------------------------------ lies and mutants


@pytest.mark.parametrize(
    "lie",
    [
        "points that may go elsewhere",
        "one lemma twice",
        "case left out",
        "open margins",
        "lemmas of another price",
        "norms",
        "box",
        "balance",
        "caps",
        "open sides",
        "leaf left out",
        "fix",
    ],
)
def test_a_prover_that_breaks_a_rule_proves_nothing_false(folder, lie):
    for seed in (1, 9, 25, 61, 74, 85, 99):
        options = options_of(seed) | {"part": 1.5}
        lines, frame, _ = random_by_root(seed, lie=lie, **options)
        outcome = checked_with_count(lines, frame, folder)
        if outcome.bound is None:
            assert outcome.sentence.startswith("Not checked: ")
        else:
            assert_true(outcome, lines, frame)


def survivors(seed, n, folder):
    """Check n mutants of a proof; count what came out, and refute what is false."""
    counts = collections.Counter()
    lines, frame = case(seed)
    mutator = RootMutator(np.random.default_rng(seed), _made[seed][2])
    for _ in range(n):
        mutant = mutator.mutant(lines)
        outcome = checked_with_count(mutant, frame, folder)
        if outcome.bound is None:
            assert outcome.sentence.startswith("Not checked: ") or (
                "does not hold" in outcome.sentence.lower()
            )
            counts["refused"] += 1
        else:
            counts["stated"] += 1
            assert_true(outcome, mutant, frame)
    return counts


@pytest.mark.parametrize("seed", MUTATED)
def test_no_mutant_makes_it_state_something_false(folder, seed):
    counts = survivors(seed, N_MUTANTS, folder)
    assert counts["stated"] > N_MUTANTS / 10
    assert counts["refused"] > N_MUTANTS / 10


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", MUTATED)
def test_no_mutant_of_many_does(folder, seed):
    assert survivors(seed, N_LONG, folder)["stated"] > N_LONG / 10


# ---------------------------------------------------------------- one rule at a time

HARD_TO_PART = [0, 1, 0, 1, 0, 1]
"""Labels of six points in a row: no tree of depth 2 has fewer than two errors."""


def row_of_points(*lines, **family):
    """A proof about six points in a row; lines that prove things, or do not."""
    lines_of_case, frame = case(4)
    frame = frame.iloc[[0] * 6].reset_index(drop=True).assign(x0=np.arange(6.0))
    header = lines_of_case[0]
    header |= {"weights": None, "costs": None, "row_costs": None}
    header |= {"labels": HARD_TO_PART, "classes": ["no", "yes"]}
    header["columns"] = [
        {"kind": "number", "name": "x0", "fill": 0.5, "has_gaps": False}
    ]
    header["family"] |= {"slack_penalty": 0.01, "l1_penalty": 0.001, "margin": 0.5}
    header["family"] |= family
    header["claim"] = {"cost": 1.0, "bound": 1.0}
    body = [["part", None, [1, 1], 1.5], *lines]
    section = {"section": "routes", "lines": len(body), "exponent": 32}
    return [header, section, *body, {"digest": ""}], frame[["x0"]]


LEMMA = ["lemma", [0, 1, 2, 3], 0.001]
OPEN_R = ["r", [-1, -1], []]
S = [["s", [0, 1]], ["c", [], []]]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([["lemma", [0, 77], 1.0]], "names a point 77 in a lemma"),
        ([["lemma", [0, 0], 1.0]], "names a point twice"),
        ([["lemma", [0, True], 1.0]], "names a point True"),
        ([["lemma", [0, -1], 1.0]], "names a point -1"),
        ([["lemma", [0, 1.0], 1.0]], "in a lemma"),
        ([["lemma", [0, [1]], 1.0]], "in a lemma"),
        ([["lemma", [0, "1"], 1.0]], "in a lemma"),
        ([["lemma", [], 1.0]], "a list of 1 to 6"),
        ([["lemma", list(range(7)), 1.0]], "a list of 1 to 6"),
        ([["lemma", None, 1.0]], "a list of 1 to 6"),
        ([["lemma", {"0": 1}, 1.0]], "a list of 1 to 6"),
        ([["lemma", [0, 1], 0]], "not above 0"),
        ([["lemma", [0, 1], -1.0]], "not above 0"),
        ([["lemma", [0, 1], float("nan")]], "NaN"),
        ([["lemma", [0, 1], float("inf")]], "Infinity"),
        ([["lemma", [0, 1], float("-inf")]], "Infinity"),
        ([["lemma", [0, 1], True]], "must be a number"),
        ([["lemma", [0, 1], "1"]], "must be a number"),
        ([["lemma", [0, 1], None]], "must be a number"),
        ([["lemma", [0, 1], 1e307]], "too large"),
        ([["lemma", [0, 1], 10**30 + 0.0, 1]], "a list of 3"),
        ([["lemma", [0, 1]]], "a list of 3"),
        ([["lemma"]], "a list of 3"),
        ([LEMMA, ["s", [[0, 1], 0]], ["c", [], []]], "too deep"),
        ([LEMMA, ["s", [0, 7]], ["c", [], []]], "structure"),
        ([LEMMA, ["s", [True, False]], ["c", [], []]], "structure"),
        ([LEMMA, ["s", [0, 1, "subset"]], ["c", [], []]], "unknown kind"),
        ([LEMMA, ["s", [0, 1]], ["f", 0]], "may not"),
        ([LEMMA, ["s", [0, 1]], ["b", 5, 1, 2]], "names a point 5"),
        ([LEMMA, ["s", [0, 1]], ["c", [0, 2, 5, 1], []]], "names a point 5"),
        ([LEMMA, ["s", [0, 1]], ["r", [-1, -1], []]], "another kind"),
        ([LEMMA, ["s", [0, 1]], ["b", 0, 1, 2], ["c", [], []]], "not complete"),
        ([LEMMA, ["s", [0, 1]], LEMMA], "not complete"),
        ([LEMMA, ["s", [0, 1]], ["roots"], OPEN_R], "not complete"),
        ([LEMMA, ["c", [], []]], "not known"),
        ([LEMMA, *S, ["c", [], []]], "goes on too long"),
        ([*S, LEMMA, ["c", [], []]], "not known"),
        ([["s", [0, 1]], ["b", 0, 1, 2], LEMMA, ["c", [], []]], "not complete"),
        ([["s", [0, 1]], ["r", [-1, -1], []]], "another kind"),
        ([["r", [-1, -1], []]], "not known"),
        ([["roots"]], "not complete"),
        ([["roots"], ["b", 0, 1, 2], OPEN_R], "not complete"),
        ([["roots"], OPEN_R, OPEN_R], "goes on too long"),
        ([["roots"], OPEN_R, ["roots"], OPEN_R], "after the tree"),
        ([["roots"], ["roots"], OPEN_R], "after the tree"),
        ([["roots"], OPEN_R, LEMMA], "after the tree"),
        ([["roots"], OPEN_R, *S], "after the tree"),
        ([["roots"], *S], "after the tree"),
        ([["roots", 1], OPEN_R], "a list of 1"),
        ([["roots"], ["c", [], []]], "another kind"),
        ([["roots"], ["l", []]], "another kind"),
        ([["roots"], ["u", 0, 0], OPEN_R, OPEN_R], "another kind"),
        ([["roots"], ["d", 0]], "another kind"),
        ([["roots"], ["v", 0, 0]], "another kind"),
        ([["roots"], ["b", 0, 1], OPEN_R], "leaves out a leaf"),
        ([["roots"], ["b", 0, 1, 4], OPEN_R, OPEN_R], "unknown leaves"),
        ([["roots"], ["b", 0, 4, 3], OPEN_R, OPEN_R], "unknown leaves"),
        ([["roots"], ["b", 9, 1, 2], OPEN_R, OPEN_R], "names a point 9"),
        ([["roots"], ["b", 0, 1, 2], ["f", 1], OPEN_R, OPEN_R], "may not"),
        ([["roots"], ["f", 0], ["f", 1], OPEN_R], "may not"),
        ([["roots"], ["f", 0, 1], OPEN_R], "several points"),
        ([["roots"], ["r", [0, -1], []]], "a lemma 0, which is none"),
        ([LEMMA, ["roots"], ["r", [1, -1], []]], "a lemma 1, which is none"),
        ([LEMMA, ["roots"], ["r", [-2, -1], []]], "a lemma -2, which is none"),
        ([LEMMA, ["roots"], ["r", [-1, -2], []]], "a lemma -2, which is none"),
        ([LEMMA, ["roots"], ["r", [10**16, -1], []]], "which is none"),
        ([LEMMA, ["roots"], ["r", [10**18, -1], []]], "not known"),
        ([LEMMA, ["roots"], ["r", [True, -1], []]], "not known"),
        ([LEMMA, ["roots"], ["r", [0.0, -1], []]], "not known"),
        ([LEMMA, ["roots"], ["r", [None, -1], []]], "not known"),
        ([LEMMA, ["roots"], ["r", [-1], []]], "a list of 2"),
        ([LEMMA, ["roots"], ["r", [-1, -1, 0], []]], "a list of 2"),
        ([LEMMA, ["roots"], ["r", [], []]], "a list of 2"),
        ([LEMMA, ["roots"], ["r", [-1, -1]]], "not known"),
        ([LEMMA, ["roots"], ["r", [-1, -1], [], []]], "not known"),
        ([LEMMA, ["roots"], ["r", [0, -1], []]], "other side of the root"),
        ([LEMMA, ["roots"], ["r", [-1, 0], []]], "other side of the root"),
        ([LEMMA, ["roots"], ["b", 0, 1, 2], ["r", [0, -1], []]], "other side"),
        ([["lemma", [0], 0.1], ["roots"], ["f", 0], ["r", [-1, 0], []]], "other side"),
        ([["lemma", [0], 0.1], ["roots"], ["f", 0], ["r", [0, 0], []]], "other side"),
        ([["lemma", [0], 0.1], ["roots"], ["b", 0, 0, 3], ["r", [0, -1], []]], "other"),
        ([["roots"], ["r", [-1, -1], [0, 0, 0, 1]]], "still open"),
        ([["roots"], ["r", [-1, -1], [1, 2, 0, 1]]], "a split that is none"),
        ([["roots"], ["r", [-1, -1], [0, 4, 0, 1]]], "unknown kind"),
        ([["roots"], ["r", [-1, -1], [0, 2, 9, 1]]], "names a point 9"),
        ([["roots"], ["r", [-1, -1], [0, 2, 0, -1]]], "negative"),
        ([["roots"], ["r", [-1, -1], [0, 2, 0]]], "cut off"),
        ([["roots"], ["f", 0], ["r", [-1, -1], [0, 0, 0, 1] * 2]], "used twice"),
    ],
)
def test_lines_of_liars_are_refused(folder, lines, words):
    outcome = checked_with_count(*row_of_points(*lines), folder)
    assert outcome.exit_code == 1, outcome.sentence
    assert words in outcome.sentence
    assert outcome.sentence.startswith("Not checked: ")
    assert "\n" not in outcome.sentence
    assert outcome.bound is None


@pytest.mark.parametrize("line", [LEMMA, ["roots"]])
def test_other_depths_and_kinds_of_splits_are_refused(folder, line):
    for depth in (1, 3):
        given, frame = row_of_points(line, OPEN_R, depth=depth)
        given[0]["tree"] = [{"class": 0}]
        assert (
            "only trees of depth 2" in checked_with_count(given, frame, folder).sentence
        )
    given, frame = row_of_points(line, OPEN_R)
    category = {"kind": "category", "name": "c", "values": ["u", "v"], "rare": []}
    given[0]["columns"].append({**category, "is_open": True, "is_subset": True})
    given[0] |= {"version": 3, "tree": [{"class": 0}]}
    frame = frame.assign(c=list("uvuvuv"))
    assert (
        "without splits by subsets" in checked_with_count(given, frame, folder).sentence
    )


@pytest.mark.parametrize("line", [LEMMA, ["roots"], OPEN_R])
def test_lines_outside_of_a_part_are_refused(folder, line):
    lines, frame = row_of_points(line)
    lines.insert(2, lines.pop(3))
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.exit_code == 1
    assert outcome.sentence.startswith("Not checked: ")


def test_lemmas_and_trees_of_sides_end_with_their_part(folder):
    first, second = (["part", own, [1, 2], 0.01] for own in ([0, 1, 2], [3, 4, 5]))
    lemma = ["lemma", [0, 1], 0.001]
    for last, words in [
        ([["roots"], ["f", 3], ["r", [0, -1], []]], "a lemma 0, which is none"),
        ([OPEN_R], "not known"),
        ([["lemma", [0, 3], 1.0]], "names a point 0 in a lemma"),
    ]:
        lines, frame = row_of_points(lemma, ["roots"], OPEN_R, second, *last)
        lines[2] = first
        assert words in checked_with_count(lines, frame, folder).sentence


def test_too_many_lemmas_are_left(folder, monkeypatch):
    monkeypatch.setattr(by_root, "MOST_BITS", 5 * (6 + by_root.LEMMA_BITS))
    for n, code in [(5, 1), (6, 2)]:
        outcome = checked_with_count(*row_of_points(*[LEMMA] * n), folder)
        assert outcome.exit_code == code
        assert ("too many lemmas" in outcome.sentence) == (code == 2)


def bound_of(folder, *lines, **family):
    given, frame = row_of_points(*lines, **family)
    given[2][3] = 100.0
    outcome = checked_with_count(given, frame, folder)
    assert outcome.bound is not None, outcome.sentence
    assert outcome.bound <= truth(given[0], frame) + TOLERANCE
    return float(outcome.bound)


def test_a_closing_without_lemmas_counts_the_root_and_the_cheapest_classes(folder):
    rows = [[0.2, 0.3], [0.3, 0.2], [0.2, 0.2], [0.2, 0.4], [0.1, 0.4], [0.5, 0.1]]
    least, cheapest = 2 * 0.001 * 0.5, sum(map(min, rows))
    for lines in ([OPEN_R], [["f", 0], OPEN_R], [["b", 3, 1, 2], OPEN_R, OPEN_R]):
        given, frame = row_of_points(["roots"], *lines)
        given[0]["row_costs"], given[2][3] = rows, 100.0
        bound = float(checked_with_count(given, frame, folder).bound)
        assert bound == pytest.approx(cheapest + least, rel=1e-12)
        assert bound <= cheapest + least


@pytest.mark.parametrize("points", [[0, 1, 2, 3], [0, 1, 2], [1, 3]])
def test_no_lemma_is_worth_more_than_its_threshold(folder, points):
    plain = bound_of(folder, ["roots"], OPEN_R)
    tree = [["b", i, 1, 2] for i in points]
    tree += [["r", [0, -1], []], *[OPEN_R] * len(points)]
    for value in (1e-9, 1e-4):
        bound = bound_of(folder, ["lemma", points, value], ["roots"], *tree)
        assert bound <= plain + value


def test_where_all_points_are_on_one_side_no_reason_is_needed(folder):
    """Nor where a point has none; but a closing says so without any entries."""
    cases = [["b", i, 1, 2] for i in range(1, 6)]
    tree = [["roots"], ["f", 0], *cases, OPEN_R, *[["r", [-1, -1], []]] * 5]
    assert bound_of(folder, *tree) == bound_of(folder, ["roots"], OPEN_R)
    twice = [["roots"], ["f", 0], ["b", 0, 1, 2], OPEN_R, OPEN_R]
    assert bound_of(folder, *twice) == bound_of(folder, ["roots"], OPEN_R)


@pytest.mark.parametrize(
    "text",
    [
        '["r",[0-1,-1],[]]',
        '["r",[,],[]]',
        '["r",[-1,-1],[]',
        '["r",[-1,-1],[[]]]',
        '["r",[--1,-1],[]]',
        '["roots"',
        '["roots"]]',
        '["rootss"]',
        '["lemma",[0],1',
        '["lemma",[0],1e999999]',
        '["lemma",[0],{}]',
        '["lemma",[0],1,]',
        '["lemma",[' + "[" * 5000 + "]" * 5000 + "],1]",
    ],
)
def test_lines_that_are_no_json_are_refused(folder, text):
    lines, frame = row_of_points(["roots"], ["f", 0], ["x"])
    if text.startswith('["l') or text.startswith('["roo'):
        lines[3:5] = []
    write_text(folder / "text.proof", lines, text)
    frame.to_csv(folder / "text.csv", index=False)
    outcome = check_proof(folder / "text.proof", folder / "text.csv")
    assert outcome.exit_code == 1
    assert outcome.sentence.startswith("Not checked: ")


def write_text(path, lines, text):
    """Write a file with a text in place of its last line."""
    lines[1]["lines"] = len(lines) - 3
    body = [json.dumps(line) for line in lines[:-2]] + [text]
    body = ("\n".join(body) + "\n").encode()
    digest = json.dumps({"digest": hashlib.sha256(body).hexdigest()})
    path.write_bytes(body + digest.encode() + b"\n")
