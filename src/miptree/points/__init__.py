"""Points trees: splits are small scorecards, and the best tree is found and proved."""

from __future__ import annotations

from miptree.points.compiling import (
    compile_points_kernels,
    compilers_for,
    points_are_on_disk,
)
from miptree.points.family import Directions, Family
from miptree.points.problem import PointsProblem
from miptree.points.solve import Anchor, Found, make_ready, solve

__all__ = [
    "Anchor",
    "Directions",
    "Family",
    "Found",
    "PointsProblem",
    "compile_points_kernels",
    "compilers_for",
    "make_ready",
    "points_are_on_disk",
    "solve",
]
