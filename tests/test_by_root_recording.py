"""What a search by root records: lemmas that hold, branches that are needed, files."""

from __future__ import annotations

from math import inf

import numpy as np
import pandas as pd
import pytest

from _proofs import lines_of
from _recorded import Recorded
from _route_cases import route_case
from _routes import brute_force
from miptree.checker import check_proof
from miptree.control.clock import Clock
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.by_root import sweep as by_root_sweep
from miptree.proof.routes.by_root.proofs import Branch, Closing
from miptree.proof.routes.by_root.sweep import sweep_roots
from miptree.proof.routes.methods import Methods
from miptree.proof.routes.places import place_of
from miptree.proof.routes.trace import (
    BOX_RIGHT,
    ENVELOPE,
    MARGIN,
    backward,
)
from miptree.proof.routes.units import route_problem


@pytest.fixture
def always_by_root(monkeypatch):
    """Let every proof of depth 2 search by root, unless that search fell short."""
    monkeypatch.setattr(
        Methods,
        "better",
        lambda self, *_: self.by_root if self.uses_roots else self.by_structure,
    )
    monkeypatch.setattr(Methods, "try_roots", lambda self, *_: None)


def recorded(seed, rows=(12, 30), share=1.0):
    """A problem, and the recorded sweep at a share of what it can prove."""
    case = route_case(seed, rows, depths=(2,))
    problem = route_problem(case.problem, case.objective)
    most = prove(problem, float(problem.cost.sum(axis=0).min())).bound
    return problem, prove(problem, share * most, record=True)


def prove(problem, threshold, **options):
    budget = Budget(Clock(), 10**6)
    return sweep_roots(problem, threshold, known=0.0, budget=budget, **options)


def table(seed, n, n_classes, with_weights):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 2)).round(1), columns=["a", "b"])
    y = np.where(rng.random(n) < 0.8, (X["a"] > 0) + (X["b"] > 0.3), 0) % n_classes
    y[:n_classes] = range(n_classes)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], n) if with_weights else None
    if with_weights:
        weight[:n_classes] = 1.0
    return X, y, weight


@pytest.mark.parametrize("seed", range(12))
def test_files_are_accepted(seed, always_by_root, tmp_path):
    n_classes = 2 + seed % 3
    costs = None
    if seed % 4 == 1:
        costs = np.random.default_rng(seed).uniform(0.5, 3.0, (n_classes, n_classes))
        np.fill_diagonal(costs, 0.0)
    given = table(seed, 12 + seed, n_classes, seed % 2 == 0)
    made = Recorded(*given, cost_matrix=costs, l1_penalty=0.3 + 0.2 * (seed % 5))
    (part,) = made.proof.parts
    assert part.roots is not None
    assert part.structures is None
    assert part.threshold > 0
    outcome = made.outcome(tmp_path)
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.sentence.startswith("Checked: ")
    assert float(outcome.bound) == pytest.approx(part.threshold, rel=1e-6)
    assert outcome.bound <= outcome.cost


@pytest.mark.parametrize("seed", [9024, 9128, 9182])
def test_points_of_several_labels_make_no_empty_lemma(seed, always_by_root, tmp_path):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 24))
    X = pd.DataFrame(rng.integers(0, 4, (n, 2)).astype(float), columns=["a", "b"])
    y = np.where(rng.random(n) < 0.8, (X["a"] > 1) + (X["b"] > 2).astype(int), 0) % 2
    y[:2] = [0, 1]
    l1, margin = float(10.0 ** rng.uniform(-3, 0)), float(rng.choice([0.01, 0.05, 0.3]))
    made = Recorded(X, y, l1_penalty=l1, margin=margin)
    assert all(lemma.value > 0 for lemma in made.proof.parts[0].roots.lemmas())
    outcome = made.outcome(tmp_path)
    assert outcome.exit_code == 0, outcome.sentence


@pytest.mark.parametrize("seed", [100, 102, 104, 108, 111])
def test_recording_changes_no_bound(seed):
    problem, found = recorded(seed)
    plain = prove(problem, found.bound)
    assert plain.bound == found.bound
    assert plain.roots is None
    assert found.nodes <= plain.nodes * 1.1 + 10


