"""The hull LP against SciPy's, and the units that make it a question of distance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from _data import cases, examples, random_heap, random_problem
from miptree.data.problem import Problem
from miptree.proof.hull_distance import INSEPARABLE, SEPARATED, first_basis, separate
from miptree.proof.space import _limits, space_of

# ----------------------------------------------------------------- two convex hulls


class Hulls:
    """Two sets of points, in the arrays that the kernel wants."""

    def __init__(self, seed: int, kind: str) -> None:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 13)), int(rng.integers(1, 6))
        if kind == "grid":
            self.X = rng.integers(-2, 3, (n, d)).astype(float)
        else:
            self.X = rng.normal(size=(n, d))
        self.side = rng.choice([-1, 1], n)
        self.side[:2] = -1, 1
        if kind == "apart":
            self.X += np.outer(self.side, rng.normal(size=d))
        self.order = rng.permutation(n)
        self._begin()

    def _begin(self) -> None:
        n, d = self.X.shape
        self.basis, self.weight = np.zeros(d + 2, np.int64), np.zeros(d + 2)
        self.inverse, self.plane = np.zeros((d + 2, d + 2)), np.zeros(d + 1)
        self.flags = np.zeros(n, dtype=bool)
        first = [self.order[self.side[self.order] == sign][0] for sign in (1, -1)]
        first_basis(self.X, *first, self.basis, self.inverse, self.weight)

    def ask(self, n_known: int, least: float) -> tuple[int, float]:
        """Whether the first so many points, in order, separate."""
        members = self.order[:n_known].astype(np.int64)
        return separate(
            self.X, members, self.side[members], n_known, self.flags, least,
            self.basis, self.inverse, self.weight, self.plane,
        )  # fmt: skip

    def from_scratch(self, least: float = 0.0) -> tuple[int, float]:
        """Answer for all points at once."""
        self._begin()
        return self.ask(len(self.X), least)

    def point_by_point(self) -> tuple[int, float]:
        """Answer for all points after the same question for ever more of them."""
        self._begin()
        signs = self.side[self.order]
        both = max(np.argmax(signs > 0), np.argmax(signs < 0)) + 1
        for n_known in range(both, len(self.X)):
            self.ask(n_known, 0.0)
        return self.ask(len(self.X), 0.0)


def distance_by_scipy(X: np.ndarray, side: np.ndarray) -> float:
    """min |p - q|_1 over the hulls: weights of the points, then abs(p - q)."""
    n, d = X.shape
    gap = (X * side[:, None]).T
    rows = np.block([[gap, -np.eye(d)], [-gap, -np.eye(d)]])
    ones = np.zeros((2, n + d))
    ones[0, :n], ones[1, :n] = side > 0, side < 0
    cost = np.r_[np.zeros(n), np.ones(d)]
    found = linprog(cost, rows, np.zeros(2 * d), ones, np.ones(2))
    assert found.status == 0
    return found.fun


hulls = st.builds(
    Hulls, st.integers(0, 2**20), st.sampled_from(["grid", "gauss", "apart"])
)


@examples(300)
@given(hulls=hulls, factor=st.sampled_from([0.5, 0.99, 1.01, 2.0]))
def test_hulls_nearer_than_the_least_distance_are_inseparable(hulls, factor):
    truth = distance_by_scipy(hulls.X, hulls.side)
    answer, distance = hulls.from_scratch()
    assert answer == SEPARATED
    assert distance == pytest.approx(truth, abs=1e-9)
    least = factor * truth if truth > 1e-6 else 1e-3
    assert (hulls.from_scratch(least)[0] == INSEPARABLE) == (truth < least)


@examples(200)
@given(hulls=hulls)
def test_the_hyperplane_has_the_distance_as_its_margin(hulls):
    _, distance = hulls.from_scratch()
    *coef, threshold = hulls.plane
    score = hulls.X @ coef - threshold
    assert np.abs(coef).max() <= 1 + 1e-9
    assert (hulls.side * score).min() == pytest.approx(0.5 * distance, abs=1e-9)


@examples(200)
@given(hulls=hulls)
def test_points_may_come_one_by_one(hulls):
    assert hulls.point_by_point() == pytest.approx(hulls.from_scratch(), abs=1e-9)


# ------------------------------------------------------------------------- the units


@examples(150)
@given(case=cases())
def test_distances_are_at_least_the_differences_of_scores(case):
    """For every hyperplane in the box, also where features depend on each other."""
    problem = case.problem
    twice = np.c_[problem.X, problem.X.sum(axis=1), problem.X[:, 0] * 3 - 1]
    wider = Problem.from_data(twice, problem.y, problem.n_classes, problem.weight)
    for data, heap in (
        (problem, case.heap),
        (wider, random_heap(wider, case.depth, np.random.default_rng(0))),
    ):
        X = space_of(data, 0.01).X
        score = data.scaled @ heap.coef.T - heap.threshold
        distance = np.abs(X[:, None] - X[None]).sum(axis=2)
        difference = np.abs(score[:, None] - score[None]).max(axis=2)
        assert (difference <= distance + 1e-9).all()


@pytest.mark.parametrize("seed", range(20))
def test_limits_are_the_largest_coefficients(seed):
    problem = random_problem(seed, 15, 1 + seed % 4, 2, "gauss")
    space = space_of(problem, 0.01)
    assert space.kept == list(range(problem.n_features))
    rows = np.c_[problem.scaled, -np.ones(problem.n_rows)]
    rows = np.r_[rows, -rows]
    for j, limit in enumerate(space.limit):
        cost = np.zeros(rows.shape[1])
        cost[j] = -1.0
        found = linprog(cost, rows, np.ones(len(rows)), bounds=(None, None))
        assert -found.fun * (1 + 1e-7) < limit < -found.fun * (1 + 1e-5)


def test_features_that_others_determine_are_dropped():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 30))
    one_hot = np.eye(3)[rng.integers(3, size=30)]
    X = np.c_[a, b, a + b, np.full(30, 4.0), 7 - 2 * a, one_hot]
    problem = Problem.from_data(X, np.arange(30) % 2, 2)
    space = space_of(problem, 0.01)
    assert space.X.shape == (30, 4)
    assert sum(j in (0, 1, 2, 4) for j in space.kept) == 2
    assert sum(j >= 5 for j in space.kept) == 2


@pytest.mark.parametrize("noise", [1e-4, 1e-8, 1e-10])
def test_features_that_others_nearly_determine_are_kept(noise):
    """They allow of huge coefficients, and at last of no proof, but of no false one."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=(30, 2))
    X = np.c_[a, a.sum(axis=1) + noise * rng.normal(size=30)]
    space = space_of(Problem.from_data(X, np.arange(30) % 2, 2), 0.01)
    assert space.kept == [0, 1, 2]
    assert (space.limit > 0.1 / noise).all()
    assert (space.min_distance < 0) == (noise < 1e-9)
    assert space.min_distance < 0.02


@pytest.mark.parametrize("missed", [1e-16, 1e-7, 1e-3])
def test_limits_allow_for_equations_that_are_missed(missed):
    """Nothing larger keeps the inequalities, whatever the threshold in the box."""
    size, off = np.array([1.0, 3e6, 20.0]), missed * np.array([1.0, 0.5, 2.0])
    limit = _limits(size, off)
    # The coefficients that keep all of them with equality.
    largest = size.copy()
    for _ in range(1000):
        largest = size + off * (2 * largest.sum() + 1)
    assert limit == pytest.approx(largest, rel=1e-12)
    assert (limit > size).all()


def test_no_limits_where_an_equation_says_nothing():
    assert (_limits(np.ones(2), np.array([0.3, 0.0])) > 1e19).all()


def test_a_row_that_rounding_puts_inside_the_margin_keeps_it():
    """Trees are recounted with a little tolerance, which a bound must share."""
    for margin in (1e-4, 1e-2):
        problem = random_problem(0, 9, 2, 2, "gauss")
        assert space_of(problem, margin).min_distance <= 2 * (margin - 1e-9)
