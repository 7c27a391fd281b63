"""The search of one structure, against brute force and a replay of its proof."""

from __future__ import annotations

import numpy as np
import pytest

from _routes import brute_force, replay
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.proof.routes.engine import EXHAUSTED, PAUSED, advance, begin
from miptree.proof.routes.structures import structure_of, structures
from miptree.proof.routes.trace import BOX_LEFT, BOX_RIGHT
from miptree.proof.routes.units import route_problem

SHAPES = [(0, 1), ((0, 1), 0), ((0, 1), 2), ((0, 1), (0, 1)), ((0, 1), (1, 2))]


def tiny_problem(seed, n_points=6):
    """Few points with ties, weights, sometimes costs, and penalties of all sizes."""
    rng = np.random.default_rng(seed)
    n, d = n_points + 2, int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 3, (n, d)) * 1.0
    X[-2:] = X[:2]  # with other classes, perhaps
    y = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    weight = rng.integers(1, 4, n) * 0.5 if seed % 3 else np.ones(n)
    cost = None
    if seed % 4 == 3:
        cost = rng.integers(1, 4, (n, 3)) * 1.0
        cost[np.arange(n), y] = 0
    problem = Problem.from_data(X, y, 3, weight, cost)
    margin = [0.01, 0.05, 0.3][seed % 3]
    price = [1.0, 1.0, 3.0][seed % 3] / margin
    return route_problem(
        problem, Svm1Objective(price, [1.0, 8.0, 2.0][seed % 3], margin)
    )


def exhausted(problem, structure, threshold, **options):
    """The state of a search that went through."""
    state = begin(problem, structure, threshold, record=True, **options)
    assert advance(state, 100_000) == EXHAUSTED
    return state


@pytest.mark.parametrize("seed", range(24))
def test_optimum_of_a_structure_is_found_and_proved(seed):
    problem = tiny_problem(seed)
    structure = structure_of(SHAPES[seed % len(SHAPES)])
    best = brute_force(problem, structure, with_box=True, reached=True)
    relaxed = brute_force(problem, structure, with_box=True, reached=False)
    for threshold in (0.6 * relaxed, 0.999 * relaxed, relaxed * 1.01, 3 * relaxed + 1):
        state = exhausted(problem, structure, threshold)
        bound = min(threshold, state.open_value)
        assert bound <= best + 1e-7
        assert bound == pytest.approx(min(threshold, relaxed), abs=1e-4)
        least = replay(problem, structure, state.trace(), state.threshold)
        assert least >= bound - 1e-9


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 7])
def test_scores_stay_inside_the_box(seed):
    problem = tiny_problem(seed)._replace(rho=1e-3, box=1.5)
    structure = structure_of(SHAPES[seed % len(SHAPES)])
    relaxed, free = (
        brute_force(problem, structure, with_box=with_box, reached=False)
        for with_box in (True, False)
    )
    assert relaxed > free + 0.01
    state = exhausted(problem, structure, relaxed + 1)
    assert state.open_value == pytest.approx(relaxed, abs=1e-4)
    trace = state.trace()
    assert np.isin([BOX_LEFT, BOX_RIGHT], trace.entries().kind).any()
    assert replay(problem, structure, trace, state.threshold) >= (
        state.open_value - 1e-9
    )


@pytest.mark.parametrize("seed", range(4))
def test_depth_three(seed):
    problem = tiny_problem(seed, n_points=4)
    structure = structure_of([(((0, 1), 2), 1), (((0, 1), 1), (1, 2))][seed % 2])
    relaxed = brute_force(problem, structure, with_box=True, reached=False)
    state = exhausted(problem, structure, relaxed + 1)
    assert state.open_value == pytest.approx(relaxed, abs=1e-4)
    assert replay(problem, structure, state.trace(), state.threshold) >= (
        state.open_value - 1e-9
    )


def larger_problem(n=30, d=3, seed=0):
    """Three classes of noisy points."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + 2.0 * np.eye(3, d)[y]
    return route_problem(Problem.from_data(X, y, 3), Svm1Objective(20.0, 8.0, 0.05))


def test_every_closing_can_be_replayed():
    problem = larger_problem()
    for structure in structures(problem.labels, 2):
        state = exhausted(problem, structure, 6.0)
        least = replay(problem, structure, state.trace(), state.threshold)
        assert least >= min(state.threshold, state.open_value) - 1e-9


def test_search_can_be_paused_and_ends_the_same():
    problem, structure = larger_problem(), structure_of(((0, 1), (0, 2)))
    whole = exhausted(problem, structure, 12.0)
    state = begin(problem, structure, 12.0, record=True)
    while advance(state, 7) == PAUSED:
        assert state.nodes <= whole.nodes
    assert state.nodes == whole.nodes
    assert state.trace().n_events == whole.trace().n_events


def test_stop_flag_pauses():
    problem, structure = larger_problem(), structure_of(((0, 1), (0, 2)))
    state = begin(problem, structure, 12.0)
    assert advance(state, 100, stop=np.ones(1, dtype=np.uint8)) == PAUSED
    assert state.nodes == 0


def test_candidates_cost_what_the_open_value_says():
    problem, structure = larger_problem(), structure_of(((0, 1), 2))
    state = exhausted(problem, structure, 100.0)
    candidate = state.take_candidates()[-1]
    score = (problem.X @ candidate.coef.T - candidate.threshold) * problem.box
    right = score > 0
    leaf = np.where(right[:, 0], 2, np.where(right[:, 1], 1, 0))
    passes = structure.side[:, leaf].T != 0
    missing = (np.maximum(0, 1 - np.abs(score)) * passes).sum(axis=1)
    total = problem.cost[np.arange(len(leaf)), structure.label[leaf]].sum()
    total += (
        problem.C @ missing + problem.rho * np.abs(candidate.coef).sum() * problem.box
    )
    assert total == pytest.approx(state.open_value, abs=1e-4)
