"""What a tree is valued by, and what no tree can be below."""

from __future__ import annotations

from miptree.objective.svm1 import (
    MARGIN_ROUNDING,
    SMALLEST_MARGIN,
    Score,
    Svm1Objective,
)

__all__ = [
    "MARGIN_ROUNDING",
    "SMALLEST_MARGIN",
    "Score",
    "Svm1Objective",
]
