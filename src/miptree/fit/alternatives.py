"""Other points trees of nearly the same cost: where they are looked for.

Every candidate is the best tree under a restriction, proved where time allows:

* without a column that the tree uses, then without two: the second is one that the
  best tree without the first uses;
* with a first question about another column;
* with fewer features in all its splits.

A search ends as soon as its bound says that such trees cost too much, or that they
cannot be better: what is known of all trees is known of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from miptree.control.clock import Clock
from miptree.fit.points import PointsResult
from miptree.fit.points_family import gains
from miptree.fit.progress import FitProgress
from miptree.fit.restricted import PointsFit
from miptree.points.alternatives import (
    Restriction,
    Sketch,
    most_different,
    sources_first,
    sources_used,
)
from miptree.tree import ObliqueTree

MOST_WITHOUT = 2
"""Columns that trees do without."""
MOST_QUESTIONS = 10
"""Columns that first questions are asked about, those that tell the classes apart best
by themselves."""
PRICES = (0.25, 0.5, 1.0)
"""Prices of a feature that make trees smaller, in parts of what they may cost more."""
_PART = 0.4
"""Part of the time left for searches of one kind."""

Search = Callable[[Clock], PointsResult]


@dataclass(eq=False)
class OtherTrees:
    """The search for other trees of one fit.

    Parameters
    ----------
    fit : PointsFit
    tree : ObliqueTree
        The tree to be different from.
    cost : float
        What it costs.
    slack : float
        How much more the others may cost.
    clock : Clock
        Ends the search; what was found so far stays.

    Attributes
    ----------
    found : list of PointsResult
        Trees that cost little enough, in the order in which they were found.
    """

    fit: PointsFit
    tree: ObliqueTree
    cost: float
    slack: float
    clock: Clock
    found: list[PointsResult] = field(default_factory=list)

    @property
    def limit(self) -> float:
        """What a tree may cost."""
        return self.cost + self.slack

    def search(self) -> None:
        """Look for trees in every way, the most promising restrictions first."""
        without = self._without({frozenset(): self.tree}, {}, _PART)
        self._other_first_questions()
        self._fewer_features()
        for size in range(2, MOST_WITHOUT + 1):
            trees = {columns: r.fitted.tree for columns, r in without.items() if r}
            without = self._without(trees, without, _PART if size < MOST_WITHOUT else 1)

    def choose(self, n: int) -> list[PointsResult]:
        """Return up to n of the trees, as different as possible."""
        problem = self.fit.data.problem
        given = [self._sketch(result.fitted.tree, result) for result in self.found]
        first = self._sketch(self.tree, None)
        chosen = most_different(first, given, problem.worst_class_cost, n)
        return [self.found[k] for k in chosen]

    def _sketch(self, tree: ObliqueTree, result: PointsResult | None) -> Sketch:
        cost = self.cost if result is None else result.fitted.certificate.objective
        return Sketch(self._used(tree), tree.predict(self.fit.data.problem.X), cost)

    def _used(self, tree: ObliqueTree) -> frozenset[int]:
        return sources_used(self.fit.data.family, tree)

    # ------------------------------------------------------------------- searches

    def _without(
        self,
        trees: Mapping[frozenset[int], ObliqueTree],
        before: Mapping[frozenset[int], PointsResult | None],
        part: float,
    ) -> dict[frozenset[int], PointsResult | None]:
        """Do without one more column that each of some trees uses.

        ``trees`` are those without some columns, ``before`` says what came of doing
        without the same number of columns.
        """
        asked: list[frozenset[int]] = []
        for columns, tree in trees.items():
            more = [columns | {column} for column in sorted(self._used(tree))]
            # What is too much without one column is too much without both.
            asked += [m for m in more if all(before.get(p, True) for p in _parts(m))]
        asked = list(dict.fromkeys(asked))
        searches = []
        for columns in asked:
            parts = [before.get(part) for part in _parts(columns)]
            bounds = [r.fitted.certificate.objective_bound for r in parts if r]
            least = max([self.fit.least, *bounds])
            searches.append(self._search(Restriction(without=columns), least))
        return dict(zip(asked, self._try_all(searches, part), strict=True))

    def _other_first_questions(self) -> None:
        """Ask first about each column, and not about others of the first question."""
        data = self.fit.data
        first = sources_first(data.family, self.tree)
        ranked = np.argsort(-gains(data.problem), kind="stable").tolist()
        columns = dict.fromkeys(
            data.family.source[j] for j in ranked if j in set(data.family.columns)
        )
        others = [column for column in columns if first != {column}]
        self._try_all(
            [
                self._search(Restriction(first=column, not_first=first - {column}))
                for column in others[:MOST_QUESTIONS]
            ],
            _PART,
        )

    def _fewer_features(self) -> None:
        prices = [float(f"{part * self.slack:.2g}") for part in PRICES]
        of_few = [partial(self.fit.best_of_few, price) for price in prices if price]
        self._try_all(of_few, _PART)

    def _search(self, restriction: Restriction, least: float | None = None) -> Search:
        fit = self.fit if least is None else replace(self.fit, least=least)
        return lambda clock: fit.best(restriction, clock, [self._is_too_much])

    def _is_too_much(self, state: FitProgress) -> bool:
        return state.bound > self.limit

    def _try_all(
        self, searches: Sequence[Search], part: float
    ) -> list[PointsResult | None]:
        """Run searches in a part of the time; give trees that cost little enough."""
        clock, results = self.clock.share(part), list[PointsResult | None]()
        for n_left, search in zip(range(len(searches), 0, -1), searches, strict=True):
            result = None
            if not self.clock.is_over:
                result = search(clock.share(1 / n_left))
            results.append(result if result and self._is_welcome(result) else None)
        self.found += [result for result in results if result is not None]
        return results

    def _is_welcome(self, result: PointsResult) -> bool:
        """Tell whether a tree costs little enough, and asks first what it should."""
        asks_nothing = result.data.family.at_root and result.fitted.tree.n_nodes == 1
        return not asks_nothing and result.fitted.certificate.objective <= self.limit


def _parts(columns: frozenset[int]) -> list[frozenset[int]]:
    """Return the sets that lack one of some columns."""
    return [columns - {column} for column in columns]
