"""Recorded proofs from the engine to the checker: replayed, written and accepted."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from _cli import run
from _proofs import lines_of, write_lines
from _recorded import NODES, Recorded
from _routes import unfolded
from _routes_replay import Replay
from miptree import OptimalTreeClassifier, save_json, verify_model
from miptree.certificate.reasons import RECOMPUTED
from miptree.checker import check_proof
from miptree.objective.bounds import ROUTES
from miptree.proof.routes import climb
from miptree.proof.routes import sweep as sweep_of_structures
from miptree.proof.routes.by_root import sweep as sweep_by_root
from miptree.proof.routes.trace import BOX_LEFT, BOX_RIGHT


def iris(step=6):
    table = load_iris(as_frame=True)
    species = pd.Series(table.target_names[table.target], name="species")
    return table.data[::step], species[::step]


def mixed(rng):
    """Rows with a gap, a category, and copies of other labels."""
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 6, 24) / 5,
            "b": rng.integers(0, 3, 24).astype(float),
            "c": rng.choice(["x", "y", "z"], 24),
        }
    )
    X.loc[3, "a"], X.loc[7, "c"] = np.nan, None
    y = pd.Series(np.where(X["a"] + (X["c"] == "x") > 0.7, "yes", "no"), name="species")
    other = y[:4].map({"yes": "no", "no": "yes"})
    return pd.concat([X, X[:4]], ignore_index=True), pd.concat(
        [y, other], ignore_index=True
    )


@pytest.fixture(scope="module")
def small():
    return Recorded(*iris())


def test_proof_of_iris_is_replayed_and_accepted(small, tmp_path):
    assert small.certificate.objective_optimal
    (part,) = small.proof.parts
    assert part.structures
    for structure, trace in part.structures:
        value = Replay(part.problem, structure, part.threshold).bound(unfolded(trace))
        assert value >= part.threshold * (1 - 1e-9)
    outcome = small.outcome(tmp_path)
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.sentence.startswith("Checked: ")
    assert float(outcome.cost) == pytest.approx(small.certificate.objective)
    assert float(outcome.bound) >= part.threshold * (1 - 1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_weights_costs_gaps_and_categories_are_accepted(seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, y = mixed(rng)
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], len(y), p=[0.1, 0.2, 0.5, 0.2])
    costs = [[0.0, 1.0], [0.7, 0.0]] if seed else None
    options = {
        "cost_matrix": costs,
        "categorical_encoding": "onehot",
        "l1_penalty": 0.5,
    }
    made = Recorded(X, y, weight, **options)
    assert made.proof.bound.value > 0
    outcome = made.outcome(tmp_path)
    assert outcome.exit_code == 0, outcome.sentence


def test_groups_of_classes_are_accepted(tmp_path):
    """Of six classes at depth 3, a few are searched at a time."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 2)).round(2), columns=["a", "b"])
    made = Recorded(X, rng.integers(6, size=40), depth=3)
    assert len(made.proof.parts) > 1
    outcome = made.outcome(tmp_path)
    assert outcome.exit_code == 0, outcome.sentence
    assert float(outcome.bound) == pytest.approx(made.proof.bound.value, abs=1e-4)
    assert outcome.bound > 0


def test_a_proof_that_needs_the_box_is_accepted(tmp_path):
    """Where norms cost next to nothing, the box keeps near points from a margin."""
    X = pd.DataFrame({"a": [0.0, 0.02, 0.04, 0.5, 1.0], "b": [0.0, 0.01, 0, 1, 0.4]})
    y = pd.Series(["no", "yes", "no", "yes", "yes"], name="species")
    made = Recorded(X, y, slack_penalty=20.0, l1_penalty=0.01, margin=0.05)
    assert made.certificate.objective_optimal
    kinds = [trace.entries().kind for _, trace in made.proof.parts[0].structures]
    assert np.isin(np.concatenate(kinds), [BOX_LEFT, BOX_RIGHT]).any()
    outcome = made.outcome(tmp_path)
    assert outcome.exit_code == 0, outcome.sentence
    assert float(outcome.bound) == pytest.approx(made.proof.bound.value, rel=1e-8)


def recorded_within(most, monkeypatch):
    """The proof of iris, where no more than so many multipliers may be kept."""
    monkeypatch.setattr(sweep_of_structures, "_MOST_ENTRIES", most)
    monkeypatch.setattr(sweep_by_root, "MOST_ENTRIES", most)
    made = Recorded(*iris())
    (part,) = made.proof.parts
    assert sum(len(trace.entry) for _, trace in part.structures) <= most
    return made, part.threshold


def test_as_much_as_can_be_kept_is_recorded(small, tmp_path, monkeypatch):
    made, shown = recorded_within(1000, monkeypatch)
    assert made.proof.bound.value == small.proof.bound.value
    outcome = made.outcome(tmp_path)
    assert float(outcome.bound) == pytest.approx(shown, rel=1e-6)
    monkeypatch.setattr(climb, "record_more", lambda *known: None)
    _, before = recorded_within(1000, monkeypatch)
    assert before < 0.9 * shown < shown < made.proof.bound.value


