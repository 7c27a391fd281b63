"""The best threshold of one split under constraints, with all labels chosen anew.

As a threshold moves past one row after the other, what each leaf adds to each limit and
to the cost changes by that row alone. So for all thresholds and all choices of labels
these sums are running sums, and the cheapest choice that keeps the limits is seen at
once. Sums are floats here: what is found is counted exactly where it is offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from miptree.constraints.best_labels import all_vectors, label_kinds
from miptree.constraints.limit import AnyLimit
from miptree.constraints.rules import Rules
from miptree.data.labels import plain_costs
from miptree.data.problem import Problem
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

MOST_VECTORS = 256
"""Choices of labels up to which all are tried."""
MOST_CUTS = 1000
"""Thresholds that are tried, evenly spread over the rows where there are more."""
_SLIP = 1e-12


class _Sweep(NamedTuple):
    """The rows that reach a split, in the order of their scores."""

    rows: IntArray
    score: FloatArray
    to_left: IntArray
    to_right: IntArray
    places: IntArray

    def sums(self, others: FloatArray, value: FloatArray) -> FloatArray:
        """Return (cuts, L, K): what leaves add up to at each threshold.

        ``others`` (L, K) is of the rows that do not reach the split, ``value`` (n, K)
        what each of those that do adds to its leaf.
        """
        n_leaves, each = len(others), np.arange(len(self.rows))
        moves = np.zeros((len(each), n_leaves, value.shape[1]))
        moves[each, self.to_left] += value
        moves[each, self.to_right] -= value
        all_right = others.copy()
        np.add.at(all_right, self.to_right, value)
        return np.asarray(all_right + np.cumsum(moves, axis=0)[self.places])


def best_cut(
    problem: Problem, rules: Rules, heap: HeapTree, node: int
) -> HeapTree | None:
    """Return a tree with the best threshold at one node, None where none keeps all.

    Parameters
    ----------
    problem, rules
        The rows and the constraints.
    heap : HeapTree
        In scaled units; its labels do not matter.
    node : int
        A split by a hyperplane.
    """
    sweep = _sweep(problem, heap, node)
    n_leaves, limits = len(heap.label), rules.limits
    kinds = label_kinds(limits, problem.n_classes, rules.ordered_labels(heap.coef))
    if sweep is None or len(kinds) ** n_leaves > MOST_VECTORS:
        return None
    vectors = all_vectors((len(kinds),) * n_leaves)
    cost = _total(_kind_costs(problem, heap, sweep, kinds), vectors)
    allowed = _full_leaves(rules, heap, sweep, problem)[:, None] & _kept(
        problem, rules, heap, sweep, kinds, vectors
    )
    cost[~allowed] = np.inf
    place = int(cost.min(axis=1).argmin())
    if not np.isfinite(cost[place]).any():
        return None
    tree, k = heap.copy(), int(sweep.places[place])
    tree.threshold[node] = 0.5 * (sweep.score[k] + sweep.score[k + 1])
    return problem.into_box(tree)


def _sweep(problem: Problem, heap: HeapTree, node: int) -> _Sweep | None:
    if problem.is_subset_split(heap.coef[[node]])[0] or not heap.coef[node].any():
        return None
    whole = ObliqueTree.from_heap(heap)
    rows = np.flatnonzero(whole.ancestors[whole.apply(problem.scaled)][:, node])
    score = problem.scaled[rows] @ heap.coef[node]
    order = np.argsort(score, kind="stable")
    rows, score = rows[order], score[order]
    places = np.flatnonzero(score[:-1] < score[1:])
    if not len(places):
        return None
    if len(places) > MOST_CUTS:
        places = places[np.linspace(0, len(places) - 1, MOST_CUTS).astype(np.intp)]
    sides = []
    for threshold in (1.0, -1.0):
        tree = heap.copy()
        tree.coef[node], tree.threshold[node] = 0.0, threshold
        sides.append(tree.leaf_of(problem.scaled[rows]))
    return _Sweep(rows, score, sides[0], sides[1], places)


def _sums(
    problem: Problem, heap: HeapTree, sweep: _Sweep, value: FloatArray
) -> FloatArray:
    """Return (cuts, L, K) of values (n, K) of all rows."""
    others = np.zeros((len(heap.label), value.shape[1]))
    elsewhere = np.ones(problem.n_rows, dtype=bool)
    elsewhere[sweep.rows] = False
    if elsewhere.any():
        leaf = heap.leaf_of(problem.scaled[elsewhere])
        np.add.at(others, leaf, value[elsewhere])
    return sweep.sums(others, value[sweep.rows])


def _kind_costs(
    problem: Problem, heap: HeapTree, sweep: _Sweep, kinds: list[IntArray]
) -> FloatArray:
    """Return (cuts, L, kinds): cost of the cheapest label of each kind."""
    cost = problem.class_cost
    if cost is None:
        cost = plain_costs(problem.y, problem.weight, problem.n_classes)
    sums = _sums(problem, heap, sweep, cost)
    return np.stack([sums[:, :, kind].min(axis=2) for kind in kinds], axis=2)


def _kept(
    problem: Problem,
    rules: Rules,
    heap: HeapTree,
    sweep: _Sweep,
    kinds: list[IntArray],
    vectors: IntArray,
) -> BoolArray:
    """Return (cuts, vectors): where all limits are kept."""
    kept = np.ones((len(sweep.places), len(vectors)), dtype=bool)
    first = [kind[0] for kind in kinds]
    for limit in rules.limits:
        totals = (
            _total(_sums(problem, heap, sweep, value), vectors)
            for value in _of_rows(limit, rules, first)
        )
        total = limit.of_sums(totals)
        if limit.lower is not None:
            kept &= total >= float(limit.lower) - _SLIP
        if limit.upper is not None:
            kept &= total <= float(limit.upper) + _SLIP
    return kept


def _of_rows(limit: AnyLimit, rules: Rules, labels: list[int]) -> Iterator[FloatArray]:
    """Give for each sum of a limit (n, labels): what each row adds."""
    population = rules.population
    weight = population.groups.weight.astype(np.float64)[:, None]
    for one in limit.sums:
        of_cell = np.zeros((population.n_cells, len(labels)))
        of_cell[one.cells] = one.floats[:, labels]
        yield weight * of_cell[population.cell]


def _full_leaves(
    rules: Rules, heap: HeapTree, sweep: _Sweep, problem: Problem
) -> BoolArray:
    """Return (cuts,): where no leaf that holds rows is too small."""
    full = np.ones(len(sweep.places), dtype=bool)
    for size, least in rules.leaf_sizes:
        in_leaf = _sums(problem, heap, sweep, size.astype(np.float64)[:, None])[:, :, 0]
        full &= ((in_leaf < 0.5) | (in_leaf >= float(least) - _SLIP)).all(axis=1)
    return full


def _total(sums: FloatArray, vectors: IntArray) -> FloatArray:
    """Return (cuts, vectors): the sums of the leaves with these kinds of labels."""
    total = np.zeros((len(sums), len(vectors)))
    for leaf in range(sums.shape[1]):
        total += sums[:, leaf, vectors[:, leaf]]
    return total
