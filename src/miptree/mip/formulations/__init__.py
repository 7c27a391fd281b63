"""Step 4: one file per formulation, each with build, encode and decode.

A formulation knows no solver. It is made for a problem, an objective and a depth;
``model`` gives the arrays, ``encode(tree)`` a solution vector of a tree in scaled
units and ``decode(x)`` the tree of a solution vector.
"""

from __future__ import annotations

from typing import Protocol

from miptree.mip.formulations.compact import CompactFormulation
from miptree.mip.formulations.error_count import CountFormulation
from miptree.mip.formulations.flow import FlowFormulation
from miptree.mip.formulations.paper import PaperFormulation
from miptree.mip.model import Model
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray

__all__ = [
    "FORMULATIONS",
    "CompactFormulation",
    "CountFormulation",
    "FlowFormulation",
    "Formulation",
    "PaperFormulation",
]


class Formulation(Protocol):
    """What the training loop needs of a formulation."""

    @property
    def model(self) -> Model:
        """The model, built on first use."""
        ...

    def encode(self, heap: HeapTree) -> FloatArray:
        """Solution vector of a tree in scaled units and inside the box."""
        ...

    def decode(self, x: FloatArray) -> HeapTree:
        """Tree of a solution vector."""
        ...


FORMULATIONS = {
    "compact": CompactFormulation,
    "paper": PaperFormulation,
    "flow": FlowFormulation,
}
