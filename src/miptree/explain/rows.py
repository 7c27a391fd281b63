"""``explain``: why rows get their classes, and the nearest change of each."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from miptree.classifiers.predictor import TreePredictor
from miptree.data import Cells
from miptree.data.limits import Limits
from miptree.data.named import by_column, column_index
from miptree.explain.cell_values import row_of
from miptree.explain.changes import Answer, Asked, find_changes
from miptree.explain.explanation import Explanation, Explanations
from miptree.explain.limits import known_limits, limits_of
from miptree.explain.splits import Story
from miptree.explain.tables import cells_of


def explain(
    clf: TreePredictor,
    X: Any,
    *,
    background: Any = None,
    fixed: Iterable[str | int] = (),
    target: Any = None,
    weights: Mapping[str | int, float] | None = None,
    rows: Iterable[int] | None = None,
    changes: bool = True,
) -> Explanations:
    """Explain the class of each row, and find the nearest change that makes it another.

    A change keeps within the ranges of the features, has the digits of their columns,
    and is reported only after ``predict`` has given the changed row another class. Its
    cost is a weighted 1-norm: a number that moves by its whole range costs 1, another
    category costs 1, and to fill in a missing number costs 1 more than to move it from
    the number that stood for it. What is there never becomes missing, and rare values
    of a category are not proposed.

    Parameters
    ----------
    clf : fitted classifier of this package
    X : data frame or array-like of shape (n_samples, n_features)
        The rows to explain.
    background : data frame or array-like, optional
        Rows that show the ranges and digits of the features. By default those of the
        training rows, which the model knows.
    fixed : iterable of str or int, default=()
        Names or positions of columns that must not change.
    target : object, optional
        The class that a change has to lead to; by default any other one.
    weights : mapping from str or int to float, optional
        What the cost of changing a column is multiplied by; 1 for others.
    rows : iterable of int, optional
        Places of the rows of X to explain, counted from 0; by default all.
    changes : bool, default=True
        Whether to look for changes at all.

    Returns
    -------
    Explanations
        A sequence of :class:`Explanation`; ``print`` shows it, ``to_frame()`` and
        ``to_dict()`` return all of it as a table and as plain values.

    Examples
    --------
    >>> import numpy as np
    >>> from miptree import OptimalTreeClassifier, explain
    >>> X = np.array([[1, 5], [2, 4], [3, 3], [6, 3], [7, 2], [8, 1]])
    >>> y = ["no", "no", "no", "yes", "yes", "yes"]
    >>> clf = OptimalTreeClassifier(
    ...     max_depth=1, solver="search", max_iter=5, random_state=0
    ... ).fit(X, y)
    >>> found = explain(clf, X[:2])[0]
    >>> found.label, found.change.label
    ('no', 'yes')
    """
    if not isinstance(clf, TreePredictor):
        raise TypeError(
            f"explain needs a fitted classifier of miptree, got {type(clf).__name__}."
        )
    check_is_fitted(clf)
    leaf = clf.apply(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of gaps, of which apply has told
        proba = clf.predict_proba(X)
    places = _places(rows, len(leaf))
    table = cells_of(X)
    limits, ranges = _limits(clf, background)
    story = Story.of(clf)
    asked = _asked(clf, fixed, target, weights)
    cells = [row_of(clf.table_.columns, table, place) for place in places]
    codes = clf.tree_.label[leaf[places]].tolist()
    answers: list[Answer] = [(None, "")] * len(places)
    if changes:
        answers = find_changes(clf, X, story, limits, asked, cells, codes)
    items = tuple(
        Explanation(
            place,
            clf.classes_.tolist()[codes[k]],
            int(leaf[place]),
            float(proba[place, codes[k]]),
            story.reasons[int(leaf[place])],
            story.splits_met(int(leaf[place]), cells[k], limits),
            *answers[k],
        )
        for k, place in enumerate(places)
    )
    return Explanations(items, ranges)


def _places(rows: Iterable[int] | None, n_rows: int) -> list[int]:
    """Return which rows are to be explained."""
    places = range(n_rows) if rows is None else _listed("rows", rows)
    for place in places:
        if isinstance(place, bool) or not isinstance(place, (int, np.integer)):
            raise TypeError(
                f"rows must list places, whole numbers from 0 on, got {place!r}."
            )
        if not 0 <= place < n_rows:
            raise ValueError(
                f"rows names place {place}, but X has {n_rows} rows, whose places are "
                f"0 to {n_rows - 1}."
            )
    return [int(place) for place in places]


def _listed(parameter: str, given: Any) -> list[Any]:
    """Return the entries of a parameter that is a list."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{parameter} must be a list, such as [0, 2], got {given!r}.")
    return list(given)


def _limits(clf: TreePredictor, background: Any) -> tuple[dict[int, Limits], str]:
    """Return the limits of numbers; say where they are from, and what costs are."""
    columns = clf.table_.columns
    if background is None:
        return known_limits(columns), f"{_COST} Ranges are those of the training rows."
    known = _background(clf, background)
    said = f"{_COST} Ranges are those of the {_rows(known)} given as background."
    return limits_of(columns, known), said


_COST = "Cost 1 is the whole range of a number, or another category."


def _rows(table: list[Cells]) -> str:
    n_rows = len(table[0])
    return "1 row" if n_rows == 1 else f"{n_rows:,} rows"


def _background(clf: TreePredictor, background: Any) -> list[Cells]:
    """Read background rows; they must be rows that the model can read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of gaps, which do not matter here
            clf.tree_inputs(background)
    except ValueError as error:
        raise ValueError(f"The background rows cannot be read: {error}") from error
    return cells_of(background)


def _asked(
    clf: TreePredictor,
    fixed: Iterable[str | int],
    target: Any,
    weights: Mapping[str | int, float] | None,
) -> Asked:
    names = [column.name for column in clf.table_.columns]
    is_one = isinstance(fixed, (str, int, np.integer))
    entries = [fixed] if is_one else _listed("fixed", fixed)
    kept = frozenset(column_index(entry, names, "fixed") for entry in entries)
    found = by_column(weights, names, "weights")
    for j, weight in found.items():
        if not 0 < weight < np.inf:
            raise ValueError(
                f"weights gives {weight!r} for {names[j]!r}. Give a finite number "
                "above 0, or name the column in fixed."
            )
    if target is None:
        return Asked(kept, None, found)
    classes = clf.classes_.tolist()
    if np.ndim(target) or target not in classes:
        raise ValueError(
            f"target is {target!r}, which is no class of the model: "
            f"{', '.join(map(repr, classes))}."
        )
    return Asked(kept, classes.index(target), found)
