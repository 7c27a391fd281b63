"""Pieces of work that are interrupted: each says what came of it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from multiprocessing.pool import ThreadPool
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

Begin = Callable[[], object]
Work = Callable[[Path, Begin], str]
"""Takes a folder for its files, and what to call where the work proper begins."""

assert miptree.commands  # imported and compiled once for all trials
compile_kernels()


def _data(n: int = 300) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 1).astype(int)


def _fitted(clf: Any, begin: Begin, n: int = 300) -> str:
    X, y = _data(n)
    begin()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    assert len(clf.predict(X)) == n
    return f"fitted, {clf.status_}"


def oblique(_: Path, begin: Begin) -> str:
    return _fitted(OptimalTreeClassifier(time_limit=1.0, random_state=0), begin)


def mip(_: Path, begin: Begin) -> str:
    """Mostly inside of HiGHS."""
    clf = OptimalTreeClassifier(
        time_limit=1.0, random_state=0, formulation="paper", proof="objective"
    )
    return _fitted(clf.set_params(max_depth=1, init="cart"), begin, 60)


def rows(_: Path, begin: Begin) -> str:
    clf = OptimalTreeClassifier(time_limit=1.0, random_state=0, selection="hull")
    return _fitted(clf.set_params(solver="search"), begin, 3000)


def rules(_: Path, begin: Begin) -> str:
    clf = OptimalTreeClassifier(time_limit=1.0, random_state=0)
    return _fitted(clf.set_params(constraints=[MinLeaf(rows=20)]), begin)


def points(_: Path, begin: Begin) -> str:
    return _fitted(PointsTreeClassifier(time_limit=1.0, max_depth=2), begin)


def tuner(_: Path, begin: Begin) -> str:
    return _fitted(
        OptimalTreeClassifierCV(time_limit=4.0, n_repeats=2, random_state=0), begin
    )


def tuner_processes(_: Path, begin: Begin) -> str:
    clf = OptimalTreeClassifierCV(time_limit=20.0, n_repeats=3, random_state=0)
    return _fitted(clf.set_params(n_jobs=2, max_depth=2), begin, 600)


def dask(_: Path, begin: Begin) -> str:
    """Partitions on threads, which Dask would keep if the pool were not ours."""
    import dask
    import dask.dataframe as dd
    import pandas as pd

    from miptree import distributed

    X, y = _data(3000)
    table = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    data = dd.from_pandas(table, npartitions=6)
    clf = OptimalTreeClassifier(time_limit=2.0, random_state=0, solver="search")
    with ThreadPool(2) as pool, dask.config.set(pool=pool):
        data.map_partitions(len).compute()  # Dask imports more when it is used
        begin()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf = distributed.fit(data, "label", classifier=clf)
    assert len(clf.predict(table[list("abcd")])) == len(table)
    return f"fitted, {clf.status_}"


def bench(folder: Path, begin: Begin) -> str:
    words = "bench run --suite smoke --methods cart,miptree --splits 0-1 --jobs 2"
    options = ["--time-limit", "1", "--results", str(folder / "results")]
    sys.argv = ["miptree", *words.split(), *options]
    begin()
    command_line()
    return "returned"


def command(folder: Path, begin: Begin) -> str:
    X, y = _data()
    table = np.c_[X, y].tolist()
    lines = [",".join(map(str, row)) for row in table]
    data = folder / "rows.csv"
    data.write_text("\n".join(["a,b,c,d,y", *lines]) + "\n")
    words = "--target y --style oblique --time-limit 2".split()
    sys.argv = ["miptree", "fit", str(data), *words]
    sys.argv += ["--out", str(folder / "model.json")]
    begin()
    command_line()
    return "returned"


def prepare(work: str) -> None:
    """Import once for all trials what takes long, and only one work needs."""
    if work == "dask":
        import dask.dataframe
        import pyarrow

        from miptree import distributed

        assert dask.dataframe
        assert pyarrow
        assert distributed


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
