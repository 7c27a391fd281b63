"""Files that a command is to write, looked at before its work."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

from miptree.utils.files import refuse_overwriting


def refuse_outputs(
    outputs: Mapping[str, Path | None], inputs: Iterable[Path | None], force: bool
) -> None:
    """Refuse files that must not be written, before the work rather than after it.

    Parameters
    ----------
    outputs : mapping of str to Path or None
        Files to write, by the options that name them; None for one that was not given.
    inputs : iterable of Path or None
        Files that the command reads, which even ``force`` does not overwrite.
    force : bool
        Whether other files that are there already are overwritten.
    """
    given = {name: path for name, path in outputs.items() if path is not None}
    read = [path for path in inputs if path is not None]
    for name, path in given.items():
        if any(_is_same(path, other) for other in read):
            raise ValueError(
                f"{name} names the file {str(path)!r}, which the command reads and "
                "never overwrites. Give another name."
            )
    for (name, path), (other_name, other) in combinations(given.items(), 2):
        if _is_same(path, other):
            raise ValueError(
                f"{name} and {other_name} name the same file, {str(path)!r}. Give two "
                "names."
            )
    for path in given.values():
        refuse_overwriting(path, force)


def _is_same(path: Path, other: Path) -> bool:
    """Tell whether two names are of one file, be it there already or not."""
    if path.exists() and other.exists():
        return os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)


def refuse_model_name(path: Path | None) -> None:
    """Refuse a model file that has the name of a table."""
    if path is not None and path.suffix.lower() in _OF_TABLES:
        raise ValueError(
            f"--out names the model file, which is JSON and no table: give a name such "
            f"as {path.with_suffix('.json').name!r}, got {path.name!r}."
        )


def unsaved_sentence(data: str) -> str:
    """Say what a fit without a model file loses, and offer a name."""
    return (
        "The model will not be saved, and cannot predict or be verified later. To keep "
        f"it: --out {_bare_name(data, 'model')}.json"
    )


def unplain_sentence(data: str) -> str:
    """Say what a proof needs whose table is no plain CSV file."""
    name = _bare_name(data, "table")
    return (
        "miptree check, which shares no code with the fit, reads plain CSV only. Write "
        f"the table so for it: miptree table {data} --out {name}_plain.csv"
    )


def _bare_name(data: str, otherwise: str) -> str:
    """Return the name of a file without folder and endings, if it needs no quotes."""
    stem = Path(data).name.partition(".")[0]
    return (
        stem
        if stem.replace("_", "").replace("-", "a").isalnum() and data != "-"
        else otherwise
    )


_OF_TABLES = frozenset((".csv", ".tsv", ".xlsx", ".xls", ".parquet", ".feather"))
