"""One file per formulation, each with build, encode and decode.

A formulation knows no solver. It is made for a problem, an objective and a depth;
``model`` gives the arrays, ``encode(tree)`` a solution vector of a tree in scaled
units and ``decode(x)`` the tree of a solution vector.
"""

from __future__ import annotations

from miptree.mip.formulations.compact import CompactFormulation
from miptree.mip.formulations.error_count import CountFormulation
from miptree.mip.formulations.flow import FlowFormulation
from miptree.mip.formulations.formulation import Formulation, Svm1Formulation
from miptree.mip.formulations.paper import PaperFormulation

__all__ = [
    "FORMULATIONS",
    "CompactFormulation",
    "CountFormulation",
    "FlowFormulation",
    "Formulation",
    "PaperFormulation",
]

FORMULATIONS: dict[str, type[Svm1Formulation]] = {
    "compact": CompactFormulation,
    "paper": PaperFormulation,
    "flow": FlowFormulation,
}
