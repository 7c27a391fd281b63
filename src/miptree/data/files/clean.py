"""What no table should fail for: spaces, empty rows, names in two lines."""

from __future__ import annotations

import numpy as np
import pandas as pd

from miptree.data.files.notes import Notes
from miptree.data.files.options import Roles


def clean_names(names: list[str], roles: Roles, notes: Notes) -> list[str]:
    """Return names of columns on one line, without spaces around them.

    A name that is known as it is stays so, and all do if two became the same.
    """
    known = roles.text | roles.numbers | roles.labels | roles.carried
    bare = [name if name in known else " ".join(name.split()) for name in names]
    if bare == names or len(set(bare)) < len(bare):
        return names
    notes.file.append("spaces in names of columns left out")
    return bare


def without_empty_end(table: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Leave out rows at the end in which every cell is missing.

    Spreadsheets leave such rows behind. In a table of one column they may be gaps.
    """
    if table.shape[1] < 2 or not len(table) or not table.iloc[-1].isna().all():
        return table
    is_filled = table.notna().any(axis=1).to_numpy()
    n_rows = int(is_filled.nonzero()[0].max()) + 1 if is_filled.any() else 0
    n_empty = len(table) - n_rows
    notes.file.append(f"{n_empty} empty row{'s' * (n_empty != 1)} at the end left out")
    kept = table.iloc[:n_rows].infer_objects()
    numbers = kept.select_dtypes("floating")
    return kept.assign(**{name: whole_if_possible(numbers[name]) for name in numbers})


def whole_if_possible(column: pd.Series) -> pd.Series:
    """Return numbers as integers where all are: a class 1 is not a class 1.0."""
    numbers = column.to_numpy(dtype=np.float64)
    is_whole = (np.abs(numbers) < 2.0**53) & (numbers == np.round(numbers))
    return column.astype(np.int64) if is_whole.all() else column


def without_spaces(name: str, column: pd.Series, notes: Notes) -> pd.Series:
    """Return a column whose texts have no spaces around them; blank is missing."""
    if isinstance(column.dtype, pd.StringDtype):
        is_text = column.notna().to_numpy(dtype=bool)
    elif column.dtype == object:
        is_text = column.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)
    else:
        return column
    texts = column[is_text].astype(str)
    bare = texts.str.strip()
    changed = (bare != texts).to_numpy()
    if not changed.any():
        return column
    notes.spaced[name] = int(changed.sum())
    plain = column.astype(object).copy()
    plain[is_text] = bare.where(bare != "", None).to_numpy(dtype=object)
    return plain
