"""Count first: the fewest errors at a hard margin, an integral objective."""

from __future__ import annotations

from dataclasses import dataclass

from miptree._typing import FloatArray, IntArray
from miptree.bounds import round_up_cost
from miptree.formulations.flow import FlowFormulation
from miptree.formulations.model import ModelBuilder
from miptree.formulations.routes import Hyperplanes, Placement
from miptree.objective import MARGIN_ROUNDING


@dataclass(frozen=True)
class CountFormulation(FlowFormulation):
    """The flow model without slack and norms: min weight of the unrouted points.

    A point is routed only if it is right and keeps the margin at every node on its
    way, so the optimum is the smallest ``cost_at_margin`` of a tree in the box. Far
    faster to prove than (1a): the objective takes whole values only, and a solver
    prunes every node within one of the incumbent.
    """

    def _add_routing(self, b: ModelBuilder, e: IntArray) -> None:
        """Add hyperplanes and (1f)-(1j) with m = 0."""
        problem, routes = self.problem, self._routes
        grid = (problem.n_rows, routes.n_branch)
        h = Hyperplanes.add(b, routes.n_branch, problem.n_features, 0.0)
        far = -(1 + self.objective.margin)
        # One row per side holds the box as well: unrouted, it says score >= -1.
        for tag, side, sign in (
            ("(1g)+(1h)", routes.right, -1.0),
            ("(1i)+(1j)", routes.left, 1.0),
        ):
            enters = (e[:, None, :], far * side[None, :, :])
            b.rows(tag, grid, *h.score_terms(problem.scaled, sign), enters, lower=-1)

    def _write_points(self, x: FloatArray, at: Placement) -> None:
        """Put the values of the points' variables into a solution vector."""
        near = (at.slack > MARGIN_ROUNDING).any(axis=1)
        routed = ~(at.wrong | near)
        index = self.model.variables
        x[index["e"]] = at.in_leaf * routed[:, None]
        x[index["c"]] = ~routed

    def round_up(self, bound: float) -> float:
        """Smallest value that the objective can take at or above a bound."""
        return round_up_cost(self.problem, bound)
