"""Points trees: splits are small scorecards, and the best tree is found and proved."""

from __future__ import annotations

from miptree.points.family import Directions, Family
from miptree.points.problem import PointsProblem
from miptree.points.solve import Anchor, Found, make_ready, solve

__all__ = [
    "Anchor",
    "Directions",
    "Family",
    "Found",
    "PointsProblem",
    "make_ready",
    "solve",
]
