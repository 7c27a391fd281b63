"""The arrays of a search: data, the LPs at hand, and what each level keeps of them."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from miptree.proof.routes.structures import Structure
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import AnyArray, FloatArray, IntArray, WordArray

MOST_OPTIONS = 8
MAY_USE, EXCLUDED, KEPT = 0, 1, 2
"""What is known of a hyperplane and a feature, where few features may be used: nothing;
it does not use it; it is one of the few that it may use."""


class Data(NamedTuple):
    """What never changes. ``n`` points, ``m = d + 1``, ``B`` splits, ``L`` leaves.

    The splits are the hyperplanes of the structure; its subset splits, which have no
    LPs, are numbered on their own.
    """

    Z: FloatArray
    """(n, m): points (x, -1)."""
    ZT: FloatArray
    """(m, n): the same, transposed."""
    least: FloatArray
    """(n, 2**L): cost of the cheapest leaf of each mask."""
    following: FloatArray
    """(n, 2**L): least cost above that, infinite without."""
    cheap: IntArray
    """(n, 2**L): the cheapest leaves of each mask, as bits."""
    root_cost: FloatArray
    """(n,): least cost within the first mask."""
    apart: FloatArray
    """(n,): distance to the nearest point that wants another leaf."""
    C: FloatArray
    distance: FloatArray
    determined: IntArray
    """(2, 2**L): splits that all leaves of a mask pass on the left, right, as bits."""
    first_mask: IntArray
    """(n,)"""
    values: IntArray
    """(n_categorical, n): number of each point's value of every feature."""
    subset_leaves: IntArray
    """(n_subsets, 2): the leaves left and right of each subset split, as bits."""
    box: float
    """1 / eps, the largest abs(score) of a point at any split."""
    most_features: int
    """Features that a hyperplane may use, d without a limit."""
    unavoidable: float
    """What all points cost at their cheapest labels, rounded down."""


class Lps(NamedTuple):
    """LPs of all splits (see :mod:`lp`), and what their columns were made from."""

    inverse: FloatArray
    y: FloatArray
    q: FloatArray
    cap: FloatArray
    near: FloatArray
    """(B, 2, n): distance to the nearest point surely on this side of this split."""
    basis: IntArray
    place: IntArray
    partner: IntArray
    """(B, 2, n): that point, or -1."""
    age: IntArray
    """(B, 1): steps since the last refactoring."""
    stale: IntArray
    """(B, 1): 1 if the LP may not be solved, as columns or caps have changed."""
    seen: IntArray
    """(1, n): masks that the columns were made for."""
    chosen: IntArray
    """(1, n): splits at which a point's envelope has columns, as bits."""
    boxed: IntArray
    """(B, m): points of the columns of the box, from 1, with the signs of these."""
    sign: AnyArray
    hard: AnyArray
    over: AnyArray
    free: AnyArray
    """(B, m): 1 if the slack of a feature has no cap, as the split leaves it out."""
    score: FloatArray
    """(n,): room in which an LP is solved, as the next ones."""
    gains: FloatArray
    """(n,)"""
    column: FloatArray
    """(m,)"""
    matrix: FloatArray
    """(m, m)"""


class Rows(NamedTuple):
    """The memory of LPs, one row for each level: copied as it is."""

    floats: FloatArray
    ints: IntArray
    flags: AnyArray


class Levels(NamedTuple):
    """One row for each level of the search."""

    mask: IntArray
    """(levels, n): leaves open to each point, as bits."""
    feature: IntArray
    """(levels, n_subsets): what each subset split splits, -1 where that is open."""
    use: IntArray
    """(levels, B * d): MAY_USE, EXCLUDED or KEPT, for each hyperplane and feature; no
    columns without a limit."""
    branch_kind: IntArray
    branch_split: IntArray
    """The subset split of a branch on its feature, or on a point's value; the
    hyperplane of one on whether it uses a feature."""
    branch_point: IntArray
    option: IntArray
    """(levels, MOST_OPTIONS): masks of the children; or the feature that is used."""
    n_options: IntArray
    current: IntArray
    mode: IntArray
    used: WordArray
    """(levels, words): points whose masks the proof of the level refers to, and after
    them subset splits whose features it does. Where few features may be used, m bits
    for each hyperplane follow: excluded ones that it refers to, and then whether it
    refers to all those kept."""
    trail_start: IntArray
    trace_start: IntArray
    """(levels, 3): events, masks, entries written before the level."""
    child_start: IntArray


class Trail(NamedTuple):
    """Options closed in the levels at hand, with what is needed to prove it again."""

    point: IntArray
    bits: IntArray
    snapshot: IntArray
    start: IntArray
    """First row in ``change`` and ``change_split``."""
    change: FloatArray
    """(., m + 2): what is added to a margin's, a hard side's and the basic columns."""
    change_split: IntArray
    snap_q: FloatArray
    snap_basis: IntArray
    snap_partner: IntArray
    snap_boxed: IntArray


class Log(NamedTuple):
    """What is recorded, from the last event to the first."""

    event: IntArray
    mask: IntArray
    entry: IntArray


