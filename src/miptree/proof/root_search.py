"""Kernel that searches the splits of the root for a tree of depth 2 with few errors.

Every tree with the margin has a root that keeps a small distance from all points, after
its threshold has moved (:meth:`miptree.proof.space.Space.min_distance_moved`). So every
point has a side, an error as well, and it is enough to decide on sides: one point after
the other, and those for which the hulls leave one side only. The points of a side are
then split once more. Of each side it is known how many errors every split makes
(``conflicts.py``), and these errors never fall when another point comes. Where the two
sides exceed the limit, the search turns back.

A point that the splits at hand get right need not be decided. If there are no others,
the root has to keep the whole margin as well: either a tree is found, or it shows that
there is none, or there is one that gets an undecided point wrong.
"""

from __future__ import annotations

from numba import njit

from miptree.proof.arrangement import take_back_to
from miptree.proof.assignments import send
from miptree.proof.conflict_state import Conflicts
from miptree.proof.journal import BOTH, DECIDED, NEITHER, note
from miptree.proof.root_sides import (
    PRUNED,
    SOLVED,
    close,
    gain_of,
    most_wrong,
    settle,
)
from miptree.proof.root_state import RootState
from miptree.proof.state import EXHAUSTED, FOUND, PAUSED, SearchState
from miptree.search.routing import copy_into
from miptree.utils.jit import UNCOUNTED, UNCOUNTED_KERNEL, ZERO

MOST_CONFLICTS = 20_000
"""Conflicts of a node after which its questions are left undecided; the search pauses
after so many."""


@njit(**UNCOUNTED_KERNEL)
def advance_roots(
    s: SearchState,
    c: Conflicts,
    r: RootState,
    allowed: int,
    least: float,
    apart: float,
    max_nodes: int,
) -> tuple[int, int]:
    """Search on for some nodes; return (EXHAUSTED, FOUND or PAUSED, nodes).

    Parameters
    ----------
    s : SearchState
        The root: a search of depth 1.
    c : Conflicts
        Room for questions about the sides.
    r : RootState
    allowed : int
        Errors that a tree may make. EXHAUSTED proves that none makes so few, and
        that every tree makes ``r.turned_back`` errors at least.
    least : float
        Distance of two hulls from which they count as separable.
    apart : float
        The same, where the root has moved away from all points.
    max_nodes : int
    """
    nodes, pause = 0, c.n_found[0] + MOST_CONFLICTS
    while True:
        level = r.at[0]
        if r.at[1]:
            if nodes >= max_nodes or c.n_found[0] >= pause:
                return PAUSED, nodes
            nodes += 1
            c.most[0] = c.n_found[0] + MOST_CONFLICTS
            r.at[1] = 0
            r.began[level] = s.size[0, 0]
            point = _enter(s, c, r, level, allowed, least, apart)
            if point == SOLVED:
                return FOUND, nodes
            r.closed[level], r.chosen[level] = s.size[0, 0], point
            r.n_tried[level] = 0 if point >= 0 else 2
        if r.n_tried[level] < 2:
            take_back_to(s, r.closed[level])
            _descend(s, r, level, apart)
            continue
        take_back_to(s, r.began[level])
        if level == 0:
            return EXHAUSTED, nodes
        r.at[0] = level - 1


@njit(**UNCOUNTED)
def _descend(s: SearchState, r: RootState, level: int, apart: float) -> None:
    """Send the point of a level to its next side."""
    side, point = r.n_tried[level], r.chosen[level]
    # Mirror images are searched once: the first point of all goes left.
    r.n_tried[level] = 2 if r.is_symmetric and s.size[0, 0] == 0 else side + 1
    for k in range(2):
        r.errors[level + 1, k] = r.errors[level, k]
        r.lost[level + 1, k] = r.lost[level, k]
        copy_into(r.plane[level + 1, k], r.plane[level, k])
    _join(s, r, level + 1, point, side, r.gain[level, side], apart)
    copy_into(r.plane[level + 1, side], r.gain_plane[level, side])
    r.at[0], r.at[1] = level + 1, 1


@njit(**UNCOUNTED)
def _join(
    s: SearchState, r: RootState, level: int, i: int, side: int, gain: int, apart: float
) -> None:
    """Send a point to a side whose errors it raises."""
    send(s, s.size[0, 0], i, side, apart)
    r.rank[i] = r.errors[level, side]
    if r.wanted[side, i]:
        r.errors[level, side] += gain
    else:
        r.lost[level, side] += gain


@njit(**UNCOUNTED)
def _enter(
    s: SearchState,
    c: Conflicts,
    r: RootState,
    level: int,
    allowed: int,
    least: float,
    apart: float,
) -> int:
    """Decide what follows; return the point to decide next, PRUNED or SOLVED."""
    while not _costs_too_much(r, level, allowed, ZERO):
        before = s.size[0, 0]
        if before > 0 and not close(s, c.journal, apart):
            return PRUNED
        for k in range(before, s.size[0, 0]):
            i = s.members[0, k]
            side = s.place[i]
            r.rank[i] = r.errors[level, side]
            gain = gain_of(s, c, r, level, i, side, k, least)
            if r.wanted[side, i]:
                r.errors[level, side] += gain
            else:
                r.lost[level, side] += gain
            copy_into(r.plane[level, side], r.gain_plane[level, side])
            if _costs_too_much(r, level, allowed, ZERO):
                return PRUNED
        point = most_wrong(s, r, level, least)
        if point < 0:
            point = settle(s, c, r, level, allowed, least)
        if point < 0:
            return point
        n_closed, open_side = 0, ZERO
        for side in range(2):
            gain = gain_of(s, c, r, level, point, side, s.size[0, 0], least)
            r.gain[level, side] = gain
            if _costs_too_much(r, level, allowed, gain):
                n_closed += 1
            else:
                open_side = side
        is_branch = n_closed == 0 or (n_closed == 1 and s.size[0, 0] == 0)
        note(c.journal, DECIDED)
        note(c.journal, point)
        note(c.journal, NEITHER if n_closed == 2 else BOTH if is_branch else open_side)
        if n_closed == 2:
            return PRUNED
        if is_branch:
            return point
        _join(s, r, level, point, open_side, r.gain[level, open_side], apart)
        copy_into(r.plane[level, open_side], r.gain_plane[level, open_side])
    return PRUNED


@njit(**UNCOUNTED)
def _costs_too_much(r: RootState, level: int, allowed: int, more: int) -> bool:
    """Tell whether the two sides make too many errors."""
    total = more
    for side in range(2):
        total += r.errors[level, side] + r.lost[level, side]
    if total <= allowed:
        return False
    r.turned_back[0] = min(r.turned_back[0], total)
    return True
