"""The objective (1a), lower bounds on it, and tolerances."""

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
