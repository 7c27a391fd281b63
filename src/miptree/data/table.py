"""The table as a whole: learnt from the training rows, applied to any rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from miptree.data.cells import Cells, Value, read_cells
from miptree.data.columns import (
    OF_NUMBERS,
    CategoricalColumn,
    Column,
    DroppedColumn,
    NumericalColumn,
)
from miptree.data.grid import GridSpec
from miptree.data.grid_cuts import learn_grid
from miptree.data.limits import Limits, learn_limits
from miptree.data.named import column_index
from miptree.data.quantiles import weighted_quantile
from miptree.utils.arrays import FloatArray, IntArray
from miptree.utils.warn import warn

MOST_VALUES = 32
"""Values of a categorical feature; the rarest of more count as one."""
LOW_CARDINALITY = 10
"""Values up to which "both" gives indicators to the hyperplanes."""
_ID_SHARE, _FEW_ROWS = 0.9, 20
"""Share of distinct values above which a column of many rows looks like an id."""

ENCODINGS = ("both", "native", "onehot")


class EmptyTableError(ValueError):
    """Not a single cell of a table is there."""


@dataclass(frozen=True)
class Table:
    """How the columns of a table become numbers.

    Attributes
    ----------
    columns : tuple of Column
        One for each column of X, in order.
    missing : {"fill", "error"}
        What to do about missing values.
    unknown : {"majority", "error"}
        What to do about values of a category that training did not meet.
    """

    columns: tuple[Column, ...]
    missing: str = "fill"
    unknown: str = "majority"

    @cached_property
    def open_names(self) -> list[str]:
        """Names of the numeric columns that hyperplanes may use; they come first."""
        return [name for column in self.columns for name in column.open_names]

    @cached_property
    def open_sources(self) -> tuple[int, ...]:
        """Column of X behind each of these."""
        sizes = [len(column.open_names) for column in self.columns]
        return tuple(np.repeat(np.arange(len(sizes)), sizes).tolist())

    @cached_property
    def open_steps(self) -> tuple[int, ...]:
        """Largest grid value of each: 1 of an indicator, 0 of a number on no grid."""
        return tuple(steps for column in self.columns for steps in column.open_steps)

    @cached_property
    def open_is_category(self) -> tuple[bool, ...]:
        """Whether each is an indicator of a categorical column."""
        columns = (self.columns[j] for j in self.open_sources)
        return tuple(isinstance(column, CategoricalColumn) for column in columns)

    @property
    def open_blocks(self) -> tuple[IntArray, ...]:
        """Places of the indicators of each categorical column that has all of them."""
        source = np.array(self.open_sources)
        columns = enumerate(self.columns)
        kept = (
            np.flatnonzero(source == j)
            for j, column in columns
            if isinstance(column, CategoricalColumn) and column.first_indicator == 0
        )
        return tuple(block for block in kept if len(block) > 1)

    @cached_property
    def features(self) -> list[CategoricalColumn]:
        """The categorical features with subset splits."""
        found = (c for c in self.columns if isinstance(c, CategoricalColumn))
        return [column for column in found if column.as_subsets]

    @property
    def value_feature(self) -> IntArray:
        """Categorical feature of each value column, which follow the open ones."""
        sizes = [len(feature.value_names) for feature in self.features]
        return np.repeat(np.arange(len(sizes)), sizes)

    @property
    def column_sources(self) -> list[int]:
        """Column of X behind each column that a tree reads, open ones and values."""
        values = (
            [j] * len(column.value_names)
            for j, column in enumerate(self.columns)
            if isinstance(column, CategoricalColumn) and column.as_subsets
        )
        return [*self.open_sources, *(j for same in values for j in same)]

    @property
    def value_names(self) -> list[str]:
        """The value that each value column stands for."""
        return [name for feature in self.features for name in feature.value_names]

    @cached_property
    def is_plain(self) -> bool:
        """Whether every column is one of numbers that had no gaps."""
        return all(
            isinstance(column, NumericalColumn) and not column.marks_missing
            for column in self.columns
        )

    def with_categories_of(self, known: Sequence[Column]) -> Table:
        """Return the table with those of the known columns that are categories.

        A sample may lack a value that other rows have.
        """
        pairs = zip(known, self.columns, strict=True)
        columns = tuple(
            there if isinstance(there, CategoricalColumn) else column
            for there, column in pairs
        )
        return replace(self, columns=columns)

    def with_limits(self, limits: Sequence[Limits | None]) -> Table:
        """Return the table with other limits of its columns of numbers."""
        pairs = zip(self.columns, limits, strict=True)
        columns = tuple(
            replace(column, limits=known) if isinstance(column, OF_NUMBERS) else column
            for column, known in pairs
        )
        return replace(self, columns=columns)

    def transform(self, X: Any) -> FloatArray:
        """Return (n, open columns + value columns): the rows of X as numbers."""
        if self.is_plain and _is_complete(X):
            return np.asarray(X, dtype=np.float64)
        return self.transform_cells(read_cells(X))

    def transform_cells(self, table: Sequence[Cells]) -> FloatArray:
        """Transform columns that were read by :func:`read_cells`."""
        fill, majority = self.missing == "fill", self.unknown == "majority"
        opened, values = [], []
        for column, cells in zip(self.columns, table, strict=True):
            if isinstance(column, OF_NUMBERS):
                opened.append(column.open_part(cells, fill))
            elif isinstance(column, CategoricalColumn):
                indicators = column.indicators(column.codes(cells, fill, majority))
                if column.as_indicators:
                    opened.append(indicators[:, column.first_indicator :])
                if column.as_subsets:
                    values.append(indicators)
        return np.column_stack([np.empty((len(table[0]), 0)), *opened, *values])


def _is_complete(X: object) -> bool:
    """Tell whether X is an array of finite floats."""
    return (
        isinstance(X, np.ndarray)
        and X.dtype.kind in "fiub"
        and bool(np.isfinite(X.sum(dtype=np.float64)) or np.isfinite(X).all())
    )


# ------------------------------------------------------------------------ learning


def learn_table(
    table: Sequence[Cells],
    weight: FloatArray,
    categorical: Sequence[bool],
    encoding: str = "both",
    missing: str = "fill",
    unknown: str = "majority",
    grid: GridSpec | None = None,
    left_out: Collection[str] = (),
) -> Table:
    """Learn from training columns what they hold.

    Parameters
    ----------
    table : sequence of Cells
    weight : float array of shape (n,)
        Rows of weight 0 do not count, and a row of weight 2 counts as two.
    categorical : sequence of bool
        Which of the columns are categorical.
    encoding : {"both", "native", "onehot"}
    missing : {"fill", "error"}
    unknown : {"majority", "error"}
    grid : GridSpec, optional
        Numbers are read on a grid, and the encoding of categories is "onehot".
    left_out : collection of str
        Names of columns that no split may use.
    """
    if grid is not None:
        grid.check(table, categorical)
        encoding = "onehot"
    learnt = tuple(
        DroppedColumn(cells.name)
        if cells.name in left_out
        else _learn_values(cells, weight, encoding)
        if is_categorical
        else _learn_numbers(cells, weight, grid)
        for cells, is_categorical in zip(table, categorical, strict=True)
    )
    unused = [column.name for column in learnt if isinstance(column, DroppedColumn)]
    dropped = [name for name in unused if name not in left_out]
    if len(unused) == len(learnt) and len(dropped) < len(unused):
        raise EmptyTableError("No column of X is left that splits may use.")
    if len(dropped) == len(learnt):
        raise EmptyTableError(
            "Every column of X is missing throughout: nothing to learn."
        )
    if dropped:
        warn(f"Dropped, as every value is missing: {', '.join(map(repr, dropped))}.")
    return Table(learnt, missing, unknown)


def _learn_numbers(cells: Cells, weight: FloatArray, grid: GridSpec | None) -> Column:
    if cells.numbers is None:
        return DroppedColumn(cells.name)  # read_cells found no value to tell its type
    there = ~np.isnan(cells.numbers) & (weight > 0)
    if not there.any():
        return DroppedColumn(cells.name)
    numbers, counted = cells.numbers[there], weight[there]
    has_gaps = bool((~there & (weight > 0)).any())
    limits = learn_limits(numbers)
    if grid is not None:
        column = learn_grid(cells.name, numbers, counted, has_gaps, grid)
        return replace(column, limits=limits)
    fill = weighted_quantile(numbers, counted, 0.5)
    return NumericalColumn(cells.name, fill, has_gaps, limits)


def _learn_values(cells: Cells, weight: FloatArray, encoding: str) -> Column:
    total: Counter[Value] = Counter()
    for value, w in zip(cells.as_values(), weight.tolist(), strict=True):
        if w > 0:
            total[value] += w
    if set(total) <= {None}:
        return DroppedColumn(cells.name)
    n_rows = int((weight > 0).sum())
    if n_rows > _FEW_ROWS and len(total) > _ID_SHARE * n_rows:
        warn(
            f"Categorical column {cells.name!r} has {len(total)} different values in "
            f"{n_rows} rows, like an id: it says nothing of new rows. Leave it out."
        )
    values, rare = _in_order(total), tuple[Value, ...]()
    if len(values) > MOST_VALUES:
        often = sorted(values, key=lambda value: -total[value])[: MOST_VALUES - 1]
        kept = set(often)
        rare = tuple(value for value in values if value not in kept)
        values = tuple(value for value in values if value in kept)
    few = len(values) <= LOW_CARDINALITY
    return CategoricalColumn(
        cells.name,
        values,
        rare,
        as_indicators=encoding == "onehot" or (encoding == "both" and few),
        as_subsets=encoding != "onehot",
    )


def _in_order(values: Iterable[Value]) -> tuple[Value, ...]:
    """Sort values in their own order, the missing one last."""
    values = list(values)
    known = sorted(value for value in values if value is not None)
    return (*known, *([None] if None in values else []))


def categorical_mask(table: Sequence[Cells], asked: Any) -> list[bool]:
    """Tell which columns are categorical, as ``categorical_features`` asks.

    Parameters
    ----------
    table : sequence of Cells
    asked : "from_dtype", None, or a mask or list of names or indices
    """
    by_type = [cells.values is not None for cells in table]
    if isinstance(asked, str) and asked == "from_dtype":
        return by_type
    mask = _asked_mask([cells.name for cells in table], asked)
    for cells, text, chosen in zip(table, by_type, mask, strict=True):
        if text and not chosen and any(v is not None for v in cells.as_values()):
            raise ValueError(
                f"Column {cells.name!r} does not hold numbers, but is not among "
                "categorical_features. Add it, or encode it as numbers."
            )
    return mask


def _asked_mask(names: list[str], asked: Any) -> list[bool]:
    entries = [] if asked is None else list(asked)
    given = [e.item() if isinstance(e, np.generic) else e for e in entries]
    if given and all(isinstance(entry, bool) for entry in given):
        if len(given) != len(names):
            raise ValueError(
                f"categorical_features is a mask of {len(given)} entries, but X has "
                f"{len(names)} columns."
            )
        return given
    mask = [False] * len(names)
    for entry in given:
        mask[column_index(entry, names, "categorical_features")] = True
    return mask
