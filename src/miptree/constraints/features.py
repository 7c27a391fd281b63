"""Columns that no split may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from miptree.constraints.constraint import Constraint, Finding, TreeOnRows
from miptree.data.named import column_index


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
