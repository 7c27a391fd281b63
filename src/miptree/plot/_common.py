"""What the pictures share: matplotlib, loaded late; colours and text."""

from __future__ import annotations

from typing import Any

from miptree.export.names import printable

# Okabe and Ito's colours, which colour-blind people can tell apart, light ones last.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#8C6D31",
    "#7F7F7F",
)
INK, FAINT = "#222222", "#8a8a8a"


def axes_or_new(ax: Any, size: tuple[float, float]) -> Any:
    """Give the axes as they are, or those of a new figure.

    Without matplotlib the error says how to install it.
    """
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "Pictures need the package matplotlib. Run: pip install 'miptree[plot]'"
        ) from None
    if ax is not None:
        return ax
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def finish(ax: Any, xlabel: str, ylabel: str, title: str) -> None:
    """Name the axes of a diagram, and draw its legend."""
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.set_title(title, fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)


def colour(label: int) -> str:
    """Give the colour of a class."""
    return COLOURS[label % len(COLOURS)]


def plain_text(text: object, longest: int = 28) -> str:
    """Make text that matplotlib draws as it is: no formulas, not too long."""
    shown = printable(text)
    if len(shown) > longest:
        shown = shown[: longest - 1] + "…"
    return shown.replace("$", r"\$")
