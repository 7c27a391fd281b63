"""Predictions that follow a feature in one direction only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from miptree.constraints.arguments import column_pairs
from miptree.constraints.constraint import Constraint, Finding, TreeOnRows, plain_label
from miptree.constraints.population import Population
from miptree.data.named import by_column
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, BoolArray, IntArray


class Order(NamedTuple):
    """Two leaves: where the first has a label, the second must have it, too."""

    first: int
    second: int
    label: int


@dataclass(frozen=True)
class Monotone(Constraint):
    """As a feature rises, the prediction never moves away from a label.

    Two leaves are put in order where the split at which their ways part uses the
    feature. That is sufficient for monotonicity, and a little more than necessary:
    rows may not reach both leaves by the feature alone.

    Parameters
    ----------
    directions : dict
        Columns of X, by name or position, and +1, or -1 where the prediction never
        moves away from the label as the feature falls. Columns of numbers only.
    label : object
        One of the classes.

    Examples
    --------
    >>> Monotone({"income": +1}, "paid")
    Monotone(directions=(('income', 1),), label='paid')
    """

    directions: Mapping[str, int] | tuple[tuple[str, int], ...]
    label: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "directions", checked_directions(self))
        object.__setattr__(self, "label", plain_label(self.label, self.name))

    def orders(
        self,
        tree: ObliqueTree,
        columns: tuple[str, ...],
        population: Population,
        among: BoolArray | None = None,
    ) -> list[Order]:
        """Return which leaves of a tree must have the label if others have it.

        ``among`` tells which leaves matter, by default all.
        """
        label = population.label_index(self.label, self.name)
        below, found = leaves_below(tree), []
        if among is not None:
            below = [leaves[among[leaves]] for leaves in below]
        for node in np.flatnonzero(~tree.is_leaf):
            left, right = tree.children_left[node], tree.children_right[node]
            for direction in used_directions(self, tree.coef[node], columns):
                low, high = (left, right) if direction > 0 else (right, left)
                pairs = ((a, b) for a in below[low] for b in below[high])
                found += [Order(int(a), int(b), label) for a, b in pairs]
        return sorted(set(found))

    def check(self, view: TreeOnRows) -> Finding:
        """Compare the labels of all leaves that are in order."""
        label = view.tree.label
        broken = [
            order
            for order in self.orders(view.tree, view.numbers, view.population)
            if label[order.first] == order.label != label[order.second]
        ]
        verdict = f"NOT kept by {len(broken)} pairs of leaves" if broken else "kept"
        return Finding(not broken, f"{self.asked}: {verdict}.", float(len(broken)))

    @property
    def asked(self) -> str:
        """What is asked, without a full stop."""
        words = {1: "rises", -1: "falls"}
        parts = [f"{name!r} {words[sign]}" for name, sign in listed_directions(self)]
        return (
            f"The prediction never moves away from {self.label!r} as "
            f"{' or '.join(parts)}, by the order of the leaves (sufficient for that, "
            "not necessary: bounds and prices are of trees in this order)"
        )


def checked_directions(constraint: Any) -> tuple[tuple[str, int], ...]:
    """Return the columns and signs that a constraint was given, after checks."""
    example = "a dict of columns and signs, such as {'income': +1}"
    found = column_pairs(constraint.directions, constraint.name, example)
    if not found:
        raise ValueError(f"{constraint.name} names no column.")
    for name, sign in found:
        if isinstance(sign, bool) or sign not in (1, -1):
            raise ValueError(
                f"{constraint.name} must give +1 or -1 for {name!r}, got {sign!r}."
            )
    return tuple((name, int(sign)) for name, sign in found)


def with_names(constraint: Any, columns: Sequence[str]) -> Any:
    """Return a constraint whose columns are told by their names."""
    given = dict(listed_directions(constraint))
    found = by_column(given, columns, constraint.name)
    pairs = tuple((columns[place], sign) for place, sign in found.items())
    return type(constraint)(pairs, constraint.label)


def listed_directions(constraint: Any) -> tuple[tuple[str, int], ...]:
    """Return the columns and signs of a constraint."""
    listed: tuple[tuple[str, int], ...] = constraint.directions
    return listed


def used_directions(
    constraint: Any, coef: AnyArray, columns: tuple[str, ...]
) -> list[int]:
    """Return to which sides, +1 for right, rising features in a split lead."""
    signs = dict(listed_directions(constraint))
    used = np.flatnonzero(coef)
    named = [(signs.get(columns[j]), np.sign(coef[j])) for j in used]
    return sorted({int(sign * side) for sign, side in named if sign is not None})


def leaves_below(tree: ObliqueTree) -> list[IntArray]:
    """Return the leaves below each node, itself where it is one."""
    above, leaves = tree.ancestors, np.flatnonzero(tree.is_leaf)
    return [leaves[above[leaves, node]] for node in range(tree.n_nodes)]
