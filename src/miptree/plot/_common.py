"""What the pictures share: matplotlib, loaded late; colours; rows and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from miptree.estimator import OptimalTreeClassifier
from miptree.export.text import printable
from miptree.utils.arrays import AnyArray, IntArray

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


def pyplot() -> Any:
    """``matplotlib.pyplot``, or an error that says how to install it."""
    try:
        from matplotlib import pyplot as found
    except ImportError:
        raise ImportError(
            "Pictures need the package matplotlib. Run: pip install 'miptree[plot]'"
        ) from None
    return found


def axes_or_new(ax: Any, size: tuple[float, float]) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    return pyplot().subplots(figsize=size, layout="constrained")[1]


def colour(label: int) -> str:
    """Colour of a class."""
    return COLOURS[label % len(COLOURS)]


def plain_text(text: object, longest: int = 28) -> str:
    """Text that matplotlib draws as it is: no formulas, not too long."""
    shown = printable(text)
    if len(shown) > longest:
        shown = shown[: longest - 1] + "…"
    return shown.replace("$", r"\$")


def codes_of(clf: OptimalTreeClassifier, y: ArrayLike, n_rows: int) -> IntArray:
    """Class index of each label."""
    labels: AnyArray = np.asarray(y, dtype=object)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"y must hold one label for each of the {n_rows} rows of X, got shape "
            f"{labels.shape}."
        )
    index = {label: k for k, label in enumerate(clf.classes_.tolist())}
    unknown = [label for label in labels.tolist() if label not in index]
    if unknown:
        raise ValueError(
            f"y holds {unknown[0]!r}, which is no class of the model: "
            f"{', '.join(map(repr, index))}."
        )
    return np.array([index[label] for label in labels.tolist()], dtype=np.intp)
