"""Leaves that are not too small."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from miptree.constraints.arguments import finite_number, whole_number
from miptree.constraints.constraint import Constraint, Finding, TreeOnRows
from miptree.constraints.population import Population
from miptree.utils.arrays import AnyArray, IntArray
from miptree.utils.decimals import as_written


@dataclass(frozen=True)
class MinLeaf(Constraint):
    """Every leaf holds at least so many training rows, or so much of their weight.

    Parameters
    ----------
    rows : int, optional
        Fewest rows of a leaf.
    weight : float, optional
        Least sum of sample weights of a leaf. Give one of the two.

    Examples
    --------
    >>> MinLeaf(rows=20)
    MinLeaf(rows=20, weight=None)
    """

    is_about_training: ClassVar[bool] = True

    rows: int | None = None
    weight: float | None = None

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.weight is None):
            raise ValueError(
                "MinLeaf needs rows or weight, and not both, got "
                f"rows={self.rows!r} and weight={self.weight!r}."
            )
        if self.rows is not None:
            rows = whole_number(self.rows)
            if rows is None or rows < 1:
                raise ValueError(
                    f"rows of MinLeaf must be a whole number >= 1, got {self.rows!r}."
                )
            object.__setattr__(self, "rows", rows)
        if self.weight is not None:
            weight = finite_number(self.weight)
            if weight is None or weight <= 0:
                raise ValueError(
                    f"weight of MinLeaf must be a finite number > 0, got "
                    f"{self.weight!r}."
                )
            object.__setattr__(self, "weight", weight)

    def sizes(self, population: Population) -> tuple[AnyArray, Fraction]:
        """Return the size of each row, and the least size of a leaf in that unit."""
        if self.rows is not None:
            return population.count, Fraction(self.rows)
        assert self.weight is not None
        return population.groups.weight, as_written(self.weight) / population.unit

    def check(self, view: TreeOnRows) -> Finding:
        """Count the rows of every leaf."""
        size, least = self.sizes(view.population)
        in_leaf = leaf_sizes(size, view.leaf, view.tree.n_nodes)
        smallest = min(int(n) for n in in_leaf[view.tree.is_leaf])
        kept = smallest >= least
        verdict = "kept" if kept else "NOT kept"
        unit = Fraction(1) if self.rows is not None else view.population.unit
        sentence = (
            f"{self.asked}: {verdict}, the smallest has {float(smallest * unit):.6g}."
        )
        return Finding(kept, sentence, float(max(Fraction(0), least - smallest) * unit))

    @property
    def asked(self) -> str:
        """What is asked, without a full stop."""
        if self.rows is not None:
            return f"Every leaf holds at least {self.rows} training rows"
        return f"Every leaf holds a weight of at least {self.weight:.10g}"


def leaf_sizes(size: AnyArray, leaf: IntArray, n_leaves: int) -> AnyArray:
    """Return (L,): the exact sum of the sizes of the rows of each leaf."""
    total = np.zeros(n_leaves, dtype=size.dtype)
    np.add.at(total, leaf, size)
    return total
