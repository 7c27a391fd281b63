"""Proofs by trying all splits: the arrangement is complete, its bounds are true."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from _brute_force import HardMarginEnumeration
from _data import examples, problems, random_problem, wrong_at_margin
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.proof import all_roots, all_splits, arranged_trees, prove_errors
from miptree.proof.all_splits import arrangement_bound, can_arrange, in_units
from miptree.proof.arranged_trees import ArrangedTrees, widest
from miptree.proof.arrangement import (
    EMPTY,
    LEAF,
    arrangement_fits_memory,
    arrangement_of,
    most_nodes,
)
from miptree.proof.row_partition import row_partition_bound
from miptree.proof.space import space_of
from miptree.proof.split_enumeration import errors_of, fewest_of_a_split, pack

MARGINS = [1e-4, 1e-3, 0.01, 0.1, 0.4]


def bound_on_all(problem, margin, depth, enough=np.inf, clock=None, n_jobs=None):
    return arrangement_bound(
        problem, space_of(problem, margin), depth, enough,
        clock=clock or Clock(), n_jobs=n_jobs,
    )  # fmt: skip


def leaves_of(X: np.ndarray, least: float) -> set[tuple[bool, ...]]:
    """Splits of the leaves: whether each point is right of the hyperplane."""
    grown = arrangement_of(X, least)
    leaves = grown.side[grown.right == LEAF]
    bits = np.unpackbits(leaves.astype("<u8").view(np.uint8), -1, bitorder="little")
    left, right = bits[:, 0, : len(X)], bits[:, 1, : len(X)]
    assert np.all(left ^ right)  # each point is on one side
    found = set(map(tuple, right.astype(bool).tolist()))
    assert len(found) == len(leaves)  # and no split there twice
    return found


def hull_distance(X: np.ndarray, right: np.ndarray) -> float:
    """Distance of two hulls in the 1-norm, by an LP of SciPy."""
    n, d = X.shape
    sign = np.where(right, 1.0, -1.0)
    rows = np.hstack([(sign[:, None] * X).T, np.eye(d), -np.eye(d)])
    sums = np.zeros((2, n + 2 * d))
    sums[0, :n], sums[1, :n] = right, ~right
    cost = np.append(np.zeros(n), np.ones(2 * d))
    found = linprog(
        cost, A_eq=np.vstack([rows, sums]), b_eq=np.append(np.zeros(d), [1, 1])
    )
    return found.fun


# --------------------------------------------------------------------- the arrangement


@examples(60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 8),
    d=st.integers(1, 3),
    is_grid=st.booleans(),
)
def test_the_leaves_are_all_separable_splits(seed, n, d, is_grid):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d)) if is_grid else rng.random((n, d))
    X = np.unique(X.astype(float), axis=0)
    least = 1e-6
    truth = {
        (False, *rest)
        for rest in product((False, True), repeat=len(X) - 1)
        if not any(rest) or hull_distance(X, np.array([False, *rest])) > least
    }
    assert leaves_of(X, least) == truth


@pytest.mark.parametrize(("n", "d"), [(70, 1), (25, 2), (14, 3), (9, 5), (4, 6)])
def test_points_in_general_position_have_as_many_splits_as_cover_says(n, d):
    X = np.random.default_rng(0).random((n, d))
    leaves = leaves_of(X, 1e-9)
    assert 2 * len(leaves) - 1 == most_nodes(n, d)


def test_no_split_is_left_where_points_are_too_near():
    X = np.array([[0.0], [0.1], [0.2], [5.0]])
    assert leaves_of(X, 1.0) == {(False,) * 4, (False, False, False, True)}


def test_growing_stops_when_asked_and_tells_how_far_it_is():
    shares = []

    def stop(share):
        shares.append(share)
        return len(shares) == 3

    X = np.random.default_rng(0).random((60, 3))
    assert arrangement_of(X, 1e-9, stop) is None
    assert shares[0] == 0 < shares[1] < shares[2] < 1


def test_errors_of_a_node_are_those_of_its_points():
    rng = np.random.default_rng(0)
    X, units = rng.random((80, 2)), rng.integers(0, 6, (80, 3))
    trees = ArrangedTrees(X, 1e-6, units, arrangement_of(X, 1e-9))
    grown = trees.arrangement
    inside = rng.random(80) < 0.7
    bits = np.unpackbits(grown.side.view(np.uint8), -1, bitorder="little")[..., :80]
    for node in rng.integers(0, len(grown.right), 50):
        truth = sum(
            (weight := units[(side == 1) & inside].sum(axis=0)).sum() - weight.max()
            for side in bits[node]
        )
        assert errors_of(grown, node, pack(inside), trees.classes) == truth
    leaves = np.flatnonzero(grown.right == LEAF)
    truth = min(errors_of(grown, leaf, pack(inside), trees.classes) for leaf in leaves)
    stack = np.zeros(82, dtype=np.int64)
    args = (grown, pack(inside), trees.classes)
    assert fewest_of_a_split(*args, truth + 5, 0, stack)[0] == truth
    assert fewest_of_a_split(*args, truth + 5, leaves[7], stack)[0] == truth
    assert fewest_of_a_split(*args, truth, 0, stack) == (truth, -1)
    assert EMPTY not in grown.right


# ----------------------------------------------------------------- against enumeration


@examples(150)
@given(
    problem=problems((3, 6), classes=4),
    margin=st.sampled_from(MARGINS),
    more=st.sampled_from([np.inf, 1.0]),
)
def test_never_above_the_fewest_errors_of_a_stump(problem, margin, more):
    truth = HardMarginEnumeration(problem, margin).fewest(1)
    enough = np.inf if np.isinf(more) else truth + more
    found = bound_on_all(problem, margin, 1, enough)
    assert found.bound <= truth + 1e-9


@examples(100)
@given(problem=problems((3, 5), classes=4), margin=st.sampled_from(MARGINS))
def test_never_above_the_fewest_errors_at_depth_two(problem, margin):
    truth = HardMarginEnumeration(problem, margin).fewest(2)
    assert bound_on_all(problem, margin, 2).bound <= truth + 1e-9


@examples(50)
@given(problem=problems((4, 6), classes=4, kinds=("grid", "constant")))
def test_meets_the_fewest_errors_on_a_grid(problem):
    unit, units = in_units(problem.weight)
    for depth in (1, 2) if problem.n_rows < 6 else (1,):
        truth = HardMarginEnumeration(problem, 1e-4).fewest(depth)
        found = bound_on_all(problem, 1e-4, depth, truth + 2 * problem.weight.min())
        rounding = (problem.weight - unit * units).sum()
        assert truth - rounding - 1e-9 <= found.bound <= truth + 1e-9
        per_class = np.bincount(problem.y, problem.weight)
        if truth < per_class.sum() - per_class.max() - 1e-9:
            # It was looked for above the truth, and so ended with a tree.
            wrong = wrong_at_margin(problem, problem.into_box(found.tree), 1e-4)
            assert problem.weight[wrong].sum() == pytest.approx(truth, abs=1e-9)


@examples(20)
@given(
    problem=problems((10, 18), features=2, classes=3),
    margin=st.sampled_from(MARGINS[:3]),
)
def test_never_above_a_tree_that_was_found_by_partition(problem, margin):
    """Larger than any enumeration: the two proofs may not contradict each other."""
    space = space_of(problem, margin)
    partitioned = row_partition_bound(
        problem, space, 2, np.inf, clock=Clock(), max_nodes=3000
    )
    arranged = bound_on_all(problem, margin, 2)
    for tree in (partitioned.tree, arranged.tree):
        if tree is not None:
            heap = problem.into_box(tree)
            errors = problem.weight[wrong_at_margin(problem, heap, margin)].sum()
            assert max(arranged.bound, partitioned.bound.value) <= errors + 1e-9


# -------------------------------------------------------------------------- the margin


@pytest.mark.parametrize("gap", [0.02, 0.1, 0.3])
def test_the_margin_decides_exactly_on_a_line(gap):
    X = np.array([0.0, 0.5 - gap / 2, 0.5 + gap / 2, 1.0])[:, None]
    problem = Problem.from_data(X, np.array([0, 0, 1, 1]), 2)
    for depth in (1, 2):
        assert bound_on_all(problem, 0.999 * gap, depth).bound == 0
        assert bound_on_all(problem, 1.001 * gap, depth).bound == 1


def test_a_tree_that_loses_its_margin_loses_a_point():
    """The box binds: hulls may be far enough apart, and yet no hyperplane keeps it."""
    rng = np.random.default_rng(3)
    X = rng.random((12, 2))
    problem = Problem.from_data(X, np.arange(12) % 2, 2)
    margin = 0.08
    truth = HardMarginEnumeration(problem, margin).fewest(1)
    found = bound_on_all(problem, margin, 1)
    without = bound_on_all(problem, 1e-6, 1)
    assert without.bound < found.bound <= truth


@examples(40)
@given(seed=st.integers(0, 10**6))
def test_the_widest_margin_is_bounded_by_its_duals(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.3, 0.3, (9, 2))
    right = X @ rng.normal(size=2) > 0
    plane, most = widest(X, ~right, right)
    score = X @ plane[:-1] - plane[-1]
    assert np.abs(score).max() <= 1 + 1e-7
    apart = np.where(right, score, -score).min()
    assert apart <= most + 1e-9
    assert apart == pytest.approx(most, abs=1e-6)


# ------------------------------------------------------------------------ the way there


def noise(seed: int, n: int, d: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (n, d)).astype(float)
    return Problem.from_data(X, rng.integers(0, 2, n), 2)


@pytest.fixture
def no_roots(monkeypatch):
    """The proof by all splits of the root would come first."""
    monkeypatch.setattr(all_roots, "can_try_roots", lambda space, depth: False)


@pytest.mark.usefixtures("no_roots")
def test_where_the_partition_fails_all_splits_prove_the_errors_and_find_the_tree():
    problem = noise(0, 60, 2)
    partitioned = prove_errors(problem, 1e-3, 2, np.inf, clock=Clock(), max_nodes=2000)
    proof = prove_errors(problem, 1e-3, 2, np.inf, clock=Clock(), max_nodes=4000)
    assert partitioned.bound.value < proof.bound.value
    assert proof.bound.proved_by == "exhaustive search of all splits of the points"
    (everything,) = proof.subsets
    assert everything.errors == proof.bound.value
    assert everything.rows.tolist() == list(range(problem.n_rows))
    heap = problem.into_box(proof.tree)
    wrong = heap.label[heap.leaf_of(problem.scaled)] != problem.y
    assert problem.weight[wrong].sum() == proof.bound.value


def test_jobs_and_hopes_do_not_change_the_bound():
    problem = noise(1, 40, 2)
    bounds = {
        bound_on_all(problem, 1e-3, 2, enough, n_jobs=n_jobs).bound
        for n_jobs, enough in ((None, np.inf), (2, np.inf), (1, 20.0))
    }
    assert len(bounds) == 1
    (bound,) = bounds
    assert bound_on_all(problem, 1e-3, 2, bound).bound == bound
    assert bound_on_all(problem, 1e-3, 2, bound - 1).bound == bound - 1


def test_a_search_that_is_stopped_keeps_what_it_has_proved():
    problem = noise(2, 40, 2)
    truth = bound_on_all(problem, 1e-3, 2).bound
    seen = {}
    for patience in range(100):
        asked = iter(range(patience))
        clock = Clock().heeding(lambda it=asked: next(it, None) is None)
        found = bound_on_all(problem, 1e-3, 2, truth, clock)
        seen[patience] = found.bound
        if found.bound == truth:
            break
    bounds = list(seen.values())
    assert bounds[0] == 0 < truth == bounds[-1]
    assert bounds == sorted(bounds)
    assert len(set(bounds)) > 2  # some are proved on the way


def test_an_arrangement_that_grows_too_slowly_is_given_up():
    problem = noise(3, 50, 2)
    space = space_of(problem, 1e-3)
    found = arrangement_bound(problem, space, 2, np.inf, clock=Clock(0.0))
    assert (found.bound, found.tree, found.nodes) == (0.0, None, 0)


@pytest.mark.usefixtures("no_roots")
def test_a_stop_during_the_growth_keeps_what_the_partition_proved():
    problem = noise(0, 60, 2)
    space = space_of(problem, 1e-3)
    asked = []
    clock = Clock().heeding(lambda: asked.append(1) is not None)
    partitioned = row_partition_bound(
        problem, space, 2, np.inf, clock=clock, max_nodes=4000
    )
    for limit in (None, 1e6):
        left = iter(list(asked))  # the next one to ask is the arrangement
        clock = Clock(limit).heeding(lambda left=left: next(left, None) is None)
        proof = prove_errors(problem, 1e-3, 2, np.inf, clock=clock, max_nodes=4000)
        assert proof.bound.value == partitioned.bound.value > 0


def test_the_errors_of_balanced_classes_are_proved_exactly():
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 6, (30, 2)).astype(float), np.arange(30) < 11
    weight = np.where(y, 30 / 22, 30 / 38)
    problem = Problem.from_data(X, y.astype(np.intp), 2, weight)
    found = bound_on_all(problem, 1e-3, 1)
    wrong = wrong_at_margin(problem, problem.into_box(found.tree), 1e-3)
    assert problem.weight[wrong].sum() == pytest.approx(found.bound, rel=1e-12)


@pytest.mark.parametrize(("n", "d"), [(70, 1), (66, 2)])
def test_points_of_two_words_at_depth_two(n, d):
    """Against every pair of splits below every split of the root."""
    rng = np.random.default_rng(7)
    X = np.unique(rng.random((n, d)), axis=0)
    y = rng.integers(0, 3 if d == 1 else 2, n)
    problem = Problem.from_data(X, y, 3)
    right = np.array(sorted(leaves_of(problem.scaled, 1e-9)))
    onehot = np.eye(3)[problem.y]
    best = np.inf
    for root in right:
        errors = 0.0
        for here in (root, ~root):
            total = onehot[here].sum(axis=0)
            there = right[:, here].astype(float) @ onehot[here]
            most = there.max(axis=1) + (total - there).max(axis=1)
            errors += total.sum() - most.max()
        best = min(best, errors)
    assert bound_on_all(problem, 1e-6, 2).bound == best


def test_too_many_trees_to_look_at_prove_less(monkeypatch):
    problem = noise(1, 40, 2)
    truth = bound_on_all(problem, 1e-3, 2).bound
    for name in ("_MOST_ROOTS", "_MOST_TREES"):
        with monkeypatch.context() as patch:
            patch.setattr(all_splits, name, 0)
            found = bound_on_all(problem, 1e-3, 2, truth + 3)
            assert (found.bound, found.tree) == (truth, None)
    with monkeypatch.context() as patch:
        patch.setattr(arranged_trees, "_MOST_SPLITS", 0)
        assert bound_on_all(problem, 1e-3, 2, truth + 3).bound == truth


def test_weights_are_whole_units_or_rounded_down():
    unit, units = in_units(np.array([0.5, 1.0, 2.5]))
    assert unit == 0.5
    assert units.tolist() == [1, 2, 5]
    unit, units = in_units(np.array([30 / 22, 30 / 38]))
    assert units.tolist() == [19, 11]
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 50)
    unit, units = in_units(weight)
    assert np.all(units * unit <= weight)
    assert np.all(units * unit > weight - 1e-4)


def test_it_is_for_few_points_of_few_features_and_two_levels():
    assert arrangement_fits_memory(215, 3)
    assert not arrangement_fits_memory(468, 4)
    assert not arrangement_fits_memory(20_000, 1)
    space = space_of(random_problem(0, 30, 2, 2, "distinct"), 1e-3)
    assert can_arrange(space, 2)
    assert not can_arrange(space, 3)
    assert not can_arrange(space, 2, max_nodes=100)
    assert not can_arrange(space_of(random_problem(0, 30, 12, 2, "distinct"), 1e-3), 2)
