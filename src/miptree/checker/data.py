"""The rows of a CSV file as whole numbers, with labels and costs."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .columns import read_value
from .files import content_of
from .proof_file import Proof
from .values import Refused

MAX_BYTES = 1 << 31
"""Size of a CSV file, unpacked."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of weight above 0.

    Attributes
    ----------
    grid : int array of shape (n, d)
        Whole numbers of the grid columns.
    price : list of n tuples of Fraction
        What it costs to predict each class for a row.
    labels_are_of_data : bool
        Whether the labels were read from the data, or else from the proof file.
    """

    grid: np.ndarray
    price: list[tuple[Fraction, ...]]
    labels_are_of_data: bool


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
    parts = [np.zeros((len(kept), 0), dtype=np.int64)]
    for rule, place in zip(proof.columns, columns, strict=True):
        parts.append(rule.grid([table[i][place] for i in kept]))
    return Rows(np.hstack(parts), _prices(proof, kept), target is not None)


def _read_csv(path: str | os.PathLike[str]) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and the rows filled up with empty cells."""
    content = content_of(path, "The data", MAX_BYTES)
    try:
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        lines = [line for line in csv.reader(text) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        why = f"The data {os.fspath(path)!r} cannot be read as CSV: {error}."
        raise Refused(why) from None
    if len(lines) < 2:
        raise Refused(f"{os.fspath(path)!r} has no rows.")
    names, rows = lines[0], lines[1:]
    for number, row in enumerate(rows, start=1):
        if any(row[len(names) :]):
            raise Refused(f"Row {number} of the data has more fields than the header.")
        row.extend([""] * (len(names) - len(row)))
    return names, rows


def _places(names: list[str], proof: Proof, target: str | None) -> list[int]:
    """Return the place of each column of the proof in the data."""
    if target is not None:
        _place(names, target)
    if proof.is_named:
        return [_place(names, rule.name) for rule in proof.columns]
    places = [j for j, name in enumerate(names) if name != target]
    if len(places) != len(proof.columns):
        raise Refused(
            f"The proof is about {len(proof.columns)} columns without names, but the "
            f"data have {len(places)}."
        )
    return places


def _place(names: list[str], name: str) -> int:
    if names.count(name) != 1:
        raise Refused(f"The data have {names.count(name)} columns {name!r:.60}, not 1.")
    return names.index(name)


# ---------------------------------------------------------------- labels and costs


def _compare_labels(cells: list[str], proof: Proof, target: str) -> None:
    kinds = {_kind(label) for label in proof.classes}
    if len(kinds) > 1:
        raise Refused("The classes of the proof file are of several kinds.")
    kind = kinds.pop()
    for number, (cell, label) in enumerate(zip(cells, proof.labels, strict=True)):
        known = proof.classes[label]
        known = float(known) if kind == "number" else known
        if read_value(cell, kind) != known:
            raise Refused(
                f"Row {number + 1} of the data has the label {cell!r:.50} in column "
                f"{target!r:.60}, in the proof file it is {known!r:.50}."
            )


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
