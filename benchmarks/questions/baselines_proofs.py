"""Errors that the univariate baselines prove on whole sets, beside ConTree's.

python benchmarks/run.py baselines_proofs --limit 180 --name iris wine monks-1
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from common import load
from miptree.bench.markdown import markdown_table
from questions.baselines import NAMES, classifier

TITLE = "Univariate baselines on whole sets, depth 2"
ABOUT = (
    "Training errors of all rows beside those of ConTree (`pycontree`), an independent "
    "exact program. FlowOCT with every threshold. A star: proved."
)
OPTIONS = {
    "name": NAMES,
    "baseline": ("BinOCT", "OCT", "FlowOCT"),
    "limit": (60.0,),
    "solver": ("highs",),
}
KEY = tuple(OPTIONS)


def run(case: Namespace) -> dict[str, Any]:
    """Count the errors of a baseline, its bound on them, and those of ConTree."""
    from pycontree import ConTree

    X, y = load(case.name)
    exact = ConTree(max_depth=2)
    exact.fit(X, y)
    clf = classifier(case.baseline, case.limit, case.solver, "search")
    if case.baseline == "FlowOCT":
        clf.set_params(n_thresholds=None)
    found = clf.fit(X, y).certificate_
    share = clf.bound_ / clf.objective_ if found.cost else 0.0
    return {
        "rows": len(y),
        "contree": int((exact.predict(X) != y).sum()),
        "errors": found.errors,
        "bound": round(share * found.cost, 3),
        "status": clf.status_,
        "seconds": round(clf.fit_time_, 1),
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return one table in the order of the journal."""
    head = ["set", "rows", "ConTree", "baseline", "errors", "bound", "s", "limit"]
    rows = [
        [
            *(r[field] for field in ("name", "rows", "contree", "baseline")),
            f"{r['errors']}{'*' if r['status'] == 'optimal' else ''}",
            *(f"{r[field]:g}" for field in ("bound", "seconds")),
            f"{r['limit']:g} s, {r['solver']}",
        ]
        for r in records
    ]
    return [markdown_table(head, rows)]
