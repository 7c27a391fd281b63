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
from miptree.tuning.contest import Contest, all_settings
from miptree.tuning.folds import Fold, TableRules
from miptree.tuning.refit import refit
from miptree.tuning.verdict import THRESHOLDS, Choice, Setting, Verdict

__all__ = [
    "DEFAULT_CANDIDATES",
    "THRESHOLDS",
    "Candidate",
    "CartTree",
    "Choice",
    "Contest",
    "Fold",
    "GreedySvmTree",
    "Setting",
    "SoftTree",
    "Svm1Tree",
    "TableRules",
    "Verdict",
    "all_settings",
    "refit",
]
