"""Kernels that find conflicts, and add up the errors of those that are disjoint."""

from __future__ import annotations

from numba import njit

from miptree.proof.conflict_state import NO_ERRORS_KNOWN, Conflicts
from miptree.proof.hull_distance import (
    INSEPARABLE,
    distance_of_combinations,
    first_basis,
    separate,
)
from miptree.proof.journal import EXPANDED, FOUND, note, note_combinations
from miptree.utils.arrays import IntArray
from miptree.utils.jit import MINUS_ONE, UNCOUNTED, ZERO

_PARTS = 8
"""Steps at most in which the points come to a hull, the later ones first."""
_ROUNDING = 1e-12
"""Weights below are rounding."""


@njit(**UNCOUNTED)
def expand(
    c: Conflicts,
    wanted: IntArray,
    size: int,
    n_stages: int,
    level: int,
    allowed: int,
    least: float,
) -> int:
    """Write the options of a level; return the conflicts found.

    They are those of the conflict with the fewest; none, if disjoint conflicts show
    that the errors will be too many.
    """
    c.n_tried[level] = c.n_options[level] = 0
    smallest = allowed
    for stage in range(n_stages):
        smallest = min(smallest, c.room[stage])
        c.reach[stage] = smallest
        c.packed[stage] = 0
    for k in range(size):
        i = c.points[k]
        c.is_free[i] = not c.is_kept[i] and c.unit[i] <= c.reach[c.stage[i]]
    n_gone = n_found = chosen = 0
    while True:
        n_points = 0
        for system in range(len(wanted)):
            n_points = _find(c, wanted, system, size, n_stages, least)
            if n_points:
                break
        if n_points == 0:
            break
        n_found += 1
        n_free = _count_free(c, n_points, allowed)
        if n_found == 1 or n_free < c.n_options[level]:
            _set_options(c, n_points, level)
            chosen = n_found - 1
        if n_free == 0 or not _pack(c, n_points, allowed):
            c.n_options[level] = 0
            break
        for k in range(n_points):
            i = c.conflict[k]
            if c.is_free[i]:
                c.is_in[i] = False
                c.gone[n_gone] = i
                n_gone += 1
    for k in range(n_gone):
        c.is_in[c.gone[k]] = True
    _note_options(c, level, chosen)
    return n_found


@njit(**UNCOUNTED)
def _note_options(c: Conflicts, level: int, chosen: int) -> None:
    """Note on which conflict a level divides, by its number."""
    note(c.journal, EXPANDED)
    note(c.journal, chosen)
    note(c.journal, c.n_options[level])
    for k in range(c.n_options[level]):
        note(c.journal, c.option[level, k])


@njit(**UNCOUNTED)
def _count_free(c: Conflicts, n_points: int, allowed: int) -> int:
    """Count the points of a conflict that may be errors.

    If others were, there would be more errors than allowed: by how many is noted.
    """
    n_free = 0
    for k in range(n_points):
        i = c.conflict[k]
        if c.is_free[i]:
            n_free += 1
        elif not c.is_kept[i]:
            errors = allowed - c.reach[c.stage[i]] + c.unit[i]
            c.turned_back[0] = min(c.turned_back[0], errors)
    return n_free


@njit(**UNCOUNTED)
def _set_options(c: Conflicts, n_points: int, level: int) -> None:
    """Make a conflict that of a level."""
    n_options = 0
    for k in range(n_points):
        if c.is_free[c.conflict[k]]:
            c.option[level, n_options] = c.conflict[k]
            n_options += 1
    c.n_options[level] = n_options


@njit(**UNCOUNTED)
def _pack(c: Conflicts, n_points: int, allowed: int) -> bool:
    """Add a conflict to disjoint ones; return False if they cost too much."""
    cheapest, first = NO_ERRORS_KNOWN, NO_ERRORS_KNOWN
    for k in range(n_points):
        i = c.conflict[k]
        if c.is_free[i]:
            cheapest, first = min(cheapest, c.unit[i]), min(first, c.stage[i])
    excess = 0
    for stage in range(first + 1):
        c.packed[stage] += cheapest
        excess = max(excess, c.packed[stage] - c.room[stage])
    if excess > 0:
        c.turned_back[0] = min(c.turned_back[0], allowed + excess)
    return excess == 0


@njit(**UNCOUNTED)
def _find(
    c: Conflicts,
    wanted: IntArray,
    system: int,
    size: int,
    n_stages: int,
    least: float,
) -> int:
    """Write a conflict of a system; return its number of points, 0 if there is none.

    Points that cannot be errors come first, then the later ones.
    """
    d = c.X.shape[1]
    step = 1 + n_stages // _PARTS
    right = left = MINUS_ONE
    n_members, stage, is_begun = ZERO, n_stages, False
    for k in range(2 * size + 1):
        i = c.points[(2 * size - 1 - k) % size] if k < 2 * size else -1
        if i >= 0 and not (c.is_in[i] and wanted[system, i]):
            continue
        if i >= 0 and c.is_free[i] != (k >= size):
            continue
        if k == 2 * size or (k >= size and c.stage[i] < stage):
            stage = c.stage[i] + 1 - step if i >= 0 else 0
            if right >= 0 and left >= 0:
                if not is_begun:
                    first_basis(c.X, right, left, c.basis, c.inverse, c.weight)
                    is_begun = True
                n_points = _conflict(c, system, n_members, least)
                if n_points:
                    return n_points
        if i >= 0:
            c.members[n_members], c.side[n_members] = i, wanted[system, i]
            n_members += 1
            if c.side[n_members - 1] < 0:
                left = i if left < 0 else left
            else:
                right = i if right < 0 else right
    if not is_begun:
        for j in range(d):
            c.plane[system, j] = 0.0
        c.plane[system, d] = -1.0 if right >= 0 else 1.0
    return 0


@njit(**UNCOUNTED)
def _conflict(c: Conflicts, system: int, n_members: int, least: float) -> int:
    """Write the points of the basis if the members are inseparable."""
    n, d = c.X.shape
    answer, _ = separate(
        c.X, c.members, c.side, n_members, c.is_right, least,
        c.basis, c.inverse, c.weight, c.plane[system],
    )  # fmt: skip
    if answer != INSEPARABLE:
        return 0
    for row in range(d + 2):
        if c.weight[row] < _ROUNDING:
            c.weight[row] = 0.0
    if distance_of_combinations(c.X, c.basis, c.weight, c.is_right, c.point) >= least:
        return 0
    note(c.journal, FOUND)
    note(c.journal, system)
    note_combinations(c.journal, c.X, c.basis, c.weight, c.is_right, least)
    n_points = 0
    for row in range(d + 2):
        if c.basis[row] < n and c.weight[row] > 0.0:
            c.conflict[n_points] = c.basis[row]
            n_points += 1
    return n_points
