"""Splits in which a feature speaks for one label only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from miptree.constraints.constraint import Constraint, Finding, TreeOnRows, plain_label
from miptree.constraints.monotone import (
    checked_directions,
    listed_directions,
    used_directions,
)
from miptree.utils.arrays import AnyArray


@dataclass(frozen=True)
class Signs(Constraint):
    """At every split, raising a feature never leads to the side with less of a label.

    The share of the label among the training rows of either side decides which has
    less; where both have the same share, any sign will do.

    Parameters
    ----------
    directions : dict
        Columns of X, by name or position, and +1, or -1 where raising the feature
        never leads to the side with more of the label.
    label : object
        One of the classes.

    Examples
    --------
    >>> Signs({"debt": -1}, "paid")
    Signs(directions=(('debt', -1),), label='paid')
    """

    is_about_training: ClassVar[bool] = True

    directions: Mapping[str, int] | tuple[tuple[str, int], ...]
    label: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "directions", checked_directions(self))
        object.__setattr__(self, "label", plain_label(self.label, self.name))

    def better_sides(self, view: TreeOnRows) -> list[int]:
        """Return for each node +1 where its right side has more of the label."""
        label = view.population.label_index(self.label, self.name)
        tree, at_node = view.tree, view.tree.ancestors.T.astype(object) @ view.tally
        is_label = view.population.label == label
        found = []
        for node in range(tree.n_nodes):
            if tree.is_leaf[node]:
                found.append(0)
                continue
            left = _share(at_node[tree.children_left[node]], is_label)
            right = _share(at_node[tree.children_right[node]], is_label)
            found.append(int(right > left) - int(right < left))
        return found

    def check(self, view: TreeOnRows) -> Finding:
        """Compare the shares of the label on both sides of every split."""
        sides = self.better_sides(view)
        broken = [
            node
            for node in np.flatnonzero(~view.tree.is_leaf)
            for side in used_directions(self, view.tree.coef[node], view.numbers)
            if side == -sides[node]
        ]
        verdict = f"NOT kept at node {broken[0]}" if broken else "kept"
        return Finding(not broken, f"{self.asked}: {verdict}.", float(len(broken)))

    @property
    def asked(self) -> str:
        """What is asked, without a full stop."""
        words = {1: "less", -1: "more"}
        parts = [
            f"raising {name!r} leads to the side with {words[sign]} of {self.label!r}"
            for name, sign in listed_directions(self)
        ]
        return f"At no split {' or '.join(parts)}"


def _share(tally: AnyArray, is_label: AnyArray) -> Fraction:
    """Return the share of the label, a half of no rows."""
    total = sum(int(n) for n in tally)
    if total == 0:
        return Fraction(1, 2)
    return Fraction(sum(int(n) for n in tally[is_label]), total)
