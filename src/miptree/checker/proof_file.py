"""Read a proof file: header, sections, digest; and what all kinds of proofs have."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .columns import ColumnRule
from .deadline import check_time
from .files import lines_of
from .values import (
    Refused,
    TooMuch,
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

FORMAT = "miptree-proof"
POINTS, OBLIQUE, SUBSETS = 1, 2, 3
"""Versions of the file: proofs of points trees, of trees with oblique splits, and of
trees that may have splits by subsets of categories as well."""
NO_PROOF = (
    "this is no proof file, which begins with a line of JSON that names the format "
    f"{FORMAT!r}. The fit writes one: miptree fit --proof-log FILE, or "
    "fit(X, y, proof_log=FILE) in Python."
)
MAX_BYTES, MAX_LINE = 1 << 32, 1 << 27
"""Size of a proof file, unpacked, and of a line; it is read line by line."""
MAX_LINES = 50_000_000
LINES_AT_ONCE = 1000
"""Lines that are read between two looks at the clock."""
MAX_ROWS, MAX_CLASSES = 5_000_000, 1000
LARGEST_EXACT = 1 << 53
"""Whole numbers below which labels of the data are told apart."""

HEADER = (
    "format version written_by columns is_named classes target labels weights costs "
    "row_costs family tree claim"
)


@dataclass(frozen=True)
class Proof:
    """What every proof file holds, of the right types but not believed."""

    columns: tuple[ColumnRule, ...]
    is_named: bool
    classes: tuple[Any, ...]
    target: str | None
    labels: tuple[int, ...]
    weights: tuple[Fraction, ...] | None
    costs: tuple[tuple[Fraction, ...], ...] | None
    row_costs: tuple[tuple[Fraction, ...], ...] | None
    claimed_cost: Fraction
    claimed_bound: Fraction


@dataclass(frozen=True)
class Document:
    """The header of a proof file, and where to read the lines of its sections."""

    header: dict[str, Any]
    path: str | os.PathLike[str]
    n_lines: int
    deadline: float

    @property
    def version(self) -> int:
        """The kind of proof."""
        return int(self.header["version"])

    def lines(self) -> Iterator[bytes]:
        """Give the lines between the header and the digest."""
        lines = _lines(self.path, self.deadline)
        return itertools.islice(lines, 1, 1 + self.n_lines)


def _lines(path: str | os.PathLike[str], deadline: float) -> Iterator[bytes]:
    """Give the lines of the file while there is time: little may unpack to much."""
    lines = lines_of(path, "The proof file", MAX_BYTES, MAX_LINE)
    for number, line in enumerate(lines):
        if number % LINES_AT_ONCE == 0:
            check_time(deadline)
        yield line


def open_proof(path: str | os.PathLike[str], deadline: float) -> Document:
    """Read a proof file, or raise :class:`Refused`, at a deadline :class:`TooMuch`."""
    digest, first, last, n_lines = hashlib.sha256(), b"", b"", 0
    for line in _lines(path, deadline):
        digest.update(last)
        first, last = first or line, line
        n_lines += 1
        if n_lines > MAX_LINES:
            raise TooMuch(f"The proof file has more than {MAX_LINES} lines.")
    if n_lines == 0:
        raise Refused("The proof file is empty.")
    if FORMAT.encode() not in first:
        raise Refused(NO_PROOF)
    _check_digest(last, digest.hexdigest())
    header = parsed(first)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise Refused(NO_PROOF)
    version = header.get("version")
    if isinstance(version, bool) or version not in (POINTS, OBLIQUE, SUBSETS):
        text = f"this program knows {POINTS} to {SUBSETS}"
        raise Refused(f"The proof file is of another version; {text}.")
    return Document(
        an_object(header, "the header", HEADER), path, n_lines - 2, deadline
    )


def _check_digest(line: bytes, digest: str) -> None:
    """Refuse a file that was damaged; whoever changes it on purpose may sign anew."""
    last = parsed(line) if b'"digest"' in line else None
    if not isinstance(last, dict) or set(last) != {"digest"}:
        text = "its last line is not its digest"
        raise Refused(f"The proof file is cut off or damaged: {text}.")
    if last["digest"] != digest:
        raise Refused(
            "The proof file does not fit its digest: it was damaged or changed."
        )


def common_values(
    header: dict[str, Any], columns: tuple[ColumnRule, ...]
) -> dict[str, Any]:
    """Read the entries of a header that all kinds of proofs share."""
    labels = a_list(header["labels"], "labels", 1, MAX_ROWS)
    classes = _classes(header["classes"])
    n_rows, n_classes = len(labels), len(classes)
    claim = an_object(header["claim"], "claim", "cost bound")
    return {
        "columns": columns,
        "is_named": a_bool(header["is_named"], "is_named"),
        "classes": tuple(classes),
        "target": optional(a_text, header["target"], "target"),
        "labels": tuple(a_whole(y, "labels", 0, n_classes - 1) for y in labels),
        "weights": read_costs(header["weights"], "weights", n_rows),
        "costs": _table(header["costs"], "costs", n_classes, n_classes),
        "row_costs": _table(header["row_costs"], "row_costs", n_rows, n_classes),
        "claimed_cost": a_number(claim["cost"], "cost"),
        "claimed_bound": a_number(claim["bound"], "bound"),
    }


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


def read_costs(given: Any, name: str, n: int) -> tuple[Fraction, ...] | None:
    """Read a list of so many numbers >= 0, or null."""
    if given is None:
        return None
    return tuple(a_cost(value, name) for value in a_list(given, name, n, n))


def _table(given: Any, name: str, n: int, m: int) -> Any:
    if given is None:
        return None
    return tuple(read_costs(row, name, m) or () for row in a_list(given, name, n, n))
