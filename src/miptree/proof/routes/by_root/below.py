"""What is proved of everything below the root, at a node of the search by root."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from miptree.proof.routes.by_root.lemmas import Lemma
from miptree.proof.routes.by_root.subtrees import Subtree, Subtrees, costs
from miptree.proof.routes.look import LEAST_LACK
from miptree.utils.arrays import FloatArray, IntArray

ROUNDING = 1.0 + 1e-12
"""Sums of bounds are rounded."""
_HARDLY = 1.0 + 1e-9
"""A bound that is so little higher is not worth a lemma."""


@dataclass(frozen=True)
class Below:
    """What the best subtrees of both sides cost, and the points that are in neither.

    Nodes share it: what more is proved is another one.

    Parameters
    ----------
    search : Subtrees
        Finds the best subtree on some points.
    subtrees : tuple of two Subtree
        Of the left side and of the right one. Each counts the points of its side that
        cost more there than their cheapest label, when they were sent.
    """

    search: Subtrees
    subtrees: tuple[Subtree, Subtree]

    @cached_property
    def cost(self) -> float:
        """What is proved of everything but the root."""
        left, right = self.subtrees
        least = self.search.problem.least_cost
        is_counted = np.zeros(len(least), dtype=bool)
        is_counted[left.points] = is_counted[right.points] = True
        total = float(least[~is_counted].sum())
        return (total + left.bound + right.bound) / ROUNDING

    @property
    def lemmas(self) -> tuple[Lemma | None, Lemma | None]:
        """What proves the subtrees' bounds, where it is recorded."""
        left, right = self.subtrees
        return left.lemma, right.lemma

    def without_lemmas(self) -> Below:
        """Return the same, with nothing recorded."""
        left, right = (one._replace(lemma=None) for one in self.subtrees)
        return replace(self, subtrees=(left, right))

    def rise(self, side: int, points: IntArray) -> FloatArray:
        """Return what points cost at a side's subtree beyond what they must cost."""
        problem, split = self.search.problem, self.subtrees[side].split
        return costs(problem, split, points) - problem.least_cost[points]

    def with_sent(self, mask: IntArray, root: float, enough: float) -> Below:
        """Count the points that masks send to a side where they do not fit.

        Parameters
        ----------
        mask : int array of shape (n,)
            ``1 << side`` for a point that is sent to a side.
        root : float
            What the root costs.
        enough : float
            All that a tree has to cost: a higher bound is of no use.
        """
        below = self
        for side in range(2):
            new = below._not_counted(side, mask)
            if below.rise(side, new).sum() > LEAST_LACK:
                below = below._with_points(side, new, root, enough)
        return below

    def with_point(
        self, point: int, side: int, mask: IntArray, root: float, enough: float
    ) -> Below:
        """Count one more point on a side if it does not fit; see :meth:`with_sent`."""
        if self.rise(side, np.array([point]))[0] <= LEAST_LACK:
            return self
        new = np.append(self._not_counted(side, mask), point)
        return self._with_points(side, new, root, enough)

    def _not_counted(self, side: int, mask: IntArray) -> IntArray:
        """Return the points of a side that cost nothing at its subtree until now."""
        is_new = mask == 1 << side
        is_new[self.subtrees[side].points] = False
        return np.flatnonzero(is_new)

    def _with_points(
        self, side: int, new: IntArray, root: float, enough: float
    ) -> Below:
        """Count new points of a side; only the subtree for all together is searched."""
        known, least = self.subtrees[side], self.search.problem.least_cost
        points = np.sort(np.append(known.points, new))
        at_least = known.bound + float(least[new].sum()) / ROUNDING
        others = root + self.cost - at_least
        found = self.search.best(points, enough - others, known.split)
        if found.bound <= at_least * _HARDLY:
            found = found._replace(bound=at_least, lemma=known.lemma)
        left, right = self.subtrees
        return replace(self, subtrees=(left, found) if side else (found, right))
