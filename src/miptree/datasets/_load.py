"""Loading from ``$MIPTREE_DATA``, scikit-learn, a local cache, or the internet."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from miptree.datasets._content import fingerprints, raw_rows, typed
from miptree.datasets._download import DatasetError, download
from miptree.datasets._registry import Entry, Part, entry
from miptree.utils.files import write_atomic
from miptree.utils.warn import warn

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set.

    Attributes
    ----------
    name : str
        Its name.
    frame : pandas.DataFrame
        Features. Nominal and binary columns, whether text or codes, have the dtype
        ``category``; all others are float64.
    target : pandas.Series
        Class labels, as strings.
    categorical : tuple of str
        The columns of dtype ``category``.
    source : str
        Where it came from: a file, "scikit-learn" or an address.
    """

    name: str
    frame: pd.DataFrame
    target: pd.Series
    categorical: tuple[str, ...]
    source: str


def load(name: str, part: Part = "paper") -> Dataset:
    """Load a data set of the paper, or one that this package is developed on.

    Looks in ``$MIPTREE_DATA`` (``paper/`` and ``paper_test/``, check sums compared),
    in scikit-learn (iris, wine), in the cache (``$MIPTREE_CACHE``, by default
    ``~/.cache/miptree``) and then downloads from UCI or OpenML into the cache. The rows
    are the same wherever they come from: iris is UCI's, which differs from
    scikit-learn's in two rows.

    Parameters
    ----------
    name : str
        One of :func:`names` of the part.
    part : {"paper", "paper_test", "dev"}, default="paper"
        The rows that the paper split, or UCI's official test part where there is one;
        "dev" for the sets of development, which have missing values, and are found in
        ``$MIPTREE_DATA`` only.

    Raises
    ------
    DatasetError
        If it cannot be loaded, or its content is not the expected one.

    Examples
    --------
    >>> from miptree.datasets import load
    >>> wine = load("wine")
    >>> wine.frame.shape, wine.target.nunique()
    ((178, 13), 3)
    """
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Data sets are pandas frames. Run: pip install 'miptree[bench]'"
        ) from error
    wanted = entry(name, part)
    rows, source = _rows(wanted)
    frame, target = typed(rows, wanted)
    return Dataset(name, frame, target, wanted.categorical, source)


def _rows(wanted: Entry) -> tuple[list[list[str]], str]:
    folder = os.environ.get("MIPTREE_DATA")
    if folder and (given := Path(folder) / wanted.part / wanted.file).exists():
        return _csv_rows(_checked_bytes(given, wanted)), str(given)
    if not wanted.source.path:
        raise DatasetError(
            f"The data set {wanted.name!r} is not downloaded: set MIPTREE_DATA to the "
            f"folder that holds {wanted.part}/{wanted.file}."
        )
    if wanted.part == "paper" and wanted.name in ("iris", "wine"):
        return _bundled(wanted.name), "scikit-learn"
    cached = _cache() / wanted.part / f"{wanted.name}.csv.gz"
    if cached.exists():
        rows = _csv_rows(cached.read_bytes())
        _check(rows, wanted, f"Delete {cached} to download it again.")
        return rows, str(cached)
    rows = raw_rows(download(wanted), wanted)
    _check(rows, wanted, "Please report that its source has changed.")
    _keep(rows, wanted, cached)
    return rows, wanted.source.path


def _checked_bytes(path: Path, wanted: Entry) -> bytes:
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != wanted.sha256:
        raise DatasetError(
            f"{path} is not the data set {wanted.name!r}: its sha256 is {found}, not "
            f"{wanted.sha256}. Restore it, or unset MIPTREE_DATA."
        )
    return content


def _csv_rows(content: bytes) -> list[list[str]]:
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return list(csv.reader(io.StringIO(content.decode("utf-8"))))[1:]


def _check(rows: list[list[str]], wanted: Entry, advice: str) -> None:
    content, order = fingerprints(rows, wanted)
    if content != wanted.content_sha256:
        classes = dict(sorted(Counter(row[-1] for row in rows).items()))
        raise DatasetError(
            f"What was found as {wanted.name!r} is something else: {len(rows)} "
            f"complete rows of classes {classes!r:.300}, expected {wanted.n} rows with "
            f"check sum {wanted.content_sha256[:12]}, got {content[:12]}. {advice}"
        )
    if order != wanted.order_sha256:
        warn(
            f"The rows of {wanted.name!r} are right, but in another order than in our "
            "copy: random splits will not be those of the published figures."
        )


def _cache() -> Path:
    if given := os.environ.get("MIPTREE_CACHE"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "miptree"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "miptree"


def _keep(rows: list[list[str]], wanted: Entry, path: Path) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [[*wanted.columns, "target"], *rows]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, gzip.compress(text.getvalue().encode(), mtime=0), force=True)


def _bundled(name: str) -> list[list[str]]:
    """Return the rows of scikit-learn's copies, as UCI has them."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    X = bunch.data.copy()
    if name == "iris":
        X[34], X[37] = (4.9, 3.1, 1.5, 0.1), (4.9, 3.1, 1.5, 0.1)
        labels = [f"Iris-{bunch.target_names[k]}" for k in bunch.target]
    else:
        labels = [str(k + 1) for k in bunch.target]
    features = [[repr(float(value)) for value in row] for row in X]
    return [[*row, label] for row, label in zip(features, labels, strict=True)]
