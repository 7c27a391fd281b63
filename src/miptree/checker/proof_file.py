"""Read a proof file: header, sections, digest."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from .columns import ColumnRule, read_columns
from .files import content_of
from .nodes import Anchor, Node, read_anchors, read_tree
from .values import (
    Refused,
    a_bool,
    a_cost,
    a_list,
    a_number,
    a_text,
    a_whole,
    an_object,
    optional,
    parsed,
)

FORMAT, VERSION = "miptree-proof", 1
NO_PROOF = (
    "this is no proof file; miptree fit --style points --proof-log FILE writes one."
)
MAX_BYTES = 1 << 27
"""Size of a proof file, unpacked."""
MAX_LINES = 2_100_000
"""As many as there may be anchors, and some more."""
MAX_ROWS, MAX_CLASSES, MAX_LEAF = 5_000_000, 1000, 1 << 40
LARGEST_EXACT = 1 << 53
"""Whole numbers below which labels of the data are told apart."""

HEADER = (
    "format version written_by columns is_named classes target labels weights costs "
    "row_costs family tree claim"
)


class Limits(NamedTuple):
    """Which trees are compared."""

    depth: int
    max_features: int
    max_points: int
    min_leaf: int
    signs: tuple[int, ...]
    allowed: tuple[bool, ...]
    penalties: tuple[Fraction, ...]


@dataclass(frozen=True)
class Proof:
    """What a proof file holds, of the right types but not believed."""

    columns: tuple[ColumnRule, ...]
    is_named: bool
    classes: tuple[Any, ...]
    target: str | None
    labels: tuple[int, ...]
    weights: tuple[Fraction, ...] | None
    costs: tuple[tuple[Fraction, ...], ...] | None
    row_costs: tuple[tuple[Fraction, ...], ...] | None
    limits: Limits
    tree: tuple[Node, ...]
    claimed_cost: Fraction
    claimed_bound: Fraction
    anchors: tuple[Anchor, ...]


def read_proof(path: str | os.PathLike[str]) -> Proof:
    """Read a proof file, or raise :class:`Refused`."""
    content = content_of(path, "The proof file", MAX_BYTES)
    if content.count(b"\n") + content.count(b"\r") > MAX_LINES:
        raise Refused(f"The proof file has more than {MAX_LINES} lines.")
    lines = content.splitlines(keepends=True)
    if lines and (_is_model(lines[0]) or lines[-1].strip() == b"}"):
        raise Refused(NO_PROOF)
    if len(lines) < 2:
        raise Refused("The proof file is empty or cut off.")
    _check_digest(lines)
    header = parsed(lines[0])
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise Refused(NO_PROOF)
    if header.get("version") != VERSION:
        raise Refused(f"The proof file is of another version; known: {VERSION}.")
    return _proof(an_object(header, "the header", HEADER), read_anchors(lines[1:-1]))


def _is_model(line: bytes) -> bool:
    """Tell whether a line is of a model file, which people give by mistake."""
    return b'"format"' in line and FORMAT.encode() not in line


def _check_digest(lines: list[bytes]) -> None:
    """Refuse a file that was damaged; whoever changes it on purpose may sign anew."""
    given = an_object(parsed(lines[-1]), "the last line", "digest")
    digest = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
    if given["digest"] != digest:
        raise Refused(
            "The proof file does not fit its digest: it was damaged or changed."
        )


def _proof(header: dict[str, Any], anchors: tuple[Anchor, ...]) -> Proof:
    labels = a_list(header["labels"], "labels", 1, MAX_ROWS)
    classes = _classes(header["classes"])
    n_rows, n_classes = len(labels), len(classes)
    columns = read_columns(header["columns"])
    claim = an_object(header["claim"], "claim", "cost bound")
    n_grid = sum(column.n_grid for column in columns)
    return Proof(
        columns,
        a_bool(header["is_named"], "is_named"),
        tuple(classes),
        optional(a_text, header["target"], "target"),
        tuple(a_whole(y, "labels", 0, n_classes - 1) for y in labels),
        _costs(header["weights"], "weights", n_rows),
        _table(header["costs"], "costs", n_classes, n_classes),
        _table(header["row_costs"], "row_costs", n_rows, n_classes),
        _limits(header["family"], n_grid),
        read_tree(header["tree"], n_grid, n_classes),
        a_number(claim["cost"], "cost"),
        a_number(claim["bound"], "bound"),
        anchors,
    )


def _classes(given: Any) -> list[Any]:
    """Read the classes, which must differ as the labels in the data are read."""
    classes = a_list(given, "classes", 1, MAX_CLASSES)
    for label in classes:
        if not isinstance(label, (str, bool, int, Decimal)):
            raise Refused("'classes' of the proof file must be texts or numbers.")
        if not isinstance(label, str) and abs(float(label)) >= LARGEST_EXACT:
            raise Refused(f"'classes' of the proof file holds {label}: too large.")
    read = {label if isinstance(label, str) else float(label) for label in classes}
    if len(read) < len(classes):
        raise Refused("'classes' of the proof file names a class twice.")
    return classes


def _costs(given: Any, name: str, n: int) -> tuple[Fraction, ...] | None:
    if given is None:
        return None
    return tuple(a_cost(value, name) for value in a_list(given, name, n, n))


def _table(given: Any, name: str, n: int, m: int) -> Any:
    if given is None:
        return None
    return tuple(_costs(row, name, m) or () for row in a_list(given, name, n, n))


def _limits(given: Any, n_grid: int) -> Limits:
    keys = (*Limits._fields[:3], "min_samples_leaf", *Limits._fields[4:])
    given = an_object(given, "family", " ".join(keys))
    signs, allowed = given["signs"], given["allowed"]
    for name in ("signs", "allowed"):
        if given[name] != []:
            a_list(given[name], name, n_grid, n_grid)
    penalties = _costs(given["penalties"], "penalties", n_grid)
    if penalties is None:
        raise Refused("'penalties' of the proof file must be a list.")
    return Limits(
        a_whole(given["depth"], "depth", 1, 100),
        a_whole(given["max_features"], "max_features", 1, 3),
        a_whole(given["max_points"], "max_points", 1, 5),
        a_whole(given["min_samples_leaf"], "min_samples_leaf", 1, MAX_LEAF),
        tuple(a_whole(sign, "signs", -1, 1) for sign in signs),
        tuple(a_bool(value, "allowed") for value in allowed),
        penalties,
    )
