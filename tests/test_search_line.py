"""The exact line searches against brute force over intervals, breakpoints and grids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _data import examples
from miptree.search.data import Penalties, Points
from miptree.search.line01 import best_step_fixed, best_step_leaf
from miptree.search.line_svm1 import NodeLine, best_step_svm1, box_range

GRID = np.linspace(-19.7, 19.3, 403)
"""Steps at odd places, so that no grid point is a breakpoint."""

seeds = st.integers(0, 2**32 - 1)


def random_line(
    rng: np.random.Generator, m: int, coarse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and their speeds: some speeds are zero, coarse ones have many ties."""
    if coarse:
        return rng.integers(-3, 4, m).astype(float), rng.integers(-2, 3, m).astype(
            float
        )
    v = rng.uniform(0.3, 3.0, m) * rng.choice([-1.0, 0.0, 1.0, 1.0], m)
    return rng.uniform(-5, 5, m), v


def interval_steps(z: np.ndarray, v: np.ndarray) -> np.ndarray:
    """One step inside every interval between breakpoints, and the step 0."""
    at = np.unique(-z[v != 0] / v[v != 0])
    if not len(at):
        return np.zeros(1)
    at = at[np.append(True, np.diff(at) > 1e-8)]
    return np.r_[0.0, at[0] - 1, (at[1:] + at[:-1]) / 2, at[-1] + 1]


def cost_fixed(step: float, z: np.ndarray, v: np.ndarray, gain: np.ndarray) -> float:
    return float(gain[z + step * v > 0].sum())


def cost_leaf(step: float, z: np.ndarray, v: np.ndarray, costs: np.ndarray) -> float:
    right = z + step * v > 0
    return float(costs[right].sum(axis=0).min() + costs[~right].sum(axis=0).min())


