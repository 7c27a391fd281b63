"""The contract of a formulation, and what those of SVM1-ODT have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from miptree.data.problem import Problem
from miptree.mip.formulations.categorical import SubsetSplits
from miptree.mip.formulations.sparsity import (
    FewFeatures,
    largest_limited_coefficient,
)
from miptree.mip.formulations.tree_variables import Hyperplanes, Placement, Routes
from miptree.mip.model import Model, ModelBuilder
from miptree.objective import Svm1Objective
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray


class Formulation(ABC):
    """A MIP whose solutions are trees of one depth. It knows no solver."""

    depth: int

    @cached_property
    def model(self) -> Model:
        """The model, built on first use."""
        return self.build()

    @cached_property
    def routes(self) -> Routes:
        """Which leaves lie left and right of which node."""
        return Routes.of_depth(self.depth)

    @abstractmethod
    def build(self) -> Model:
        """Build the model."""

    @abstractmethod
    def encode(self, heap: HeapTree) -> FloatArray:
        """Return the solution vector of a tree in scaled units."""

    @abstractmethod
    def decode(self, x: FloatArray) -> HeapTree:
        """Return the tree of a solution vector, in scaled units."""


@dataclass(frozen=True)
class Svm1Formulation(Formulation):
    """A model of SVM1-ODT or a relaxation of it.

    Parameters
    ----------
    problem : Problem
        The rows.
    objective : Svm1Objective
        alpha_1, alpha_2 and epsilon.
    depth : int
        D.
    """

    problem: Problem
    objective: Svm1Objective
    depth: int

    def encode(self, heap: HeapTree) -> FloatArray:
        """Return the solution vector of a tree in scaled units and inside the box."""
        heap, leaf = self._image(heap, heap.leaf_of(self.problem.scaled))
        at = Placement.of(self.problem, self.objective, heap, leaf, self.routes)
        x = np.zeros(self.model.n_variables)
        Hyperplanes.of(self.model).write(x, heap)
        SubsetSplits.of(self.model).write(x, self.problem, heap)
        FewFeatures.of(self.model).write(x, heap)
        self._write_labels(x, heap.label)
        self._write_points(x, at)
        return x

    def decode(self, x: FloatArray) -> HeapTree:
        """Return the tree of a solution vector, in scaled units."""
        coef, threshold = Hyperplanes.of(self.model).read(x)
        coef = FewFeatures.of(self.model).clear(x, coef)
        subsets = SubsetSplits.of(self.model)
        coef, threshold = subsets.read(x, self.problem, coef, threshold)
        return HeapTree(coef, threshold, self._read_labels(x))

    def _image(self, heap: HeapTree, leaf: IntArray) -> tuple[HeapTree, IntArray]:
        """Return an equivalent tree that the model allows, and the leaf of each row."""
        return heap, leaf

    def _write_labels(self, x: FloatArray, label: IntArray) -> None:
        """Put the classes of the leaves into a solution vector, as indicators u_lk."""
        x[self.model.variables["u"][np.arange(len(label)), label]] = 1.0

    def _read_labels(self, x: FloatArray) -> IntArray:
        """Return the classes of the leaves in a solution vector."""
        return x[self.model.variables["u"]].argmax(axis=1)

    @abstractmethod
    def _write_points(self, x: FloatArray, at: Placement) -> None:
        """Put the values of the points' variables into a solution vector."""

    def _add_hyperplanes(self, b: ModelBuilder, l1_penalty: float) -> Hyperplanes:
        """Add h and g, with at most as many features as the problem allows."""
        h = Hyperplanes.add(b, self.routes.n_branch, self.problem.n_open, l1_penalty)
        FewFeatures.add(b, self.problem, h, self._largest_coefficient(l1_penalty))
        return h

    def _largest_coefficient(self, l1_penalty: float) -> float:
        """Return a bound on abs(h_bj) in an optimal tree of few features a split."""
        return largest_limited_coefficient(self.problem, l1_penalty)
