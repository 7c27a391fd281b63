"""Walk through the proof tree of a structure, line by line of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..values import Refused
from .batches import Batch
from .case import Case
from .closings import closing_values, lemma_values
from .entries import Closing, Entries, no_point
from .numbers import Numbers
from .structures import Structure, is_symmetric

MOST_NUMBERS, MOST_NODES, MOST_CHILDREN = 1 << 22, 20_000, 16
"""Numbers and nodes in a batch; children of a branch."""


class Rest(NamedTuple):
    """What trees cost beside what a walk knows of: whole units, and a number.

    Neither is negative.
    """

    base: int
    value: float


NO_REST = Rest(0, 0.0)


class Walk:
    """The proof tree of a structure, with what its lines show.

    Parameters
    ----------
    numbers : Numbers
        The points of a part.
    structure : Structure
    exponent : int
        Multipliers are whole numbers over 2 ** exponent.
    name : mapping of int to int
        The number of each point of the part, by its name in the file.
    most : int, optional
        Features that a hyperplane may use.
    """

    def __init__(
        self,
        numbers: Numbers,
        structure: Structure,
        exponent: int,
        name: Mapping[int, int],
        most: int | None = None,
    ) -> None:
        self.numbers, self.structure, self.exponent = numbers, structure, exponent
        self.name, self.entries = name, Entries(structure, name)
        self.most, self.is_begun = most, False
        self.case = Case(structure, numbers.cost)
        self.least = np.where(structure.is_subset, 0.0, numbers.least)
        self.value, n = np.inf, len(numbers.cost)
        self.lemmas, self.closings = Batch(n), Batch(n)
        self.lemma_of_closing: list[tuple[int, ...]] = []
        self.lemma_value = np.zeros((0, structure.n_splits))

    # ------------------------------------------------------------------ the lines

    def fix(self, point: int) -> None:
        """Keep a point on the left of the root, if its sides are alike.

        The mirror image of a tree has the same structure, so one of the two does that.
        """
        if self.is_begun or not is_symmetric(self.structure.shape):
            raise Refused("The proof file fixes a point where it may not.")
        self._begin()
        self.case.set_leaves(self._point(point), self.structure.left_of_root)

    def branch(self, point: int, sets: Sequence[int]) -> None:
        """Go on with each of some sets of leaves, which must be all that is open."""
        self._begin()
        i, union = self._point(point), 0
        for leaves in sets:
            union |= leaves
        if not 1 <= len(sets) <= MOST_CHILDREN or union & ~self.structure.everything:
            raise Refused("The proof file has a branch with unknown leaves.")
        if min(sets) < 0 or self.case.leaves[i] & ~union:
            raise Refused("A branch of the proof file leaves out a leaf that is open.")
        before = self.case.leaves[i]
        self.case.branch([i], ([leaves & before] for leaves in sets))

    def decide(self, split: int) -> None:
        """Go on with each of the categories that a split may send values of left."""
        self._begin()
        splits, feature = self.case.splits, self.case.splits.feature
        if not self._is_subset(split) or feature[split] >= 0:
            raise Refused("The proof file decides a split that is not open.")
        n_categories = self.numbers.values.shape[1]
        more = [
            splits._replace(feature=(*feature[:split], k, *feature[split + 1 :]))
            for k in range(n_categories)
        ]
        self.case.branch([], ([] for _ in more), more)

    def part_value(self, split: int, point: int) -> None:
        """Go on with both sides of a split for all points of the same value."""
        self._begin()
        feature = self.case.splits.feature
        if not self._is_subset(split) or feature[split] < 0:
            raise Refused("The proof file sends values to sides of a split too soon.")
        values = self.numbers.values[:, feature[split]]
        same = np.flatnonzero(values == values[self._point(point)]).tolist()
        before = [self.case.leaves[i] for i in same]
        others = [self.structure.leaves_on(split, side) for side in (1, -1)]
        self.case.branch(same, ([old & ~other for old in before] for other in others))

    def decide_use(self, split: int, feature: int) -> None:
        """Go on without a feature at a split, and with it as one of a few."""
        self._begin()
        if self.most is None:
            raise Refused("The proof file leaves out features that trees may use.")
        n_features, use = self.numbers.x.shape[1], self.case.splits.use
        is_hyperplane = self._is_split(split) and not self._is_subset(split)
        is_known = is_hyperplane and 0 <= feature < n_features
        if not (is_known and use[split].is_open(feature)):
            raise Refused("The proof file decides on a feature that is not open.")
        more = [
            self.case.splits._replace(use=(*use[:split], case, *use[split + 1 :]))
            for case in use[split].cases(feature, self.most, n_features)
        ]
        self.case.branch([], ([] for _ in more), more)

    def lemmas_of(self, plain: Sequence[int]) -> None:
        """Note what splits cost in all that follows below."""
        self._begin()
        if self.case.n_empty:
            return
        columns = self.entries.plain(plain)
        number = len(self.lemma_value) + self.lemmas.n_nodes
        splits = set(columns[0])
        self.lemmas.add(self.case.base, self.case.leaves, self.case.left_out, columns)
        self._evaluate_many()
        self.case.lemma = tuple(
            number if split in splits else old
            for split, old in enumerate(self.case.lemma)
        )

    def close(
        self, plain: Sequence[int], envelopes: Sequence[int], rest: Rest = NO_REST
    ) -> None:
        """End a branch by multipliers, with what trees cost there in addition.

        One in which a point has no leaf left needs no reason. Nor does one in which no
        point is left to a leaf: there is a best tree that has points in every leaf.
        """
        self._close(self.entries.closing(plain, envelopes), rest)

    def change(self, plain: Sequence[int], envelopes: Sequence[int]) -> None:
        """End a branch by the multipliers of the last closing, with some changes."""
        self._close(self.entries.changed(plain, envelopes))

    def _close(self, columns: Closing, rest: Rest = NO_REST) -> None:
        self._begin()
        is_bare = not columns[0][0] and not columns[1][0]
        if not self.case.n_empty and not (is_bare and self.case.lacks_points):
            base = self.case.base + rest.base
            known = base, self.case.leaves, self.case.left_out, *columns
            self.closings.add(*known, rest.value)
            self.lemma_of_closing.append(self.case.lemma)
            self._evaluate_many()
        self.case.go_on()

    def end(self) -> float:
        """Return what trees of the structure cost at least."""
        if not self.case.is_done:
            raise Refused("A proof tree of the proof file is not complete.")
        self.evaluate()
        return min(self.value, self.numbers.threshold)

    # ---------------------------------------------------------- what they add up to

    def _evaluate_many(self) -> None:
        """Work out what was gathered, once it is much."""
        entries = self.closings.n_entries + self.lemmas.n_entries
        nodes = self.closings.n_nodes + self.lemmas.n_nodes
        width = self.numbers.x.shape[1] + 16
        if entries * width > MOST_NUMBERS or nodes > MOST_NODES:
            self.evaluate()

    def evaluate(self) -> None:
        """Work out what was gathered."""
        n = len(self.case.leaves)
        known = self.numbers, self.structure, self.exponent
        if self.lemmas.n_nodes:
            more = lemma_values(*known, self.lemmas)
            self.lemma_value = np.concatenate([self.lemma_value, more])
        # The last row stands for -1: no lemma.
        table = np.vstack([self.lemma_value, np.full(self.structure.n_splits, -np.inf)])
        lemma = np.array(self.lemma_of_closing, dtype=np.int64)
        lemma = lemma.reshape(self.closings.n_nodes, self.structure.n_splits)
        floor = table[lemma, np.arange(self.structure.n_splits)]
        floor = np.maximum(floor, self.least)
        values = closing_values(*known, self.closings, floor)
        self.value = min(self.value, float(values.min(initial=np.inf)))
        self.lemmas, self.closings, self.lemma_of_closing = Batch(n), Batch(n), []

    # ------------------------------------------------------------ what lines may do

    def _begin(self) -> None:
        if self.case.is_done:
            raise Refused("A proof tree of the proof file goes on too long.")
        self.is_begun = True

    def _is_split(self, split: int) -> bool:
        return 0 <= split < self.structure.n_splits

    def _is_subset(self, split: int) -> bool:
        """Tell whether there is such a split, and it is by subsets of values."""
        return self._is_split(split) and bool(self.structure.is_subset[split])

    def _point(self, name: int) -> int:
        if name not in self.name:
            raise no_point(name)
        return self.name[name]
