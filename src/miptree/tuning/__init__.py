"""Choosing how to train a tree, by cross-validation inside the training data."""

from __future__ import annotations

from miptree.tuning.candidates import (
    DEFAULT_CANDIDATES,
    Candidate,
    CartTree,
    GreedySvmTree,
    SoftTree,
    Svm1Tree,
)
from miptree.tuning.choose import THRESHOLDS, Choice, Contest, Verdict
from miptree.tuning.folds import Fold, TableRules
from miptree.tuning.refit import refit

__all__ = [
    "DEFAULT_CANDIDATES",
    "THRESHOLDS",
    "Candidate",
    "CartTree",
    "Choice",
    "Contest",
    "Fold",
    "GreedySvmTree",
    "SoftTree",
    "Svm1Tree",
    "TableRules",
    "Verdict",
    "refit",
]
