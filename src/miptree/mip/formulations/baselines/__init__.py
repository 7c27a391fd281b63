"""The formulations of the paper's baselines, one file per paper.

Made for a problem, a depth and the baseline's own parameters. Beside build, encode and
decode each has ``value(tree)``, the objective of its own paper recounted by prediction,
and ``adapt(heap)``, which brings a start tree into its class of trees.
"""

from miptree.mip.formulations.baselines.aghaei import AghaeiFormulation
from miptree.mip.formulations.baselines.base import BaselineFormulation
from miptree.mip.formulations.baselines.binarisation import Binarisation
from miptree.mip.formulations.baselines.binoct import BinOCTFormulation
from miptree.mip.formulations.baselines.fairness import disparate_impact
from miptree.mip.formulations.baselines.flow_oct import FlowOCTFormulation
from miptree.mip.formulations.baselines.oct import OCTFormulation
from miptree.mip.formulations.baselines.oct_h import OCTHFormulation

__all__ = [
    "AghaeiFormulation",
    "BaselineFormulation",
    "BinOCTFormulation",
    "Binarisation",
    "FlowOCTFormulation",
    "OCTFormulation",
    "OCTHFormulation",
    "disparate_impact",
]