@pytest.mark.parametrize("seed", range(100, 112))
def test_branches_are_needed_by_all_below(seed):
    _, found = recorded(seed)
    used = {}
    events = list(found.roots.events())
    for event in reversed(events):
        if isinstance(event, Closing):
            used[id(event)] = event.used
            continue
        parts = [used[id(part)] for part in event.parts]
        assert all(own >> event.point & 1 for own in parts)
        assert sorted(event.masks) == [1, 2]
        used[id(event)] = (parts[0] | parts[1]) & ~(1 << event.point)
    # In the end it refers to no point but the one that is fixed.
    assert used[id(events[0])] & ~(1 << found.roots.fixed) == 0


@pytest.mark.parametrize("seed", range(40, 52))
def test_lemmas_hold_for_their_points(seed):
    problem, found = recorded(seed, rows=(6, 11))
    for lemma in found.roots.lemmas()[:12]:
        part = problem.among(lemma.points[lemma.is_needed].astype(np.intp))
        pairs = [one for one, _ in lemma.proofs]
        others = part.cost[:, part.labels].sum(axis=0).min()
        best = min(
            (brute_force(part, one, with_box=True, reached=True) for one in pairs),
            default=inf,
        )
        assert lemma.value <= min(best, others) * (1 + 1e-7) + 1e-7


def test_a_lemma_is_about_no_more_points_than_it_needs():
    lemmas = [one for k in range(100, 106) for one in recorded(k)[1].roots.lemmas()]
    assert any(not one.is_needed.all() for one in lemmas)


def test_a_proof_that_becomes_too_long_is_dropped(monkeypatch):
    problem, found = recorded(104, rows=(25, 25))
    assert found.roots is not None
    monkeypatch.setattr(by_root_sweep, "MOST_ENTRIES", 30)
    again = prove(problem, found.bound, record=True)
    assert again.bound == found.bound
    assert again.roots is None


def test_a_file_that_ends_before_the_sides_is_refused(always_by_root, tmp_path):
    made = Recorded(*table(3, 24, 2, with_weights=False))
    assert made.outcome(tmp_path, "tree.proof").exit_code == 0
    lines = lines_of(tmp_path / "tree.proof")
    kinds = {line[0] for line in lines if isinstance(line, list)}
    assert {"part", "lemma", "s", "roots", "f", "b", "r", "c"} <= kinds
    place = next(k for k, line in enumerate(lines) if line == ["roots"])
    (tmp_path / "short.proof").write_text(
        "".join((tmp_path / "tree.proof").read_text().splitlines(True)[:place])
    )
    outcome = check_proof(tmp_path / "short.proof", tmp_path / "data.csv")
    assert outcome.exit_code == 1
    assert "is cut off or damaged: its last line is not" in outcome.sentence


def test_branches_of_a_proof_have_two_sides():
    _, found = recorded(101)
    branches = [one for one in found.roots.events() if isinstance(one, Branch)]
    closings = [one for one in found.roots.events() if isinstance(one, Closing)]
    assert len(closings) == len(branches) + 1


def test_entries_are_what_they_were_before_they_were_packed():
    far = 2**24 - 2
    given = [(3, 6, ENVELOPE, far, 2**50), (far, 0, BOX_RIGHT, -1, 7)]
    packed = np.array([(place_of.py_func(*row[:4]), row[4]) for row in given])
    trace = backward(-1, np.array([[1, -1, 0, 2]]), np.zeros(0, dtype=int), packed)
    assert np.column_stack(trace.entries()).tolist() == [list(k) for k in given[::-1]]


def test_the_points_of_a_trace_are_those_of_its_entries():
    given = [(3, 0, ENVELOPE, 200, 9), (100, 0, MARGIN, -1, 7)]
    packed = np.array([(place_of.py_func(*row[:4]), row[4]) for row in given])
    trace = backward(-1, np.array([[1, -1, 0, 2]]), np.zeros(0, dtype=int), packed)
    assert trace.points.tolist() == [3, 100, 200]
