"""Costs of errors as they are given on the command line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.commands._tables import read_label
from miptree.data.columns import show_value
from miptree.data.labels import class_codes
from miptree.utils.arrays import AnyArray, FloatArray


def cost_matrix(given: Sequence[str], y: AnyArray) -> FloatArray:
    """Return (Y, Y): what an error costs, by the class of the row; 1 if not given.

    Parameters
    ----------
    given : sequence of str
        Such as "yes:5": to be wrong about a row of class yes costs 5.
    y : array
        Class labels of the rows.
    """
    classes, _ = class_codes(y)
    known, price = classes.tolist(), np.ones(len(classes))
    for text in given:
        name, _, number = text.rpartition(":")
        label = read_label(name, classes.dtype.kind)
        if not name or label not in known:
            names = ", ".join(show_value(value) for value in known[:20])
            raise ValueError(
                "--cost must name a class and what it costs to be wrong about it, "
                f"such as {show_value(known[-1])}:5; got {text!r}. The classes are "
                f"{names}."
            )
        price[known.index(label)] = _price(number, text)
    return price[:, None] * (1.0 - np.eye(len(classes)))


def _price(number: str, text: str) -> float:
    try:
        price = float(number)
    except ValueError:
        price = np.nan
    if not (np.isfinite(price) and price > 0):
        raise ValueError(f"--cost must give a number above 0, got {text!r}.")
    return price
