"""Write a proof file: all that a stranger needs to check a proof against the data.

A file of JSON lines: a header that says how cells become numbers, what errors cost,
which trees are compared, the tree and what is claimed of it; then sections, each of a
kind, with what the proof rests on; at last a digest. Nothing in it must be believed:
``miptree.checker`` computes every number again. ``points_log`` and ``routes_log`` say
what the files of points trees and of oblique trees hold.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from miptree._version import __version__
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.utils.files import atomic_file

FORMAT = "miptree-proof"
MOST_BYTES = 1 << 32
"""Size of a file before it is packed: a checker takes no larger one."""

_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


class ProofTooLargeError(ValueError):
    """A proof has more bytes than a proof file may have."""


def header(
    version: int, schema: Schema, rows: TrainingRows, target: str | None, **more: Any
) -> dict[str, Any]:
    """Return the header of a proof file.

    Parameters
    ----------
    version : int
        1 for points trees, 2 for oblique ones, 3 for those with subset splits.
    schema : Schema
        Names and classes.
    rows : TrainingRows
        The rows of the fit in the user's order, whose labels, weights and costs are
        written; their cells are not, a checker takes them from the user's data.
    target : str or None
        Column of the labels in the user's file, where there is one.
    **more
        Columns, family, tree and claim.
    """
    return {
        "format": FORMAT,
        "version": version,
        "written_by": f"miptree {__version__}",
        "is_named": schema.feature_names is not None,
        "classes": schema.classes.tolist(),
        "target": target,
        **_rows(rows),
        **more,
    }


def _rows(rows: TrainingRows) -> dict[str, Any]:
    """Give labels, and weights and costs where they are not all 1."""
    weight, row_costs = rows.training_weight, rows.row_costs
    costs = rows.costs if rows.class_price is None else None
    is_plain = bool((weight == 1).all())
    return {
        "labels": rows.y.tolist(),
        "weights": None if is_plain else weight.tolist(),
        "costs": None if costs is None else costs.tolist(),
        "row_costs": None if row_costs is None else row_costs.tolist(),
    }


def line(value: Any) -> str:
    """Write a value as a line of JSON."""
    return _ENCODER.encode(value) + "\n"


def write_lines(
    path: str | os.PathLike[str],
    lines: Iterable[str],
    force: bool,
    most: int | None = None,
) -> str:
    """Write lines and their digest, gzipped where the name ends in .gz.

    Returns
    -------
    str
        The SHA-256 of the lines, which the file ends with.

    Raises
    ------
    ProofTooLargeError
        If there are too many lines; then nothing is written.
    """
    most = MOST_BYTES if most is None else most
    digest, size = hashlib.sha256(), 0
    with atomic_file(path, force) as raw, _packed(path, raw) as file:
        for text in lines:
            content = text.encode()
            size += len(content)
            if size > most:
                raise ProofTooLargeError(
                    f"it has more than the {most >> 20} MB that a proof file may have"
                )
            digest.update(content)
            file.write(content)
        file.write(line({"digest": digest.hexdigest()}).encode())
    return digest.hexdigest()


@contextmanager
def _packed(
    path: str | os.PathLike[str], file: BinaryIO
) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Give a file that packs what is written, if its name ends in .gz."""
    if not os.fspath(path).endswith(".gz"):
        yield file
        return
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        yield packed
