"""The cheapest labels of leaves that keep all limits, for a fixed routing.

Labels that no limit tells apart are one *kind*, of which a leaf takes the cheapest. So
where all limits concern one label, there are two choices for a leaf and 2^L in all.
They are tried in the order of their costs; up to a hundred thousand of them, then a
small MIP takes over. Floats only sort out: what is returned was counted exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from miptree.constraints.limit import AnyLimit, Limit, Spread
from miptree.constraints.monotone import Order
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray

MOST_VECTORS = 100_000
"""Label vectors that are tried one by one."""
_ROUNDING = 1e-9
"""Relative to the sizes of all terms: the rounding of a sum in floats is less."""
_MIP_NODES = 5000
"""Branch-and-bound nodes of the MIP."""


def best_labels(
    cost: FloatArray,
    tally: AnyArray,
    limits: Sequence[AnyLimit],
    orders: Sequence[Order] = (),
) -> IntArray | None:
    """Return the cheapest labels that keep all limits and orders, None if none do.

    Parameters
    ----------
    cost : float array of shape (L, Y)
        What each label costs at each leaf.
    tally : array of shape (L, C)
        Whole weight of each cell in each leaf.
    limits : sequence of Limit
        What the labels must keep.
    orders : sequence of Order
        Leaves that must have a label where others have it; those that hold no rows
        do not matter.
    """
    label = cost.argmin(axis=1)
    if not limits and not orders:
        return np.asarray(label)
    is_filled = (tally != 0).any(axis=1)
    place = np.cumsum(is_filled) - 1
    among = [
        Order(int(place[first]), int(place[second]), k)
        for first, second, k in orders
        if is_filled[first] and is_filled[second]
    ]
    found = _of_filled(cost[is_filled], tally[is_filled], limits, among)
    if found is None:
        return None
    label[is_filled] = found
    return np.asarray(label)


def _of_filled(
    cost: FloatArray,
    tally: AnyArray,
    limits: Sequence[AnyLimit],
    orders: Sequence[Order],
) -> IntArray | None:
    """Return the best labels of leaves that all hold rows."""
    options = _options(cost, limits, orders)
    if prod(map(len, options)) > MOST_VECTORS:
        return _by_mip(cost, tally, limits, orders, options)
    choice = all_vectors(tuple(map(len, options)))
    label = np.column_stack([o[choice[:, l]] for l, o in enumerate(options)])
    leaf = np.arange(len(cost))
    may_keep = _may_keep(label, tally, limits) & _in_order(label, orders)
    possible = np.flatnonzero(may_keep)
    total = cost[leaf, label[possible]].sum(axis=1)
    for k in possible[np.argsort(total, kind="stable")]:
        if keeps(label[k], tally, limits):
            return np.asarray(label[k])
    return None


def keeps(label: IntArray, tally: AnyArray, limits: Sequence[AnyLimit]) -> bool:
    """Tell whether labels keep all limits, exactly."""
    return all(limit.excess(limit.value(tally, label)) == 0 for limit in limits)


def label_kinds(
    limits: Sequence[AnyLimit], n_classes: int, ordered: Collection[int]
) -> list[IntArray]:
    """Return the labels in kinds: no limit tells two of one kind apart.

    Labels by which leaves are ``ordered`` are kinds of their own.
    """
    kinds: dict[tuple[object, ...], list[int]] = {}
    for k in range(n_classes):
        column = tuple(
            term for limit in limits for one in limit.sums for term in one.whole[:, k]
        )
        own = k if k in ordered else -1
        kinds.setdefault((own, *column), []).append(k)
    return [np.array(kind) for kind in kinds.values()]


def _options(
    cost: FloatArray, limits: Sequence[AnyLimit], orders: Sequence[Order]
) -> list[IntArray]:
    """Return the labels that each leaf may need: the cheapest of each kind."""
    kinds = label_kinds(limits, cost.shape[1], {order.label for order in orders})
    return [
        np.array([kind[of_leaf[kind].argmin()] for kind in kinds]) for of_leaf in cost
    ]


@lru_cache(maxsize=64)
def all_vectors(sizes: tuple[int, ...]) -> IntArray:
    """Return all vectors of numbers below these sizes, one in each row."""
    free = [l for l, size in enumerate(sizes) if size > 1]  # arrays have 64 axes only
    vectors = np.zeros((prod(sizes), len(sizes)), dtype=np.intp)
    if free:
        chosen = np.indices([sizes[l] for l in free])
        vectors[:, free] = chosen.reshape(len(free), -1).T
    return vectors


def _may_keep(
    label: IntArray, tally: AnyArray, limits: Sequence[AnyLimit]
) -> BoolArray:
    """Tell which label vectors keep the limits, but for rounding."""
    possible = np.ones(len(label), dtype=bool)
    weight, leaf = tally.astype(np.float64), np.arange(label.shape[1])
    for limit in limits:
        added = (one.of_leaves(weight)[leaf, label].sum(axis=1) for one in limit.sums)
        value = limit.of_sums(added)
        slip = _ROUNDING * max(_reach(one, weight) for one in limit.sums)
        if limit.lower is not None:
            possible &= value >= float(limit.lower) - slip
        if limit.upper is not None:
            possible &= value <= float(limit.upper) + slip
    return possible


def _reach(limit: Limit, weight: FloatArray) -> float:
    """Return the most that a sum can come to, whatever its signs."""
    most = weight[:, limit.cells] @ np.abs(limit.floats)
    return float(most.max(axis=1).sum())


def _in_order(label: IntArray, orders: Sequence[Order]) -> BoolArray:
    """Tell which label vectors keep all orders."""
    kept = np.ones(len(label), dtype=bool)
    for first, second, k in orders:
        kept &= (label[:, first] != k) | (label[:, second] == k)
    return kept


def _by_mip(
    cost: FloatArray,
    tally: AnyArray,
    limits: Sequence[AnyLimit],
    orders: Sequence[Order],
    options: Sequence[IntArray],
) -> IntArray | None:
    """Choose labels by a MIP whose limits are a little tighter than asked."""
    leaf = np.repeat(np.arange(len(options)), list(map(len, options)))
    label, weight = np.concatenate(options), tally.astype(np.float64)
    one_each = (leaf[None, :] == np.arange(len(options))[:, None]).astype(float)
    of_limits = _limit_rows(leaf, label, weight, limits)
    n_middles = of_limits.rows.shape[1] - len(leaf)
    of_orders = np.zeros((len(orders), of_limits.rows.shape[1]))
    for row, (first, second, k) in enumerate(orders):
        is_from, is_to = leaf == first, leaf == second
        of_orders[row, : len(leaf)] = (label == k) * (is_from * 1.0 - is_to)
    one_each = np.pad(one_each, ((0, 0), (0, n_middles)))
    is_label = np.arange(of_limits.rows.shape[1]) < len(leaf)
    answer = milp(
        np.pad(cost[leaf, label], (0, n_middles)),
        integrality=is_label * 1.0,
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(one_each, 1, 1),
            LinearConstraint(*of_limits),
            LinearConstraint(of_orders, -np.inf, 0.0),
        ],
        options={"node_limit": _MIP_NODES},
    )
    if answer.x is None:
        return None
    chosen = np.flatnonzero(answer.x[is_label] > 0.5)
    found = np.asarray(label[chosen])
    is_whole = np.array_equal(leaf[chosen], np.arange(len(options)))
    is_kept = is_whole and _in_order(found[None], orders).all()
    return found if is_kept and keeps(found, tally, limits) else None


class _Rows(NamedTuple):
    """Rows of a MIP and their limits."""

    rows: FloatArray
    low: FloatArray
    high: FloatArray


def _limit_rows(
    leaf: IntArray, label: IntArray, weight: FloatArray, limits: Sequence[AnyLimit]
) -> _Rows:
    """Return rows for limits, a little tighter than asked.

    Many rates differ by little if all are near to one number between them: the last
    columns are such middles, in parts of 1.
    """
    spreads = [limit for limit in limits if isinstance(limit, Spread)]
    rows, low, high = [], [], []
    for limit in limits:
        for one in limit.sums:
            row = one.of_leaves(weight)[leaf, label]
            slip = 1e-7 * np.abs(row).max(initial=0.0)
            middle = np.array([float(limit is spread) for spread in spreads])
            rows.append(np.append(row, -middle))
            least, most = limit.lower, limit.upper
            if isinstance(limit, Spread):
                least, most = -limit.upper / 2, limit.upper / 2
            low.append(-np.inf if least is None else float(least) + slip)
            high.append(np.inf if most is None else float(most) - slip)
    ends = np.array(low), np.array(high)
    table = np.array(rows).reshape(len(rows), len(leaf) + len(spreads))
    return _Rows(table, np.minimum(*ends), np.maximum(*ends))


def nearest_labels(tally: AnyArray, limits: Sequence[AnyLimit]) -> IntArray:
    """Return labels that come near to keeping limits which no labels keep.

    Leaf after leaf takes the label after which the sum of all excesses, each in parts
    of what its limit is about, is least; twice around.
    """
    weight, leaf = tally.astype(np.float64), np.arange(len(tally))
    added = [[one.of_leaves(weight) for one in limit.sums] for limit in limits]
    label = np.zeros(len(tally), dtype=np.intp)
    for _ in range(2):
        for l in leaf:
            excess = np.zeros(limits[0].sums[0].whole.shape[1])
            for limit, sums in zip(limits, added, strict=True):
                value = limit.of_sums(
                    of_leaf[leaf, label].sum() - of_leaf[l, label[l]] + of_leaf[l]
                    for of_leaf in sums
                )
                size = max(1e-300, *(float(np.abs(of_leaf).sum()) for of_leaf in sums))
                if limit.lower is not None:
                    excess += np.maximum(0.0, float(limit.lower) - value) / size
                if limit.upper is not None:
                    excess += np.maximum(0.0, value - float(limit.upper)) / size
            label[l] = int(excess.argmin())
    return label
