"""Count first: the fewest errors at a hard margin, an integral objective."""

from __future__ import annotations

from dataclasses import dataclass

from miptree.mip.formulations.categorical import SubsetSplits
from miptree.mip.formulations.flow import FlowFormulation
from miptree.mip.formulations.tree_variables import Hyperplanes, Placement
from miptree.mip.model import ModelBuilder
from miptree.objective import MARGIN_ROUNDING
from miptree.objective.bounds import round_up_cost
from miptree.utils.arrays import BoolArray, IntArray


@dataclass(frozen=True)
class CountFormulation(FlowFormulation):
    """The flow model without slack and norms: min weight of the unrouted points.

    A point is routed only if it is right and keeps the margin at every node on its
    way, so the optimum is the smallest ``cost_at_margin`` of a tree in the box. It is
    far faster to prove than (1a): the objective takes whole values only, and a solver
    prunes every node within one of the incumbent.
    """

    def _add_routing(
        self, b: ModelBuilder, e: IntArray
    ) -> tuple[Hyperplanes, SubsetSplits]:
        """Add hyperplanes and (1f)-(1j) with m = 0."""
        h = self._add_hyperplanes(b, 0.0)
        subsets = SubsetSplits.add(b, self.problem, self.routes.n_branch)
        # One row per side holds the box as well: unrouted, it says score >= -1.
        self._add_sides(b, e, h, subsets)
        if subsets.exist:
            self._add_box(b, h, subsets)
        return h, subsets

    def _is_near(self, at: Placement) -> BoolArray:
        """Return (n, B): which points lack some of the margin at which node."""
        return at.slack > MARGIN_ROUNDING

    def round_up(self, bound: float) -> float:
        """Return the smallest value of the objective at or above a bound."""
        return round_up_cost(self.problem, bound)