@examples(120)
@given(seed=seeds, m=st.integers(1, 12), coarse=st.booleans())
def test_fixed_subtrees_best_step(seed: int, m: int, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    z, v = random_line(rng, m, coarse)
    gain = rng.choice([-2.0, -1.0, 1.0, 0.5], m)
    change, step = best_step_fixed(z, v, gain, np.array([seed], dtype=np.uint64))
    now = cost_fixed(0.0, z, v, gain)
    reachable = min(cost_fixed(s, z, v, gain) for s in interval_steps(z, v))
    assert now + change == pytest.approx(reachable)
    assert now + change <= min(cost_fixed(s, z, v, gain) for s in GRID) + 1e-9
    assert cost_fixed(step, z, v, gain) == pytest.approx(now + change)


@examples(120)
@given(
    seed=seeds,
    m=st.integers(1, 12),
    n_classes=st.integers(2, 4),
    coarse=st.booleans(),
    class_cost=st.booleans(),
)
def test_free_leaves_best_step(
    seed: int, m: int, n_classes: int, coarse: bool, class_cost: bool
) -> None:
    rng = np.random.default_rng(seed)
    z, v = random_line(rng, m, coarse)
    y, weight = rng.integers(n_classes, size=m), rng.choice([1.0, 2.5], m)
    costs = np.where(y[:, None] == np.arange(n_classes), 0.0, weight[:, None])
    given_costs = np.zeros((0, n_classes))
    if class_cost:
        costs = given_costs = rng.choice([0.0, 1.0, 3.0], (m, n_classes))
    state = np.array([seed], dtype=np.uint64)
    points = Points(np.zeros((0, m)), y, weight, given_costs, 0)
    change, step = best_step_leaf(z, v, np.arange(m), points, state)
    now = cost_leaf(0.0, z, v, costs)
    reachable = min(cost_leaf(s, z, v, costs) for s in interval_steps(z, v))
    assert now + change == pytest.approx(reachable)
    assert now + change <= min(cost_leaf(s, z, v, costs) for s in GRID) + 1e-9
    assert cost_leaf(step, z, v, costs) == pytest.approx(now + change)


@examples(50)
@given(seed=seeds)
def test_duplicated_points_count_as_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, v = random_line(rng, 8, coarse=False)
    y, times = rng.integers(3, size=8), rng.integers(1, 4, 8)
    twice = np.repeat(np.arange(8), times)
    state, none, no_X = np.zeros(1, dtype=np.uint64), np.zeros((0, 3)), np.zeros((0, 8))
    points = Points(no_X, y, times.astype(float), none, 0)
    weighted, _ = best_step_leaf(z, v, np.arange(8), points, state)
    copies = Points(no_X[:, twice], y[twice], np.ones(len(twice)), none, 0)
    every = np.arange(len(twice))
    repeated, _ = best_step_leaf(z[twice], v[twice], every, copies, state)
    assert weighted == pytest.approx(repeated)


class SvmLine:
    """(1a) of one node along a line, by its definition."""

    def __init__(self, seed: int, m: int, d: int) -> None:
        rng = np.random.default_rng(seed)
        self.l1_penalty = float(rng.choice([0.0, 0.1, 10.0]))
        self.margin = float(rng.choice([0.01, 0.1]))
        self.z = rng.uniform(-1, 1, m)
        self.z[rng.random(m) < 0.2] = rng.choice([0.0, self.margin, -self.margin])
        self.v = rng.uniform(-1, 1, m) * (rng.random(m) < 0.9)
        self.gain = rng.choice([-1.0, 0.0, 1.0, 0.3], m)
        self.price = rng.choice([100.0, 250.0], m)
        self.h = rng.normal(size=d) * (rng.random(d) < 0.7)
        self.direction = rng.normal(size=d) * (rng.random(d) < 0.7)
        self.low, self.high = box_range(self.z, self.v)
        self.low, self.high = max(self.low, -20.0), min(self.high, 20.0)

    def value(self, step: float) -> float:
        score = self.z + step * self.v
        missing = np.maximum(0.0, self.margin - np.abs(score))
        l1 = np.abs(self.h + step * self.direction).sum()
        return float(
            self.gain[score > 0].sum() + self.price @ missing + self.l1_penalty * l1
        )

    def breakpoints(self) -> np.ndarray:
        """Every kink and jump, from just before to just after it."""
        moves = np.abs(self.v) > 1e-12
        z, v = self.z[moves], self.v[moves]
        at = [(level - z) / v for level in (-self.margin, 0.0, self.margin)]
        bends = self.direction != 0
        at.append(-self.h[bends] / self.direction[bends])
        points = np.concatenate([*at, [self.low, self.high, 0.0]])
        points = np.concatenate([points - 1e-11, points, points + 1e-11])
        return points[(points >= self.low) & (points <= self.high)]

    def best(self) -> tuple[float, float]:
        line = NodeLine(self.z, self.v, self.gain, self.price, self.h, self.direction)
        penalties = Penalties(0.0, self.l1_penalty, self.margin)
        return best_step_svm1(line, self.low, self.high, penalties)


@examples(150)
@given(seed=seeds, m=st.integers(1, 12), d=st.integers(1, 4))
def test_svm1_best_step(seed: int, m: int, d: int) -> None:
    line = SvmLine(seed, m, d)
    change, step = line.best()
    now = line.value(0.0)
    grid = np.linspace(line.low, line.high, 301)
    brute = min(line.value(s) for s in np.r_[line.breakpoints(), grid])
    assert line.low <= step <= line.high
    assert now + change <= brute + 1e-6
    assert line.value(step) == pytest.approx(now + change, abs=1e-6)


@examples(50)
@given(seed=seeds, m=st.integers(1, 12))
def test_box_range_is_where_all_scores_fit(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    score, v = rng.uniform(-1, 1, m), rng.uniform(-1, 1, m)
    low, high = box_range(score, v)
    assert low <= 0 <= high
    for step in (low, high):
        assert np.abs(score + step * v).max() <= 1 + 1e-12
    for step in (low - 1e-3, high + 1e-3):
        assert np.abs(score + step * v).max() > 1 - 1e-8 or abs(step) > 1e5
