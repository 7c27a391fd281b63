"""The cheapest labels of leaves that keep all limits, for a fixed routing.

Labels that no limit tells apart are one *kind*, of which a leaf takes the cheapest. So
where all limits concern one label, there are two choices for a leaf and 2^L in all.
They are tried in the order of their costs; up to a hundred thousand of them, then a
small MIP takes over. Floats only sort out: what is returned was counted exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from miptree.constraints.limit import Limit
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray

MOST_VECTORS = 100_000
"""Label vectors that are tried one by one."""
_ROUNDING = 1e-9
"""Relative to the sizes of all terms: the rounding of a sum in floats is less."""
_MIP_NODES = 5000
"""Branch-and-bound nodes of the MIP."""


def best_labels(
    cost: FloatArray, tally: AnyArray, limits: Sequence[Limit]
) -> IntArray | None:
    """Return the cheapest labels that keep all limits, None if none do.

    Parameters
    ----------
    cost : float array of shape (L, Y)
        What each label costs at each leaf.
    tally : array of shape (L, C)
        Whole weight of each cell in each leaf.
    limits : sequence of Limit
        What the labels must keep.
    """
    if not limits:
        return np.asarray(cost.argmin(axis=1))
    options = _options(cost, tally, limits)
    if np.prod([float(len(o)) for o in options]) > MOST_VECTORS:
        return _by_mip(cost, tally, limits, options)
    choice = all_vectors(tuple(map(len, options)))
    label = np.column_stack([o[choice[:, l]] for l, o in enumerate(options)])
    leaf = np.arange(len(cost))
    possible = np.flatnonzero(_may_keep(label, tally, limits))
    total = cost[leaf, label[possible]].sum(axis=1)
    for k in possible[np.argsort(total, kind="stable")]:
        if keeps(label[k], tally, limits):
            return np.asarray(label[k])
    return None


def keeps(label: IntArray, tally: AnyArray, limits: Sequence[Limit]) -> bool:
    """Tell whether labels keep all limits, exactly."""
    return all(limit.excess(limit.value(tally, label)) == 0 for limit in limits)


def label_kinds(limits: Sequence[Limit]) -> list[IntArray]:
    """Return the labels in kinds: no limit tells two of one kind apart."""
    n_classes = limits[0].terms.shape[1]
    kinds: dict[tuple[object, ...], list[int]] = {}
    for k in range(n_classes):
        column = tuple(term for limit in limits for term in limit.terms[:, k])
        kinds.setdefault(column, []).append(k)
    return [np.array(kind) for kind in kinds.values()]


def _options(
    cost: FloatArray, tally: AnyArray, limits: Sequence[Limit]
) -> list[IntArray]:
    """Return the labels that each leaf may need: the cheapest of each kind."""
    kinds = label_kinds(limits)
    empty = [not of_leaf.any() for of_leaf in tally]
    return [
        np.array([of_leaf.argmin()])
        if empty[l]
        else np.array([kind[of_leaf[kind].argmin()] for kind in kinds])
        for l, of_leaf in enumerate(cost)
    ]


@lru_cache(maxsize=64)
def all_vectors(sizes: tuple[int, ...]) -> IntArray:
    """Return all vectors of numbers below these sizes, one in each row."""
    return np.indices(sizes).reshape(len(sizes), -1).T


def _may_keep(label: IntArray, tally: AnyArray, limits: Sequence[Limit]) -> BoolArray:
    """Tell which label vectors keep the limits, but for rounding."""
    possible = np.ones(len(label), dtype=bool)
    weight, leaf = tally.astype(np.float64), np.arange(label.shape[1])
    for limit in limits:
        value = (weight @ limit.floats)[leaf, label].sum(axis=1)
        slip = _ROUNDING * float((weight @ np.abs(limit.floats)).max(axis=1).sum())
        if limit.lower is not None:
            possible &= value >= float(limit.lower) - slip
        if limit.upper is not None:
            possible &= value <= float(limit.upper) + slip
    return possible


def _by_mip(
    cost: FloatArray,
    tally: AnyArray,
    limits: Sequence[Limit],
    options: Sequence[IntArray],
) -> IntArray | None:
    """Choose labels by a MIP whose limits are a little tighter than asked."""
    leaf = np.repeat(np.arange(len(options)), list(map(len, options)))
    label, weight = np.concatenate(options), tally.astype(np.float64)
    one_each = (leaf[None, :] == np.arange(len(options))[:, None]).astype(float)
    rows = np.array([(weight @ limit.floats)[leaf, label] for limit in limits])
    slip = 1e-7 * np.abs(rows).max(axis=1, initial=0.0)
    low = [-np.inf if m.lower is None else float(m.lower) for m in limits] + slip
    high = [np.inf if m.upper is None else float(m.upper) for m in limits] - slip
    answer = milp(
        cost[leaf, label],
        integrality=np.ones(len(leaf)),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(one_each, 1, 1),
            LinearConstraint(rows, np.minimum(low, high), np.maximum(low, high)),
        ],
        options={"node_limit": _MIP_NODES},
    )
    if answer.x is None:
        return None
    chosen = np.flatnonzero(answer.x > 0.5)
    found = np.asarray(label[chosen])
    is_whole = np.array_equal(leaf[chosen], np.arange(len(options)))
    return found if is_whole and keeps(found, tally, limits) else None


def nearest_labels(tally: AnyArray, limits: Sequence[Limit]) -> IntArray:
    """Return labels that come near to keeping limits which no labels keep.

    Leaf after leaf takes the label after which the sum of all excesses, each in parts
    of what its limit is about, is least; twice around.
    """
    weight, leaf = tally.astype(np.float64), np.arange(len(tally))
    added = [weight @ limit.floats for limit in limits]
    label = np.zeros(len(tally), dtype=np.intp)
    for _ in range(2):
        for l in leaf:
            excess = np.zeros(limits[0].terms.shape[1])
            for limit, of_leaf in zip(limits, added, strict=True):
                others = of_leaf[leaf, label].sum() - of_leaf[l, label[l]]
                value = others + of_leaf[l]
                size = max(float(np.abs(of_leaf).sum()), 1e-300)
                if limit.lower is not None:
                    excess += np.maximum(0.0, float(limit.lower) - value) / size
                if limit.upper is not None:
                    excess += np.maximum(0.0, value - float(limit.upper)) / size
            label[l] = int(excess.argmin())
    return label
