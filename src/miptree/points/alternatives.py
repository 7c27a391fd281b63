"""Other points trees: what may be forbidden to find them, and which differ most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from miptree.points.family import Family
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

Difference = tuple[float, float]
"""Of two trees: part of their columns that only one uses, then the share of the weight
of the rows for which they predict different classes."""


@dataclass(frozen=True)
class Restriction:
    """What is asked of trees besides being of a family; columns are those of X.

    Attributes
    ----------
    without : frozenset of int
        Columns that no split uses.
    first : int or None
        Column that the first split uses.
    not_first : frozenset of int
        Columns that it does not use then.
    most_features : int or None
        Most features in all splits together, counted in every split anew.
    """

    without: frozenset[int] = frozenset()
    first: int | None = None
    not_first: frozenset[int] = frozenset()
    most_features: int | None = None

    def narrowed(self, family: Family) -> Family:
        """Return the family of splits that are left; it knows no number of features."""
        if self.without:
            allowed = family.allowed or (True,) * len(family.steps)
            pairs = zip(allowed, family.source, strict=True)
            left = tuple(was and source not in self.without for was, source in pairs)
            family = replace(family, allowed=left)
        if self.first is not None:
            family = replace(family, at_root=tuple(map(self._at_root, family.source)))
        return family

    def _at_root(self, source: int) -> int:
        return 1 if source == self.first else -1 if source in self.not_first else 0

    def words(self, names: Sequence[str]) -> str:
        """Say what is asked, given the names of the columns of X."""
        parts = []
        if self.without:
            parts.append(f"without {_listed(self.without, names, 'and')}")
        if self.first is not None:
            parts.append(f"with a first question about {names[self.first]}")
            if self.not_first:
                parts.append(f"not {_listed(self.not_first, names, 'or')}")
        if self.most_features is not None:
            plural = "" if self.most_features == 1 else "s"
            number = f"{self.most_features} feature{plural}"
            parts.append(f"with at most {number} in all its splits")
        return ", ".join(parts)


def _listed(columns: Iterable[int], names: Sequence[str], word: str) -> str:
    *first, last = (names[column] for column in sorted(columns))
    return f"{', '.join(first)} {word} {last}" if first else last


# ------------------------------------------------------------- what trees use


def sources_used(family: Family, tree: ObliqueTree) -> frozenset[int]:
    """Return the columns of X that the splits of a tree use."""
    return _sources(family, tree.coef[~tree.is_leaf])


def sources_first(family: Family, tree: ObliqueTree) -> frozenset[int]:
    """Return those that its first split uses; none if the tree is one leaf."""
    return _sources(family, tree.coef[:1][~tree.is_leaf[:1]])


def _sources(family: Family, coef: FloatArray) -> frozenset[int]:
    used = np.flatnonzero((coef != 0).any(axis=0))
    return frozenset(family.source[j] for j in used.tolist())


def features_used(tree: ObliqueTree) -> int:
    """Count the features in all splits of a tree, in every split anew."""
    return int(np.count_nonzero(tree.coef[~tree.is_leaf]))


# --------------------------------------------------------- which differ most


@dataclass(frozen=True, eq=False)
class Sketch:
    """What trees are told apart by: columns of X, predicted classes, and the cost."""

    columns: frozenset[int]
    predicted: IntArray
    cost: float

    def difference(self, other: Sketch, weight: FloatArray) -> Difference:
        """Return how different two trees are on rows of such weights."""
        either = self.columns | other.columns
        of_one = len(self.columns ^ other.columns) / max(1, len(either))
        apart = weight[self.predicted != other.predicted].sum() / weight.sum()
        return of_one, float(apart)


def most_different(
    first: Sketch, others: Sequence[Sketch], weight: FloatArray, n: int
) -> list[int]:
    """Choose trees one after another, always the one farthest from those before.

    How far a tree is from others is its least difference from one of them; of equally
    far ones the cheapest is taken. Trees that differ from one before in nothing are
    left out.

    Parameters
    ----------
    first : Sketch
        The tree to be different from.
    others : sequence of Sketch
        Trees to choose from.
    weight : float array
        Weights of the rows that they predict.
    n : int
        Most trees to choose.

    Returns
    -------
    list of int
        Places in ``others``.
    """
    far = {k: sketch.difference(first, weight) for k, sketch in enumerate(others)}
    chosen: list[int] = []
    while len(chosen) < n:
        far = {k: by for k, by in far.items() if by > (0.0, 0.0)}
        if not far:
            break
        best = min(far, key=lambda k: (-far[k][0], -far[k][1], others[k].cost, k))
        chosen.append(best)
        far = {
            k: min(by, others[k].difference(others[best], weight))
            for k, by in far.items()
        }
    return chosen
