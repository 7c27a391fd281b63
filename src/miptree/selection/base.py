"""The contract of a selector: a problem and a tree in, rows and weights out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from miptree._typing import BoolArray, FloatArray, IntArray
from miptree.problem import Problem
from miptree.selection.clusters import Cluster
from miptree.tree import ObliqueTree


@dataclass(frozen=True, eq=False)
class Selection:
    """Rows of a problem to train on.

    Attributes
    ----------
    rows : int array of shape (n_selected,)
        Row numbers of the problem, ascending, none twice.
    weight : float array of shape (n_selected,)
        Their weights, all positive.
    covering : bool array of shape (n_selected,)
        The paper's J: rows of which dropped rows are convex combinations, so that
        getting them right matters more than their own weight says.
    """

    rows: IntArray
    weight: FloatArray
    covering: BoolArray

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of_rows(
        cls, problem: Problem, rows: IntArray, covering: BoolArray | None = None
    ) -> Selection:
        """Rows with their own weights."""
        if covering is None:
            covering = np.zeros(len(rows), dtype=bool)
        return cls.joined([cls(rows, problem.weight[rows], covering)])

    @classmethod
    def joined(cls, parts: Sequence[Selection]) -> Selection:
        """Selections of disjoint rows as one."""
        rows = np.concatenate([part.rows for part in parts])
        order = np.argsort(rows, kind="stable")
        return cls(
            rows[order],
            np.concatenate([part.weight for part in parts])[order],
            np.concatenate([part.covering for part in parts])[order],
        )


class Selector(Protocol):
    """Chooses the rows that a MIP sees; ``selection/stratified.py`` is a short one.

    A selector is a frozen dataclass of its parameters, checks them when it is made,
    and gives the same rows for the same problem and tree.
    """

    def select(
        self,
        problem: Problem,
        tree: ObliqueTree,
        clusters: Sequence[Cluster] | None = None,
    ) -> Selection:
        """Choose rows.

        Parameters
        ----------
        problem : Problem
            All rows.
        tree : ObliqueTree
            A tree for them, in the user's units.
        clusters : sequence of Cluster, optional
            Sets of rows to choose from, disjoint, by default
            :func:`~miptree.selection.clusters.leaf_clusters` of the tree.
        """
        ...


def checked_share(name: str, value: float) -> None:
    """Refuse a share of the rows that is not in (0, 1)."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value!r}.")
