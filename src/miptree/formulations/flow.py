"""The flow relaxation: only points that end up right must be routed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from miptree._typing import FloatArray, IntArray
from miptree.formulations import cuts
from miptree.formulations.compact import CompactFormulation, class_term
from miptree.formulations.model import ModelBuilder
from miptree.formulations.routes import Placement


@dataclass(frozen=True)
class FlowFormulation(CompactFormulation):
    """Relaxation of the compact model: a misclassified point needs no route.

    e_il now says that point i is routed to leaf l *and* right there, so
    c_i = 1 - sum_l e_il and e_il <= u_{l, y_i}. The points that are wrong pay no
    slack, hence the optimum is a lower bound on SVM1-ODT's, often met and faster to
    prove. A solution's tree must be valued anew under (1a). Where errors differ in
    cost, a point is routed also where an error is not its dearest, and pays for it.
    """

    exact = False

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
            (e, np.ones(e.shape)),
            lower=1,
            upper=np.where(costs.is_partial, 2.0, 1.0),
        )
        if costs.is_partial.any():
            self._add_prices(b, e, c, u, np.flatnonzero(costs.is_partial))
        cuts.add_proposition_1_3(b, self.problem, c, e.shape[1])

    def _write_points(self, x: FloatArray, at: Placement) -> None:
        """Put the values of the points' variables into a solution vector."""
        index, routed = self.model.variables, at.paid[:, None] < 1
        x[index["e"]] = at.in_leaf * routed
        x[index["c"]] = at.paid
        x[index["m"]] = at.slack * routed
