"""The table of a distributed fit: a collection, or files whose columns agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from miptree.data.csv import TOO_MANY_FIELDS, csv_options
from miptree.distributed._dask import require_dask
from miptree.utils.arrays import AnyArray

if TYPE_CHECKING:
    import pandas as pd

_FIRST_ROWS = 10_000
"""Rows by which the columns of a table are known."""
CSV_BLOCK = 64_000_000
"""Bytes of a CSV file in one partition, whatever the memory of the machine."""


def open_table(data: Any, read: Sequence[str] | None = None) -> Any:
    """Return a Dask DataFrame: the one given, or that of Parquet or CSV files.

    All files must have the columns that are read, by default all of the first. A CSV
    file is read in blocks of 64 MB that end at line ends, so a field must not hold a
    line end; a compressed file cannot be cut and is one partition.
    """
    dd = require_dask()
    if isinstance(data, (str, Path)):
        return _open_files(dd, str(data), read)
    if not (hasattr(data, "to_delayed") and hasattr(data, "columns")):
        raise TypeError(
            "data must be a Dask DataFrame or a pattern of Parquet or CSV files, got "
            f"{type(data).__name__}. Turn a pandas table into one with "
            "dask.dataframe.from_pandas(table, npartitions=...), a Dask array with "
            "dask.dataframe.from_dask_array(array, columns=[...])."
        )
    return data


def refuse_lost_columns(table: Any, wanted: Iterable[str | None]) -> None:
    """Refuse names that no column has; None asks for no column."""
    names = [str(name) for name in table.columns]
    for name in wanted:
        if name is not None and name not in names:
            there = ", ".join(map(repr, names[:20]))
            raise ValueError(f"There is no column {name!r}; there are {there}.")


def first_rows(data: Any) -> pd.DataFrame:
    """Return the first rows of a table, of as few partitions as have enough of them."""
    import pandas as pd

    table, found, wanted = open_table(data, read=()), [], _FIRST_ROWS
    for number in range(table.npartitions):
        found.append(table.partitions[number].head(wanted, npartitions=-1))
        wanted -= len(found[-1])
        if wanted <= 0:
            break
    return pd.concat(found, ignore_index=True)


def distinct_labels(data: Any, target: str) -> AnyArray:
    """Return the class labels of a table, each once, in one pass over their column.

    Missing ones are left out: a fit refuses them with the number of their partition.
    """
    table = open_table(data)
    refuse_lost_columns(table, [target])
    return np.array(table[target].dropna().unique().compute().tolist())


def _open_files(dd: Any, pattern: str, read: Sequence[str] | None) -> Any:
    if pattern.endswith((".csv", ".csv.gz")):
        _check_columns(pattern, _csv_columns, read)
        block = None if pattern.endswith(".gz") else CSV_BLOCK
        return dd.read_csv(pattern, blocksize=block, **csv_options())
    _check_columns(pattern, _parquet_columns, read)
    return dd.read_parquet(pattern)


def _check_columns(
    pattern: str, columns_of: Callable[[Any], list[str]], read: Sequence[str] | None
) -> None:
    """Refuse a pattern without files, and files with different columns."""
    from fsspec.core import get_fs_token_paths

    files, _, paths = get_fs_token_paths(pattern)
    if len(paths) == 1 and files.isdir(paths[0]):
        paths = files.glob(paths[0].rstrip("/") + "/**/*.parquet")
    paths = [path for path in paths if files.exists(path)]
    if not paths:
        raise FileNotFoundError(
            f"No file matches {pattern!r}. Give a pattern such as 'parts/*.parquet' or "
            "'parts/*.csv'."
        )
    first: set[str] = set()
    for path in paths:
        with files.open(path, "rb", compression="infer") as file:
            try:
                names = set(columns_of(file))
            except Warning:
                raise ValueError(f"{path} {TOO_MANY_FIELDS}") from None
        names = names if read is None else names.intersection(read)
        first = first or names
        for name in sorted(names ^ first):
            has, lacks = (path, paths[0]) if name in names else (paths[0], path)
            raise ValueError(
                f"{lacks} lacks column {name!r}, which {has} has. Give all files the "
                "same columns."
            )


def _parquet_columns(file: Any) -> list[str]:
    import pyarrow.parquet as pq

    names = pq.read_schema(file).names
    # pandas stores an index that counts the rows in some files and not in others.
    return [name for name in names if not name.startswith("__index_level_")]


def _csv_columns(file: Any) -> list[str]:
    """Return the columns of a file; refuse a first row with more fields than these.

    Where only a later row has more, pandas fails by itself.
    """
    import pandas as pd

    with warnings.catch_warnings():
        # pandas drops the fields that are too many, and only warns.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        table = pd.read_csv(file, nrows=1, **csv_options())
    return [str(name) for name in table.columns]
