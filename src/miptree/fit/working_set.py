"""The rows that a round of training sees.

They are the rows that a selector chose, rows that the best tree gets wrong, and rows
that became wrong when an earlier round left them out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from miptree.control.clock import Clock
from miptree.control.threads import apart
from miptree.data.problem import Problem
from miptree.fit.layers import SELECT_SHARE, PerLayer
from miptree.fit.plan import Plan
from miptree.selection import (
    Selection,
    SelectionContext,
    Selector,
    adapted,
    get_selector,
    leaf_clusters,
    select_rows,
)
from miptree.selection.clusters import deal_out_in_time
from miptree.tree import ObliqueTree
from miptree.utils.arrays import IntArray

HULL_SHARE = 0.1
"""Part of the time limit that the hulls of one round may take."""
_FEW_ROWS = 200
"""Misclassified rows that always fit into a round."""


@dataclass
class WorkingSets:
    """Chooses the rows of each round.

    ``problem`` holds all rows; ``limit`` is in seconds, for the whole training.
    """

    problem: Problem
    plan: Plan
    selection: Selector | PerLayer
    limit: float | None
    _returned: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def choose(self, tree: ObliqueTree, number: int, clock: Clock) -> Selection:
        """Choose the rows of a round by the best tree so far.

        The selection also holds the best tree that the selector found, if any.
        """
        problem, plan, selector = self.problem, self.plan, self.selection
        if isinstance(selector, PerLayer):
            selector = get_selector(selector.selector)
        # A tree for costs may get no row right.
        clusters = leaf_clusters(problem, tree, correct_only=number > 0)
        clusters = clusters or leaf_clusters(problem, tree)
        if self.limit is not None:
            hulls = HULL_SHARE * self.limit
            clusters = deal_out_in_time(problem, clusters, hulls, plan.seed)
        completed = partial(self._completed, tree, number)
        clock = clock.share(SELECT_SHARE)
        context = SelectionContext(
            plan.objective, plan.depth, clock, plan.max_iter, completed
        )
        selector = adapted(selector, context)
        chosen = apart(lambda: select_rows(selector, problem, tree, clusters))
        # The best one only: others cost the search on all rows too much time.
        best = tuple(found.prune(problem.X) for found in chosen.trees[:1])
        return replace(completed(chosen), trees=best)

    def take_back(
        self, number: int, rows: IntArray, before: ObliqueTree, raw: ObliqueTree
    ) -> bool:
        """Bring rows back that a round left out and lost; return whether there are any.

        The tree before got them right, and the tree trained on ``rows`` does not.
        """
        problem = self.problem
        wrong = raw.predict(problem.X) != problem.y
        wrong &= before.predict(problem.X) == problem.y
        wrong[rows] = False
        came = self._some(np.flatnonzero(wrong), number, len(rows))
        self._returned = np.union1d(self._returned, came)
        return len(came) > 0

    def _completed(
        self, tree: ObliqueTree, number: int, chosen: Selection
    ) -> Selection:
        """Add the rows that the tree gets wrong, after the first round.

        Rows that stand for others then gain the weight of the rows added.
        """
        if number == 0:
            return chosen
        problem = self.problem
        is_wrong = tree.predict(problem.X) != problem.y
        extra = np.union1d(
            self._some(np.flatnonzero(is_wrong), number, len(chosen)), self._returned
        )
        weight = problem.weight.copy()
        weight[chosen.rows] = chosen.weight
        wrong_weight = problem.weight[extra[is_wrong[extra]]].sum()
        covering = chosen.rows[chosen.covering]
        weight[covering] += wrong_weight
        rows = np.union1d(chosen.rows, extra)
        return Selection(rows, weight[rows], np.isin(rows, covering), chosen.trees)

    def _some(self, rows: IntArray, number: int, most: int) -> IntArray:
        """Draw at most ``most`` of the rows at random, but a few at least."""
        most = max(most, _FEW_ROWS)
        if len(rows) <= most:
            return rows
        rng = np.random.default_rng([self.plan.seed, number])
        return np.sort(rng.permutation(rows)[:most])
