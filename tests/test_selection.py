"""Selectors: their contract, Algorithm 1, balanced, cover, (5) and T(lambda)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from _data import blobs, examples, problems, random_heap
from miptree.data.problem import Problem
from miptree.mip.solvers import Limits
from miptree.search.starts import cart_tree
from miptree.selection import (
    SELECTORS,
    AutoSelection,
    BalancedSelection,
    CoverSelection,
    HullSelection,
    Selector,
    StratifiedSelection,
    UniformSelection,
    balanced_selection,
    get_selector,
    greedy_cover,
    hull_membership,
    leaf_clusters,
    solve_selection,
    transform_weights,
)
from miptree.selection.balanced import n_covered
from miptree.selection.clusters import distance_to_splits
from miptree.selection.cover import robust_spread
from miptree.tree import ObliqueTree

ALL: list[Selector] = [
    HullSelection(),
    HullSelection(beta1=0.4, beta2=0.3, cap=False),
    HullSelection(eps=0.2),
    BalancedSelection(max_points=8),
    CoverSelection(),
    CoverSelection(share=0.3, transfer=False),
    StratifiedSelection(),
    StratifiedSelection(0.3, reweight=True, seed=3),
    UniformSelection(0.3, seed=3),
    AutoSelection(max_iter=3),
]


def any_tree(problem: Problem, seed: int) -> ObliqueTree:
    return problem.to_user(random_heap(problem, 2, np.random.default_rng(seed)))


# ---------------------------------------------------------------------- contract


@pytest.mark.parametrize("selector", ALL, ids=repr)
@given(problem=problems(rows=(2, 25)), seed=st.integers(0, 99))
@examples(8)
def test_rows_are_distinct_and_weights_positive(
    selector: Selector, problem: Problem, seed: int
) -> None:
    tree = any_tree(problem, seed)
    found = selector.select(problem, tree)
    assert (np.diff(found.rows) > 0).all()
    assert 0 < len(found) <= problem.n_rows
    assert len(found) == len(found.weight) == len(found.covering)
    assert (found.weight > 0).all()
    again = selector.select(problem, tree)
    assert np.array_equal(found.rows, again.rows)
    assert np.array_equal(found.weight, again.weight)


@pytest.mark.parametrize("selector", ALL[:1] + ALL[3:-2], ids=repr)
def test_no_cluster_is_lost(selector: Selector) -> None:
    problem, tree = blobs()
    chosen = selector.select(problem, tree).rows
    for cluster in leaf_clusters(problem, tree):
        assert np.isin(cluster.rows, chosen).any()


@pytest.mark.parametrize("selector", ALL, ids=repr)
@pytest.mark.parametrize("kind", ["one row", "constant", "line", "cube", "conflict"])
def test_degenerate_data(selector: Selector, kind: str) -> None:
    X = {
        "one row": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "constant": np.column_stack([np.ones(12), np.arange(12.0)]),
        "line": np.arange(12.0)[:, None] * [[1.0, 2.0]],
        "cube": np.array(list(itertools.product([0.0, 1.0], repeat=4))),
        "conflict": np.repeat(np.arange(6.0), 2)[:, None] * [[1.0, -1.0]],
    }[kind]
    problem = Problem.from_data(X, np.arange(len(X)) % 2, 2)
    tree = problem.to_user(cart_tree(problem, 1))
    assert len(selector.select(problem, tree)) > 0


def test_names_give_selectors() -> None:
    problem, tree = blobs(60)
    for name in SELECTORS:
        assert len(get_selector(name, seed=1).select(problem, tree))
    with pytest.raises(ValueError, match="'auto', 'hull'"):
        get_selector("best")


def test_clusters_are_the_classes_in_the_leaves() -> None:
    problem, tree = blobs()
    clusters = leaf_clusters(problem, tree)
    rows = np.concatenate([c.rows for c in clusters])
    assert np.array_equal(np.sort(rows), np.arange(problem.n_rows))
    leaf = tree.apply(problem.X)
    for cluster in clusters:
        assert (leaf[cluster.rows] == cluster.leaf).all()
        assert len(np.unique(problem.y[cluster.rows])) == 1
    right = leaf_clusters(problem, tree, correct_only=True)
    kept = np.sort(np.concatenate([c.rows for c in right]))
    assert np.array_equal(kept, np.flatnonzero(tree.predict(problem.X) == problem.y))


# ------------------------------------------------------------------- Algorithm 1


def test_algorithm_1_selects_the_hull_of_a_full_cluster() -> None:
    problem, tree = blobs(3000)
    selector = HullSelection(beta1=0.3, beta2=0.01)
    cluster = max(leaf_clusters(problem, tree), key=lambda c: len(c.rows))
    found = selector.select(problem, tree, [cluster])
    hull = hull_membership(problem.scaled[cluster.rows])
    assert np.array_equal(found.rows, np.sort(cluster.rows[hull.extreme]))


@pytest.mark.parametrize("cap", [True, False])
def test_algorithm_1_takes_j_or_fills_it_up(cap: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    problem = Problem.from_data(X, np.zeros(400, int), 2)
    tree = any_tree(problem, 1)
    (cluster, *_) = sorted(leaf_clusters(problem, tree), key=lambda c: -len(c.rows))
    hull = hull_membership(problem.scaled[cluster.rows])
    J = np.unique(hull.weights.indices[hull.weights.data >= (1 - 1e-9) / 7])
    n = len(cluster.rows)
    assert 0 < len(J) < len(hull.extreme)
    few, many = 0.5 * len(J) / n, (len(J) + 5.5) / n
    found = HullSelection(0.1, few, cap=cap).select(problem, tree, [cluster])
    assert found.covering.all()
    assert np.isin(found.rows, cluster.rows[J]).all()
    assert len(found) == (math.ceil(few * n) if cap else len(J))
    filled = HullSelection(0.1, many, cap=cap).select(problem, tree, [cluster])
    assert filled.covering.sum() == len(J)
    assert len(filled) == len(J) + 6
    near = distance_to_splits(problem, tree, cluster)
    K = np.setdiff1d(hull.extreme, J)
    chosen = np.isin(cluster.rows[K], filled.rows)
    assert near[K][chosen].max() <= near[K][~chosen].min()


def test_duplicates_count_but_are_selected_once() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.3]], [1, 5, 20, 4], 0)
    problem = Problem.from_data(X, np.zeros(len(X), int), 2)
    tree = any_tree(problem, 0).prune(problem.X[:1])
    found = HullSelection(beta1=0.2, beta2=0.05).select(problem, tree)
    assert sorted(found.weight) == [1, 5, 20]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta1": 0.0}, r"beta1 must lie in \(0, 1\), got 0.0"),
        ({"beta2": 1.0}, r"beta2 must lie in \(0, 1\)"),
        ({"eps": -1.0}, "eps must be finite and >= 0"),
        ({"beta1": 0.9, "beta2": 0.5}, r"below \(d \+ 1\) \* \(1 - beta1\)"),
    ],
)
def test_algorithm_1_refuses_bad_parameters(
    parameters: dict[str, float], message: str
) -> None:
    problem, tree = blobs(30)
    with pytest.raises(ValueError, match=message):
        HullSelection(**parameters).select(problem, tree)


@pytest.mark.parametrize(
    "make",
    [
        lambda: StratifiedSelection(0.0),
        lambda: CoverSelection(eps=-1.0),
        lambda: CoverSelection(share=1.5),
        lambda: AutoSelection(share=2.0),
        lambda: BalancedSelection(max_points=2),
    ],
)
def test_other_selectors_refuse_bad_parameters(make: object) -> None:
    with pytest.raises(ValueError, match="must"):
        make()


# ------------------------------------------------------------ (5), Theorem 4, T()


@given(seed=st.integers(0, 2**20), n=st.integers(2, 8), d=st.integers(1, 2))
@examples(25)
def test_theorem_4_part_1(seed: int, n: int, d: int) -> None:
    """With f = 0, g = 1, eps' = 0, (5) covers as many points as (7)."""
    X = np.unique(np.random.default_rng(seed).integers(0, 4, (n, d)), axis=0) * 1.0
    exact, hull = solve_selection(X), hull_membership(X)
    assert -exact.objective == pytest.approx(hull.inside.sum())
    assert exact.covered.tolist() == hull.inside.tolist()


