"""Trees grown layer by layer, where splits of a depth may use some columns only.

A root is searched for among the columns that it may use, then the trees below it, each
on the rows of its side. A search of all splits at once does not see such rules.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from miptree.constraints.features import AllowFeatures
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.layers import graft
from miptree.fit.plan import Plan
from miptree.search import search
from miptree.search.starts import constant_tree
from miptree.tree import HeapTree

ROOTS = 3
"""Roots below which trees are grown."""


def has_layers(rules: Rules) -> bool:
    """Tell whether splits of some depth may use other columns than the rest."""
    return _deepest(rules) >= 0


def regrown(
    problem: Problem, plan: Plan, rules: Rules, n_iter: int, seed: int, clock: Clock
) -> list[HeapTree]:
    """Return trees whose splits use the columns that they may, in scaled units.

    Each search makes ``n_iter`` iterations.
    """
    return [
        problem.into_box(tree)
        for tree in _grown(problem, plan, rules, plan.depth, n_iter, seed, clock)
    ]


def _grown(
    problem: Problem,
    plan: Plan,
    rules: Rules,
    depth: int,
    n_iter: int,
    seed: int,
    clock: Clock,
) -> list[HeapTree]:
    """Return trees of a depth, of which the last layers may be left to one search."""
    layer = plan.depth - depth
    here = _masked(problem, rules, layer)
    is_last = layer > _deepest(rules)
    found = search(
        here,
        plan.objective,
        depth if is_last else 1,
        clock=clock.counting(n_iter),
        seed=seed,
        n_jobs=plan.n_jobs,
    )
    if is_last or depth == 1:
        return found.trees[:1]
    roots = found.trees[: ROOTS if layer == 0 else 1]
    return [
        _below(problem, plan, rules, depth, root, n_iter, seed, clock)
        for root in roots
        if not clock.is_over
    ]


def _below(
    problem: Problem,
    plan: Plan,
    rules: Rules,
    depth: int,
    root: HeapTree,
    n_iter: int,
    seed: int,
    clock: Clock,
) -> HeapTree:
    """Grow a tree of a depth on each side of a root."""
    heap = constant_tree(problem, depth)
    heap.coef[0], heap.threshold[0] = root.coef[0], root.threshold[0]
    right = root.leaf_of(problem.scaled) == 1
    for node, rows in ((1, np.flatnonzero(~right)), (2, np.flatnonzero(right))):
        if len(np.unique(problem.y[rows])) > 1 and not clock.is_over:
            side = problem.subset(rows)
            grown = _grown(side, plan, rules, depth - 1, n_iter, seed, clock)
            if grown:
                graft(heap, node, grown[0])
    return heap


def _masked(problem: Problem, rules: Rules, layer: int) -> Problem:
    """Return the problem with columns that a layer may not use made constant."""
    allowed = np.ones(problem.n_features, dtype=bool)
    for constraint in rules.constraints:
        if isinstance(constraint, AllowFeatures) and constraint.is_about(layer):
            allowed &= constraint.allowed(rules.columns)
    opened = np.arange(problem.n_features) < problem.n_open
    if allowed.all():
        return problem
    X = problem.X.copy()
    X[:, ~allowed & opened] = problem.offset[~allowed & opened]
    return replace(problem, X=X)


def _deepest(rules: Rules) -> int:
    """Return the largest depth that a constraint is about, -1 without any."""
    return max(
        (
            constraint.depth
            for constraint in rules.constraints
            if isinstance(constraint, AllowFeatures) and constraint.depth is not None
        ),
        default=-1,
    )
