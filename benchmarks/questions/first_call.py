"""What the first fit on a machine compiles, how long that takes, and what it returns.

Every case runs in a process of its own with an empty folder as numba's cache, as after
a fresh install, or with a folder that has the kernels of searches.

    python benchmarks/run.py first_call --part fit
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from itertools import product
from typing import Any

from miptree.bench.markdown import markdown_table, number
from miptree.control.background import SWITCH

TITLE = "The first call on a machine"
ABOUT = (
    "CPU seconds hardly depend on what else a machine does, seconds do: `load` is the "
    "number of processes that wanted a core when a case began. A fit has depth 2 and a "
    "time limit in seconds; its errors are beside those of CART and of the greedy SVM "
    "tree of the same depth, on the same training rows. `begins` is after how many "
    "seconds of the process, imports included, its search or comparison began, and "
    "after how many CPU seconds, where that was measured."
)
KEY = ("part", "what", "method", "cache", "limit")
OPTIONS = {"part": ("compile", "fit")}

KERNELS = {
    "search, few errors": "from miptree.search.compiling import use_kernels\n"
    "use_kernels('errors')",
    "search, (1a)": "from miptree.search.compiling import use_kernels\n"
    "use_kernels('svm1')",
    "proofs of the errors": "from miptree.proof import compile_proof_kernels\n"
    "compile_proof_kernels()",
    "proofs of (1a)": "from miptree.proof.routes import compile_route_kernels\n"
    "compile_route_kernels()",
    "points trees": "from miptree.points import compile_points_kernels\n"
    "compile_points_kernels()",
}
METHODS = {
    "oblique": "OptimalTreeClassifier",
    "points": "PointsTreeClassifier",
    "auto": "OptimalTreeClassifierCV",
}
OTHERS = ("start", "compile", "done")
"""Stages of a fit in which nothing is searched or compared."""
DATA = ("wine", "breast_cancer")
LIMITS = (10.0, 60.0)

WATCH = """
import json, time
from numba.core import event

class Watch(event.Listener):
    n_open = n_compiled = 0
    cpu = 0.0
    def on_start(self, _):
        if self.n_open == 0:
            self.began = time.process_time()
        self.n_open += 1
        self.n_compiled += 1
    def on_end(self, _):
        self.n_open -= 1
        if self.n_open == 0:
            self.cpu += time.process_time() - self.began

watch, wall, cpu = Watch(), time.perf_counter(), time.process_time()
with event.install_listener("numba:compile", watch):
    WORK
print(json.dumps({
    "functions": watch.n_compiled, "compile_cpu": round(watch.cpu, 2),
    "cpu": round(time.process_time() - cpu, 2),
    "seconds": round(time.perf_counter() - wall, 2),
}))
"""
FIT = """
import time
began = time.perf_counter()
import json
from sklearn.datasets import load_DATA
from sklearn.tree import DecisionTreeClassifier
from miptree import METHOD
from miptree.baselines import GreedySVMTreeClassifier

X, y = load_DATA(return_X_y=True, as_frame=True)
stages = {}

def hear(state):
    now = time.perf_counter() - began, time.process_time()
    stages.setdefault(state.stage, now)

wall, cpu = time.perf_counter(), time.process_time()
clf = METHOD(max_depth=2, time_limit=LIMIT, random_state=0, callback=hear).fit(X, y)
seconds, cpu = time.perf_counter() - wall, time.process_time() - cpu
cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
greedy = GreedySVMTreeClassifier(max_depth=2).fit(X, y)
begins = min((s for k, s in stages.items() if k not in OTHERS), default=(None, None))
print(json.dumps({
    "begins": begins[0], "begins_cpu": begins[1],
    "seconds": round(seconds, 2), "cpu": round(cpu, 2), "result": clf.status_,
    "objective": round(clf.objective_, 4), "errors": clf.certificate_.errors,
    "cart_errors": int((cart.predict(X) != y).sum()),
    "greedy_errors": greedy.certificate_.errors,
}))
"""


def cases(options: Namespace) -> Iterator[tuple[str, str, str, str, float]]:
    """Each group of kernels alone, then fits with an empty and with a full cache."""
    for what in KERNELS if "compile" in options.part else ():
        yield "compile", what, "", "empty", 0.0
    if "fit" in options.part:
        for what, method in product(DATA, METHODS):
            for limit in LIMITS:
                yield "fit", what, method, "empty", limit
            yield "fit", what, method, "search", LIMITS[0]


def run(case: Namespace) -> dict[str, Any]:
    """Run a case with a cache folder of its own."""
    load = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory() as cache:
        if case.part == "compile":
            work = KERNELS[case.what].replace("\n", "\n    ")
            found = _answer(WATCH.replace("WORK", work), cache)
        else:
            if case.cache == "search":
                for what in ("search, few errors", "search, (1a)", "points trees"):
                    _answer(KERNELS[what] + "\nprint('{}')", cache)
            source = FIT.replace("DATA", case.what).replace("LIMIT", str(case.limit))
            source = source.replace("METHOD", METHODS[case.method])
            found = _answer(source.replace("OTHERS", repr(OTHERS)), cache)
    return {**found, "load": load}


def _answer(source: str, cache: str) -> dict[str, Any]:
    """Return what a program prints as its last line."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": path}
    environment[SWITCH] = "0"  # what one case began must not disturb the next one
    command = [sys.executable, "-W", "ignore", "-c", source]
    run = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(run.stdout.splitlines()[-1])


def tables(records: list[dict[str, Any]]) -> list[str]:
    """One row for each group of kernels, and one for each fit."""
    blocks = []
    compiled = [r for r in records if r["part"] == "compile"]
    if compiled:
        head = ["kernels", "functions", "CPU s of compiling", "CPU s", "s", "load"]
        rows = [
            [
                r["what"],
                f"{r['functions']:,.0f}",
                number(r["compile_cpu"]),
                number(r["cpu"]),
                number(r["seconds"]),
                number(r["load"]),
            ]
            for r in compiled
        ]
        blocks += ["## What is compiled", markdown_table(head, rows)]
    fits = [r for r in records if r["part"] == "fit"]
    if fits:
        head = [
            "data", "trees", "on disk", "limit", "begins", "in CPU s", "s of the fit",
            "its CPU s", "errors", "CART", "greedy SVM", "objective", "result", "load",
        ]  # fmt: skip
        rows = [
            [
                r["what"],
                r["method"],
                "nothing" if r["cache"] == "empty" else "search",
                f"{r['limit']:,.0f}",
                _number_or_nothing(r["begins"]),
                _number_or_nothing(r.get("begins_cpu")),
                number(r["seconds"]),
                number(r["cpu"]),
                f"{r['errors']:,.0f}",
                f"{r['cart_errors']:,.0f}",
                f"{r['greedy_errors']:,.0f}",
                number(r["objective"], ".2f"),
                r["result"],
                number(r["load"]),
            ]
            for r in fits
        ]
        blocks += ["## What a fit returns", markdown_table(head, rows)]
    return blocks


def _number_or_nothing(value: float | None) -> str:
    return "" if value is None else number(value)
