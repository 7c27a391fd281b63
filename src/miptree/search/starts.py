"""Cheap start trees: constant, CART, greedy L1-SVM tree, one logistic split.

They are always in the pool, so that the search is never worse than any of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from miptree.data.problem import Problem
from miptree.objective.leaf_labels import leaf_cost, relabel
from miptree.search.greedy_planes import Greedy
from miptree.tree import LEAF, HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

LARGEST_CART = 200_000
"""Rows above which growing CART takes longer than finding a better tree."""

_GROWN_ON = 20_000
"""Rows on which the other trees are grown above that."""


def start_trees(problem: Problem, depth: int) -> list[HeapTree]:
    """Grow all cheap start trees for a problem, on a sample if it is very large."""
    # More BLAS threads save nothing on so few rows, and wait long for a busy core.
    with threadpool_limits(1, user_api="blas"):
        return _grown_starts(problem, depth)


def _grown_starts(problem: Problem, depth: int) -> list[HeapTree]:
    # Without open features there are subset splits only.
    linear = (logistic_tree, greedy_svm_tree) if problem.n_open else ()
    if problem.n_rows > LARGEST_CART:
        rng = np.random.default_rng(0)
        few = problem.subset(rng.choice(problem.n_rows, _GROWN_ON, replace=False))
        grown = [grow(few, depth) for grow in linear]
        boxed = [problem.into_box(tree) for tree in grown]
        return [constant_tree(problem, depth), *boxed]
    starts = (constant_tree, *linear, cart_tree)
    return [grow(problem, depth) for grow in starts]


def constant_tree(problem: Problem, depth: int) -> HeapTree:
    """Return a tree that predicts the cheapest class everywhere."""
    n_branch = 2**depth - 1
    everywhere = leaf_cost(problem, np.zeros(problem.n_rows, dtype=np.intp), 1)
    cheapest = int(everywhere.argmin())
    return HeapTree(
        np.zeros((n_branch, problem.n_features)),
        np.ones(n_branch),
        np.full(n_branch + 1, cheapest, dtype=np.intp),
    )


def cart_tree(problem: Problem, depth: int) -> HeapTree:
    """Grow scikit-learn's CART of the given depth, in scaled units."""
    tree = grown_cart(problem.scaled, *targets(problem), depth)
    return relabel(problem, problem.into_box(tree.to_heap(depth)))


def grown_cart(
    X: FloatArray, y: IntArray, weight: FloatArray, depth: int, min_leaf: int = 1
) -> ObliqueTree:
    """Grow scikit-learn's CART on weighted rows."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        max_depth=depth, min_samples_leaf=min_leaf, random_state=0
    )
    grown = model.fit(X, y, sample_weight=weight).tree_
    coef = np.zeros((grown.node_count, X.shape[1]))
    branch = np.flatnonzero(grown.children_left != LEAF)
    coef[branch, grown.feature[branch]] = 1.0
    return ObliqueTree(
        grown.children_left.astype(np.intp),
        grown.children_right.astype(np.intp),
        coef,
        np.where(grown.children_left != LEAF, grown.threshold, 0.0),
        model.classes_[grown.value[:, 0].argmax(axis=1)].astype(np.intp),
    )


def greedy_svm_tree(problem: Problem, depth: int, C: float = 10.0) -> HeapTree:
    """Grow a tree from the root by 1-norm SVMs between two groups of classes.

    Of the hyperplanes for the groupings, the one of least entropy is taken.
    """
    from sklearn.svm import LinearSVC

    model = LinearSVC(
        penalty="l1", dual=False, C=C, tol=1e-3, max_iter=200, random_state=0
    )
    return _grow(problem, depth, depth, model)


def logistic_tree(problem: Problem, depth: int) -> HeapTree:
    """Split once, by logistic regression between two groups of classes."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=100.0, max_iter=200)
    return _grow(problem, depth, 1, model)


def targets(problem: Problem) -> tuple[IntArray, FloatArray]:
    """Return a class and a weight for each row, for methods without class costs."""
    if problem.class_cost is None:
        return problem.y, problem.weight
    costs = problem.class_cost
    spread = costs.mean(axis=1) - costs.min(axis=1)
    return costs.argmin(axis=1), np.maximum(spread, 1e-12 * max(spread.max(), 1e-12))


def _grow(problem: Problem, depth: int, levels: int, model: Any) -> HeapTree:
    """Grow a heap tree whose upper ``levels`` levels a linear classifier splits."""
    heap = constant_tree(problem, depth)
    greedy = Greedy(problem.open_scaled, *targets(problem), model, problem.max_features)
    for b, (coef, threshold) in greedy.planes(levels).items():
        heap.coef[b, : problem.n_open], heap.threshold[b] = coef, threshold
    return relabel(problem, problem.into_box(heap))