def test_a_proof_without_some_of_its_multipliers_proves_less(small, tmp_path):
    assert small.outcome(tmp_path, "tree.proof").exit_code == 0
    path, data = tmp_path / "tree.proof", tmp_path / "data.csv"
    lines = lines_of(path)
    place = max(k for k, line in enumerate(lines[2:-1], 2) if line[0] == "k")
    lines[place] = ["c", [], []]
    write_lines(path, lines)
    outcome = check_proof(path, data)
    assert outcome.exit_code == 1
    assert outcome.bound < small.proof.bound.value


# ------------------------------------------------------------------------ whole fits


FIT = {"max_iter": 40, "node_limit": NODES, "time_limit": None, "random_state": 0}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Model, proof and data of a fit with the default penalties."""
    folder = tmp_path_factory.mktemp("fit")
    X, y = iris()
    clf = OptimalTreeClassifier(**FIT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.fit(X, y, proof_log=folder / "tree.proof")
    X.assign(species=y).to_csv(folder / "data.csv", index=False)
    metadata = {"target": "species", "weights": None}
    save_json(clf, folder / "model.json", metadata=metadata)
    return clf, folder


def test_a_fit_writes_a_proof_that_is_accepted(fitted):
    clf, folder = fitted
    assert clf.status_ == "optimal"
    assert clf.certificate_.objective_proved_by == ROUTES
    assert RECOMPUTED in str(clf.certificate_)
    result = run("check", folder / "tree.proof", folder / "data.csv")
    assert result.exit_code == 0, result.output
    assert "Checked: " in result.stdout


def test_verify_knows_that_a_claim_has_no_file(fitted, monkeypatch):
    """A solver's claim is called one; nothing else may say more than the file."""
    clf, folder = fitted
    X, y = iris()
    files = {"proof": folder / "tree.proof", "data": folder / "data.csv"}
    given = clf.certificate_
    claim = "HiGHS 1.15.1 on the compact MIP"
    for by, is_right in ((ROUTES, False), ("exhaustive search", False), (claim, True)):
        higher = replace(
            given, objective_bound=1.001 * given.objective, objective_proved_by=by
        )
        monkeypatch.setattr(clf, "certificate_", higher)
        found = verify_model(clf, X, y, **files)
        wrong = {check.name for check in found.wrong}
        assert ("bound of the proof" not in wrong) is is_right
        assert ("not on the file" in str(found)) is (by != ROUTES)
        assert "Not repeated: the proof of the lower bound" in str(found)


def test_verify_checks_the_proof_and_what_it_is_about(fitted, tmp_path):
    _, folder = fitted
    given = ["verify", folder / "model.json", folder / "data.csv"]
    result = run(*given, "--proof", folder / "tree.proof")
    assert result.exit_code == 0, result.output
    assert "subject of the proof: it is about this tree" in result.stdout
    assert "digest of the proof: that of the file is" in result.stdout
    assert "bound on the objective" not in result.stdout
    proofs = f"of its proof ({ROUTES}), see the check of the proof file."
    assert proofs in result.stdout
    assert f"the proof ({ROUTES}) is not repeated here" not in result.stdout
    assert f"({ROUTES}) is not repeated here" in run(*given).stdout
    lines = lines_of(folder / "tree.proof")
    lines[0]["claim"]["bound"], lines[1]["lines"], lines[2:-1] = 0.0, 0, []
    weak = tmp_path / "weak.proof"
    write_lines(weak, lines)
    result = run(*given, "--proof", weak)
    assert result.exit_code == 1
    assert "WRONG bound of the proof" in result.stdout
    assert "WRONG digest of the proof" in result.stdout
    other = Recorded(*iris(), l1_penalty=7.0)
    assert other.outcome(tmp_path).exit_code == 0
    result = run(*given, "--proof", tmp_path / "tree.proof.gz")
    assert result.exit_code == 1
    assert "family" in result.stdout
    assert "WRONG subject of the proof" in result.stdout


def test_a_fit_of_few_features_is_proved_and_accepted(tmp_path):
    X, y = iris(3)
    clf = OptimalTreeClassifier(max_features_per_split=2, **FIT)
    clf.fit(X, y, proof_log=tmp_path / "tree.proof")
    assert clf.status_ == "optimal"
    assert clf.certificate_.objective_proved_by == ROUTES
    assert (clf.tree_.coef != 0).sum(axis=1).max() == 2
    assert any(line[0] == "u" for line in lines_of(tmp_path / "tree.proof")[2:-1])
    free = OptimalTreeClassifier(**FIT).fit(X, y).certificate_
    assert clf.certificate_.objective_bound > free.objective + 0.01
    X.assign(species=y).to_csv(tmp_path / "data.csv", index=False)
    save_json(clf, tmp_path / "model.json", metadata={"target": "species"})
    result = run("check", tmp_path / "tree.proof", tmp_path / "data.csv")
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "all 4 columns, at most 2 of them in a split, has an objective" in words
    given = ["verify", tmp_path / "model.json", tmp_path / "data.csv"]
    result = run(*given, "--proof", tmp_path / "tree.proof")
    assert result.exit_code == 0, result.output
    assert "subject of the proof: it is about this tree" in result.stdout
