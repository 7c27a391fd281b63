"""The numbers that the paper prints in its tables 1-8: ``paper.toml``."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    try:
        import tomli as tomllib
    except ImportError as error:
        raise ImportError(
            "Reading the paper's numbers needs tomli on Python 3.10. "
            "Run: pip install 'miptree[bench]'"
        ) from error

Numbers = dict[str, float | None]
"""By method; None where the paper has N/A."""


@dataclass(frozen=True)
class PaperResult:
    """A column of a table: one data set at one depth.

    Attributes
    ----------
    table, set, printed, depth : int, str, str, int
        Number of the table, our name of the set and the paper's, the tree's depth.
    n, d, Y : int
        Rows, features and classes, as printed.
    test, train, seconds : dict
        Accuracies in percent and running time, by method.
    test_bertsimas_dunn : dict
        Test accuracies that the paper repeats from Bertsimas & Dunn (2017).
    selected : float or None
        Rows chosen by data selection, in percent.
    parameters : dict
        Of S1O-DS; empty in tables 1-5.
    """

    table: int
    set: str
    printed: str
    depth: int
    n: int
    d: int
    Y: int
    test: Numbers
    train: Numbers
    seconds: Numbers = field(default_factory=dict)
    test_bertsimas_dunn: Numbers = field(default_factory=dict)
    selected: float | None = None
    parameters: dict[str, float] = field(default_factory=dict)


@cache
def paper_results() -> tuple[PaperResult, ...]:
    """Return all columns of all tables, in the paper's order."""
    text = files("miptree.bench").joinpath("paper.toml").read_text("utf-8")
    raw = tomllib.loads(text)
    return tuple(PaperResult(**_numbers(entry)) for entry in raw["result"])


def printed(name: str, depth: int) -> PaperResult | None:
    """Return the paper's column of a set and depth, if it has one."""
    found = [r for r in paper_results() if (r.set, r.depth) == (name, depth)]
    return found[0] if found else None


def _numbers(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        key: {k: None if v == "N/A" else v for k, v in value.items()}
        if isinstance(value, dict)
        else value
        for key, value in entry.items()
    }
