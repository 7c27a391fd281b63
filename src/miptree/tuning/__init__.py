"""Choosing how to train a tree, by cross-validation inside the training data."""

from miptree.tuning.candidates import (
    DEFAULT_CANDIDATES,
    Candidate,
    CartTree,
    GreedySvmTree,
    SoftTree,
    Svm1Tree,
)
from miptree.tuning.cv_results import THRESHOLDS, CVResults
from miptree.tuning.evaluate_fold import TableRules, costs_of
from miptree.tuning.final_fit import final_fit
from miptree.tuning.folds import Fold, FoldedRows, splitter_folds, stratified_folds
from miptree.tuning.racing import Race, all_settings

__all__ = [
    "DEFAULT_CANDIDATES",
    "THRESHOLDS",
    "CVResults",
    "Candidate",
    "CartTree",
    "Fold",
    "FoldedRows",
    "GreedySvmTree",
    "Race",
    "SoftTree",
    "Svm1Tree",
    "TableRules",
    "all_settings",
    "costs_of",
    "final_fit",
    "splitter_folds",
    "stratified_folds",
]