def test_theorem_4_part_2_is_false() -> None:
    """Three points near each other: (7) covers all, (5) can cover but two."""
    X = np.array([[0.0], [0.1], [0.2]])
    assert hull_membership(X, eps=0.2).inside.all()
    exact = solve_selection(X, eps=0.2)
    assert exact.covered.sum() == 2
    assert exact.bound == pytest.approx(-2)


def test_prices_steer_the_selection() -> None:
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0]])
    assert solve_selection(X).covered.tolist() == [False, False, False, True]
    assert not solve_selection(X, f=1.0).selected.any()
    dear = solve_selection(X, f=1.0, g=[1, 1, 1, 5])
    assert dear.selected.tolist() == [True, True, True, False]
    assert dear.weights[[3]].toarray() @ X == pytest.approx(X[[3]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.zeros((301, 1))}, "at most 300"),
        ({"X": [[0.0], [1.0]], "f": [-1.0, 0.0]}, "f must be finite and >= 0"),
        ({"X": [[0.0], [1.0]], "g": [1.0]}, "each of the 2 points"),
    ],
)
def test_exact_selection_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve_selection(**arguments)


def test_transformation_replaces_inside_points() -> None:
    """On a line 2 is between 1 and 3, 1 between 0 and 2, 3 between 2 and 4."""
    lam = np.zeros((5, 5))
    lam[2, [1, 3]] = lam[1, [0, 2]] = lam[3, [2, 4]] = 0.5
    inside = np.array([False, True, True, True, False])
    found = transform_weights(sparse.csr_array(lam), inside).toarray()
    assert (found[:, 1:4] == 0).all()
    assert found @ np.arange(5) == pytest.approx([0, 1, 2, 3, 0])
    assert found.sum(axis=1) == pytest.approx(1.0 * inside)


