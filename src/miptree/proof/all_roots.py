"""The fewest errors of trees of depth 2: all splits of the root are tried.

A tree has two classes left of the root and two right of it. Each choice of classes is
searched on its own (``root_search.py``), with more and more errors allowed. Rows of the
other classes are errors, wherever they are.
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.proof.all_splits import in_units
from miptree.proof.conflict_state import Conflicts, begin_conflicts
from miptree.proof.fewest_errors import ErrorBound
from miptree.proof.root_search import advance_roots
from miptree.proof.root_state import RootState, begin_roots
from miptree.proof.space import Space
from miptree.proof.state import (
    EXHAUSTED,
    FOUND,
    PAUSED,
    SearchState,
    begin_search,
    search_fits_memory,
)
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

_SMALLEST_DISTANCE = 1e-8
"""Distances below are near the rounding errors of the hull LPs."""
_NODES_AT_A_TIME = 10
"""Nodes of the search between two looks at the clock."""
_LITTLE, _MUCH = 2, 4
"""Growths of the work at which more, or fewer, errors are tried at a time."""
_MOST_FEATURES = 8
"""With more features the sides of a root need too many points to make an error."""
_HOPELESS, _CERTAIN = 100, 0.02
"""It is given up where it will take so many times the time left, and the last round has
taken this part of the time limit: the first ones grow faster than the later ones."""

Pair = tuple[int, int]


def can_try_roots(space: Space, depth: int) -> bool:
    """Tell whether the roots of trees of a depth can be tried."""
    n, d = space.X.shape
    is_clear = space.min_distance_moved(n) >= _SMALLEST_DISTANCE
    is_small = d <= _MOST_FEATURES and search_fits_memory(n, d, 1)
    return depth == 2 and is_clear and is_small


def all_roots_bound(
    problem: Problem,
    space: Space,
    enough: float,
    *,
    clock: Clock,
    max_nodes: int | None = None,
) -> ErrorBound:
    """Raise the bound on the errors of all rows at depth 2 as far as the budget allows.

    Parameters
    ----------
    problem : Problem
    space : Space
        One that :func:`can_try_roots` accepts.
    enough : float
        Errors of a tree at hand: a higher bound is of no use.
    clock : Clock
        Ends the search. It ends sooner where the clock leaves it no hope.
    max_nodes : int, optional
        Limit on the nodes of the search.
    """
    search = _RootSearches(problem, space, enough, clock, max_nodes)
    search.run()
    return ErrorBound(
        search.bound * search.unit,
        search.tree,
        search.nodes,
        search.tree is not None and search.bound == search.hoped,
    )


class _RootSearches:
    """The searches of all choices of classes. Errors are in units of weight."""

    def __init__(
        self,
        problem: Problem,
        space: Space,
        enough: float,
        clock: Clock,
        max_nodes: int | None,
    ) -> None:
        self.problem, self.space = problem, space
        self.clock, self.max_nodes = clock, max_nodes
        self.unit, self.units = in_units(problem.weight)
        per_class = np.bincount(problem.y, self.units).astype(np.int64)
        of_one_leaf = per_class.sum() - per_class.max()
        self.hoped = int(min(np.ceil(enough / self.unit - 1e-9), of_one_leaf))
        self.nodes, self.work = 0, 0
        self.tree: HeapTree | None = None
        self.proved: dict[tuple[Pair, Pair], int] = {}
        for left, right in choices_of(np.flatnonzero(per_class)):
            with_leaf = per_class[sorted({*left, *right})].sum()
            self.proved[left, right] = int(per_class.sum() - with_leaf)

    @property
    def bound(self) -> int:
        """Errors of every tree."""
        return min([self.hoped, *self.proved.values()])

    def run(self) -> None:
        """Allow more and more errors, until the hoped for are proved or time is up."""
        least = int(max(1, self.units.min()))  # the lightest rows may count as nothing
        step, before = least, 0
        while self.bound < self.hoped and not self.clock.is_over:
            allowed = min(self.bound + step, self.hoped) - 1
            began, began_at = self.work, self.clock.elapsed
            for labels in list(self.proved):
                if not self._raise(labels, allowed):
                    return
            work = self.work - began
            if before > 0 and self._is_hopeless(
                self.clock.elapsed - began_at, work / before, step
            ):
                return
            if work == 0 or work < _LITTLE * before:
                step *= 2
            elif work > _MUCH * before > 0:
                step = max(least, step // 2)
            before = work

    def _is_hopeless(self, seconds: float, growth: float, step: int) -> bool:
        """Tell whether the rest takes far too long.

        The last round took so many seconds, and its work has grown by a factor.
        """
        limit = self.clock.limit
        if limit is None or growth <= 1 or seconds < _CERTAIN * limit:
            return False
        rounds = (self.hoped - self.bound) / step
        left = max(0.0, limit - self.clock.elapsed)
        needed = np.log(max(seconds, 1e-9)) + rounds * np.log(growth)
        return bool(needed > np.log(max(_HOPELESS * left, 1e-9)))

    def _raise(self, labels: tuple[Pair, Pair], allowed: int) -> bool:
        """Prove that trees of some classes make more errors than allowed.

        Trees that make no more lower what is hoped for. Returns False if the budget
        was used up before.
        """
        while self.proved[labels] <= min(allowed, self.hoped - 1):
            allowed = min(allowed, self.hoped - 1)
            outcome, roots, lost = self._search(labels, allowed)
            if outcome == PAUSED:
                return False
            if outcome == EXHAUSTED:
                proved = max(lost + int(roots.turned_back[0]), self.proved[labels])
                self.proved[labels] = proved
                if proved <= allowed:
                    self.hoped = proved  # no further by this way
            if outcome == FOUND:
                self.tree = self._heap(roots, labels)
                self.hoped = lost + int(roots.at[2])
        return True

    def _search(
        self, labels: tuple[Pair, Pair], allowed: int
    ) -> tuple[int, RootState, int]:
        """Search the trees of some classes; errors of the others are returned last."""
        _, lost, root, conflicts, roots = begin_choice(
            self.space.X, self.problem.y, self.units, labels
        )
        least = self.space.min_distance
        apart = self.space.min_distance_moved(len(self.space.X))
        outcome = PAUSED
        while outcome == PAUSED:
            left = _NODES_AT_A_TIME
            if self.max_nodes is not None:
                left = min(left, self.max_nodes - self.nodes)
            if left <= 0 or self.clock.is_over:
                break
            outcome, done = advance_roots(
                root, conflicts, roots, allowed - lost, least, apart, left
            )
            self.nodes += done
        self.work += int(conflicts.n_found[0])
        return outcome, roots, lost

    def _heap(self, roots: RootState, labels: tuple[Pair, Pair]) -> HeapTree:
        """Return the tree that a search ended with."""
        label = np.array([*labels[0], *labels[1]])
        return self.space.to_heap(roots.tree, label, self.problem.n_features)


def choices_of(present: IntArray) -> list[tuple[Pair, Pair]]:
    """Return all choices of two classes left of the root and two right of it."""
    pairs = list(combinations(present.tolist(), 2))
    return list(combinations_with_replacement(pairs, 2))


class Choice(NamedTuple):
    """The search of a choice of classes.

    Attributes
    ----------
    rows : int array
        Those whose class has a leaf: the points of the search.
    lost : int
        What the others weigh.
    root, conflicts, roots
        As for :func:`miptree.proof.root_search.advance_roots`.
    """

    rows: IntArray
    lost: int
    root: SearchState
    conflicts: Conflicts
    roots: RootState


def begin_choice(
    X: FloatArray,
    y: IntArray,
    units: IntArray,
    labels: tuple[Pair, Pair],
    n_words: int = 0,
) -> Choice:
    """Begin the search of a choice of classes, with so many words of a journal."""
    has_leaf = np.isin(y, labels)
    rows = np.flatnonzero(has_leaf)
    n, d = len(rows), X.shape[1]
    same = np.zeros(n, dtype=np.intp)
    root = begin_search(X[rows], same, np.ones(n), 1, same, np.zeros(1))
    conflicts = begin_conflicts(root.X, units[rows], 3, n_words)
    wanted = np.array([_wanted(y[rows], pair) for pair in labels])
    roots = begin_roots(wanted, labels[0] == labels[1], d)
    return Choice(rows, int(units[~has_leaf].sum()), root, conflicts, roots)


def _wanted(y: IntArray, pair: Pair) -> IntArray:
    """Return the sides of points below a node whose leaves have two classes."""
    return (y == pair[1]).astype(np.int64) - (y == pair[0])
