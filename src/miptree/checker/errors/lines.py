"""Lines of whole numbers of a section about errors."""

from __future__ import annotations

import json
import re
from typing import Any

from ..values import Refused, check_size
from .limits import Limits

COLUMN_LINES = (b'["w"', b'["h"')
_COLUMN = re.compile(rb'\["[wh]", ?(\d+), ?(\[[-0-9, ]*\])\]\s*')
_LONG = re.compile(rb"\d{18}")


def read_column(line: bytes, limits: Limits) -> None:
    """Leave a column out, or limit its coefficient."""
    column, terms = whole_numbers(_COLUMN.fullmatch(line), line)
    if line.startswith(b'["w"'):
        limits.leave_out(column, terms)
    else:
        limits.limit(column, terms)


def whole_numbers(found: re.Match[bytes] | None, line: bytes) -> list[Any]:
    """Return the whole numbers, and lists of them, of a line."""
    if found is None or _LONG.search(line):
        raise unknown(line)
    check_size(line)
    try:
        values: list[Any] = json.loads(b"[" + b",".join(found.groups()) + b"]")
    except ValueError:
        raise Refused(
            f"The proof file has a line {line[:40]!r} that is not JSON."
        ) from None
    return values


def unknown(line: bytes) -> Refused:
    """Return that a line is of no kind."""
    return Refused(f"The proof file has a line {line[:40]!r} that is not known.")
