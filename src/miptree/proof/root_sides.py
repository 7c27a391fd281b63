"""Kernels of a search over the splits of the root: what a point does to its sides."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.assignments import room_for, score_of, send
from miptree.proof.conflict_state import Conflicts
from miptree.proof.conflicts import NO, YES, few_errors
from miptree.proof.journal import (
    ASKED,
    CLOSED,
    WHOLE_TREE,
    Journal,
    note,
    note_combinations,
)
from miptree.proof.root_state import RootState
from miptree.proof.state import OPEN, SearchState
from miptree.search.routing import copy_into
from miptree.utils.arrays import FloatArray
from miptree.utils.jit import MINUS_ONE, ONE, UNCOUNTED, ZERO

PRUNED, SOLVED = -1, -2
"""Instead of a point to decide next."""
_LOST = 0.3
"""How wrong a point is on a side where its class has no leaf, as a distance."""


@njit(**UNCOUNTED)
def close(s: SearchState, journal: Journal, apart: float) -> bool:
    """Decide the points that have one side left; return False if one has none."""
    for i in range(len(s.y)):
        if s.place[i] != OPEN:
            continue
        is_left = _is_open(s, journal, i, MINUS_ONE, apart)
        is_right = _is_open(s, journal, i, ONE, apart)
        if not (is_left or is_right):
            return False
        if is_left != is_right:
            send(s, s.size[0, 0], i, 1 if is_right else 0, apart)
    return True


@njit(**UNCOUNTED)
def _is_open(
    s: SearchState, journal: Journal, i: int, direction: int, apart: float
) -> bool:
    """Tell whether a point may be on a side of the root; note it if it may not."""
    if room_for(s, ZERO, direction, i, apart) >= 0:
        return True
    note(journal, CLOSED)
    note(journal, i)
    note(journal, 1 if direction > 0 else 0)
    note_combinations(journal, s.X, s.trial_basis, s.trial_weight, s.is_right, apart)
    return False


@njit(**UNCOUNTED)
def _score(X: FloatArray, plane: FloatArray, i: int) -> float:
    """Return the score of a point: right if above 0."""
    d = X.shape[1]
    value = float(-plane[d])
    for j in range(d):
        value += plane[j] * X[i, j]
    return value


@njit(**UNCOUNTED)
def gain_of(
    s: SearchState,
    c: Conflicts,
    r: RootState,
    level: int,
    i: int,
    side: int,
    n_before: int,
    least: float,
) -> int:
    """Return the errors that a point adds to those decided before, at least.

    Writes a split that makes so many, or the last one.
    """
    copy_into(r.gain_plane[level, side], r.plane[level, side])
    wanted = r.wanted[side, i]
    if wanted == 0:
        return int(c.unit[i])
    if wanted * _score(s.X, r.plane[level, side], i) >= 0.5 * least:
        return 0
    size = 0
    for k in range(n_before):
        other = s.members[0, k]
        if s.place[other] == side and r.wanted[side, other]:
            c.points[size] = other
            size += 1
    c.points[size] = i
    r.rank[i] = known = r.errors[level, side]
    _ask(c.journal, side, i)
    answer, errors = few_errors(
        c, r.wanted[side : side + 1], size + 1, r.rank, known, least
    )
    if answer == YES:
        copy_into(r.gain_plane[level, side], c.plane[0])
    return errors - known if answer == NO else 0


@njit(**UNCOUNTED)
def _ask(journal: Journal, what: int, point: int) -> None:
    """Note that a question comes."""
    note(journal, ASKED)
    note(journal, what)
    note(journal, point)


@njit(**UNCOUNTED)
def most_wrong(s: SearchState, r: RootState, level: int, least: float) -> int:
    """Return the undecided point that both sides have most trouble with.

    Returns -1 if the splits at hand get them all right.
    """
    chosen, most = -1, -np.inf
    for i in range(len(s.y)):
        if s.place[i] != OPEN:
            continue
        on_left, on_right = _wrong_by(s, r, level, 0, i), _wrong_by(s, r, level, 1, i)
        nearer = on_right if score_of(s, ZERO, i) > 0 else on_left
        if nearer <= -0.5 * least:
            continue
        trouble = min(on_left, on_right) + 1e-3 * max(on_left, on_right)
        if trouble > most:
            chosen, most = i, trouble
    return chosen


@njit(**UNCOUNTED)
def _wrong_by(s: SearchState, r: RootState, level: int, side: int, i: int) -> float:
    """Return by how much a side's split gets a point wrong, below 0 if right."""
    if r.wanted[side, i] == 0:
        return _LOST
    return -r.wanted[side, i] * _score(s.X, r.plane[level, side], i)


@njit(**UNCOUNTED)
def settle(
    s: SearchState,
    c: Conflicts,
    r: RootState,
    level: int,
    allowed: int,
    least: float,
) -> int:
    """Look for splits of all three nodes that keep the margin.

    Returns an undecided point that they get wrong, SOLVED if they are a tree with few
    errors, or PRUNED if there are none.
    """
    lost, size = r.lost[level, 0] + r.lost[level, 1], ZERO
    for k in range(s.size[0, 0]):
        i = s.members[0, k]
        side = s.place[i]
        if r.wanted[side, i]:
            r.systems[0, i] = 2 * side - 1
            r.systems[1 + side, i], r.systems[2 - side, i] = r.wanted[side, i], 0
            c.points[size] = i
            size += 1
    _ask(c.journal, WHOLE_TREE, -1)
    answer, errors = few_errors(c, r.systems, size, r.unknown, allowed - lost, least)
    if answer == NO:
        r.turned_back[0] = min(r.turned_back[0], lost + errors)
        return PRUNED
    if answer == YES:
        wrong, point = _wrong(s, c, r, least)
        if wrong <= allowed:
            r.at[2] = wrong
            for node in range(3):
                copy_into(r.tree[node], c.plane[node])
            return SOLVED
        if point >= 0:
            return point
    for i in range(len(s.y)):
        if s.place[i] == OPEN:
            return i
    # Nothing is known of this split of the root but the errors below it.
    total = lost + r.errors[level, 0] + r.errors[level, 1]
    r.turned_back[0] = min(r.turned_back[0], total)
    return PRUNED


@njit(**UNCOUNTED)
def _wrong(s: SearchState, c: Conflicts, r: RootState, least: float) -> tuple[int, int]:
    """Return the errors of the hyperplanes found, and an undecided point among them.

    It is the one nearest to the root; -1 if there is none.
    """
    errors, point, nearest = 0, -1, np.inf
    for i in range(len(s.y)):
        score = _score(s.X, c.plane[0], i)
        side = 1 if score > 0 else 0
        wanted = r.wanted[side, i]
        below = wanted * _score(s.X, c.plane[1 + side], i)
        if abs(score) >= 0.5 * least and wanted and below >= 0.5 * least:
            continue
        errors += c.unit[i]
        if s.place[i] == OPEN and abs(score) < nearest:
            point, nearest = i, abs(score)
    return errors, point
