"""Choosing how to train a tree, by cross-validation inside the training data."""

from miptree.tuning.candidates import (
    DEFAULT_CANDIDATES,
    POINTS_CANDIDATES,
    SPARSE_CANDIDATES,
    Candidate,
    CartTree,
    ConstantTree,
    GreedySvmTree,
    LogisticTree,
    PointsTree,
    SoftTree,
    Svm1Tree,
)
from miptree.tuning.cv_results import (
    STYLES,
    THRESHOLDS,
    CVResults,
    TuningSetting,
    Winner,
)
from miptree.tuning.evaluate_fold import TableRules
from miptree.tuning.final_fit import final_fit
from miptree.tuning.fold_constraints import FoldConstraints, RuleHeldOut
from miptree.tuning.folds import Fold, FoldedRows, folded_rows
from miptree.tuning.ladder import Rung, chosen, ladder, why_chosen
from miptree.tuning.racing import Race, all_settings
from miptree.tuning.scores import training_costs

__all__ = [
    "DEFAULT_CANDIDATES",
    "POINTS_CANDIDATES",
    "SPARSE_CANDIDATES",
    "STYLES",
    "THRESHOLDS",
    "CVResults",
    "Candidate",
    "CartTree",
    "ConstantTree",
    "Fold",
    "FoldConstraints",
    "FoldedRows",
    "GreedySvmTree",
    "LogisticTree",
    "PointsTree",
    "Race",
    "RuleHeldOut",
    "Rung",
    "SoftTree",
    "Svm1Tree",
    "TableRules",
    "TuningSetting",
    "Winner",
    "all_settings",
    "chosen",
    "final_fit",
    "folded_rows",
    "ladder",
    "training_costs",
    "why_chosen",
]
