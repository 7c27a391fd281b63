"""Trees that need not keep constraints, and may use the columns that these leave out.

They tell what leaving the columns out costs, and are of no other use to a fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.incumbent import Incumbent
from miptree.fit.plan import Plan
from miptree.fit.progress import FitCallback
from miptree.fit.train import train_incumbent
from miptree.tree import ObliqueTree
from miptree.utils.arrays import BoolArray


class AllColumns(NamedTuple):
    """The rows of a fit with all columns, those that its constraints leave out, too.

    Features are scaled one by one, and what is filled in is learnt column by column: a
    tree that uses none of these columns has the same objective value here.
    """

    problem: Problem
    is_shared: BoolArray
    """(d,): which columns trees may use that keep the constraints."""

    def widened(self, tree: ObliqueTree) -> ObliqueTree:
        """Return a tree that reads all columns, and predicts as one that does not."""
        coef = np.zeros((tree.n_nodes, len(self.is_shared)))
        coef[:, self.is_shared] = tree.coef
        return replace(tree, coef=coef)

    def train(
        self,
        plan: Plan,
        known: ObliqueTree,
        clock: Clock,
        max_iter: int | None,
        listeners: Sequence[FitCallback] = (),
    ) -> Incumbent:
        """Train without any constraint; return the best tree, and what is proved.

        Parameters
        ----------
        plan : Plan
            That of the fit: the same objective, solver and proof.
        known : ObliqueTree
            The best tree that does not use these columns, to begin from.
        clock : Clock
        max_iter : int or None
            Iterations that it may take.
        listeners : sequence of callables
            Told of progress.
        """
        plan = replace(plan, init="auto", max_iter=max_iter)
        known = self.widened(known)
        return train_incumbent(self.problem, plan, clock, listeners, known=known)
