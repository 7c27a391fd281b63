"""Other points trees of nearly the same cost: where they are looked for.

Every candidate is the best tree under a restriction, proved where time allows:

* without a column that the tree uses, then without two: the second is one that the
  best tree without the first uses;
* with another first question: none of its columns are those of the first questions of
  the trees before;
* with fewer features in all its splits.

Columns that cannot be done without at that cost are found by the bound, which ends the
search for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from miptree.control.clock import Clock
from miptree.fit.points import PointsResult
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

SHARE = 1 / 4
"""Part of the time left that one search may take."""
MOST_WITHOUT = 2
"""Columns that trees do without."""
PRICES = (0.25, 0.5, 1.0)
"""Prices of a feature that make trees smaller, in parts of what they may cost more."""


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
        first = [frozenset((column,)) for column in sorted(self._used(self.tree))]
        results = {columns: self._try_without(columns) for columns in first}
        self._other_first_questions()
        self._fewer_features()
        for _ in range(1, MOST_WITHOUT):
            results = self._without_one_more(results)

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

    def _try_without(self, columns: frozenset[int]) -> PointsResult | None:
        return self._try(Restriction(without=columns))

    def _without_one_more(
        self, before: dict[frozenset[int], PointsResult | None]
    ) -> dict[frozenset[int], PointsResult | None]:
        """Do without one more column that each of the trees before uses."""
        results: dict[frozenset[int], PointsResult | None] = {}
        for columns, result in before.items():
            if result is None:
                continue
            for column in sorted(self._used(result.fitted.tree)):
                more = columns | {column}
                # What is needed alone is needed with others, too.
                parts = [more - {other} for other in more]
                if more not in results and all(before.get(p, p) for p in parts):
                    results[more] = self._try_without(more)
        return results

    def _other_first_questions(self) -> None:
        """Forbid the columns of the first questions so far, until trees cost more."""
        family, before = self.fit.data.family, frozenset[int]()
        tree = self.tree
        while first := sources_first(family, tree):
            before |= first
            result = self._try(Restriction(not_first=before))
            if result is None:
                return
            tree = result.fitted.tree

    def _fewer_features(self) -> None:
        for part in PRICES:
            price = float(f"{part * self.slack:.2g}")
            if price > 0 and not self.clock.is_over:
                self._keep(self.fit.best_of_few(price, self.clock.share(SHARE)))

    def _try(self, restriction: Restriction) -> PointsResult | None:
        """Return the best tree under a restriction, None if it costs too much."""
        if self.clock.is_over:
            return None
        clock = self.clock.share(SHARE)
        return self._keep(self.fit.best(restriction, clock, [self._is_too_much]))

    def _is_too_much(self, state: FitProgress) -> bool:
        return state.bound > self.limit

    def _keep(self, result: PointsResult) -> PointsResult | None:
        if result.fitted.certificate.objective > self.limit:
            return None
        self.found.append(result)
        return result
