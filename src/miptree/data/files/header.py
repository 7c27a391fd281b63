"""Where the names of the columns are, below titles and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from miptree.data.files.numbers import read_number

_MOST_TITLES = 20
"""Lines above the header."""


def header_place(rows: Sequence[Sequence[object]]) -> int:
    """Return how many rows are above the header: titles, notes and blank lines.

    A header is the first row of names, all different, that is as wide as most rows.
    Without such a row the first one is the header.
    """
    widths = Counter(map(filled_width, rows))
    usual = max((w for w in widths if w), key=lambda w: (widths[w], w), default=0)
    if not rows or not (_has_gaps(rows[0]) or filled_width(rows[0]) < max(usual, 2)):
        return 0
    is_sure = filled_width(rows[0]) <= 1  # otherwise it may be a header with a mistake
    for place, row in enumerate(rows[:_MOST_TITLES] if usual > 1 else []):
        if filled_width(row) >= usual and _is_header(row):
            return place if is_sure or _has_number(rows[place + 1 :]) else 0
    return next((place for place, row in enumerate(rows) if filled_width(row)), 0)


def _has_gaps(row: Sequence[object]) -> bool:
    """Tell whether fields are empty between others, as names of columns are not."""
    filled = [j for j, cell in enumerate(row) if cell not in (None, "")]
    return bool(filled) and filled[-1] - filled[0] >= len(filled)


def filled_width(row: Sequence[object]) -> int:
    """Count the fields of a row up to the last that is not empty."""
    filled = [j for j, cell in enumerate(row, start=1) if cell not in (None, "")]
    return filled[-1] if filled else 0


def _is_header(row: Sequence[object]) -> bool:
    names = [cell for cell in row if cell not in (None, "")]
    is_text = all(isinstance(n, str) and read_number(n, ".") is None for n in names)
    is_whole = not _has_gaps(row)
    return is_text and is_whole and len(set(names)) == len(names) >= 2


def _has_number(rows: Sequence[Sequence[object]]) -> bool:
    """Tell whether the next rows hold anything else than words."""
    return any(
        cell not in (None, "")
        and (not isinstance(cell, str) or any(map(str.isdigit, cell)))
        for row in rows[:5]
        for cell in row
    )
