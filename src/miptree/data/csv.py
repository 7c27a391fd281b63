"""Options for reading CSV files, in memory and in blocks."""

from __future__ import annotations

from typing import Any

TOO_MANY_FIELDS = (
    "has rows with more fields than its header has names. Name every column, and quote "
    "fields that hold a comma."
)


def csv_options() -> dict[str, Any]:
    """Return options of ``read_csv`` by which nothing is guessed.

    Only an empty field is a missing value, so a class called "NA" or "None" stays
    one; numbers are read to the nearest float64; and a comma at the end of rows does
    not shift the columns.
    """
    import pandas as pd

    options: dict[str, Any] = {
        "keep_default_na": False,
        "na_values": [""],
        "index_col": False,
    }
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # since then always, and deprecated
    return options
