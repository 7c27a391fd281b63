"""Kernel that tells whether some points can be split with few errors.

Points that have to be on different sides of a hyperplane, and are too near to each
other for that, are a conflict: one of them has to be an error. A simplex basis of the
hulls (``hull_distance.py``) names such points, at most d + 2. The search makes one of
them an error, keeps it the next time and makes another one an error, and so on, until
no conflict is left or the errors are too many. Conflicts that share no point that may
be an error add up.

The points are in an order, and of each it is known how many errors those before it make
at least: its rank. So the errors from it on are at most the limit less its rank. That
leaves few of the later points free to be errors, and conflicts among the later points
are looked for first.

Points may be in several systems, each with a hyperplane and sides of its own.
"""

from __future__ import annotations

from numba import njit

from miptree.proof.conflict_packing import expand
from miptree.proof.conflict_state import NO_ERRORS_KNOWN, Conflicts
from miptree.proof.journal import ANSWERED, change, note
from miptree.utils.arrays import IntArray
from miptree.utils.jit import UNCOUNTED, UNCOUNTED_KERNEL, ZERO

NO, YES, UNDECIDED = 0, 1, 2
"""Answers; undecided claims nothing."""


@njit(**UNCOUNTED_KERNEL)
def few_errors(
    c: Conflicts,
    wanted: IntArray,
    size: int,
    rank: IntArray,
    allowed: int,
    least: float,
) -> tuple[int, int]:
    """Tell whether hyperplanes exist that make few errors.

    Parameters
    ----------
    c : Conflicts
        Its first ``size`` points are in question. Where the answer is YES, it receives
        the hyperplanes.
    wanted : (S, n)
        Side of each point in each system: -1 left, 1 right, 0 none.
    size : int
    rank : (n,)
        Errors at least among the points before each; not falling.
    allowed : int
        Errors allowed.
    least : float
        Distance of two hulls from which they count as separable.

    Returns
    -------
    answer : int
    errors : int
        Where the answer is NO, the errors at least: more than allowed.
    """
    began = c.journal.n_words[0]
    note(c.journal, ANSWERED)
    note(c.journal, 0)
    answer, errors = _search(c, wanted, size, rank, allowed, least)
    if answer == NO:
        change(c.journal, began + 1, errors)
    else:
        c.journal.n_words[0] = began
    return answer, errors


@njit(**UNCOUNTED)
def _search(
    c: Conflicts,
    wanted: IntArray,
    size: int,
    rank: IntArray,
    allowed: int,
    least: float,
) -> tuple[int, int]:
    """Search for errors that leave no conflict, and answer as ``few_errors`` does."""
    n_stages = _number_stages(c, size, rank, allowed)
    c.turned_back[0] = NO_ERRORS_KNOWN
    level, is_new = ZERO, True
    while True:
        if is_new:
            is_new = False
            if c.n_found[0] >= c.most[0]:
                return UNDECIDED, 0
            found = expand(c, wanted, size, n_stages, level, allowed, least)
            if found == 0:
                return YES, 0
            c.n_found[0] += found
        elif c.n_tried[level]:
            last = c.option[level, c.n_tried[level] - 1]
            _change(c, last, True)
            c.is_kept[last] = True
        if c.n_tried[level] < c.n_options[level]:
            _change(c, c.option[level, c.n_tried[level]], False)
            c.n_tried[level] += 1
            level, is_new = level + 1, True
            continue
        for k in range(c.n_options[level]):
            c.is_kept[c.option[level, k]] = False
        if level == 0:
            # All points of a class as errors are allowed at some number.
            is_plausible = c.turned_back[0] < NO_ERRORS_KNOWN
            return (NO, c.turned_back[0]) if is_plausible else (UNDECIDED, 0)
        level -= 1


@njit(**UNCOUNTED)
def _number_stages(c: Conflicts, size: int, rank: IntArray, allowed: int) -> int:
    """Begin a question; return the number of different ranks."""
    for i in range(len(c.is_in)):
        c.is_in[i] = c.is_kept[i] = False
    n_stages = 0
    for k in range(size):
        i = c.points[k]
        c.is_in[i] = True
        if k == 0 or rank[i] > rank[c.points[k - 1]]:
            c.room[n_stages] = allowed - rank[i]
            n_stages += 1
        c.stage[i] = n_stages - 1
    return n_stages


@njit(**UNCOUNTED)
def _change(c: Conflicts, i: int, is_in: bool) -> None:
    """Make a point an error, or no longer."""
    c.is_in[i] = is_in
    for stage in range(c.stage[i] + 1):
        c.room[stage] += c.unit[i] if is_in else -c.unit[i]
