"""How long a stop takes to be heard during a row selection.

A second after the selection began, Ctrl-C is pressed or the callback answers true.

    python benchmarks/run.py stops --selection hull
"""

from __future__ import annotations

import signal
import threading
import time
import warnings
from argparse import Namespace
from typing import Any
from unittest.mock import patch

import numpy as np

from miptree import OptimalTreeClassifier
from miptree.bench.markdown import markdown_table, number
from miptree.fit.working_set import WorkingSets

TITLE = "Stops during a row selection"
ABOUT = (
    "Seconds from the request until the selection, and the whole fit, had ended. Rows "
    "are Gaussian with labels by lot; an empty cell means that the selection was over "
    "before."
)
KEY = ("selection", "by", "limit", "rows", "features")
OPTIONS = {
    "selection": ("auto", "hull", "balanced", "cover"),
    "by": ("Ctrl-C", "callback"),
    "limit": (0.0, 600.0),
    "rows": (20_000,),
    "features": (10,),
    "after": 1.0,
}


def run(case: Namespace) -> dict[str, Any]:
    """Fit, stop, and note when the selection and the fit end; limit 0 is none."""
    began, asked, heard = [], threading.Event(), []
    choose = WorkingSets.choose

    def press() -> None:
        began.append(time.perf_counter())
        asked.set()
        if case.by == "Ctrl-C":
            signal.raise_signal(signal.SIGINT)

    def watched(*args: Any) -> Any:
        timer = threading.Timer(case.after, press)
        timer.start()
        try:
            return choose(*args)
        finally:
            timer.cancel()
            heard.append(time.perf_counter())

    rng = np.random.default_rng(0)
    X = rng.normal(size=(case.rows, case.features))
    clf = OptimalTreeClassifier(
        solver="search",
        selection=case.selection,
        time_limit=case.limit or None,
        max_rounds=1,
        max_iter=1,
        random_state=0,
        callback=lambda _: case.by == "callback" and asked.is_set(),
    )
    with patch.object(WorkingSets, "choose", watched), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, rng.integers(2, size=case.rows))
    ended = time.perf_counter()
    missed = not began or heard[0] < began[0]
    return {
        "heard": None if missed else round(heard[0] - began[0], 2),
        "ended": None if missed else round(ended - began[0], 2),
        "result": clf.status_,
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return one row a case."""
    head = ("selection", "rows", "d", "stopped by", "time limit", "heard", "fit ended")
    rows = [
        (
            *(r["selection"], f"{r['rows']:,}", r["features"], r["by"]),
            f"{r['limit']:g} s" if r["limit"] else "none",
            *(number(r[key] or np.nan, ".2f", "") for key in ("heard", "ended")),
        )
        for r in records
    ]
    return [markdown_table(head, rows)]
