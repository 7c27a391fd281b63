"""The rows of a CSV file as numbers, with labels and costs."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .columns import read_value
from .files import content_of
from .proof_file import Proof
from .values import BadCall, Refused, TooMuch

MAX_BYTES = 1 << 31
"""Size of a CSV file, unpacked."""
MAX_CELLS = 1 << 26
"""Rows times columns of numbers."""
_PLAIN = "`miptree table DATA --out plain.csv` writes a table as it is read here."
"""What to do about a table that only a fit can read."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of weight above 0.

    Attributes
    ----------
    numbers : array of shape (n, d)
        Whole numbers of grid columns, or numbers as they are.
    values : int array of shape (n, categories)
        Number of each row's value, of the categories that are split by subsets.
    place : list of n int
        Number of each row in the data, from 0.
    weight : list of n Fraction
    price : list of n tuples of Fraction
        What it costs to predict each class for a row.
    labels_are_of_data : bool
        Whether the labels were read from the data, or else from the proof file.
    n_unread : int
        Columns of the data, beside that of the labels, that nothing was read from.
    """

    numbers: np.ndarray
    values: np.ndarray
    place: list[int]
    weight: list[Fraction]
    price: list[tuple[Fraction, ...]]
    labels_are_of_data: bool
    n_unread: int


def read_rows(path: str | os.PathLike[str], proof: Proof, target: str | None) -> Rows:
    """Read the rows that a proof is about.

    Parameters
    ----------
    path : path
        CSV file with a header, may be gzipped.
    proof : Proof
        How columns are read, weights and costs.
    target : str or None
        Column of the labels, by default the one that the proof names.
    """
    names, table = _read_csv(path)
    if target is not None and target not in names:
        raise BadCall(f"The data have no column {target!r:.60} to be the target.")
    target = proof.target if target is None else target
    columns = _places(names, proof, target)
    if len(table) != len(proof.labels):
        raise Refused(
            f"The data have {len(table)} rows, the proof is about {len(proof.labels)}."
        )
    if target is not None:
        _compare_labels([row[names.index(target)] for row in table], proof, target)
    kept = [i for i in range(len(table)) if _weight(proof, i) > 0]
    if not kept:
        raise Refused("Every row has weight 0.")
    width = sum(rule.n_numbers + rule.is_subset for rule in proof.columns)
    if len(kept) * width > MAX_CELLS:
        text = f"{len(kept)} rows of {width} columns of numbers"
        raise TooMuch(f"The proof is about {text}: more than this program takes.")
    parts = [np.zeros((len(kept), 0), dtype=np.int64)]
    values = parts.copy()
    for rule, place in zip(proof.columns, columns, strict=True):
        cells = [table[i][place] for i in kept]
        parts.append(rule.numbers(cells))
        values.append(rule.values(cells))
    weights = [_weight(proof, i) for i in kept]
    prices = _prices(proof, kept)
    read = {p for r, p in zip(proof.columns, columns, strict=True) if r.is_read}
    n_unread = len(names) - len(read) - (target is not None)
    numbers, has_labels = np.hstack(parts), target is not None
    return Rows(numbers, np.hstack(values), kept, weights, prices, has_labels, n_unread)


def _read_csv(path: str | os.PathLike[str]) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and the rows filled up with empty cells."""
    content = content_of(path, "The data", MAX_BYTES)
    try:
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        lines = [line for line in csv.reader(text) if line]
    except (UnicodeDecodeError, csv.Error):
        why = "are no CSV table: text in UTF-8, the names of the columns first"
        raise BadCall(f"The data {os.fspath(path)!r} {why}. {_PLAIN}") from None
    if len(lines) < 2:
        raise BadCall(f"The data {os.fspath(path)!r} have no rows.")
    names, rows = lines[0], lines[1:]
    for number, row in enumerate(rows, start=1):
        if any(row[len(names) :]):
            raise Refused(
                f"Row {number} of the data has more fields than the header. {_PLAIN}"
            )
        row.extend([""] * (len(names) - len(row)))
    return names, rows


def _places(names: list[str], proof: Proof, target: str | None) -> list[int]:
    """Return the place of each column of the proof in the data."""
    if target is not None:
        _place(names, target)
    if proof.is_named:
        if any(rule.name == target for rule in proof.columns if rule.is_read):
            raise Refused(f"The proof file reads the labels, {target!r:.60}, as well.")
        places = [_place(names, rule.name) for rule in proof.columns]
        if len(set(places)) < len(places):
            raise Refused("The proof file names a column twice.")
        return places
    places = [j for j, name in enumerate(names) if name != target]
    if len(places) != len(proof.columns):
        raise Refused(
            f"The proof is about {len(proof.columns)} columns without names, but the "
            f"data have {len(places)}."
        )
    return places


def _place(names: list[str], name: str) -> int:
    if name not in names:
        raise Refused(f"The data have no column {name!r:.60}.")
    if names.count(name) > 1:
        raise Refused(
            f"The data have {names.count(name)} columns {name!r:.60}, not 1. {_PLAIN}"
        )
    return names.index(name)


# ---------------------------------------------------------------- labels and costs


def _compare_labels(cells: list[str], proof: Proof, target: str) -> None:
    kinds = {_kind(label) for label in proof.classes}
    if len(kinds) > 1:
        raise Refused("The classes of the proof file are of several kinds.")
    kind = kinds.pop()
    classes = [float(c) if kind == "number" else c for c in proof.classes]
    found = [read_value(cell, kind) for cell in cells]
    known = [classes[label] for label in proof.labels]
    pairs = enumerate(zip(found, known, strict=True))
    wrong = next((i for i, (label, own) in pairs if label != own), None)
    if wrong is None:
        return
    text = (
        f"Row {wrong + 1} of the data has the label {cells[wrong]!r:.50} in column "
        f"{target!r:.60}, in the proof file it is {known[wrong]!r:.50}."
    )
    if Counter(found) == Counter(known):
        text += (
            " All labels are there as often as in the proof file, so the rows seem to "
            "be in another order. The check needs them in the order of the fit."
        )
    raise Refused(text)


def _kind(label: Any) -> str:
    if isinstance(label, bool):
        return "truth"
    return "number" if isinstance(label, (int, Decimal)) else "text"


def _weight(proof: Proof, row: int) -> Fraction:
    return Fraction(1) if proof.weights is None else proof.weights[row]


def _prices(proof: Proof, kept: list[int]) -> list[tuple[Fraction, ...]]:
    """Return what each class costs for each row: its weight times the cost."""
    n_classes = len(proof.classes)
    known: dict[Any, tuple[Fraction, ...]] = {}
    found = []
    for i in kept:
        weight, label = _weight(proof, i), proof.labels[i]
        key: Any = (weight, label)
        if proof.row_costs is not None:
            key = (weight, proof.row_costs[i])
        if key not in known:
            known[key] = tuple(weight * c for c in _rates(proof, i, n_classes))
        found.append(known[key])
    return found


def _rates(proof: Proof, row: int, n_classes: int) -> tuple[Fraction, ...]:
    """Return what each class costs for a row of weight 1."""
    label = proof.labels[row]
    if proof.row_costs is not None:
        return proof.row_costs[row]
    if proof.costs is not None:
        return proof.costs[label]
    return tuple(Fraction(int(k != label)) for k in range(n_classes))
