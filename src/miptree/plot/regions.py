"""Decision regions in a plane of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from miptree.classifiers.predictor import TreePredictor
from miptree.data import GridColumn, NumericalColumn, Table
from miptree.evaluate import codes_of
from miptree.export.leaf_words import row_number
from miptree.export.readable import table_of
from miptree.plot._common import axes_or_new, colour, plain_text
from miptree.tree.column_use import column_use
from miptree.utils.arrays import AnyArray, FloatArray

_STEPS = 400
_MOST_POINTS = 5000
_MOST_TICKS = 10
_WITHIN = 0.4
"""Part of a step of a grid by which rows are spread to either side of its middle."""


def plot_regions(
    clf: TreePredictor,
    X: ArrayLike,
    y: ArrayLike,
    features: tuple[int | str, int | str] | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Draw which class the tree predicts over a plane of two columns of numbers.

    All other columns are held at the row of X in the middle (the median of numbers).
    With more than two columns the picture is therefore a section through the regions,
    and a point may lie elsewhere: points that the tree predicts wrongly are crosses.
    Rows of a points tree are spread at random within their steps, in which it reads
    them alike; rows that lack a number of an axis are left out.

    Parameters
    ----------
    clf : fitted classifier of this package
    X, y : array-like
        Rows and labels to draw, at most 5000 of them, taken evenly.
    features : pair of int or str, optional
        Columns for the axes, by default the two that the splits use most: by
        coefficient times spread, over the rows that reach the split.
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(clf)
    Z = clf.tree_inputs(X)
    codes = codes_of(clf, y, len(Z))
    table = table_of(clf)
    across, up = _columns(clf, Z, features)
    ax = axes_or_new(ax, (6.2, 4.8))
    x_rows, y_rows = _spread(table, across, Z), _spread(table, up, Z)
    x_grid, y_grid = _ticks(x_rows), _ticks(y_rows)
    plane = np.tile(_middle(Z), (len(x_grid) * len(y_grid), 1))
    across_all, up_all = _read(table, across, x_grid), _read(table, up, y_grid)
    plane[:, _places(table, across)] = np.tile(across_all, len(y_grid))[:, None]
    plane[:, _places(table, up)] = np.repeat(up_all, len(x_grid))[:, None]
    region = clf.tree_.predict(plane).reshape(len(y_grid), len(x_grid))
    _paint(ax, x_grid, y_grid, region, len(clf.classes_))
    step = max(1, len(Z) // _MOST_POINTS)
    is_there = ~np.isnan(x_rows + y_rows)
    wrong = clf.tree_.predict(Z) != codes
    for k, name in enumerate(clf.classes_):
        for mark, chosen, size in (("o", ~wrong, 18), ("X", wrong, 42)):
            rows = np.flatnonzero((codes == k) & chosen & is_there)[::step]
            label = plain_text(name) if mark == "o" else None
            style = {"c": colour(k), "edgecolors": "white", "linewidths": 0.6}
            ax.scatter(
                x_rows[rows], y_rows[rows], size, marker=mark, label=label, **style
            )
    ax.set_xlabel(plain_text(table.columns[across].name))
    ax.set_ylabel(plain_text(table.columns[up].name))
    ax.set_xlim(x_grid[0], x_grid[-1])
    ax.set_ylim(y_grid[0], y_grid[-1])
    for axis, column in ((ax.xaxis, across), (ax.yaxis, up)):
        _name_steps(axis, table, column)
    notes = _notes(clf, (across, up), int((~is_there).sum()))
    ax.set_title("\n".join(notes), fontsize=9)
    ax.legend(frameon=True, fontsize=9)
    return ax


def _notes(clf: TreePredictor, axes: tuple[int, int], n_lacking: int) -> list[str]:
    """Say what the picture does not show, and what its marks mean."""
    found, table = [], table_of(clf)
    others = clf.n_features_in_ - len(set(axes))
    if others:
        columns = "other column" if others == 1 else "other columns"
        found.append(f"section: {others} {columns} at typical values")
    if any(_cuts(table, column) for column in axes):
        found.append("rows are spread within the steps of the tree")
    if n_lacking:
        found.append(f"without {row_number(n_lacking)} that lack one of the numbers")
    return [*found, "✕ predicted wrongly"]


def _columns(clf: TreePredictor, Z: FloatArray, asked: Any) -> tuple[int, int]:
    """Find two columns of numbers."""
    table = table_of(clf)
    kinds = NumericalColumn, GridColumn
    known = [j for j, column in enumerate(table.columns) if isinstance(column, kinds)]
    numbers = [j for j in known if len(np.unique(Z[:, _places(table, j)[0]])) > 2]
    if asked is None:
        if len(numbers) < 2:
            raise ValueError(
                "Regions need two columns of numbers with more than two values, got "
                f"{len(numbers)}. Use plot_tree or plot_node."
            )
        use = _use(clf, Z)
        used = np.array([use[_places(table, j)].sum() for j in numbers])
        first, second = np.argsort(-used, kind="stable")[:2]
        return numbers[first], numbers[second]
    if len(asked) != 2:
        raise ValueError(f"features must be a pair of columns, got {asked!r}.")
    names = {table.columns[j].name: j for j in known}
    wanted = [table.columns[c].name if isinstance(c, int) else str(c) for c in asked]
    for name in wanted:
        if name not in names:
            raise ValueError(
                f"features names {name!r}, which is no column of numbers; there are "
                f"{', '.join(map(repr, list(names)[:20]))}."
            )
    return names[wanted[0]], names[wanted[1]]


def _use(clf: TreePredictor, Z: FloatArray) -> FloatArray:
    """Sum up how much the splits use each column: share of a split times its rows."""
    tree = clf.tree_
    reaching = tree.ancestors[tree.apply(Z)].sum(axis=0)
    return column_use(tree, Z.std(axis=0), reaching)


def _middle(Z: FloatArray) -> FloatArray:
    """Give the median of numbers; of 0/1 columns the row nearest to their means."""
    middle: FloatArray = np.median(Z, axis=0)
    binary = np.array([set(np.unique(column)) <= {0.0, 1.0} for column in Z.T])
    if binary.any():
        typical = np.abs(Z[:, binary] - Z[:, binary].mean(axis=0)).sum(axis=1).argmin()
        middle[binary] = Z[typical, binary]
    return middle


def _ticks(column: FloatArray) -> FloatArray:
    """Spread points over the range of a column, and a little beyond."""
    low, high = float(np.nanmin(column)), float(np.nanmax(column))
    room = 0.05 * (high - low) or 0.5
    return np.linspace(low - room, high + room, _STEPS)


def _cuts(table: Table, column: int) -> tuple[float, ...]:
    """Give the cut points of a column on a grid, none for a number."""
    return getattr(table.columns[column], "cuts", ())


def _places(table: Table, column: int) -> list[int]:
    """Give where the tree reads a number: twice of a grid with gaps."""
    found = [k for k, source in enumerate(table.open_sources) if source == column]
    return found if isinstance(table.columns[column], GridColumn) else found[:1]


def _spread(table: Table, column: int, Z: FloatArray) -> FloatArray:
    """Give where rows are on an axis; on a grid somewhere within their steps.

    A row that lacks the number is lowest at one place and highest at the other.
    """
    found: FloatArray = Z[:, _places(table, column)]
    where = np.where(found.min(axis=1) == found.max(axis=1), found[:, 0], np.nan)
    if not _cuts(table, column):
        return where
    rng = np.random.default_rng(column)
    return where + rng.uniform(-_WITHIN, _WITHIN, len(where))


def _read(table: Table, column: int, points: FloatArray) -> FloatArray:
    """Give what a tree reads of points: of a grid whole steps."""
    return points.round() if _cuts(table, column) else points


def _name_steps(axis: Any, table: Table, column: int) -> None:
    """Write the cut points of a grid between its steps, not the numbers of steps."""
    cuts = _cuts(table, column)
    every = max(1, -(-len(cuts) // _MOST_TICKS))
    places = np.arange(len(cuts))[::every]
    if len(places):
        axis.set_ticks(places + 0.5, [f"{cuts[k]:.6g}" for k in places])


def _paint(
    ax: Any, x_grid: FloatArray, y_grid: FloatArray, region: AnyArray, n_classes: int
) -> None:
    from matplotlib.colors import ListedColormap

    shades = ListedColormap([colour(k) for k in range(n_classes)])
    ax.imshow(
        region,
        cmap=shades,
        vmin=-0.5,
        vmax=n_classes - 0.5,
        alpha=0.22,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        extent=(x_grid[0], x_grid[-1], y_grid[0], y_grid[-1]),
    )
