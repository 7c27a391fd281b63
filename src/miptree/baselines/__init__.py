"""The paper's rivals as scikit-learn classifiers, each a formulation of its own.

They take the same solvers, start from CART's tree, recount what they report by
prediction and give the same kind of certificate. ``docs/rivals.md`` says which paper
and which equations each is, and what differs.
"""

from __future__ import annotations

from miptree.baselines._base import RivalClassifier
from miptree.baselines._certificate import RivalCertificate
from miptree.baselines.aghaei import AghaeiTreeClassifier
from miptree.baselines.binoct import BinOCTClassifier
from miptree.baselines.flow_oct import FlowOCTClassifier
from miptree.baselines.greedy_svm import GreedySVMTreeClassifier
from miptree.baselines.oct import OCTClassifier
from miptree.baselines.oct_h import OCTHClassifier

__all__ = [
    "AghaeiTreeClassifier",
    "BinOCTClassifier",
    "FlowOCTClassifier",
    "GreedySVMTreeClassifier",
    "OCTClassifier",
    "OCTHClassifier",
    "RivalCertificate",
    "RivalClassifier",
]
