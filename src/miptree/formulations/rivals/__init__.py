"""The formulations of the paper's rivals, one file per paper.

Made for a problem, a depth and the rival's own parameters. Beside build, encode and
decode each has ``value(tree)``, the objective of its own paper recounted by prediction,
and ``adapt(heap)``, which brings a start tree into its class of trees.
"""

from __future__ import annotations

from miptree.formulations.rivals.aghaei import AghaeiFormulation
from miptree.formulations.rivals.base import RivalFormulation
from miptree.formulations.rivals.binarisation import Binarisation
from miptree.formulations.rivals.binoct import BinOCTFormulation
from miptree.formulations.rivals.fairness import disparate_impact
from miptree.formulations.rivals.flow_oct import FlowOCTFormulation
from miptree.formulations.rivals.oct import OCTFormulation
from miptree.formulations.rivals.oct_h import OCTHFormulation

__all__ = [
    "AghaeiFormulation",
    "BinOCTFormulation",
    "Binarisation",
    "FlowOCTFormulation",
    "OCTFormulation",
    "OCTHFormulation",
    "RivalFormulation",
    "disparate_impact",
]
