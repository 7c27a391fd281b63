"""Rules that a tree must keep: rates, budgets, fairness, leaves and columns.

Each is a small frozen object for ``OptimalTreeClassifier(constraints=[...])``. A fitted
tree keeps every one of them on the training rows, counted in whole numbers.
"""

from __future__ import annotations

from miptree.constraints.constraint import Constraint, Finding
from miptree.constraints.errors import ImpossibleConstraintsError, NoTreeFoundError
from miptree.constraints.features import AllowFeatures, ForbidFeatures
from miptree.constraints.fixed_split import FixedSplit
from miptree.constraints.leaves import MinLeaf
from miptree.constraints.monotone import Monotone
from miptree.constraints.parity import (
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FalsePositiveRateParity,
    TruePositiveRateParity,
)
from miptree.constraints.rates import MaxCost, MaxRate, MinRate
from miptree.constraints.signs import Signs

__all__ = [
    "AllowFeatures",
    "Constraint",
    "DemographicParity",
    "EqualizedOdds",
    "ErrorRateParity",
    "FalsePositiveRateParity",
    "Finding",
    "FixedSplit",
    "ForbidFeatures",
    "ImpossibleConstraintsError",
    "MaxCost",
    "MaxRate",
    "MinLeaf",
    "MinRate",
    "Monotone",
    "NoTreeFoundError",
    "Signs",
    "TruePositiveRateParity",
]
