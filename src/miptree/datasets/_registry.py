"""The registry of data sets: shape, columns, check sums and source of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Part = Literal["paper", "paper_test"]
"""The rows that the paper used, or UCI's official test rows."""


@dataclass(frozen=True)
class Source:
    """Where a part is downloaded from, and which of its fields are what.

    Attributes
    ----------
    path : str
        Below UCI's ``machine-learning-databases``, or ``openml:<id>``.
    target : int
        Field of the class label.
    drop : tuple of int
        Fields that are no features, such as names of patients.
    member : str
        File inside a zip archive.
    rows : tuple of int
        First row and the one after the last, where the source holds more.
    """

    path: str
    target: int = -1
    drop: tuple[int, ...] = ()
    member: str = ""
    rows: tuple[int, int] | None = None


@dataclass(frozen=True)
class Entry:
    """One part of one data set.

    Attributes
    ----------
    sha256 : str
        Of the file in the layout of ``$MIPTREE_DATA``.
    content_sha256 : str
        Of the sorted rows, whatever file they came in.
    order_sha256 : str
        The same with the rows in their order, on which random splits depend.
    """

    name: str
    part: Part
    file: str
    n: int
    columns: tuple[str, ...]
    categorical: tuple[str, ...]
    strings: tuple[str, ...]
    classes: tuple[str, ...]
    sha256: str
    content_sha256: str
    order_sha256: str
    source: Source


@cache
def _table() -> dict[tuple[str, str], Entry]:
    text = files("miptree.datasets").joinpath("registry.json").read_text("utf-8")
    return {(raw["name"], raw["part"]): _entry(raw) for raw in json.loads(text)}


def _entry(raw: dict[str, Any]) -> Entry:
    source = Source(**_without_lists(raw["source"]))
    return Entry(**_without_lists(raw | {"source": source}))


def _without_lists(raw: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()}


def names() -> list[str]:
    """Return the names of the data sets."""
    return [name for name, part in _table() if part == "paper"]


def official_test_names() -> list[str]:
    """Return the names of the data sets that have an official test part."""
    return [name for name, part in _table() if part == "paper_test"]


def entry(name: str, part: Part = "paper") -> Entry:
    """Return the entry of a name, or raise an error that lists the known names."""
    known = {"paper": names, "paper_test": official_test_names}
    if part not in known:
        raise ValueError(f"part must be one of {sorted(known)}, got {part!r}.")
    found = _table().get((name, part))
    if found is None:
        what = "data set" if part == "paper" else "data set with an official test part"
        raise ValueError(
            f"There is no {what} {name!r}; there are {', '.join(known[part]())}."
        )
    return found
