"""Texts that stay inside their boxes, measured as they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from miptree.plot._common import plain_text

LETTERS = 8.0
"""Usual size of letters, in points."""
_SMALLEST = 1.0
"""Letters are not made smaller than so many points, which only a zoom can read."""
_LONGEST = 200
"""Letters of a text that nobody reads to its end."""


def letter_size(ax: Any, line: float) -> float:
    """Return the size of letters for lines of a height in the units of the axes."""
    ax.figure.canvas.figure.draw_without_rendering()  # places the axes
    (_, low), (_, high) = ax.transData.transform([(0, 0), (0, line)])
    points = 72 * (high - low) / ax.figure.dpi
    return float(min(LETTERS, max(_SMALLEST, 0.85 * points)))


@dataclass(frozen=True)
class Placed:
    """A text of a picture, and the room that it has.

    Attributes
    ----------
    artist : matplotlib Text
    whole : str
        What it says, if there is room.
    width, height : float
        Room in the units of the axes.
    """

    artist: Any
    whole: str
    width: float
    height: float


def fit_texts(ax: Any, placed: list[Placed]) -> None:
    """Cut single lines, and make the letters of several lines smaller, until they fit.

    The limits of the axes must be set, and the figure have its size.
    """
    ax.figure.canvas.figure.draw_without_rendering()
    origin = ax.transData.transform((0, 0))
    for text in placed:
        right, up = ax.transData.transform((text.width, text.height)) - origin
        if "\n" in text.whole:
            _shrink(text.artist, right, up)
        else:
            _cut(text, right)


def _shrink(artist: Any, width: float, height: float) -> None:
    for _ in range(3):  # letters have whole pixels, so once may not do
        size = artist.get_window_extent()
        part = min(width / size.width, height / size.height)
        if part >= 1:
            return
        smaller = 0.98 * part * artist.get_fontsize()
        artist.set_fontsize(max(_SMALLEST, smaller))


def _cut(text: Placed, width: float) -> None:
    """Keep as many letters as there is room for."""

    def fits(n: int) -> bool:
        shown = text.whole if n == len(text.whole) else text.whole[:n].rstrip() + "…"
        text.artist.set_text(plain_text(shown, _LONGEST))
        return bool(text.artist.get_window_extent().width <= width)

    low, high = 1, min(len(text.whole), _LONGEST - 1)
    if fits(len(text.whole)):
        return
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    fits(low)
