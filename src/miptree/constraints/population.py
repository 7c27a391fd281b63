"""The rows that constraints count, put into cells.

All rows of one class, one sensitive group and one control group are a cell. Whatever a
rate, a parity or a budget says of a tree is a sum over its leaves and over the cells:
the weight of the cell in the leaf times a number for the cell and the leaf's label.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from miptree.constraints.errors import NotOnTheseRowsError
from miptree.data.groups import Grouping, RowGroups
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Population:
    """The rows of a fit as constraints count them.

    Parameters
    ----------
    y : int array of shape (n,)
        Class indices.
    count : int array of shape (n,)
        The user's rows behind each row.
    groups : RowGroups
        Their groups, and their weights as whole numbers.
    classes : tuple
        The labels, in the order of the class indices.
    costs : float array of shape (Y, Y), optional
        What it costs to predict class k for a row of class j, by default 1 for every
        error.
    """

    y: IntArray
    count: IntArray
    groups: RowGroups
    classes: tuple[Any, ...]
    costs: FloatArray | None = None

    @property
    def n_classes(self) -> int:
        """Number Y of classes."""
        return len(self.classes)

    # --------------------------------------------------------------------- cells

    @cached_property
    def _cells(self) -> tuple[AnyArray, IntArray]:
        """Give the codes (class, sensitive, control) of the cells, and each row's."""
        zero = np.zeros(len(self.y), dtype=np.intp)
        sensitive, control = self.groups.sensitive, self.groups.control
        codes = np.column_stack(
            [
                self.y,
                zero if sensitive is None else sensitive.code,
                zero if control is None else control.code,
            ]
        )
        cells, cell = np.unique(codes, axis=0, return_inverse=True)
        return cells, cell.ravel()

    @property
    def label(self) -> IntArray:
        """(C,): class index of each cell."""
        return np.asarray(self._cells[0][:, 0])

    @property
    def cell(self) -> IntArray:
        """(n,): cell of each row."""
        return self._cells[1]

    @property
    def n_cells(self) -> int:
        """Number C of cells."""
        return len(self._cells[0])

    def tally(self, leaf: IntArray, n_leaves: int) -> AnyArray:
        """Return (L, C): the whole weight of each cell in each leaf."""
        total = np.zeros((n_leaves, self.n_cells), dtype=self.groups.weight.dtype)
        np.add.at(total, (leaf, self.cell), self.groups.weight)
        return total

    @cached_property
    def total(self) -> list[int]:
        """Whole weight of each cell."""
        everywhere = self.tally(np.zeros(len(self.y), dtype=np.intp), 1)
        return [int(weight) for weight in everywhere[0]]

    def whole_weight(self, cells: BoolArray) -> int:
        """Return the whole weight of some of the cells."""
        return sum(self.total[cell] for cell in np.flatnonzero(cells))

    @cached_property
    def known_limits(self) -> list[tuple[Any, list[Any]]]:
        """Constraints, and the limits that they have come to here so far."""
        return []

    @cached_property
    def known_families(self) -> list[tuple[Any, list[Any]]]:
        """Constraints, and the rates that they compare here, where known."""
        return []

    @property
    def unit(self) -> Fraction:
        """What a whole weight of 1 is in the user's units."""
        return self.groups.unit

    # --------------------------------------------------------- labels and groups

    def label_index(self, label: Any, who: str) -> int:
        """Return the class index of a label that a constraint names."""
        for k, known in enumerate(self.classes):
            if known == label and isinstance(known, str) == isinstance(label, str):
                return k
        shown = ", ".join(map(repr, self.classes[:20]))
        raise ValueError(
            f"{who} names the label {label!r}, which is not a class; the classes are "
            f"{shown}."
        )

    def positive_index(self, label: Any, who: str) -> int:
        """Return the class index of the positive label; of two the second if None."""
        if label is not None:
            return self.label_index(label, who)
        if self.n_classes == 2:
            return 1
        raise ValueError(
            f"{who} needs a positive_label, as there are {self.n_classes} classes: "
            f"give one of {', '.join(map(repr, self.classes[:20]))}."
        )

    def sensitive_groups(self, who: str) -> Grouping:
        """Return the groups whose rates are compared, at least two."""
        grouping = self.groups.sensitive
        if grouping is None:
            raise ValueError(
                f"{who} compares groups, but fit got no sensitive_features. Give "
                "fit(X, y, sensitive_features=...) one value for each row."
            )
        if len(np.unique(grouping.code)) < 2:
            name = grouping.names[int(grouping.code[0])]
            raise NotOnTheseRowsError(
                f"{who} compares groups, but all rows are of one group, {name!r}."
            )
        return grouping

    def in_sensitive(self, group: int) -> BoolArray:
        """Return (C,): whether each cell is of a sensitive group."""
        return np.asarray(self._cells[0][:, 1] == group)

    def in_control(self, group: int) -> BoolArray:
        """Return (C,): whether each cell is of a control group."""
        return np.asarray(self._cells[0][:, 2] == group)
