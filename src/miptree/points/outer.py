"""Kernels of a search over root splits whose subtrees are solved outside of them."""

from __future__ import annotations

from numba import njit

from miptree.points.anchors import absorb
from miptree.points.evaluate import evaluate
from miptree.points.known import State
from miptree.points.layout import Rows, Space
from miptree.points.roots import begin_root, set_fitting
from miptree.utils.arrays import AnyArray
from miptree.utils.jit import KERNEL, UNCOUNTED_KERNEL


@njit(**KERNEL)
def open_root(
    space: Space, rows: Rows, state: State, root: int
) -> tuple[int, int, int]:
    """Find the rows on both sides of a root split, and their weights up to all others.

    Returns its direction, its last bin on the left and the first on the right.
    """
    split = begin_root(space, rows, state, root)
    evaluate(space, rows, state.total, state.left, 1, state.reach, state.sides)
    return split


@njit(**UNCOUNTED_KERNEL)
def close_root(space: Space, state: State, cost_left: int, cost_right: int) -> None:
    """Bound all root splits by lower bounds on the cost of the sides of the last."""
    absorb(space, state, cost_left, cost_right)


@njit(**KERNEL)
def fit_roots(space: Space, rows: Rows, state: State, cost: AnyArray) -> None:
    """Find the cost of all root splits with subtrees in which rows cost so much."""
    set_fitting(space, rows, cost, state.fitting)
