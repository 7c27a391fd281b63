"""Trees grown split by split, where some splits are fixed or may use some columns only.

A root is searched for among the columns that it may use, then the trees below it, each
on the rows of its side. A search of all splits at once does not see such rules.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from miptree.constraints.features import AllowFeatures
from miptree.constraints.fixed_split import FixedSplit
from miptree.constraints.places import depth_of, is_below
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.layers import graft
from miptree.fit.plan import Plan
from miptree.objective.leaf_labels import relabel
from miptree.search import search
from miptree.search.starts import constant_tree
from miptree.tree import HeapTree
from miptree.utils.arrays import BoolArray

ROOTS = 3
"""Roots below which trees are grown."""


def has_layers(rules: Rules) -> bool:
    """Tell whether some splits are fixed, or may use other columns than the rest."""
    return _is_told_apart(rules, 0, depth=64)


def regrown(
    problem: Problem, plan: Plan, rules: Rules, n_iter: int, seed: int, clock: Clock
) -> list[HeapTree]:
    """Return trees whose splits use the columns that they may, in scaled units.

    Each search makes ``n_iter`` iterations.
    """
    return [
        problem.into_box(tree)
        for tree in _grown(problem, plan, rules, 0, n_iter, seed, clock)
    ]


def _grown(
    problem: Problem,
    plan: Plan,
    rules: Rules,
    node: int,
    n_iter: int,
    seed: int,
    clock: Clock,
) -> list[HeapTree]:
    """Return trees for a place, whose last layers may be left to one search."""
    depth = plan.depth - depth_of(node)
    is_last = not _is_told_apart(rules, node, depth)
    roots = _fixed_roots(problem, rules, node)
    if not roots:
        found = search(
            _masked(problem, rules, node),
            plan.objective,
            depth if is_last else 1,
            clock=clock.counting(n_iter),
            seed=seed,
            n_jobs=plan.n_jobs,
        )
        is_top = node == 0 and not is_last
        roots = found.trees[: ROOTS if is_top else 1]
        if is_top:
            roots += _random_cuts(_masked(problem, rules, node), seed)
    if is_last or depth == 1:
        return roots
    return [
        _below(problem, plan, rules, node, root, n_iter, seed, clock)
        for root in roots
        if not clock.is_over
    ]


def _random_cuts(problem: Problem, seed: int) -> list[HeapTree]:
    """Return two splits of one column each, the first with the fewest rows on a side.

    A root may not use the columns that help, but the splits below it may: without a
    root there would be none, and one that leaves nearly all rows on a side lets a split
    below have them.
    """
    rng, cuts = np.random.default_rng(seed), []
    values = [np.unique(column) for column in problem.open_scaled.T]
    varied = [j for j, found in enumerate(values) if len(found) > 1]
    for is_extreme in (True, False) if varied else ():
        j = int(rng.choice(varied))
        gaps = np.arange(len(values[j]) - 1)
        gap = int(rng.choice(gaps[[0, -1]] if is_extreme else gaps))
        cut = constant_tree(problem, 1)
        cut.coef[0, j] = 1.0
        cut.threshold[0] = values[j][gap : gap + 2].mean()
        cuts.append(relabel(problem, cut))
    return cuts


def _fixed_roots(problem: Problem, rules: Rules, node: int) -> list[HeapTree]:
    """Return the split that is fixed at a place, if one is, as a tree."""
    found = []
    for split in rules.fixed:
        if split.node == node:
            root = constant_tree(problem, 1)
            root.coef[0], root.threshold[0] = split.scaled_coef, split.scaled_threshold
            found.append(relabel(problem, root))
    return found


def _below(
    problem: Problem,
    plan: Plan,
    rules: Rules,
    node: int,
    root: HeapTree,
    n_iter: int,
    seed: int,
    clock: Clock,
) -> HeapTree:
    """Grow a tree on each side of a root."""
    heap = constant_tree(problem, plan.depth - depth_of(node))
    heap.coef[0], heap.threshold[0] = root.coef[0], root.threshold[0]
    right = root.leaf_of(problem.scaled) == 1
    for side, rows in ((1, np.flatnonzero(~right)), (2, np.flatnonzero(right))):
        if len(np.unique(problem.y[rows])) > 1 and not clock.is_over:
            here, place = problem.subset(rows), 2 * node + side
            grown = _grown(here, plan, rules, place, n_iter, seed, clock)
            if grown:
                graft(heap, side, grown[0])
    return heap


def _masked(problem: Problem, rules: Rules, node: int) -> Problem:
    """Return the problem with columns that a split may not use made constant."""
    allowed = np.ones(problem.n_features, dtype=bool)
    for constraint in rules.constraints:
        if isinstance(constraint, AllowFeatures) and constraint.is_about(node):
            allowed &= constraint.allowed(rules.columns)
    opened = np.arange(problem.n_features) < problem.n_open
    return problem if allowed.all() else without_columns(problem, ~allowed & opened)


def without_columns(problem: Problem, out: BoolArray) -> Problem:
    """Return a problem with some columns made constant, so that no split needs them."""
    X = problem.X.copy()
    X[:, out] = problem.offset[out]
    return replace(problem, X=X)


def _is_told_apart(rules: Rules, node: int, depth: int) -> bool:
    """Tell whether a constraint is about a place, or one up to a depth below it."""
    lowest = depth_of(node) + depth
    for constraint in rules.constraints:
        if isinstance(constraint, (AllowFeatures, FixedSplit)):
            place = constraint.node
            if place is not None and is_below(place, node):
                return True
        if isinstance(constraint, AllowFeatures) and constraint.depth is not None:
            if depth_of(node) <= constraint.depth < lowest:
                return True
    return False
