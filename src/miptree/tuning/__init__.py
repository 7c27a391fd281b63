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
from miptree.tuning.cv_results import THRESHOLDS, Choice, Setting, Verdict
from miptree.tuning.evaluate_fold import TableRules, costs_of
from miptree.tuning.folds import Deal, Fold, deal, deal_by
from miptree.tuning.racing import Contest, End, all_settings
from miptree.tuning.refit import refit

__all__ = [
    "DEFAULT_CANDIDATES",
    "THRESHOLDS",
    "Candidate",
    "CartTree",
    "Choice",
    "Contest",
    "Deal",
    "End",
    "Fold",
    "GreedySvmTree",
    "Setting",
    "SoftTree",
    "Svm1Tree",
    "TableRules",
    "Verdict",
    "all_settings",
    "costs_of",
    "deal",
    "deal_by",
    "refit",
]
