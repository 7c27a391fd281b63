"""Pieces of work that are interrupted: each says what came of it.

The work proper begins when it has told so.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import miptree.commands
from miptree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    PointsTreeClassifier,
    compile_kernels,
)
from miptree.cli import main as command_line
from miptree.constraints import MinLeaf

Work = Callable[[Path, int], str]
"""Takes a folder for its files, and a pipe to tell that it has begun."""

assert miptree.commands  # imported and compiled once for all trials
compile_kernels()


def _data(n: int = 300) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 1).astype(int)


def _fitted(clf: Any, told: int, n: int = 300) -> str:
    X, y = _data(n)
    os.write(told, b"x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    assert len(clf.predict(X)) == n
    return f"fitted, {clf.status_}"


def oblique(_: Path, told: int) -> str:
    return _fitted(OptimalTreeClassifier(time_limit=2.0, random_state=0), told)


def mip(_: Path, told: int) -> str:
    """Mostly inside of HiGHS."""
    clf = OptimalTreeClassifier(
        time_limit=2.0, random_state=0, formulation="paper", proof="objective"
    )
    return _fitted(clf.set_params(max_depth=1, init="cart"), told, 60)


def rows(_: Path, told: int) -> str:
    clf = OptimalTreeClassifier(time_limit=2.0, random_state=0, selection="hull")
    return _fitted(clf.set_params(solver="search"), told, 3000)


def rules(_: Path, told: int) -> str:
    clf = OptimalTreeClassifier(time_limit=2.0, random_state=0)
    return _fitted(clf.set_params(constraints=[MinLeaf(rows=20)]), told)


def points(_: Path, told: int) -> str:
    return _fitted(PointsTreeClassifier(time_limit=2.0, max_depth=2), told)


def tuner(_: Path, told: int) -> str:
    return _fitted(
        OptimalTreeClassifierCV(time_limit=4.0, n_repeats=2, random_state=0), told
    )


def tuner_processes(_: Path, told: int) -> str:
    clf = OptimalTreeClassifierCV(time_limit=20.0, n_repeats=3, random_state=0)
    return _fitted(clf.set_params(n_jobs=2, max_depth=2), told, 600)


def dask(_: Path, told: int) -> str:
    """Partitions on the threads of this process."""
    import dask.dataframe as dd
    import pandas as pd

    from miptree import distributed

    X, y = _data(3000)
    table = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    data = dd.from_pandas(table, npartitions=6)
    clf = OptimalTreeClassifier(time_limit=3.0, random_state=0, solver="search")
    os.write(told, b"x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = distributed.fit(data, "label", classifier=clf)
    assert len(clf.predict(table[list("abcd")])) == len(table)
    return f"fitted, {clf.status_}"


def bench(folder: Path, told: int) -> str:
    words = "bench run --suite smoke --methods cart,miptree --splits 0-1 --jobs 2"
    options = ["--time-limit", "1", "--results", str(folder / "results")]
    sys.argv = ["miptree", *words.split(), *options]
    os.write(told, b"x")
    command_line()
    return "returned"


def command(folder: Path, told: int) -> str:
    X, y = _data()
    table = np.c_[X, y].tolist()
    lines = [",".join(map(str, row)) for row in table]
    data = folder / "rows.csv"
    data.write_text("\n".join(["a,b,c,d,y", *lines]) + "\n")
    words = "--target y --style oblique --time-limit 2".split()
    sys.argv = ["miptree", "fit", str(data), *words]
    sys.argv += ["--out", str(folder / "model.json")]
    os.write(told, b"x")
    command_line()
    return "returned"


WORKS: dict[str, Work] = {
    "oblique": oblique,
    "mip": mip,
    "rows": rows,
    "rules": rules,
    "points": points,
    "tuner": tuner,
    "tuner in processes": tuner_processes,
    "dask": dask,
    "bench": bench,
    "command": command,
}
