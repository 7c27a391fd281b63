"""What every tree costs at least: the argument of the proof.

Let best(S) be the least that a subtree costs on a set S of rows. A set costs at least
what another set A costs, less the most that the rows of A outside of it can cost:

    best(S) >= best(A) - worst(A without S).

For the best subtree of S, used for all of A, costs best(S) on the rows of S and at most
``worst`` on the others. So every **anchor** A bounds both sides of every root split. A
proof file names root splits whose sides are good anchors; what they cost is computed
here. With a minimum leaf size the argument holds only for ``best`` without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .deadline import check_time
from .nodes import Anchor
from .space import CHUNK, NEVER, Space, best_stumps

MOST_SUMS = 100_000
"""Sums of penalties that are listed."""


class Least(NamedTuple):
    """Lower bounds on the cost of trees: of any leaf size, and of the minimum one."""

    free: int
    strict: int


def least_cost(
    space: Space, depth: int, anchors: Sequence[Anchor], enough: int | None = None
) -> Least:
    """Bound the cost of every tree on the rows of a space.

    Parameters
    ----------
    space : Space
    depth : int
        Depth of the trees, 1 to 3.
    anchors : sequence of Anchor
        Root splits whose sides are used as anchors.
    enough : int, optional
        No bound above it is sought.
    """
    if depth == 1:
        everything = np.ones((1, len(space.cost)), dtype=bool)
        found = [best_stumps(space, everything, m)[0, 0] for m in (False, True)]
        return Least(*map(int, found))
    masks = np.array([space.left_of(anchor) for anchor in anchors], dtype=bool)
    masks = masks.reshape(len(anchors), len(space.cost))
    free, strict = _sides(space, depth, anchors, masks)
    if enough is None:
        dearest = int(space.splits.penalty.max(initial=0))
        enough = int(strict.sum(axis=0).min(initial=NEVER)) + dearest
        enough = min(enough, space.leaf(True))
    bound = root_bounds(space, masks, free, enough)
    reachable = Reachable(space, depth)
    any_size = min(space.leaf(False), int(bound.min(initial=NEVER)))
    bound = _with_minimum(space, masks, strict, bound)
    minimum_size = min(space.leaf(True), int(bound.min(initial=NEVER)))
    found = [reachable.at_least(min(b, enough)) for b in (any_size, minimum_size)]
    return Least(*found)


def _sides(
    space: Space, depth: int, anchors: Sequence[Anchor], masks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return twice (2, a): what the sides of anchors cost, of any and minimum leaf."""
    if depth == 2:
        free = best_stumps(space, masks, False)
        strict = free if space.min_leaf == 1 else best_stumps(space, masks, True)
        return free, strict
    found = np.zeros((2, 2, len(anchors)), dtype=np.int64)
    for a, (anchor, mask) in enumerate(zip(anchors, masks, strict=True)):
        for side, (rows, below) in enumerate(
            [(mask, anchor.left), (~mask, anchor.right)]
        ):
            if rows.any():
                part = space.part(np.flatnonzero(rows))
                found[:, side, a] = least_cost(part, depth - 1, below)
    return found[0], found[1]


def root_bounds(
    space: Space, masks: np.ndarray, best: np.ndarray, enough: int
) -> np.ndarray:
    """Return (m,): what trees of each root split cost at least, by all anchors.

    Root splits that reach ``enough`` are not looked at any further.
    """
    splits, number = space.splits, space.number
    worst = space.cost.max(axis=1).astype(number)
    bound = np.zeros((2, len(splits)), dtype=np.int64)
    live = np.arange(len(splits))
    for start in range(0, len(masks), CHUNK):
        part = slice(start, start + CHUNK)
        inside = np.ascontiguousarray((masks[part] * worst).T)
        totals = inside.sum(axis=0), worst.sum() - inside.sum(axis=0)
        costs = best[:, part].astype(number)
        for block in splits.blocks(inside.shape[1], len(live)):
            check_time(space.deadline)
            some = live[block]
            left = splits.left(some).astype(number)
            of_sets = left @ inside
            for a, reach in enumerate((of_sets, (left @ worst)[:, None] - of_sets)):
                missing = (totals[a] - reach, reach)  # on the left, on the right
                for side in range(2):
                    found = (costs[a] - missing[side]).max(axis=1).astype(np.int64)
                    bound[side, some] = np.maximum(bound[side, some], found)
        live = live[bound[:, live].sum(axis=0) + splits.penalty[live] < enough]
    return np.asarray(bound.sum(axis=0) + splits.penalty)


def _with_minimum(
    space: Space, masks: np.ndarray, strict: np.ndarray, bound: np.ndarray
) -> np.ndarray:
    """Raise bounds where the minimum leaf size says more of a root split itself."""
    if space.min_leaf == 1:
        return bound
    bound, total = bound.copy(), space.count.sum()
    for block in space.splits.blocks(1):
        rows = space.splits.left(block) @ space.count
        too_few = np.minimum(rows, total - rows) < space.min_leaf
        bound[block][too_few] = NEVER
    for mask, costs in zip(masks, strict.T, strict=True):
        place = space.splits.find(mask)
        if place is not None:
            cost = min(NEVER, int(costs.sum()) + int(space.splits.penalty[place]))
            bound[place] = max(bound[place], cost)
    return bound


class Reachable:
    """Costs that a tree can have: a multiple of the grain, and penalties of its splits.

    Parameters
    ----------
    space : Space
    depth : int
        Depth of the tree, which has up to 2**depth - 1 splits.
    """

    def __init__(self, space: Space, depth: int) -> None:
        self.grain = int(np.gcd.reduce(space.cost, axis=None)) or 1
        prices = np.unique(np.append(space.splits.penalty, 0))
        sums = np.zeros(1, dtype=np.int64)
        for _ in range(2**depth - 1):
            if len(sums) * len(prices) > 50 * MOST_SUMS or len(sums) > MOST_SUMS:
                self.grain, sums = 1, np.zeros(1, dtype=np.int64)
                break
            sums = np.unique(np.add.outer(sums, prices))
        self.sums = sums

    def at_least(self, bound: int) -> int:
        """Return the least cost that a tree can have at or above a bound."""
        missing = np.maximum(0, bound - self.sums)
        return int((self.sums + -(-missing // self.grain) * self.grain).min())
