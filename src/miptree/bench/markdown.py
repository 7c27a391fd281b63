"""Markdown that the tables of all benchmarks are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def markdown_table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with one line for the head and one for each row."""
    lines = [_line(head), "|" + "---|" * len(head), *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def number(value: float, spec: str = ".1f", missing: str = "-") -> str:
    """Format a number, or return ``missing`` for NaN."""
    return missing if np.isnan(value) else f"{value:{spec}}"
