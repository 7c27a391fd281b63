"""Cheap start trees: constant, CART, greedy L1-SVM tree, one logistic split.

They are always in the pool, so that the search is never worse than any of them.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import entr

from miptree.data.problem import Problem
from miptree.objective.leaf_labels import leaf_cost, relabel
from miptree.tree import LEAF, HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

LARGEST_CART = 200_000
"""Rows above which growing CART takes longer than finding a better tree."""

_GROWN_ON = 20_000
"""Rows on which the other trees are grown above that."""

_LARGEST_FIT = 2_000
"""Rows that a linear fit of a greedy split sees."""

_MOST_CLASSES = 12
"""Classes that a greedy split looks at: the heaviest ones."""

_MOST_GROUPED = 4
"""Classes of which all groupings in two are tried."""

Plane = tuple[FloatArray, float]


def start_trees(problem: Problem, depth: int) -> list[HeapTree]:
    """Grow all cheap start trees for a problem, on a sample if it is very large."""
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
    from sklearn.tree import DecisionTreeClassifier

    y, weight = _targets(problem)
    model = DecisionTreeClassifier(max_depth=depth, random_state=0)
    grown = model.fit(problem.scaled, y, sample_weight=weight).tree_
    coef = np.zeros((grown.node_count, problem.n_features))
    branch = np.flatnonzero(grown.children_left != LEAF)
    coef[branch, grown.feature[branch]] = 1.0
    tree = ObliqueTree(
        grown.children_left.astype(np.intp),
        grown.children_right.astype(np.intp),
        coef,
        np.where(grown.children_left != LEAF, grown.threshold, 0.0),
        model.classes_[grown.value[:, 0].argmax(axis=1)].astype(np.intp),
    )
    return relabel(problem, problem.into_box(tree.to_heap(depth)))


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


def _targets(problem: Problem) -> tuple[IntArray, FloatArray]:
    """Return a class and a weight for each row, for methods without class costs."""
    if problem.class_cost is None:
        return problem.y, problem.weight
    costs = problem.class_cost
    spread = costs.mean(axis=1) - costs.min(axis=1)
    return costs.argmin(axis=1), np.maximum(spread, 1e-12 * max(spread.max(), 1e-12))


def _grow(problem: Problem, depth: int, levels: int, model: Any) -> HeapTree:
    """Grow a heap tree whose upper ``levels`` levels a linear classifier splits."""
    n_branch = 2**depth - 1
    heap = constant_tree(problem, depth)
    at_node = {0: np.arange(problem.n_rows)}
    for b in range(n_branch):
        rows = at_node.pop(b)
        plane = None if b >= 2**levels - 1 else _best_split(problem, rows, model)
        right = np.zeros(len(rows), dtype=bool)
        if plane is not None:
            heap.coef[b, : problem.n_open], heap.threshold[b] = plane
            right = problem.open_scaled[rows] @ plane[0] > plane[1]
        at_node[2 * b + 1], at_node[2 * b + 2] = rows[~right], rows[right]
    return relabel(problem, problem.into_box(heap))


def _best_split(problem: Problem, rows: IntArray, model: Any) -> Plane | None:
    """Find the purest split between two groups of classes, None at a pure node."""
    y, weight = _targets(problem)
    if len(rows) > _LARGEST_FIT:
        rows = np.random.default_rng(0).choice(rows, _LARGEST_FIT, replace=False)
    X, y, weight = problem.open_scaled[rows], y[rows], weight[rows]
    best, best_impurity, most = None, np.inf, problem.max_features
    for group in _groupings(X, y, weight):
        side, relative = np.where(np.isin(y, group), 1, -1), weight / weight.mean()
        coef, threshold = _plane(model, X, side, relative)
        if most is not None and most < problem.n_open:
            used = np.argsort(-np.abs(coef), kind="stable")[:most]
            coef = np.zeros_like(coef)
            coef[used], threshold = _plane(model, X[:, used], side, relative)
        right = X @ coef > threshold
        impurity = _impurity(y[right], weight[right]) + _impurity(
            y[~right], weight[~right]
        )
        if impurity < best_impurity:
            best, best_impurity = (coef, threshold), impurity
    return best


def _groupings(X: FloatArray, y: IntArray, weight: FloatArray) -> list[IntArray]:
    """List groups of classes to tell from the rest: all groups if there are few.

    Otherwise they are the single classes, and the first classes, of any number, in the
    order along the line on which the means differ most.
    """
    mass = np.bincount(y, weight)
    classes = np.argsort(-mass, kind="stable")[: min(_MOST_CLASSES, (mass > 0).sum())]
    if len(classes) < 2:
        return []
    if len(classes) <= _MOST_GROUPED:
        sizes = range(1, len(classes))
        groups = (np.array(g) for k in sizes for g in combinations(classes, k))
        # Of a group and its complement, the one with the heaviest class.
        return [group for group in groups if group[0] == classes[0]]
    order = _in_a_row(X, y, weight, classes)
    singles = [classes[k : k + 1] for k in range(len(classes))]
    return singles + [order[:k] for k in range(2, len(order) - 1)]


def _in_a_row(
    X: FloatArray, y: IntArray, weight: FloatArray, classes: IntArray
) -> IntArray:
    """Order the classes along the first principal axis of their means."""
    share = np.where(y == classes[:, None], weight, 0.0)
    mass = share.sum(axis=1, keepdims=True)
    means = share @ X / mass
    centred = np.sqrt(mass) * (means - np.average(X, axis=0, weights=weight))
    within = X - means[np.argmax(y == classes[:, None], axis=0)]
    spread = within.std(axis=0) + 1e-9
    axis = np.linalg.svd(centred / spread, full_matrices=False)[2][0] / spread
    return classes[np.argsort(means @ axis, kind="stable")]


def _impurity(y: IntArray, weight: FloatArray) -> float:
    """Return the entropy of the classes times the weight of the rows.

    Unlike Gini's index it prefers to halve four equal classes to splitting one off.
    """
    mass = np.bincount(y, weight)
    return float(entr(mass).sum() - entr(mass.sum()))


def _plane(model: Any, X: FloatArray, side: IntArray, weight: FloatArray) -> Plane:
    """Fit a linear classifier; one that has not converged will do for a start."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, side, sample_weight=weight)
    coef: FloatArray = model.coef_[0].astype(np.float64)
    return coef, -float(model.intercept_[0])