def make_data(
    problem: RouteProblem, structure: Structure, first_mask: IntArray
) -> Data:
    """Return the constant arrays of a search."""
    Z = np.column_stack([problem.X, np.full(problem.n_points, -1.0)])
    leaf_cost = problem.cost[:, structure.label]
    least, following, cheap = cost_tables(leaf_cost)
    wanted = leaf_cost.argmin(axis=1)
    is_other = leaf_cost[:, wanted] > leaf_cost.min(axis=1)[:, None]
    apart = np.where(is_other, problem.distance, 1.0).min(axis=1)
    arrays = (
        Z, Z.T, least, following, cheap, least[np.arange(len(Z)), first_mask], apart,
        problem.C, problem.distance, determined_splits(structure), first_mask,
        value_numbers(problem.values), subset_leaves(structure),
    )  # fmt: skip
    # All alike in memory, or the kernels would be compiled more than once.
    constants = problem.box, problem.most_features, problem.unavoidable
    return Data._make([*map(np.ascontiguousarray, arrays), *constants])


def cost_tables(leaf_cost: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the least cost, the next one and the cheapest leaves of every mask."""
    n_leaves = leaf_cost.shape[1]
    bits = 1 << np.arange(n_leaves)
    has_leaf = np.arange(1 << n_leaves)[:, None] & bits > 0
    cost = np.where(has_leaf, leaf_cost[:, None, :], np.inf)
    least = cost.min(axis=2)
    is_cheap = has_leaf & (cost == least[:, :, None])
    following = np.where(is_cheap, np.inf, cost).min(axis=2)
    return least, following, (is_cheap * bits).sum(axis=2)


def value_numbers(values: IntArray) -> IntArray:
    """Return (n_categorical, n): values of each feature, numbered through from 0."""
    found = np.zeros(values.shape, dtype=np.int64)
    for feature, own in enumerate(values):
        found[feature] = np.unique(own, return_inverse=True)[1]
    return found


def subset_leaves(structure: Structure) -> IntArray:
    """Return (n_subsets, 2): the leaves left and right of subset splits, as bits."""
    bits = 1 << np.arange(structure.n_leaves, dtype=np.int64)
    side = structure.side[structure.is_subset]
    return np.column_stack([(side == s) @ bits for s in (-1, 1)])


def determined_splits(structure: Structure) -> IntArray:
    """Return (2, 2**L): hyperplanes that all leaves of a mask pass on the left, right.

    They are numbered without the subset splits.
    """
    own = structure.side[~structure.is_subset]
    determined = np.zeros((2, 1 << structure.n_leaves), dtype=np.int64)
    for mask in range(1, 1 << structure.n_leaves):
        leaves = [k for k in range(structure.n_leaves) if mask >> k & 1]
        for b in range(len(own)):
            for k, side in enumerate((-1, 1)):
                if (own[b, leaves] == side).all():
                    determined[k, mask] |= 1 << b
    return determined


def make_rows(n: int, m: int, n_splits: int, levels: int) -> Rows:
    """Return the memory of so many levels of LPs."""
    floats, ints, flags = (sum(map(prod, part)) for part in _shapes(n, m, n_splits))
    return Rows(
        np.zeros((levels, floats)),
        np.zeros((levels, ints), dtype=np.int64),
        np.zeros((levels, flags), dtype=np.int8),
    )


def view_lps(rows: Rows, n: int, m: int, n_splits: int) -> Lps:
    """Return the LPs in the first of some rows."""
    arrays: list[AnyArray] = []
    for memory, shapes in zip(rows, _shapes(n, m, n_splits), strict=True):
        first = 0
        for shape in shapes:
            end = first + prod(shape)
            arrays.append(memory[0, first:end].reshape(shape))
            first = end
    room = ((n,), (n,), (m,), (m, m))
    return Lps._make([*arrays, *map(np.zeros, room)])


def _shapes(n: int, m: int, B: int) -> list[list[tuple[int, ...]]]:
    """Return the shapes of the arrays of LPs: floats, ints and flags."""
    columns = 2 * (n + m)
    return [
        [(B, m, m), (B, m), (B, columns), (B, n), (B, 2, n)],
        [(B, m), (B, columns), (B, 2, n), (B, 1), (B, 1), (1, n), (1, n), (B, m)],
        [*[(B, n)] * 3, (B, m)],
    ]


def make_levels(levels: int, n: int, n_subsets: int, uses: tuple[int, int]) -> Levels:
    """Return empty rows for so many levels.

    ``uses`` are the hyperplanes and features of ``Levels.use``.
    """
    n_bits = n + n_subsets + (uses[0] * (uses[1] + 1) if uses[1] else 0)

    def ints(*shape: int) -> IntArray:
        return np.zeros((levels, *shape), dtype=np.int64)

    return Levels(
        ints(n), ints(n_subsets) - 1, ints(uses[0] * uses[1]), ints(), ints(),
        ints(), ints(MOST_OPTIONS), ints(), ints(), ints(),
        np.zeros((levels, (n_bits + 63) // 64), dtype=np.uint64),
        ints(), ints(3), ints(3),
    )  # fmt: skip


def make_trail(n: int, m: int, B: int, records: int, changes: int, snaps: int) -> Trail:
    """Return an empty trail with room for so many records, changes and snapshots."""

    def ints(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    return Trail(
        ints(records), ints(records), ints(records), ints(records),
        np.zeros((changes, m + 2)), ints(changes), np.zeros((snaps, B, 2 * (n + m))),
        ints(snaps, B, m), ints(snaps, B, 2, n), ints(snaps, B, m),
    )  # fmt: skip


def grown(arrays: tuple[AnyArray, ...], n: int) -> list[AnyArray]:
    """Return the arrays with room for n rows."""
    out = []
    for old in arrays:
        new = np.zeros((n, *old.shape[1:]), dtype=old.dtype)
        new[: len(old)] = old
        out.append(new)
    return out
