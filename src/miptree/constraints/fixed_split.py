"""A split of the user's own that stays in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import numpy as np

from miptree.constraints.arguments import column_pairs, finite_number
from miptree.constraints.constraint import Constraint, Finding, TreeOnRows
from miptree.constraints.places import checked_place, places_of
from miptree.data.named import by_column
from miptree.utils.arrays import FloatArray


@dataclass(frozen=True)
class FixedSplit(Constraint):
    """The split at a node is the one given, up to a positive factor.

    Rows with ``sum of coefficient * column <= threshold`` go left.

    Parameters
    ----------
    node : int
        0 for the root; the sides of node b are 2b+1, the left one, and 2b+2, as in a
        tree in which every node above the last leaves is a split.
    coefficients : dict
        Columns of X, by name or position, and their coefficients in the units of X.
        Columns of numbers only.
    threshold : float
        Likewise in the units of X.

    Examples
    --------
    >>> FixedSplit(0, {"income": 1, "debt": -2}, 15)
    FixedSplit(node=0, coefficients=(('income', 1.0), ('debt', -2.0)), threshold=15.0)
    """

    node: int
    coefficients: Mapping[str | int, float] | Sequence[tuple[str | int, float]]
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "node", checked_place(self.node, self.name))
        example = "a dict of columns and coefficients, such as {'bmi': 1}"
        pairs = column_pairs(self.coefficients, self.name, example)
        numbers = ((c, _finite(v, f"the coefficient of {c!r}")) for c, v in pairs)
        object.__setattr__(self, "coefficients", tuple(p for p in numbers if p[1] != 0))
        if not self.listed:
            raise ValueError(
                "FixedSplit has no coefficient but 0, so it splits nothing."
            )
        threshold = _finite(self.threshold, "the threshold")
        object.__setattr__(self, "threshold", threshold)

    @property
    def listed(self) -> tuple[tuple[str | int, float], ...]:
        """The columns and their coefficients, without those that are 0."""
        return cast("tuple[tuple[str | int, float], ...]", self.coefficients)

    def with_names(self, columns: Sequence[str]) -> FixedSplit:
        """Return it with its columns told by their names, of those of X."""
        found = by_column(dict(self.listed), columns, self.name)
        pairs = tuple((columns[place], coef) for place, coef in found.items())
        return replace(self, coefficients=pairs)

    def hyperplane(self, numbers: Sequence[str]) -> FloatArray:
        """Return its coefficients of the columns that trees read."""
        coef = dict(self.listed)
        return np.array([coef.get(name, 0.0) for name in numbers], dtype=np.float64)

    def check(self, view: TreeOnRows) -> Finding:
        """Look whether the node has this split, in rational numbers."""
        tree, places = view.tree, places_of(view.tree)
        there = [n for n in np.flatnonzero(~tree.is_leaf) if places[n] == self.node]
        if not there:
            verdict = "NOT kept, there is no split"
        elif self._is(tree.coef[there[0]], tree.threshold[there[0]], view.numbers):
            verdict = "kept"
        else:
            verdict = "NOT kept, there is another split"
        kept = verdict == "kept"
        return Finding(kept, f"{self.asked}: {verdict}.", float(not kept))

    def _is(self, coef: FloatArray, threshold: float, numbers: Sequence[str]) -> bool:
        """Tell whether a split is a positive multiple of this one, exactly."""
        mine = [*self.hyperplane(numbers).tolist(), self.threshold]
        found = [*coef.tolist(), float(threshold)]
        first = next((j for j, value in enumerate(mine[:-1]) if value), None)
        if first is None:  # a tree that does not read these columns
            return False
        factor = Fraction(found[first]) / Fraction(mine[first])
        return factor > 0 and all(
            Fraction(b) == factor * Fraction(a)
            for a, b in zip(mine, found, strict=True)
        )

    @property
    def asked(self) -> str:
        """What is asked, without a full stop."""
        terms = " + ".join(f"{coef:.10g} * {name!r}" for name, coef in self.listed)
        terms = terms.replace("+ -", "- ")
        return f"Node {self.node} sends rows with {terms} <= {self.threshold:.10g} left"


def _finite(value: object, what: str) -> float:
    number = finite_number(value)
    if number is None:
        raise ValueError(
            f"{what} of FixedSplit must be a finite number, got {value!r}."
        )
    return number + 0.0  # never -0.0
