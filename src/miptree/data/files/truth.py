"""Truth values as spreadsheets of several languages write them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from miptree.data.files.numbers import is_missing_sign

_YES = frozenset(("true", "wahr", "vrai", "verdadero", "vero", "waar", "prawda"))
_NO = frozenset(("false", "falsch", "faux", "falso", "onwaar", "fałsz"))


class TruthColumn(NamedTuple):
    """The texts of a column of truth values, and what they are."""

    values: dict[str, bool | None]
    """None for signs of a missing value."""
    missing: frozenset[str]


def read_truth_column(texts: Collection[str]) -> TruthColumn | None:
    """Read the different texts of a column; None if one is neither truth nor gap."""
    values: dict[str, bool | None] = {}
    for text in texts:
        word = text.strip().casefold()
        if word in _YES | _NO:
            values[text] = word in _YES
        elif is_missing_sign(text):
            values[text] = None
        else:
            return None
    missing = frozenset(text for text, value in values.items() if value is None)
    return TruthColumn(values, missing) if len(missing) < len(values) else None
