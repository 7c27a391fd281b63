"""The registry of data sets: shape, columns, check sums and source of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Part = Literal["paper", "paper_test", "dev"]
"""The rows that the paper used, UCI's official test rows, or sets of development."""


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
    source : Source
        Where it is downloaded from, with an empty path if it is not, as the sets of
        development.
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
    content_sha256: str = ""
    order_sha256: str = ""
    source: Source = Source("")


@cache
def _table() -> dict[tuple[str, str], Entry]:
    text = files("miptree.datasets").joinpath("registry.json").read_text("utf-8")
    return {(raw["name"], raw["part"]): _entry(raw) for raw in json.loads(text)}


def _entry(raw: dict[str, Any]) -> Entry:
    source = Source(**_without_lists(raw.get("source", {"path": ""})))
    return Entry(**_without_lists(raw | {"source": source}))


def _without_lists(raw: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()}


def names(part: Part = "paper") -> list[str]:
    """Return the names of the data sets that have a part."""
    return [name for name, other in _table() if other == part]


def official_test_names() -> list[str]:
    """Return the names of the data sets that have an official test part."""
    return names("paper_test")


def entry(name: str, part: Part = "paper") -> Entry:
    """Return the entry of a name, or raise an error that lists the known names."""
    kinds = {
        "paper": "data set",
        "paper_test": "data set with an official test part",
        "dev": "data set of development",
    }
    if part not in kinds:
        raise ValueError(f"part must be one of {[*kinds]}, got {part!r}.")
    found = _table().get((name, part))
    if found is None:
        known = ", ".join(names(part))
        raise ValueError(f"There is no {kinds[part]} {name!r}; there are {known}.")
    return found
