"""Kernels that note what a search does, in words of 64 bits, for a proof file.

A note is a word that says of what kind it is, and some more:

- CLOSED: a point, the side of the root that is closed to it, and why;
- ASKED: a side of the root, or WHOLE_TREE, and the point that came last;
- ANSWERED: the errors at least, where a question was answered by no; what was noted of
  other answers is taken back;
- FOUND: the system of a conflict, and the conflict;
- EXPANDED: which conflict the search divides on, and how many of its points it makes
  errors (none if it turns back), and these points;
- DECIDED: a point that was in question, and its only side, or BOTH or NEITHER.

Two convex combinations are their number of points, and each point with its multiplier,
which is negative on the left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.proof.whole_numbers import in_whole_numbers
from miptree.utils.arrays import BoolArray, FloatArray, IntArray
from miptree.utils.jit import UNCOUNTED

CLOSED, ASKED, ANSWERED, FOUND, EXPANDED, DECIDED = 1, 2, 3, 4, 5, 6
WHOLE_TREE = 2
"""Instead of a side that a question is about."""
BOTH, NEITHER = 2, -1
"""Instead of the side that is open to a point."""


class Journal(NamedTuple):
    """Room for notes. Without any, nothing is noted."""

    words: IntArray
    n_words: IntArray
    """(1,): number of words; more than there is room for if some are lost."""
    point: IntArray
    times: IntArray
    total: FloatArray
    gap: FloatArray
    """Room for two combinations."""


def begin_journal(d: int, n_words: int = 0) -> Journal:
    """Make room for a journal about points of ``d`` features."""
    return Journal(
        np.zeros(n_words, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(d + 2, dtype=np.int64),
        np.zeros(d + 2, dtype=np.int64),
        np.zeros(2),
        np.zeros(d),
    )


@njit(**UNCOUNTED)
def note(journal: Journal, word: int) -> None:
    """Note a word."""
    k = journal.n_words[0]
    if k < len(journal.words):
        journal.words[k] = word
    journal.n_words[0] = k + 1


@njit(**UNCOUNTED)
def change(journal: Journal, k: int, word: int) -> None:
    """Change a word that was noted."""
    if k < len(journal.words):
        journal.words[k] = word


@njit(**UNCOUNTED)
def note_combinations(
    journal: Journal,
    X: FloatArray,
    basis: IntArray,
    weight: FloatArray,
    is_right: BoolArray,
    least: float,
) -> None:
    """Note two combinations that are nearer to each other than ``least``."""
    if len(journal.words) == 0:
        return
    point, times = journal.point, journal.times
    size = in_whole_numbers(
        X, basis, weight, is_right, least, point, times, journal.total, journal.gap
    )
    note(journal, size)
    for p in range(size):
        note(journal, point[p])
        note(journal, times[p] if is_right[point[p]] else -times[p])
