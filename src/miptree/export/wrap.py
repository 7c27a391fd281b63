"""Lines of text no wider than a terminal."""

from __future__ import annotations

import re
from unicodedata import east_asian_width

_NARROWEST = 24
"""A text is not made narrower than this, however deep it stands in a tree."""
_PIECES = re.compile(
    r" (?<!over )(?<!under )"
    r"(?=(?:[+-]|[<>]=?|and|or(?! more| less| fewer)|->|THEN) "
    r"|\((?:node|leaf) \d|(?:over |under )?\d+ % )"
)
"""Where a line is ended first of all: before a term, a condition or a share."""


def wrapped(text: str, width: int | None, hang: str) -> list[str]:
    """Break a text into lines.

    Parameters
    ----------
    text : str
    width : int, optional
        Characters that a line may have, at least 24; by default the text is one line.
    hang : str
        What all lines but the first begin with.
    """
    if width is None:
        return [text]
    width = max(width, _NARROWEST)
    lines: list[str] = []
    line = ""
    for piece in _PIECES.split(text):
        is_short = _cells(piece) <= width - len(hang)
        for word in [piece] if is_short else piece.split(" "):
            room = width - (len(hang) if lines else 0)
            if line and _cells(f"{line} {word}") > room:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
    first, *rest = [*lines, line]
    return [first, *(hang + more for more in rest)]


def _cells(text: str) -> int:
    """Count the columns of a terminal that a text takes."""
    return sum(1 + (east_asian_width(letter) in "WF") for letter in text)
