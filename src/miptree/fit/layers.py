"""Selection redone at the nodes of every layer, as branching rules are learned.

The 'natural extension' of the paper's conclusion: the splits learned so far are applied
to *all* rows, and each node below selects anew among the rows that reach it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from miptree.control.clock import Clock
from miptree.control.threads import apart
from miptree.data.problem import Problem
from miptree.fit.plan import Plan
from miptree.fit.progress import FitCallback
from miptree.fit.train import train_incumbent
from miptree.selection import (
    SelectionContext,
    Selector,
    adapted,
    get_selector,
    select_rows,
)
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import IntArray

SELECT_SHARE = 0.3
"""Part of the time of a round or node after which choosing its rows should end."""


@dataclass(frozen=True)
class PerLayer:
    """A selection that is made again at every node below the root.

    Parameters
    ----------
    selector : str or Selector
        How rows are chosen at a node.
    """

    selector: str | Selector


def resolved(
    selection: str | Selector | PerLayer, seed: int, n_jobs: int
) -> Selector | PerLayer:
    """Give a selection by name its selector."""
    if isinstance(selection, PerLayer):
        return PerLayer(get_selector(selection.selector, seed, n_jobs))
    return get_selector(selection, seed, n_jobs)


def train_layers(
    problem: Problem,
    tree: ObliqueTree,
    plan: Plan,
    selection: PerLayer,
    clock: Clock,
    listeners: Sequence[FitCallback] = (),
) -> ObliqueTree:
    """Train the subtrees of a tree again, layer by layer, on rows chosen at each node.

    A subtree is replaced where that lowers the objective on the rows that reach it.

    Parameters
    ----------
    problem : Problem
        All rows.
    tree : ObliqueTree
        Its root split stays.
    plan : Plan
        Its depth is that of the whole tree.
    selection : PerLayer
        How rows are chosen at each node.
    clock, listeners
        As for :func:`~miptree.fit.train.train`.
    """
    heap = problem.to_scaled(tree, plan.depth)
    for node in range(1, 2**plan.depth - 1):
        rows = _rows_at(problem, heap, node)
        if len(np.unique(problem.y[rows])) < 2:
            continue
        if clock.is_over:
            break
        here = problem.subset(rows)
        depth = plan.depth - _layer(node)
        old = here.to_user(subtree(heap, node))
        new = _train_node(
            here, old, replace(plan, depth=depth), selection, clock, listeners
        )
        if _value(here, plan, new) < _value(here, plan, old):
            graft(heap, node, here.to_scaled(new, depth))
    return problem.to_user(heap).prune(problem.X)


def _train_node(
    here: Problem,
    old: ObliqueTree,
    plan: Plan,
    selection: PerLayer,
    clock: Clock,
    listeners: Sequence[FitCallback],
) -> ObliqueTree:
    turn = clock.share(0.5 / 2**plan.depth)
    clock = turn.share(SELECT_SHARE)
    context = SelectionContext(plan.objective, plan.depth, clock, plan.max_iter)
    selector = get_selector(selection.selector, plan.seed, plan.n_jobs)
    selector = adapted(selector, context)
    chosen = apart(lambda: select_rows(selector, here, old))
    if isinstance(plan.init, ObliqueTree):
        plan = replace(plan, init=old)
    subset = here.subset(chosen.rows, chosen.weight)
    trained = train_incumbent(subset, plan, turn, listeners)
    trees = [trained.tree, *chosen.trees]
    return min(trees, key=lambda tree: _value(here, plan, tree))


def _value(here: Problem, plan: Plan, tree: ObliqueTree) -> float:
    return plan.objective.evaluate(here, tree).objective


def _rows_at(problem: Problem, heap: HeapTree, node: int) -> IntArray:
    tree = ObliqueTree.from_heap(heap)
    passes = tree.ancestors[tree.apply(problem.scaled)]
    return np.flatnonzero(passes[:, node])


def _layer(node: int) -> int:
    return (node + 1).bit_length() - 1


def _subtree_nodes(node: int, depth: int) -> list[int]:
    """Return the heap numbers of a subtree, in the order of a heap of its own."""
    nodes, layer = [], [node]
    for _ in range(depth + 1):
        nodes += layer
        layer = [child for b in layer for child in (2 * b + 1, 2 * b + 2)]
    return nodes


def subtree(heap: HeapTree, node: int) -> HeapTree:
    """Return the tree below a node, in arrays of its own."""
    depth = heap.depth - _layer(node)
    nodes = np.array(_subtree_nodes(node, depth))
    n_branch, whole = 2**depth - 1, len(heap.threshold)
    branch, leaf = nodes[:n_branch], nodes[n_branch:] - whole
    return HeapTree(heap.coef[branch], heap.threshold[branch], heap.label[leaf])


def graft(heap: HeapTree, node: int, below: HeapTree) -> None:
    """Put a tree in the place of the subtree below a node, in place."""
    nodes = np.array(_subtree_nodes(node, below.depth))
    n_branch, whole = len(below.threshold), len(heap.threshold)
    branch, leaf = nodes[:n_branch], nodes[n_branch:] - whole
    heap.coef[branch], heap.threshold[branch] = below.coef, below.threshold
    heap.label[leaf] = below.label
