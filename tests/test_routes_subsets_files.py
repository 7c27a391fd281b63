"""Proof files of trees with subset splits: accepted, and never believed."""

import collections
import copy
import warnings

import numpy as np
import pytest

from _cli import run
from _proofs import checked_with_count, lines_of
from _recorded import Recorded
from _routes_mutants import Mutator
from _routes_proofs import Points, objective_of, truth
from _subset_cases import table
from miptree import OptimalTreeClassifier, save_json
from miptree.certificate.reasons import RECOMPUTED

pytestmark = pytest.mark.usefixtures("bugs_show")

TOLERANCE = 1e-6
N_MUTANTS, N_LONG = 40, 3500
NATIVE = {"categorical_encoding": "native"}
LIMITED = {"max_features_per_split": 1}
CASES = {
    "stump": (8, ["income", "town"], 1, {}),
    "two categories": (7, ["age", "job", "town"], 1, {"l1_penalty": 0.5}),
    "weights": (1, ["income", "job"], 1, {}),
    "costs": (10, ["income", "job"], 1, {"cost_matrix": [[0.0, 1.0], [0.7, 0.0]]}),
    "only categories": (1, ["job", "town"], 1, NATIVE),
    "native": (6, ["income", "town"], 2, {"l1_penalty": 2.0, **NATIVE}),
    "deep": (8, ["age", "town"], 2, {"l1_penalty": 1.0}),
    "one feature": (9, ["income", "age", "town"], 1, {"l1_penalty": 0.5, **LIMITED}),
    "one feature, deep": (
        11,
        ["income", "age", "job"],
        2,
        {"l1_penalty": 0.5, **LIMITED},
    ),
}
"""Seed of a table, its columns, depth, and other options of the fit."""

_made = {}


def proof_of(name, folder):
    """Lines of the proof file of a small table, and the table."""
    if name not in _made:
        seed, columns, depth, options = CASES[name]
        X, y = table(seed, 8, noise=0.5)
        weight = np.r_[0.0, np.full(7, 1.5)] if name == "weights" else None
        made = Recorded(X[columns], y, weight, depth=depth, **options)
        outcome = made.outcome(folder, f"{name}.proof")
        assert outcome.exit_code == 0, outcome.sentence
        assert float(outcome.bound) == pytest.approx(made.proof.bound.value, rel=1e-8)
        frame = X[columns].assign(species=y)
        _made[name] = lines_of(folder / f"{name}.proof"), frame
    lines, frame = _made[name]
    return copy.deepcopy(lines), frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("subsets")


@pytest.mark.parametrize("name", CASES)
def test_an_honest_proof_is_confirmed(folder, name):
    lines, frame = proof_of(name, folder)
    assert lines[0]["version"] == 3
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.exit_code == 0, outcome.sentence
    assert 0 < outcome.bound <= truth(lines[0], frame) + TOLERANCE
    cost = objective_of(lines[0], frame)
    assert float(outcome.cost) == pytest.approx(cost, rel=1e-9)


@pytest.mark.parametrize("name", ["one feature", "one feature, deep"])
def test_the_limit_on_features_makes_the_bound_higher(folder, name):
    lines, frame = proof_of(name, folder)
    assert lines_at(lines, "u")
    assert (
        "at most 1 of them in a split"
        in checked_with_count(lines, frame, folder).sentence
    )
    free = copy.deepcopy(lines[0])
    free["family"]["max_features"] = None
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.bound > truth(free, frame) + 0.01
    assert outcome.bound <= truth(lines[0], frame) + TOLERANCE


def test_more_rows_parts_and_gaps_are_accepted(folder):
    X, y = table(3, 60)
    made = Recorded(X, y)
    assert any("category" in node for node in lines_of_tree(made, folder))
    outcome = made.outcome(folder, "more.proof.gz")
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.bound > 0


def lines_of_tree(made, folder):
    made.outcome(folder, "tree.proof")
    return lines_of(folder / "tree.proof")[0]["tree"]


def test_the_sentence_names_the_trees(folder):
    lines, frame = proof_of("two categories", folder)
    sentence = checked_with_count(lines, frame, folder).sentence
    words = (
        "or send any of the values of one of 2 features to a side (3 and 3 different"
    )
    assert words in sentence
    assert "splits by values cost nothing" in sentence
    lines, frame = proof_of("native", folder)
    sentence = checked_with_count(lines, frame, folder).sentence
    words = "use 1 of 2 columns or send any of the"
    assert words in sentence
    lines, frame = proof_of("only categories", folder)
    assert "may send any of the" in checked_with_count(lines, frame, folder).sentence


# ------------------------------------------------------------------------ forgeries


def lines_at(lines, kind):
    return [k for k, line in enumerate(lines[2:-1], 2) if line[0] == kind]


def test_every_kind_of_split_must_be_proved(folder):
    lines, frame = proof_of("deep", folder)
    full = checked_with_count(lines, frame, folder).bound
    kept, skip = [], False
    for line in lines[2:-1]:
        skip = "subset" in str(line) if line[0] == "s" else skip
        kept += [] if skip else [line]
    outcome = checked_with_count([*lines[:2], *kept, lines[-1]], frame, folder)
    assert outcome.exit_code == 1
    assert outcome.bound < full


