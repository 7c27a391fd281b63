"""Costs of errors and weights of classes as the command line gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    what = "what it costs to be wrong about it"
    classes, price = _by_class("--cost", what, given, y)
    return price[:, None] * (1.0 - np.eye(len(classes)))


def class_weights(given: Sequence[str], y: AnyArray) -> str | dict[Any, float]:
    """Return the weights of the classes, or "balanced".

    Parameters
    ----------
    given : sequence of str
        Such as "yes:5": a row of class yes weighs as much as 5 others.
    y : array
        Class labels of the rows.
    """
    if "balanced" in given:
        return weights_of_all(given)
    classes, weight = _by_class("--class-weight", "its weight", given, y)
    return dict(zip(classes, weight.tolist(), strict=True))


def weights_of_all(given: Sequence[str]) -> str:
    """Return "balanced", where nothing else can be asked for."""
    if list(given) != ["balanced"]:
        raise ValueError(
            "--class-weight must be balanced alone, or, without --engine dask, the "
            f"weights of classes such as yes:5; got {' and '.join(given)}."
        )
    return "balanced"


def _by_class(
    option: str, what: str, given: Sequence[str], y: AnyArray
) -> tuple[list[Any], FloatArray]:
    """Return the classes, and a number above 0 for each, 1 where none is given."""
    classes, _ = class_codes(y)
    known, found = classes.tolist(), np.ones(len(classes))
    for text in given:
        name, _, number = text.rpartition(":")
        label = read_label(name, classes.dtype.kind)
        if not name or label not in known:
            names = ", ".join(show_value(value) for value in known[:20])
            raise ValueError(
                f"{option} must name a class and {what}, such as "
                f"{show_value(known[-1])}:5; got {text!r}. The classes are {names}."
            )
        found[known.index(label)] = _number(option, number, text)
    return known, found


def _number(option: str, number: str, text: str) -> float:
    try:
        price = float(number)
    except ValueError:
        price = np.nan
    if not (np.isfinite(price) and price > 0):
        raise ValueError(f"{option} must give a number above 0, got {text!r}.")
    return price
