"""How a row meets the splits on its way: scores, and what each feature adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from miptree.classifiers.predictor import TreePredictor
from miptree.data import CategoricalColumn, NumericalColumn, Value
from miptree.data.limits import Limits
from miptree.explain.cell_values import added, atom_value, points_of, score_of
from miptree.explain.explanation import Contribution, SplitMet
from miptree.explain.program import Row, Way
from miptree.export.cards import card_words
from miptree.export.conditions import Card, negated
from miptree.export.describe import condition_of, is_points_tree
from miptree.export.readable import Branch, Leaf, Number, ReadableTree, readable_tree
from miptree.export.reasons import reasons_of
from miptree.export.sentences import ways_of
from miptree.export.shown import shown_rules
from miptree.export.text import split_text


@dataclass(frozen=True)
class Story:
    """A tree as it is told: its rules for routing, and its rules in words.

    Attributes
    ----------
    exact : ReadableTree
        The splits as ``predict`` uses them.
    shown : ReadableTree
        The same with numbers rounded, and splits of a points tree turned, for people.
    digits : int
        Digits of the numbers shown.
    """

    exact: ReadableTree
    shown: ReadableTree
    digits: int

    @classmethod
    def of(cls, clf: TreePredictor) -> Story:
        """Return the story of a classifier."""
        shown, digits, _ = shown_rules(clf)
        return cls(readable_tree(clf), shown, digits)

    @cached_property
    def is_of_points(self) -> bool:
        """Whether it is a points tree."""
        return is_points_tree(self.exact)

    @cached_property
    def ways(self) -> dict[int, tuple[Leaf, Way]]:
        """The leaves and the exact splits that lead there, by node."""
        return {leaf.node: (leaf, way) for leaf, way in ways_of(self.exact.root)}

    @cached_property
    def shown_ways(self) -> dict[int, list[tuple[Branch, bool]]]:
        """The splits that lead to each leaf as people read them."""
        return {leaf.node: way for leaf, way in ways_of(self.shown.root)}

    @cached_property
    def reasons(self) -> dict[int, str]:
        """Why a row of each leaf has its class, as a sentence."""
        return reasons_of(self.shown, self.digits)

    # ------------------------------------------------------------------- one row

    def splits_met(
        self, leaf: int, row: Row, limits: dict[int, Limits]
    ) -> tuple[SplitMet, ...]:
        """Tell how a row that ends at a leaf met the splits on its way."""
        exact, shown = self.ways[leaf][1], self.shown_ways[leaf]
        if self.is_of_points:
            exact = shown  # sums of whole numbers, which turning does not change
        nodes = [*[branch.node for branch, _ in exact], leaf][1:]
        return tuple(
            self._met(branch, told, goes_left, node, row, limits)
            for (branch, goes_left), (told, _), node in zip(
                exact, shown, nodes, strict=True
            )
        )

    def _met(
        self,
        branch: Branch,
        told: Branch,
        goes_left: bool,
        next_node: int,
        row: Row,
        limits: dict[int, Limits],
    ) -> SplitMet:
        kind, rule = self.rule_of(branch, told, goes_left)
        if kind == "points":
            return self._card_met(branch, rule, next_node, row)
        score = score_of(branch, row)
        swing = sum(self._swing(branch, j, limits) for j in _read(branch))
        distance, unit = abs(score - branch.threshold), told.unit
        amounts = {j: added(branch, j, row[j]) / unit for j in _read(branch)}
        moved = {j: _moved(branch, j, row[j]) for j in amounts}
        parts = self._listed(amounts, moved, row)
        if told.missing_left is not None and parts[0].value is None:
            kind = "question"
        if kind == "question":  # which says where gaps go: no number stands for one
            parts = tuple(replace(part, taken_as=None) for part in parts)
        return SplitMet(
            branch.node,
            next_node,
            kind,
            rule,
            score / unit,
            branch.threshold / unit,
            distance / abs(unit),
            distance / swing if swing else None,
            parts,
        )

    def rule_of(self, branch: Branch, told: Branch, goes_left: bool) -> tuple[str, str]:
        """Return the kind of a split, and what holds for rows that go to a side.

        ``told`` is the same split as people read it.
        """
        if self.is_of_points:
            found = condition_of(branch)
            if isinstance(found, Card):
                held = found if goes_left else negated(found)
                return "points", card_words(self.shown, held)
        is_question = branch.subset or told.rule is not None or self.is_of_points
        rule = split_text(self.shown, told, self.digits, goes_left)
        return "question" if is_question else "sum", rule

    def _card_met(
        self, branch: Branch, rule: str, next_node: int, row: Row
    ) -> SplitMet:
        card = condition_of(branch)
        assert isinstance(card, Card)
        points: dict[int, float] = {}
        for part in card.parts:
            column = part.atom.column
            mine = points_of(part, row[column])
            points[column] = points.get(column, 0) + mine
        score = sum(points.values())
        distance = abs(score - card.most)
        return SplitMet(
            branch.node,
            next_node,
            "points",
            rule,
            score,
            card.most,
            distance,
            distance / card.total,
            self._listed(points, points, row),
        )

    def _listed(
        self, amounts: dict[int, float], moved: dict[int, float], row: Row
    ) -> tuple[Contribution, ...]:
        """List what columns add, those first that move the score most."""
        order = sorted(amounts, key=lambda j: -abs(moved[j]))
        return tuple(
            Contribution(self.exact.name(j), row[j], amounts[j], self._fill(j, row[j]))
            for j in order
        )

    def _fill(self, j: int, cell: Value) -> float | None:
        """Return what stands for a missing number."""
        column = self.exact.columns[j]
        if cell is None and isinstance(column, NumericalColumn):
            return column.fill
        return None

    def _swing(self, branch: Branch, j: int, limits: dict[int, Limits]) -> float:
        """Return by how much a column can vary the score of a split."""
        column = self.exact.columns[j]
        ends: Sequence[Value] = ()
        if isinstance(column, CategoricalColumn):
            ends = column.values
        elif j in limits:
            ends = limits[j].low, limits[j].high
        amounts = [added(branch, j, end) for end in ends]
        return max(amounts) - min(amounts) if amounts else 0.0


def leaf_reasons(clf: TreePredictor) -> dict[int, str]:
    """Say for each leaf of a fitted classifier, by its node, why rows are there."""
    return Story.of(clf).reasons


def _read(branch: Branch) -> list[int]:
    """List the columns that a split reads, in the order of its terms."""
    return list(dict.fromkeys(atom.column for _, atom in branch.terms))


def _moved(branch: Branch, column: int, cell: Value) -> float:
    """Return how much more a column adds to a score than where its number is typical.

    A year adds much, but about as much for every row: it explains little. The number
    that stands for missing ones, the median, is the typical one. The report page
    computes the same in the same order, so that its reasons are in this order, too.
    """
    moved = 0.0
    for coef, atom in branch.terms:
        if atom.column == column:
            typical = atom.fill if isinstance(atom, Number) else 0.0
            moved += coef * (atom_value(atom, cell) - typical)
    return moved
