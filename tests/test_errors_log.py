"""Proof files of the errors, written by fits and by the command."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from _cli import run
from miptree import OptimalTreeClassifier, verify_model
from miptree.checker import check_proof
from miptree.fit import unlogged
from miptree.proof import (
    compile_proof_kernels,
    compile_recording_kernels,
    recording,
)

QUICK = {"max_depth": 1, "time_limit": 6.0, "random_state": 0, "proof": "errors"}


@pytest.fixture(scope="module", autouse=True)
def kernels():
    """Compile first: the limit is too short for that."""
    compile_proof_kernels()
    compile_recording_kernels()


def frame(n=40, seed=0):
    """Two columns of numbers and one of categories, with labels that are noisy."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 6, (n, 2)) + 0.0, columns=["a", "b"])
    X["kind"] = rng.choice(["x", "y", "z"], n)
    y = (X["a"] > 2).to_numpy() ^ (rng.random(n) < 0.15)
    return X, pd.Series(np.where(y, "yes", "no"), name="label")


def written(X, y, folder, weight=None, **options):
    """Fit, and return the classifier with its proof file and its table."""
    proof, data = folder / "errors.proof.gz", folder / "data.csv"
    X.assign(label=y).to_csv(data, index=False)
    clf = OptimalTreeClassifier(**(QUICK | options))
    clf.fit(X, y, weight, proof_log=proof)
    return clf, proof, data


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"categorical_encoding": "onehot"},
        {"l1_penalty": 0.0, "max_features_per_split": 1},
        {"class_weight": {"yes": 2.5, "no": 1.0}},
    ],
)
@pytest.mark.filterwarnings("ignore:The proof file shows")
def test_what_a_fit_writes_is_accepted(tmp_path, options):
    X, y = frame()
    clf, proof, data = written(X, y, tmp_path, **options)
    outcome = check_proof(proof, data)
    assert outcome.exit_code == 0, outcome.sentence
    certificate = clf.certificate_
    assert 0 < float(outcome.bound) <= certificate.errors_bound + 1e-9
    assert float(outcome.cost) == pytest.approx(certificate.cost_at_margin)
    with gzip.open(proof) as file:
        digest = json.loads(file.read().splitlines()[-1])["digest"]
    assert certificate.proof_digest == digest
    found = verify_model(clf, X, y, proof=proof, data=data)
    assert found.ok, str(found)
    assert {"proof file", "bound of the proof"} <= {c.name for c in found.checks}


def test_the_sentence_is_one_that_a_manager_understands(tmp_path):
    X, y = frame()
    _, proof, data = written(X[["a"]], y, tmp_path)
    sentence = check_proof(proof, data).sentence
    assert sentence.startswith(
        "Checked: no decision tree of depth up to 1 whose splits may use the one "
        "column makes fewer than "
    )
    assert "errors and close calls on these 40 rows labelled by 'label'; " in sentence
    assert "(a close call is a row nearer to a split on its way than " in sentence


@pytest.mark.filterwarnings("ignore:The proof file shows")
def test_another_table_is_refused(tmp_path):
    X, y = frame()
    _, proof, data = written(X, y, tmp_path)
    table = pd.read_csv(data)
    other = tmp_path / "other.csv"
    for wrong in (
        table.iloc[:-1],
        table.iloc[::-1],
        table.drop(columns="b"),
        table.assign(a=table["b"]),
    ):
        wrong.to_csv(other, index=False)
        outcome = check_proof(proof, other)
        assert outcome.exit_code == 1
        assert "\n" not in outcome.sentence
        assert not outcome.sentence.startswith("Checked")


@pytest.mark.filterwarnings("ignore:The proof file shows")
def test_a_damaged_or_cut_file_is_refused(tmp_path):
    X, y = frame()
    _, proof, data = written(X, y, tmp_path)
    content = gzip.decompress(proof.read_bytes())
    harmed = tmp_path / "harmed.proof"
    for size in (0, 10, len(content) // 2, len(content) - 3):
        harmed.write_bytes(content[:size])
        assert check_proof(harmed, data).exit_code == 1
    for place in range(50, len(content) - 100, len(content) // 20):
        changed = bytearray(content)
        changed[place] ^= 1
        harmed.write_bytes(changed)
        outcome = check_proof(harmed, data)
        assert outcome.exit_code == 1
        assert outcome.sentence.startswith("Not checked: ")


def test_the_command_writes_and_checks_it(tmp_path):
    X, y = frame()
    data, proof = tmp_path / "data.csv", tmp_path / "errors.proof.gz"
    X[["a"]].assign(label=y).to_csv(data, index=False)
    fit = ["fit", data, "--target", "label", "--depth", 1, "--proof", "errors"]
    result = run(*fit, "--proof-log", proof, "--time-limit", 6)
    assert result.exit_code == 0, result.output
    assert "miptree check tells whether it holds" in result.stdout
    result = run("check", proof, data)
    assert result.exit_code == 0, result.output
    assert "Checked: no decision tree of depth up to 1" in result.stdout


def test_costs_by_class_are_refused_before_the_work(tmp_path):
    X, y = frame()
    clf = OptimalTreeClassifier(cost_matrix=np.array([[0, 1], [2, 0]]), **QUICK)
    costs = np.array([[0.0, 1.0, 2.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    three = np.resize(["a", "b", "c"], len(y))
    clf.set_params(cost_matrix=costs)
    with pytest.raises(ValueError, match="which costs by class do not"):
        clf.fit(X[["a"]], three, proof_log=tmp_path / "a.proof")
    assert not list(tmp_path.iterdir())


def test_without_an_error_nothing_is_written(tmp_path):
    X = pd.DataFrame({"a": np.arange(8.0)})
    clf = OptimalTreeClassifier(**QUICK)
    with pytest.warns(UserWarning, match="no error was proved of all trees"):
        clf.fit(X, np.arange(8) > 3, proof_log=tmp_path / "a.proof")
    assert clf.certificate_.proof_digest == ""
    assert not list(tmp_path.iterdir())


def test_columns_that_differ_by_rounding_only_are_told(tmp_path):
    _, y = frame()
    X = pd.DataFrame({"a": np.random.default_rng(0).random(len(y))})
    X["c"] = 1.1 * X["a"] + 32
    clf = OptimalTreeClassifier(**QUICK)
    with pytest.warns(UserWarning, match="columns determine each other"):
        clf.fit(X, y, proof_log=tmp_path / "a.proof")


def test_too_large_a_record_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "MOST_BYTES", 10)
    monkeypatch.setattr(recording, "_NODES_AT_A_TIME", 1)
    _, y = frame()
    X = np.random.default_rng(0).random((len(y), 2))
    clf = OptimalTreeClassifier(**QUICK)
    with pytest.warns(UserWarning, match="was not recorded"):
        clf.fit(X, y, proof_log=tmp_path / "a.proof")
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:The proof file shows")
def test_what_is_counted_needs_no_search(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "box_limits", lambda *_: None)
    X = pd.DataFrame({"a": np.arange(30.0)})
    y = pd.Series(np.repeat(["p", "q", "r"], [14, 9, 7]), name="label")
    _, proof, data = written(X, y, tmp_path)
    outcome = check_proof(proof, data)
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.bound == 7


def test_depths_have_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(unlogged, "DEEPEST_OF_ERRORS", 0)
    X, y = frame()
    with pytest.raises(ValueError, match="depth 0 at most, got 1"):
        OptimalTreeClassifier(**QUICK).fit(X, y, proof_log=tmp_path / "a.proof")
