"""The trees that nodes of the search by root have at hand, and what they cost."""

from __future__ import annotations

from math import inf

import numpy as np

from miptree.proof.routes.by_root.below import Below
from miptree.proof.routes.by_root.root_lp import BOTH, RootLp
from miptree.proof.routes.by_root.subtrees import cost_of
from miptree.proof.routes.engine import Candidate
from miptree.proof.routes.structures import Nested, structure_of
from miptree.proof.routes.units import RouteProblem

_RIGHT = 2
_IN_BOX = 1.0 + 1e-7
"""A tree whose scores are no larger is in the box."""
_NEARLY = 1.0 + 1e-5
"""A tree that costs so little more than its node is its tree."""


class TreesMet:
    """The trees that a search comes upon, and what they show of its threshold.

    Parameters
    ----------
    problem : RouteProblem
    threshold : float
        Of the search, at first. Trees on the way that cost as much are not kept.

    Attributes
    ----------
    candidates : list of Candidate
        Trees that were met since the list was emptied.
    met : float
        The threshold after it fell to that of a tree in the box, which is no more
        than such a tree costs: no higher bound is possible.
    fell_short : bool
        Whether the threshold fell to less than any tree in the box that was met costs.
    """

    def __init__(self, problem: RouteProblem, threshold: float) -> None:
        self.candidates: list[Candidate] = []
        self.met, self.fell_short = inf, False
        self._problem, self._cheapest = problem, threshold

    def look(self, root: RootLp, below: Below) -> None:
        """Keep the tree of the hyperplanes at hand if it costs less than any before."""
        cost = cost_at_hand(self._problem, root, below)
        if cost < self._cheapest:
            self._cheapest = cost
            self.candidates.append(tree_at_hand(self._problem, root, below))

    def keep(self, root: RootLp, below: Below, value: float, threshold: float) -> None:
        """Keep the tree of a node at which nothing is left to decide.

        Parameters
        ----------
        root, below
            What is at hand.
        value : float
            What is proved of the node.
        threshold : float
            It fell to no more than this.
        """
        tree = tree_at_hand(self._problem, root, below)
        self.candidates.append(tree)
        # The subtrees were found without the box of the points on the other side.
        score = self._problem.X @ tree.coef.T - tree.threshold
        is_inside = np.abs(score).max() <= _IN_BOX
        cost = cost_at_hand(self._problem, root, below)
        if is_inside and cost <= value * _NEARLY + _NEARLY - 1.0:
            self.met = threshold
        else:
            self.fell_short = True


def tree_at_hand(problem: RouteProblem, root: RootLp, below: Below) -> Candidate:
    """Return the tree of the root's hyperplane and the splits of the subtrees."""
    nested: list[Nested] = []
    planes = [root.hyperplane]
    for split in (subtree.split for subtree in below.subtrees):
        if split.is_leaf:
            nested.append(split.left)
        else:
            nested.append((split.left, split.right))
            planes.append((split.coef, split.threshold))
    structure, box = structure_of(tuple(nested)), problem.box
    coef = np.array([one for one, _ in planes]) / box
    threshold = np.array([one for _, one in planes]) / box
    no_values = [np.zeros(0, dtype=np.intp)] * structure.n_splits
    return Candidate(coef, threshold, structure, no_values)


def cost_at_hand(problem: RouteProblem, root: RootLp, below: Below) -> float:
    """Return what this tree costs, as a float, if points keep to their sides."""
    coef, _ = root.hyperplane
    is_right = np.where(root.mask == BOTH, root.score > 0.0, root.mask == _RIGHT)
    kept = np.where(is_right, root.score, -root.score)
    cost = problem.rho * float(np.abs(coef).sum())
    cost += float(problem.C @ np.maximum(0.0, 1.0 - kept))
    for side, subtree in enumerate(below.subtrees):
        points = np.flatnonzero(is_right == bool(side))
        cost += cost_of(problem, subtree.split, points)
    return cost