def test_transformation_does_not_exist_for_duplicates() -> None:
    swap = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(ValueError, match="express each other"):
        transform_weights(swap, np.ones(2, dtype=bool))


# ---------------------------------------------------------------------- balanced


@given(seed=st.integers(0, 2**20), n=st.integers(1, 9), d=st.integers(1, 2))
@examples(25)
def test_balanced_against_the_exact_optimum(seed: int, n: int, d: int) -> None:
    X = np.unique(np.random.default_rng(seed).integers(0, 4, (n, d)), axis=0) * 1.0
    found = balanced_selection(X)
    best = solve_selection(X, 1.0, 1.0)
    hull = hull_membership(X)
    used = len(np.unique(hull.weights.indices))
    assert found.objective >= best.objective - 1e-6
    assert found.objective <= min(0, used - hull.inside.sum()) + 1e-6
    assert found.objective == found.selected.sum() - found.covered.sum()
    kept = np.flatnonzero(found.selected)
    off = found.weights.toarray()[found.covered] @ X - X[found.covered]
    assert np.abs(off).max(initial=0.0) < 1e-6
    assert np.isin(found.weights.indices, kept).all()


def test_balanced_remark_is_false() -> None:
    """b' = 0 is optimal for the LP (9) although the point is a combination."""
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0]])
    assert hull_membership(X).inside[3]
    from miptree.selection.selection_mip import selection_model, solve_01

    relaxed = selection_model(X, 1.0, 1.0, relaxed=True)
    _, x, bound = solve_01(relaxed, Limits())
    nothing = np.zeros(relaxed.n_variables)
    assert bound == pytest.approx(relaxed.objective(nothing))
    assert x[relaxed.variables["b"]][3] == pytest.approx(0)


def test_large_clusters_are_dealt_out_and_not_worse_than_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(700, 2))
    problem = Problem.from_data(X, np.zeros(700, int), 2)
    tree = any_tree(problem, 0).prune(problem.X[:1])
    chosen = BalancedSelection(max_points=8).select(problem, tree).rows
    assert n_covered(problem.scaled, chosen) - len(chosen) > 600


# ------------------------------------------------------------------------- cover


@given(
    seed=st.integers(0, 2**20),
    n=st.integers(1, 60),
    d=st.integers(1, 4),
    eps=st.sampled_from([0.0, 0.1, 0.5, 2.0]),
)
@examples(60)
def test_every_dropped_point_is_covered(seed: int, n: int, d: int, eps: float) -> None:
    X = np.random.default_rng(seed).normal(size=(n, d)).round(1)
    kept, weights = greedy_cover(X, eps)
    dense = weights.toarray()
    assert np.isin(weights.indices, kept).all()
    assert dense.sum(axis=1) == pytest.approx(np.ones(n))
    assert (np.abs(dense @ X - X) <= eps + 1e-7).all()
    if eps == 0:
        assert set(hull_membership(X).extreme) <= set(kept)


def test_transferred_weights_add_up_and_shares_hold() -> None:
    problem, tree = blobs(1000)
    found = CoverSelection(share=0.05).select(problem, tree)
    assert found.weight.sum() == pytest.approx(problem.weight.sum())
    assert len(found) <= 0.05 * problem.n_rows
    own = CoverSelection(share=0.05, transfer=False).select(problem, tree)
    assert np.array_equal(own.rows, found.rows)
    assert np.array_equal(own.weight, problem.weight[own.rows])


def test_an_outlier_does_not_stretch_the_units_of_the_cover() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    far = np.vstack([X, [[1e6, 1e6]]])
    assert robust_spread(far) == pytest.approx(robust_spread(X), rel=0.05)
