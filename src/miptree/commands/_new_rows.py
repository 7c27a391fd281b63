"""What a table for prediction lacks or has anew, compared with the training table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any

import pandas as pd

from miptree.commands._tables import names_there
from miptree.data import CategoricalColumn, Column, DroppedColumn, read_cells
from miptree.data.columns import show_value
from miptree.utils.warn import warn

_MOST_LISTED = 5
"""Names and values that a sentence lists."""


def with_spare_columns(
    table: pd.DataFrame, columns: Sequence[Column], used: Collection[str]
) -> pd.DataFrame:
    """Add columns that a table lacks, if no split uses them; else refuse it.

    Parameters
    ----------
    table : DataFrame
    columns : sequence of Column
        All columns of the training table.
    used : collection of str
        Names of those that splits use.
    """
    lacking = [column for column in columns if column.name not in table.columns]
    needed = [column.name for column in lacking if column.name in used]
    if needed:
        alike = get_close_matches(needed[0], table.columns, n=1)
        hint = (
            f" Is {alike[0]!r} meant? Give it the name {needed[0]!r}." if alike else ""
        )
        raise ValueError(
            f"There is no column {_listed(needed)}: the table lacks {len(needed)} of "
            f"the {len(used)} columns that the tree uses; {names_there(table)}.{hint}"
        )
    if not lacking:
        return table
    number = f"{len(lacking)} column{'s' * (len(lacking) != 1)}"
    warn(
        f"The table lacks {number} of the training table: "
        f"{_listed([column.name for column in lacking])}. No split uses "
        f"{'them' if len(lacking) > 1 else 'it'}, so predictions are the same."
    )
    return table.assign(**{column.name: _any_value(column) for column in lacking})


def _any_value(column: Column) -> Any:
    """Return a value that the column may have, so that nothing is said of gaps."""
    if isinstance(column, CategoricalColumn):
        return column.values[0]
    return None if isinstance(column, DroppedColumn) else column.fill


def warn_of_new_values(features: Any, columns: Sequence[Column]) -> None:
    """Count the rows whose categories training did not meet."""
    for column in columns:
        if not isinstance(column, CategoricalColumn):
            continue
        cells = read_cells(features[[column.name]])[0].as_values()
        known = {*column.values, *column.rare, None}
        new = Counter(value for value in cells if value not in known)
        if new:
            n_rows = sum(new.values())
            named = [f"{show_value(v)!r} {n:,}x" for v, n in new.most_common()]
            is_one = n_rows == 1
            warn(
                f"{n_rows:,} of {len(cells):,} rows hold{'s' * is_one} a value of "
                f"column {column.name!r} that training did not meet "
                f"({_listed(named, quote=False)}): it counts as none of those known."
            )


def _listed(names: Sequence[str], quote: bool = True) -> str:
    shown = ", ".join(repr(name) if quote else name for name in names[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
