"""The nearest change of each row, verified by ``predict``."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from miptree.classifiers.predictor import TreePredictor
from miptree.data import CategoricalColumn, Value
from miptree.data.limits import Limits
from miptree.explain.explanation import FeatureChange, NearestChange
from miptree.explain.far import far_numbers, nearest_from_afar
from miptree.explain.moves import Move, move_of
from miptree.explain.nearest import Flip, Router
from miptree.explain.program import Row
from miptree.explain.splits import Story
from miptree.explain.tables import table_like
from miptree.export.readable import atoms_of

Answer: TypeAlias = tuple[NearestChange | None, str]
"""The nearest change of a row, or else why there is none."""


@dataclass(frozen=True)
class Asked:
    """What changes are asked for.

    Attributes
    ----------
    fixed : frozenset of int
        Columns that stay as they are.
    target : int or None
        Index of the class that a change has to lead to; None for any other one.
    weights : dict from int to float
        What the cost of a column is multiplied by, 1 if it is not there.
    """

    fixed: frozenset[int]
    target: int | None
    weights: dict[int, float]

    def is_goal(self, label: int, code: int) -> bool:
        """Tell whether a class will do for a row of another one."""
        return label != code if self.target is None else label == self.target


def find_changes(
    clf: TreePredictor,
    X: Any,
    story: Story,
    limits: dict[int, Limits],
    asked: Asked,
    rows: Sequence[Row],
    codes: Sequence[int],
) -> list[Answer]:
    """Find the nearest change of each row.

    Parameters
    ----------
    clf : TreePredictor
    X : data frame or array
        The rows as they were given.
    story : Story
    limits : dict from int to Limits
        Of the numeric columns whose range is known.
    asked : Asked
    rows : sequence of Row
        The cells of X.
    codes : sequence of int
        Class index of each row.
    """
    router = Router(clf.tree_, atoms_of(clf.table_))
    classes = clf.classes_.tolist()
    goal = "another class" if asked.target is None else f"class {classes[asked.target]}"
    flips: dict[int, Flip] = {}
    why = [""] * len(rows)
    for k, (row, code) in enumerate(zip(rows, codes, strict=True)):
        ways = [way for way in story.ways.values() if asked.is_goal(way[0].label, code)]
        if asked.target == code:
            why[k] = f"It has {goal} already."
        elif not ways:
            why[k] = f"No leaf of the tree has {goal}."
        else:
            movable = {j: limits[j] for j in _movable(story, asked) if j in limits}
            far = far_numbers(row, movable, asked.weights)
            moves_of = partial(_moves, clf, story, limits, asked)
            flip = nearest_from_afar(router, ways, moves_of, row, far)
            if flip.row is None:
                why[k] = _none_found(story, limits, asked, goal, flip.is_sure)
            else:
                flips[k] = flip
    changes = _verified(clf, X, asked, rows, codes, flips)
    for k in flips.keys() - changes.keys():
        why[k] = f"No change was found that leads to {goal} by prediction."
    return [(changes.get(k), why[k]) for k in range(len(rows))]


def _movable(story: Story, asked: Asked) -> list[int]:
    """List the columns that the tree reads and that may change."""
    return [j for j in story.exact.used if j not in asked.fixed]


def _moves(
    clf: TreePredictor,
    story: Story,
    limits: dict[int, Limits],
    asked: Asked,
    row: Row,
    kept: Collection[int],
) -> list[Move]:
    """List what of a row may change where some more columns are kept."""
    found = [
        move_of(
            j,
            clf.table_.columns[j],
            row[j],
            limits.get(j),
            asked.weights.get(j, 1.0),
        )
        for j in _movable(story, asked)
        if j not in kept
    ]
    return [move for move in found if move is not None]


def _verified(
    clf: TreePredictor,
    X: Any,
    asked: Asked,
    rows: Sequence[Row],
    codes: Sequence[int],
    flips: dict[int, Flip],
) -> dict[int, NearestChange]:
    """Predict the changed rows, and keep the changes that do what they should."""
    changed = {k: flip.row for k, flip in flips.items() if flip.row is not None}
    predicted = _predicted(clf, X, list(changed.values()))
    found, others = {}, _others(clf, X, rows, changed)
    for (k, row), (label, leaf) in zip(changed.items(), predicted, strict=True):
        if not asked.is_goal(clf.classes_.tolist().index(label), codes[k]):
            continue
        parts = tuple(
            FeatureChange(
                column.name, rows[k][j], row[j], *others.get((k, j, label), ())
            )
            for j, column in enumerate(clf.table_.columns)
            if rows[k][j] != row[j]
        )
        flip = flips[k]
        found[k] = NearestChange(label, leaf, flip.cost, parts, flip.is_sure)
    return found


def _others(
    clf: TreePredictor, X: Any, rows: Sequence[Row], changed: dict[int, list[Value]]
) -> dict[tuple[int, int, Any], tuple[tuple[Value, ...], tuple[int, ...]]]:
    """List the other values of changed categories by row, column and class they give.

    Each costs as much as the one that was found, and has the leaf that it leads to.
    """
    tried: list[tuple[int, int, Value]] = []
    for k, row in changed.items():
        for j, column in enumerate(clf.table_.columns):
            if isinstance(column, CategoricalColumn) and row[j] != rows[k][j]:
                known = {None, row[j], rows[k][j]}
                tried += [(k, j, v) for v in column.values if v not in known]
    swapped = [
        [value if place == j else cell for place, cell in enumerate(changed[k])]
        for k, j, value in tried
    ]
    found: dict[tuple[int, int, Any], tuple[tuple[Value, ...], tuple[int, ...]]] = {}
    predicted = _predicted(clf, X, swapped)
    for (k, j, value), (label, leaf) in zip(tried, predicted, strict=True):
        values, leaves = found.get((k, j, label), ((), ()))
        found[k, j, label] = (*values, value), (*leaves, leaf)
    return found


def _predicted(
    clf: TreePredictor, X: Any, rows: Sequence[Row]
) -> list[tuple[Any, int]]:
    """Return class and leaf of rows by the classifier's own methods."""
    if not rows:
        return []
    table = table_like(X, clf.table_.columns, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of gaps, which X has been warned of already
        labels, leaves = clf.predict(table).tolist(), clf.apply(table).tolist()
    return list(zip(labels, leaves, strict=True))


def _none_found(
    story: Story, limits: dict[int, Limits], asked: Asked, goal: str, is_sure: bool
) -> str:
    """Say that there is no change, and which ranges are not known."""
    said = f"No change of the allowed features within their ranges leads to {goal}."
    if not is_sure:
        said = f"No change of the allowed features was found that leads to {goal}."
    rules = story.exact
    unknown = [
        rules.name(j)
        for j in _movable(story, asked)
        if j not in limits and not rules.is_category(j)
    ]
    if unknown:
        said += f" Kept, as the rows show no range of them: {', '.join(unknown)}."
    return said
