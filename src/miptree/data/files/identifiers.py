"""Columns that tell rows apart and say nothing of new ones, such as an id."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from miptree.utils.arrays import FloatArray

_FEW_ROWS = 20
"""Up to so many rows only the name of a column tells that it identifies them."""
_FEWEST_ROWS = 3
_NEARLY_ALL, _MANY = 0.9, 0.5
"""Shares of different values: of any text, and of text with the name of an id."""
_EXACT = 2.0**53
"""From here on whole numbers that differ may be one float64."""
_ID_WORDS = frozenset(
    """id ids uid uuid guid oid rowid iban key pk email mail phone telephone mobile
    ssn passport url hash token unnamed""".split()
)
_NUMBER_WORDS = frozenset("number no nr num nummer index idx row code account".split())
_ID_ENDINGS = ("nummer", "kennung", "konto", "kontonr", "kundennr", "iban")


def identifying_columns(
    table: pd.DataFrame, kept: Iterable[str] = ()
) -> dict[str, str]:
    """Return the columns that identify rows, each with the reason.

    Such are texts that are nearly all different, whole numbers in equal steps without
    a repetition, and columns that are named like an id and hardly repeat.

    Parameters
    ----------
    table : DataFrame
    kept : iterable of str
        Columns that are wanted whatever they hold.
    """
    asked = set(kept)
    found = {}
    for name in table.columns:
        reason = None if name in asked else _reason(str(name), table[name].dropna())
        if reason is not None:
            found[name] = reason
    return found


def _reason(name: str, column: pd.Series) -> str | None:
    n_rows = len(column)
    kinds = pd.api.types
    if n_rows < _FEWEST_ROWS or kinds.is_bool_dtype(column):
        return None
    is_number = kinds.is_numeric_dtype(column)
    if is_number and not _is_whole(column.to_numpy(dtype=np.float64)):
        return None
    n_values = int(column.nunique())
    is_unique = n_values == n_rows
    is_many = n_rows > _FEW_ROWS
    words = f"{n_values:,} different values in {n_rows:,} rows"
    kind = _kind_of_name(name)
    if kind == "id" and (is_unique or (is_many and n_values > _MANY * n_rows)):
        return f"named like an id, {words}"
    if kind == "id" and kinds.is_float_dtype(column) and column.max() >= _EXACT:
        return "named like an id, numbers of more digits than can be told apart"
    if kind == "number" and is_unique:
        return f"named like a running number, {words}"
    if not is_many:
        return None
    if not is_number:
        return f"text, {words}" if n_values > _NEARLY_ALL * n_rows else None
    numbers = np.sort(column.to_numpy(dtype=np.float64))
    if is_unique and len(set(np.diff(numbers))) == 1:
        return (
            f"whole numbers from {numbers[0]:.0f} to {numbers[-1]:.0f} in equal steps"
        )
    return None


def _is_whole(numbers: FloatArray) -> bool:
    return bool((np.isfinite(numbers) & (numbers == np.round(numbers))).all())


def _kind_of_name(name: str) -> str | None:
    """Tell whether a name is that of an id, or of a number that may be one."""
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-Z])", " ", name)
    words = re.findall(r"[^\W\d_]+", apart.casefold())
    if not words:
        return None
    if words[-1] in _ID_WORDS or words[0] in ("id", "unnamed"):
        return "id"
    if words[-1] in _NUMBER_WORDS or words[-1].endswith(_ID_ENDINGS):
        return "number"
    return None
