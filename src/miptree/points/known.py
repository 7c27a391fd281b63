"""What a search over root splits knows, for kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.points.evaluate import Reach, Sides
from miptree.points.layout import Space
from miptree.utils.arrays import AnyArray, FloatArray
from miptree.utils.jit import UNCOUNTED

NO_ROOT = -1
"""Number of the root split that sends all rows left."""
# Places in State.number
(
    N_LIVE,
    BEST,
    N_EVALUATED,
    NEXT_BOUND,
    NEXT_FITTING,
    LOWEST,
    N_TRIED,
    SHARE,
    N_SHARES,
) = range(9)
MOST_TRIES = 300
"""Root splits tried because they fit the best tree, until one is better."""


class State(NamedTuple):
    """What is known of the root splits so far.

    ``number`` holds N_LIVE directions with root splits that may be better, the cost of
    the BEST tree, N_EVALUATED root splits, the live ones of the lowest bound
    (NEXT_BOUND) and of the lowest cost with the subtrees of the best tree
    (NEXT_FITTING), the LOWEST bound, N_TRIED fitting ones since the best tree, and
    SHARE of N_SHARES: the directions whose root splits are to be evaluated here have
    the number SHARE modulo N_SHARES.
    """

    number: AnyArray
    margin: FloatArray
    """(1,): sum of the gaps of the best tree, less a lot for each of its columns."""
    tree: AnyArray
    """(3, 3) int64: splits of root, left and right node of the best tree."""
    live: AnyArray
    """(F,) int32: the first N_LIVE are the live directions."""
    bound_left: AnyArray
    """(M,): bounds on the cost of the left sides; endless where a root split is none,
    as a side has no rows, and where it is evaluated."""
    bound_right: AnyArray
    """(M,): the same of the right sides."""
    fitting: AnyArray
    """(M,): cost of each root split with the subtrees of the best tree."""
    order: AnyArray
    """(M + 1,) int32: the first N_EVALUATED are those evaluated, in order."""
    reach: Reach
    sides: Sides
    left: AnyArray
    """(n,) bool: rows on the left of the one evaluated last."""
    total: AnyArray
    """(M * Y,): weight of each class up to each bin, of all rows."""
    sums: AnyArray
    """(S,) int64: penalties that the splits of a tree may have in sum."""
    grain: AnyArray
    """(1,) int64: the costs of all rows are multiples of it."""


@njit(**UNCOUNTED)
def endless(state: State) -> int:
    """Return more than any tree costs."""
    return np.iinfo(state.bound_left.dtype).max // 4


@njit(**UNCOUNTED)
def is_live(state: State, root: int) -> bool:
    """Tell whether a root split has rows on both sides and was not evaluated."""
    return state.bound_left[root] < endless(state)


@njit(**UNCOUNTED)
def weight_upto(space: Space, state: State, f: int, b: int) -> int:
    """Return the weight of all rows up to bin b of direction f."""
    n_bins, n_classes = space.n_bins[f], state.sides.weight.shape[1]
    weight = 0
    for y in range(n_classes):
        weight += state.total[space.offset[f] * n_classes + y * n_bins + b]
    return weight
