"""The flow relaxation: only points that end up right must be routed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from miptree.mip.formulations import cuts
from miptree.mip.formulations.compact import CompactFormulation, class_term
from miptree.mip.formulations.tree_variables import Placement
from miptree.mip.model import ModelBuilder
from miptree.utils.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class FlowFormulation(CompactFormulation):
    """Relaxation of the compact model: a misclassified point needs no route.

    e_il now says that point i is routed to leaf l *and* right there, so
    c_i = 1 - sum_l e_il and e_il <= u_{l, y_i}. The points that are wrong pay no
    slack, and one whose slack costs more than an error pays for the error instead, so
    m_ib <= 1 / alpha_1. Hence the optimum is a lower bound on SVM1-ODT's, often met
    and far faster to prove. A solution's tree must be valued anew under (1a). Where
    errors differ in cost, a point may also be routed to an error that is not its
    most costly one, and pays for it.
    """

    def _add_errors(
        self, b: ModelBuilder, e: IntArray, c: IntArray, u: IntArray
    ) -> None:
        """Add what links routes, classes and errors, and Proposition 1 (3)."""
        costs = self.problem.costs
        may_route = np.where(costs.share < 1, -1.0, 0.0)
        b.rows("right in l", e.shape, (e, 1.0), class_term(u, may_route), upper=0)
        b.rows(
            "routed or wrong",
            c.shape,
            (c, 1.0),
            (e, 1.0),
            lower=1,
            upper=np.where(costs.is_partial, 2.0, 1.0),
        )
        if costs.is_partial.any():
            price = np.broadcast_to(c[:, None], e.shape)
            self._add_prices(b, e, price, u, np.flatnonzero(costs.is_partial))
        cuts.add_proposition_1_3(b, self.problem, c, e.shape[1])

    @property
    def _most_slack(self) -> FloatArray:
        """(n, 1): slack that costs as much as the most costly error."""
        price = self.objective.slack_penalty * self.problem.weight
        too_costly = self.problem.costs.spread / price
        return np.minimum(self.objective.margin, too_costly)[:, None]

    def _is_near(self, at: Placement) -> BoolArray:
        """Return (n, B): which points are so near a node that they are not routed."""
        return at.slack > self._most_slack

    def _write_points(self, x: FloatArray, at: Placement) -> None:
        """Put the values of the points' variables into a solution vector."""
        routed = (at.paid < 1) & ~self._is_near(at).any(axis=1)
        index = self.model.variables
        x[index["e"]] = at.in_leaf * routed[:, None]
        x[index["c"]] = np.where(routed, at.paid, 1.0)
        if "m" in index:
            x[index["m"]] = at.slack * routed[:, None]
