"""Records of all splits of the root: what the search proves, in lines that hold."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from _errors_proofs import random_proof
from _proofs import write_lines
from miptree import OptimalTreeClassifier
from miptree.checker import check_proof
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective.bounds import Bound
from miptree.proof import root_recording
from miptree.proof.all_roots import all_roots_bound
from miptree.proof.recorded import recorded_proof
from miptree.proof.root_recording import record_roots
from miptree.proof.row_partition import ROOTS
from miptree.proof.space import space_of

MARGIN = 0.05


def problem_of(seed=0, n=40, d=2, n_classes=3, weight=None):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, d)) + 0.0
    y = np.where(
        rng.random(n) < 0.7, X[:, 0] % n_classes, rng.integers(0, n_classes, n)
    )
    return Problem.from_data(X, y.astype(int), n_classes, weight)


def searched(problem, errors=np.inf):
    return all_roots_bound(problem, space_of(problem, MARGIN), errors, clock=Clock())


@pytest.mark.parametrize("seed", range(4))
def test_as_many_errors_are_recorded_as_are_proved(seed):
    weight = np.repeat([1.0, 2.5], 20) if seed % 2 else None
    problem = problem_of(seed, n_classes=2 + seed % 3, weight=weight)
    proved = searched(problem).bound
    assert proved > 0
    record = record_roots(problem, space_of(problem, MARGIN), proved, clock=Clock())
    assert record.errors == pytest.approx(proved)


def test_errors_that_a_tree_undercuts_are_not_recorded():
    problem = problem_of()
    found = searched(problem)
    assert found.is_met
    space = space_of(problem, MARGIN)
    record = record_roots(problem, space, found.bound + 5, clock=Clock())
    assert record.errors == found.bound


def test_nodes_time_and_room_are_limited(monkeypatch):
    problem = problem_of()
    errors, space = searched(problem).bound, space_of(problem, MARGIN)
    record = record_roots(problem, space, errors, clock=Clock(), max_nodes=10_000)
    again = record_roots(problem, space, errors, clock=Clock())
    assert record.lines == again.lines
    assert record_roots(problem, space, errors, clock=Clock(), max_nodes=3) is None
    assert record_roots(problem, space, errors, clock=Clock(0.0)) is None
    monkeypatch.setattr(root_recording, "MOST_BYTES", 10)
    assert record_roots(problem, space, errors, clock=Clock()) is None


def test_where_there_is_no_room_parts_of_the_rows_are_recorded(monkeypatch):
    problem = problem_of(n=20)
    errors = searched(problem).bound
    given = problem, MARGIN, 2, None, errors, errors
    full = recorded_proof(*given, clock=Clock(), max_nodes=3000)
    assert full.roots
    assert full.bound == Bound(errors, ROOTS)
    monkeypatch.setattr(root_recording, "MOST_BYTES", 10)
    less = recorded_proof(*given, clock=Clock(), max_nodes=300)
    assert not less.roots
    assert less.parts
    assert less.bound.value <= errors


def test_more_is_recorded_than_was_known():
    problem = problem_of(n=20)
    errors = searched(problem).bound
    given = problem, MARGIN, 2, None, 1.0, errors + 1
    record = recorded_proof(*given, clock=Clock(), max_nodes=3000)
    assert record.bound.value == errors


@pytest.mark.parametrize("is_weighted", [False, True])
def test_larger_files_are_accepted(tmp_path, is_weighted):
    lines, frame = random_proof(
        5, n=40, depth=2, n_classes=3, is_weighted=is_weighted, by_roots=True
    )
    write_lines(tmp_path / "a.proof", lines)
    frame.to_csv(tmp_path / "a.csv", index=False)
    outcome = check_proof(tmp_path / "a.proof", tmp_path / "a.csv")
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.bound == lines[0]["claim"]["bound"] > 0


@pytest.mark.filterwarnings("ignore:The proof file shows")
@pytest.mark.parametrize("class_weight", [None, {"yes": 2.5, "no": 1.0}])
def test_what_a_fit_writes_is_accepted(tmp_path, class_weight):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 5, (40, 2)) + 0.0, columns=["a", "b"])
    noise = rng.random(40) < 0.2
    y = pd.Series(np.where((X["a"] > 2) ^ noise, "yes", "no"), name="label")
    data, proof = tmp_path / "data.csv", tmp_path / "errors.proof.gz"
    X.assign(label=y).to_csv(data, index=False)
    clf = OptimalTreeClassifier(
        max_depth=2,
        time_limit=None,
        max_iter=20,
        node_limit=2000,
        random_state=0,
        proof="errors",
        class_weight=class_weight,
    )
    clf.fit(X, y, proof_log=proof)
    outcome = check_proof(proof, data)
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.bound > 0
    with gzip.open(proof) as file:
        section = json.loads(file.read().splitlines()[1])["section"]
    certificate = clf.certificate_
    assert section == "errors-roots"
    if certificate.errors_proved_by == ROOTS:
        assert float(outcome.bound) == pytest.approx(certificate.errors_bound)
