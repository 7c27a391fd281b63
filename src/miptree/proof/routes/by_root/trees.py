"""The tree that a node of the search by root has at hand, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.proof.routes.by_root.root_lp import BOTH, RootLp
from miptree.proof.routes.by_root.subtrees import Subtree, cost_of
from miptree.proof.routes.engine import Candidate
from miptree.proof.routes.structures import Nested, structure_of
from miptree.proof.routes.units import RouteProblem

_RIGHT = 2


def tree_at_hand(
    problem: RouteProblem, root: RootLp, below: Sequence[Subtree]
) -> Candidate:
    """Return the tree of the root's hyperplane and the splits of the subtrees."""
    nested: list[Nested] = []
    planes = [root.hyperplane]
    for split in (subtree.split for subtree in below):
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


def cost_at_hand(
    problem: RouteProblem, root: RootLp, below: Sequence[Subtree]
) -> float:
    """Return what this tree costs, as a float, if points keep to their sides."""
    coef, _ = root.hyperplane
    is_right = np.where(root.mask == BOTH, root.score > 0.0, root.mask == _RIGHT)
    kept = np.where(is_right, root.score, -root.score)
    cost = problem.rho * float(np.abs(coef).sum())
    cost += float(problem.C @ np.maximum(0.0, 1.0 - kept))
    for side, subtree in enumerate(below):
        points = np.flatnonzero(is_right == bool(side))
        cost += cost_of(problem, subtree.split, points)
    return cost
