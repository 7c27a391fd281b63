"""Columns that splits may use, and columns that none may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from miptree.constraints.constraint import Constraint, Finding, TreeOnRows
from miptree.data.named import column_index
from miptree.utils.arrays import BoolArray


@dataclass(frozen=True)
class ForbidFeatures(Constraint):
    """No split uses these columns.

    They are left out before the fit begins, so its bounds speak of the same trees.

    Parameters
    ----------
    features : str, int or sequence of these
        Columns of X, by name or position.

    Examples
    --------
    >>> ForbidFeatures(["race", "sex"])
    ForbidFeatures(features=('race', 'sex'))
    """

    features: str | int | Sequence[str | int]

    def __post_init__(self) -> None:
        given = self.features
        listed = (given,) if isinstance(given, (str, int)) else tuple(given)
        if not listed:
            raise ValueError("ForbidFeatures names no column. Name one, or leave it.")
        object.__setattr__(self, "features", listed)

    @property
    def listed(self) -> tuple[str | int, ...]:
        """The columns as they are given."""
        given: tuple[str | int, ...] = self.features  # type: ignore[assignment]
        return given

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the columns that it forbids, of those of X."""
        places = [column_index(e, columns, "ForbidFeatures") for e in self.listed]
        return [columns[place] for place in places]

    def check(self, view: TreeOnRows) -> Finding:
        """Look which columns the splits use."""
        used = {view.columns[j] for j in np.flatnonzero(view.tree.coef.any(axis=0))}
        broken = sorted(used & set(map(str, self.listed)))
        listed = ", ".join(map(repr, self.listed))
        verdict = f"NOT kept, {broken[0]!r} is used" if broken else "kept"
        sentence = f"No split uses {listed}: {verdict}."
        return Finding(not broken, sentence, float(len(broken)))


@dataclass(frozen=True)
class AllowFeatures(Constraint):
    """Splits of a depth, or all of them, use these columns and no others.

    Parameters
    ----------
    features : str, int or sequence of these
        Columns of X, by name or position.
    depth : int, optional
        Depth of the splits that it is about, 0 for the root; by default all.

    Examples
    --------
    >>> AllowFeatures(["age", "income"], depth=0)
    AllowFeatures(features=('age', 'income'), depth=0)
    """

    features: str | int | Sequence[str | int]
    depth: int | None = None

    def __post_init__(self) -> None:
        given = self.features
        listed = (given,) if isinstance(given, (str, int)) else tuple(given)
        if not listed:
            raise ValueError("AllowFeatures names no column, so nothing could split.")
        object.__setattr__(self, "features", listed)
        is_whole = isinstance(self.depth, (int, np.integer))
        if self.depth is not None and not (is_whole and self.depth >= 0):
            raise ValueError(
                f"depth of AllowFeatures must be a whole number >= 0, got "
                f"{self.depth!r}."
            )

    @property
    def listed(self) -> tuple[str | int, ...]:
        """The columns as they are given."""
        given: tuple[str | int, ...] = self.features  # type: ignore[assignment]
        return given

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the columns that it allows, of those of X."""
        places = [column_index(e, columns, "AllowFeatures") for e in self.listed]
        return [columns[place] for place in places]

    def is_about(self, depth: int) -> bool:
        """Tell whether it is about splits of a depth."""
        return self.depth is None or self.depth == depth

    def allowed(self, columns: Sequence[str]) -> BoolArray:
        """Return which columns that trees read are allowed, by their sources."""
        names = set(map(str, self.listed))
        return np.array([column in names for column in columns], dtype=bool)

    def check(self, view: TreeOnRows) -> Finding:
        """Look which columns the splits use."""
        others = ~self.allowed(view.columns)
        depth = view.tree.node_depth
        broken = [
            node
            for node in np.flatnonzero(view.tree.coef[:, others].any(axis=1))
            if self.is_about(int(depth[node]))
        ]
        which = "Splits" if self.depth is None else f"Splits of depth {self.depth}"
        listed = ", ".join(map(repr, self.listed))
        verdict = f"NOT kept at node {broken[0]}" if broken else "kept"
        sentence = f"{which} use no other columns than {listed}: {verdict}."
        return Finding(not broken, sentence, float(len(broken)))
