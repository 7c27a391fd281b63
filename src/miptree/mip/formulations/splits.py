"""The splits of a tree in a solution vector: hyperplanes and subsets, in and out."""

from __future__ import annotations

from miptree.data.problem import Problem
from miptree.mip.formulations.categorical import SubsetSplits
from miptree.mip.formulations.sparsity import FewFeatures
from miptree.mip.formulations.tree_variables import Hyperplanes
from miptree.mip.model import Model
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray


def write_splits(model: Model, problem: Problem, heap: HeapTree, x: FloatArray) -> None:
    """Put a tree's splits into a solution vector."""
    Hyperplanes.of(model).write(x, heap)
    SubsetSplits.of(model).write(x, problem, heap)
    FewFeatures.of(model).write(x, heap)


def read_splits(
    model: Model, problem: Problem, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of all columns, and thresholds, of a solution vector."""
    coef, threshold = Hyperplanes.of(model).read(x)
    coef = FewFeatures.of(model).clear(x, coef)
    return SubsetSplits.of(model).read(x, problem, coef, threshold)
