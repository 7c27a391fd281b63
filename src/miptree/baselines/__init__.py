"""The paper's baselines as scikit-learn classifiers, each a formulation of its own.

They take the same solvers, start from CART's tree, recount what they report by
prediction and give the same kind of certificate. ``docs/baselines.md`` says which paper
and which equations each is, and what differs.
"""

from miptree.baselines._base import BaselineClassifier
from miptree.baselines.aghaei import AghaeiTreeClassifier
from miptree.baselines.binoct import BinOCTClassifier
from miptree.baselines.flow_oct import FlowOCTClassifier
from miptree.baselines.greedy_svm import GreedySVMTreeClassifier
from miptree.baselines.oct import OCTClassifier
from miptree.baselines.oct_h import OCTHClassifier

__all__ = [
    "AghaeiTreeClassifier",
    "BaselineClassifier",
    "BinOCTClassifier",
    "FlowOCTClassifier",
    "GreedySVMTreeClassifier",
    "OCTClassifier",
    "OCTHClassifier",
]