def test_a_proof_about_hyperplanes_is_none_of_splits_by_values(folder):
    """Structures called subset splits have no margins to be paid."""
    lines, frame = proof_of("deep", folder)
    best = truth(lines[0], frame)
    refused = 0
    for k in lines_at(lines, "s"):
        if "subset" not in str(lines[k]) and isinstance(lines[k][1], list):
            forged = copy.deepcopy(lines)
            forged[k][1].append("subset")
            outcome = checked_with_count(forged, frame, folder)
            refused += outcome.bound is None
            assert outcome.bound is None or outcome.bound <= best + TOLERANCE
    assert refused > 0


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("d", ["d", 9], "not open"),
        ("d", ["d", -1], "not open"),
        ("d", ["d"], "not known"),
        ("d", ["c", [], []], "too long"),
        ("v", ["v", 9, 0], "too soon"),
        ("v", ["v", 0, 99], "a point 99"),
        ("v", ["v", 0], "must"),
        ("v", ["v", 0, 0.5], "not known"),
    ],
)
def test_odd_lines_are_refused(folder, kind, change, words):
    lines, frame = proof_of("stump", folder)
    places = lines_at(lines, kind)
    lines[places[0]] = change
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.exit_code == 1
    if outcome.bound is None:
        assert words in outcome.sentence
    else:
        assert outcome.bound <= truth(lines[0], frame) + TOLERANCE


def test_values_must_be_known_before_they_are_parted(folder):
    lines, frame = proof_of("stump", folder)
    del lines[lines_at(lines, "d")[0]]
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.bound is None
    assert "too soon" in outcome.sentence


def test_subset_splits_have_no_entries(folder):
    lines, frame = proof_of("stump", folder)
    start = lines_at(lines, "d")[0]
    place = next(k for k in lines_at(lines, "c") if k > start)
    lines[place][1] += [0, 2, lines[lines_at(lines, "v")[0]][2], 5]
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.bound is None
    assert "without margins" in outcome.sentence


def test_all_values_must_be_listed(folder):
    lines, frame = proof_of("stump", folder)
    lines[0]["columns"][1]["values"][0] = "Rome"
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.exit_code == 1
    assert "which the proof file does not list" in outcome.sentence


def test_the_header_says_which_columns_are_split(folder):
    lines, frame = proof_of("two categories", folder)
    column = next(c for c in lines[0]["columns"] if c["kind"] == "category")
    column["is_subset"] = False
    outcome = checked_with_count(lines, frame, folder)
    assert outcome.bound is None
    lines[0]["version"] = 2
    assert checked_with_count(lines, frame, folder).bound is None


# -------------------------------------------------------------------------- mutants


def survivors(name, n, rng, folder):
    """Check mutants of a proof; what is stated of them must be true."""
    counts, mutator = collections.Counter(), Mutator(rng, [])
    lines, frame = proof_of(name, folder)
    for _ in range(n):
        mutant = mutator.mutant(lines)
        outcome = checked_with_count(mutant, frame, folder)
        counts[outcome.bound is not None] += 1
        if outcome.bound is None:
            assert outcome.exit_code in (1, 2)
            continue
        cost = objective_of(mutant[0], frame)
        assert float(outcome.cost) == pytest.approx(cost, rel=1e-9), mutant
        trivial = Points(mutant[0], frame).cost.min(axis=1).sum()
        if outcome.bound > trivial + TOLERANCE:
            assert outcome.bound <= truth(mutant[0], frame) + TOLERANCE, mutant
    return counts


@pytest.mark.parametrize("name", CASES)
def test_no_mutant_makes_it_state_something_false(folder, name):
    counts = survivors(name, N_MUTANTS, np.random.default_rng(len(name)), folder)
    assert counts[True] > 0
    assert counts[False] > 0


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CASES)
def test_no_mutant_of_many_does(folder, name):
    rng = np.random.default_rng([list(CASES).index(name), 2026])
    counts = survivors(name, N_LONG // len(CASES), rng, folder)
    assert counts[True] > 0


# ----------------------------------------------------------------------- whole fits


def test_a_fit_writes_a_proof_that_check_and_verify_accept(tmp_path):
    X, y = table(0, 40)
    clf = OptimalTreeClassifier(
        max_iter=40, node_limit=2000, time_limit=None, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.fit(X, y, proof_log=tmp_path / "tree.proof")
    assert RECOMPUTED in str(clf.certificate_)
    assert clf.certificate_.gap < 0.6
    data = tmp_path / "data.csv"
    X.assign(species=y).to_csv(data, index=False)
    result = run("check", tmp_path / "tree.proof", data)
    assert result.exit_code == 0, result.output
    assert "Checked: " in result.stdout
    metadata = {"target": "species", "weights": None}
    save_json(clf, tmp_path / "model.json", metadata=metadata)
    given = "verify", tmp_path / "model.json", data, "--proof", tmp_path / "tree.proof"
    result = run(*given)
    assert result.exit_code == 0, result.output
    assert "subject of the proof: it is about this tree" in result.stdout
