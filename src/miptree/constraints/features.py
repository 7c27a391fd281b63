"""Columns that splits may use, and columns that none may."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from miptree.constraints.arguments import whole_number
from miptree.constraints.constraint import Constraint, Finding, TreeOnRows
from miptree.constraints.places import checked_place, depth_of, places_of
from miptree.data.named import column_index
from miptree.utils.arrays import BoolArray


@dataclass(frozen=True)
class _FeatureConstraint(Constraint):
    """Base of the rules about columns of X, by name or position."""

    features: str | int | Sequence[str | int]

    def __post_init__(self) -> None:
        given: Any = self.features
        if isinstance(given, str) or whole_number(given) is not None:
            given = [given]
        if not isinstance(given, Iterable):
            raise TypeError(
                f"{self.name} takes columns by name or position, such as ['age', 0], "
                f"got {given!r}."
            )
        object.__setattr__(self, "features", tuple(given))
        if not self.listed:
            raise ValueError(f"{self.name} names no column. Name one, or leave it out.")

    @property
    def listed(self) -> tuple[str | int, ...]:
        """The columns as they are given."""
        return cast("tuple[str | int, ...]", self.features)

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names of its columns, of those of X."""
        places = [column_index(e, columns, self.name) for e in self.listed]
        return [columns[place] for place in places]


@dataclass(frozen=True)
class ForbidFeatures(_FeatureConstraint):
    """No split uses these columns.

    They are left out before the fit begins, so its bounds speak of the same trees. What
    that costs, against trees that use them, is in the certificate.

    Parameters
    ----------
    features : str, int or sequence of these
        Columns of X, by name or position.

    Examples
    --------
    >>> ForbidFeatures(["race", "sex"])
    ForbidFeatures(features=('race', 'sex'))
    """

    def check(self, view: TreeOnRows) -> Finding:
        """Look which columns the splits use."""
        used = {view.columns[j] for j in np.flatnonzero(view.tree.coef.any(axis=0))}
        broken = sorted(used & set(map(str, self.listed)))
        listed = ", ".join(map(repr, self.listed))
        verdict = f"NOT kept, {broken[0]!r} is used" if broken else "kept"
        sentence = f"No split uses {listed}: {verdict}."
        return Finding(not broken, sentence, float(len(broken)))


@dataclass(frozen=True)
class AllowFeatures(_FeatureConstraint):
    """Splits of a depth, of a node, or all use these columns and no others.

    Parameters
    ----------
    features : str, int or sequence of these
        Columns of X, by name or position.
    depth : int, optional
        Depth of the splits that it is about, 0 for the root; by default all.
    node : int, optional
        The one split that it is about, in place of a depth: 0 for the root; the sides
        of node b are 2b+1, the left one, and 2b+2, as in a tree in which every node
        above the last leaves is a split.

    Examples
    --------
    >>> AllowFeatures(["age", "income"], depth=0)
    AllowFeatures(features=('age', 'income'), depth=0, node=None)
    """

    depth: int | None = None
    node: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth is not None:
            depth = whole_number(self.depth)
            if depth is None or depth < 0:
                raise ValueError(
                    f"depth of AllowFeatures must be a whole number >= 0, got "
                    f"{self.depth!r}."
                )
            object.__setattr__(self, "depth", depth)
        if self.node is not None:
            object.__setattr__(self, "node", checked_place(self.node, self.name))
            if self.depth is not None:
                raise ValueError("AllowFeatures takes a depth or a node, not both.")

    @property
    def is_about_all(self) -> bool:
        """Whether it is about the splits of the whole tree."""
        return self.depth is None and self.node is None

    def is_about(self, place: int) -> bool:
        """Tell whether it is about the split at a place."""
        if self.node is not None:
            return self.node == place
        return self.depth is None or self.depth == depth_of(place)

    def allowed(self, columns: Sequence[str]) -> BoolArray:
        """Return which columns that trees read are allowed, by their sources."""
        names = set(map(str, self.listed))
        return np.array([column in names for column in columns], dtype=bool)

    def check(self, view: TreeOnRows) -> Finding:
        """Look which columns the splits use."""
        others = ~self.allowed(view.columns)
        places = places_of(view.tree)
        broken = [
            node
            for node in np.flatnonzero(view.tree.coef[:, others].any(axis=1))
            if self.is_about(places[node])
        ]
        which = "Splits"
        if not self.is_about_all:
            at = self.node if self.depth is None else self.depth
            which += f" {'at node' if self.depth is None else 'of depth'} {at}"
        listed = ", ".join(map(repr, self.listed))
        verdict = f"NOT kept at node {broken[0]}" if broken else "kept"
        sentence = f"{which} use no other columns than {listed}: {verdict}."
        return Finding(not broken, sentence, float(len(broken)))
