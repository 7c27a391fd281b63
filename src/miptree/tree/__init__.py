"""The tree itself: how it routes, predicts and is pruned, and how it is written."""

from miptree.tree.oblique import (
    LEAF,
    HeapTree,
    ObliqueTree,
    ordered_sum,
    rounding_error,
)

__all__ = ["LEAF", "HeapTree", "ObliqueTree", "ordered_sum", "rounding_error"]
