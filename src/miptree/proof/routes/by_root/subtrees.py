"""What a side of the root costs: the best subtree of depth 1 on its points."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from miptree.proof.routes.by_root.lemmas import Counter, Lemma
from miptree.proof.routes.changes import as_changes
from miptree.proof.routes.engine import EXHAUSTED, advance, begin
from miptree.proof.routes.structures import structure_of
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

_NODES_AT_A_TIME = 2000
_CLOSE = 1.0 - 1e-9
"""A search for a cheaper split need not find one that is cheaper by less."""
_EPS = 2.3e-16
_AT_THE_SPLIT = 1e-6
"""A point so near to a hyperplane may be on either side of it, for an estimate."""


class Split(NamedTuple):
    """A subtree of depth 1 at most; both labels are equal where it is a leaf."""

    coef: FloatArray
    threshold: float
    left: int
    right: int

    @property
    def is_leaf(self) -> bool:
        """Whether it parts nothing."""
        return self.left == self.right


class Subtree(NamedTuple):
    """What is known of the best subtree on some points.

    Attributes
    ----------
    bound : float
        No subtree costs less on ``points``.
    split : Split
        One that costs about as much, if the bound is below what was asked for.
    points : int array
    lemma : Lemma or None
        What proves the bound where it is recorded, besides the cheapest labels of
        points that it is not about.
    """

    bound: float
    split: Split
    points: IntArray
    lemma: Lemma | None = None


class Subtrees:
    """Searches for the best subtree of depth 1 on some points.

    Parameters
    ----------
    problem : RouteProblem
        All points.
    stop : array
        The flag of a clock.
    record : bool
        Whether to keep the proofs.

    Attributes
    ----------
    nodes : int
        Nodes of all searches so far.
    counter : Counter
        Of the multipliers that are kept.
    """

    def __init__(self, problem: RouteProblem, stop: AnyArray, record: bool) -> None:
        self.problem, self.nodes, self._stop = problem, 0, stop
        self.counter, self.record = Counter(), record
        self.pairs = [
            structure_of(pair) for pair in combinations(problem.labels.tolist(), 2)
        ]
        label = int(problem.labels[0])
        no_split = Split(np.zeros(problem.X.shape[1]), 1.0, label, label)
        self.nothing = Subtree(0.0, no_split, np.zeros(0, dtype=np.intp))

    def best(self, points: IntArray, limit: float, known: Split) -> Subtree:
        """Return the best subtree on some points, or that all cost the limit.

        Parameters
        ----------
        points : int array
        limit : float
            A higher bound is of no use.
        known : Split
            What to begin with.

        Notes
        -----
        If the clock stops the search, nothing is proved.
        """
        problem, split = self.problem, known
        cost = problem.cost[points]
        rounding = 1.0 - 2 * (len(points) + 8) * _EPS
        least = cost_of(problem, known, points)
        for label in problem.labels.tolist():
            constant = float(cost[:, label].sum())
            if constant <= least:
                least, split = constant, Split(0.0 * known.coef, 1.0, label, label)
        bound = min(least * _CLOSE, limit)
        part, proofs = None, []
        for structure in self.pairs:
            alone = float(cost[:, structure.label].min(axis=1).sum()) * rounding
            if alone + problem.least_split * rounding >= bound:
                continue
            part = part or problem.among(points)
            state = begin(part, structure, bound, self.record)
            while advance(state, _NODES_AT_A_TIME, self._stop) != EXHAUSTED:
                if self._stop[0]:  # the caller looks at the flag, too
                    return Subtree(0.0, split, points)
            self.nodes += state.nodes
            for found in state.take_candidates():
                left, right = structure.label.tolist()
                coef, threshold = found.coef[0] * problem.box, found.threshold[0]
                other = Split(coef, float(threshold * problem.box), left, right)
                value = cost_of(problem, other, points)
                if value < least:
                    least, split = value, other
            bound = min(state.threshold, state.open_value)
            if self.record:
                proofs.append((structure, as_changes(state.trace())))
        subtree = Subtree(bound, split, points)
        if self.record:
            lemma = Lemma(problem, points, bound, self.pairs, proofs)
            if lemma.value > 0.0:  # else labels alone cost as much
                self.counter.add(lemma)
                subtree = subtree._replace(lemma=lemma)
        return subtree


def costs(
    problem: RouteProblem, split: Split, points: IntArray | slice = slice(None)
) -> FloatArray:
    """Return what points cost at a split, without its norm."""
    cost = problem.cost[points]
    if split.is_leaf:
        return np.asarray(cost[:, split.left])
    score, C = problem.X[points] @ split.coef - split.threshold, problem.C[points]
    left = cost[:, split.left] + C * np.maximum(0.0, 1.0 + score)
    right = cost[:, split.right] + C * np.maximum(0.0, 1.0 - score)
    goes_left = score <= np.where(left <= right, _AT_THE_SPLIT, -_AT_THE_SPLIT)
    return np.where(goes_left, left, right)


def cost_of(problem: RouteProblem, split: Split, points: IntArray) -> float:
    """Return what a split costs on some points, as a float."""
    norm = problem.rho * float(np.abs(split.coef).sum())
    return norm + float(costs(problem, split, points).sum())
