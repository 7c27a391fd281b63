"""Indicators of categories in their cheapest form: what that lowers the objective by.

An oblique tree is searched for on 75 % of a table, categories as indicators. Its last
step shifts the coefficients of each categorical column; the objective is counted
before and after that.

    python benchmarks/run.py shorter --name fair-adult
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any
from unittest.mock import patch

import numpy as np

from miptree import OptimalTreeClassifier, datasets
from miptree.bench.markdown import markdown_table
from miptree.bench.measure import split_rows
from miptree.data.problem import Problem
from miptree.fit import train
from miptree.fit.incumbent import Incumbent
from miptree.fit.plan import Plan
from miptree.fit.shorter import offer_shorter

TITLE = "Cheapest form of indicators"
ABOUT = (
    "Depth 2, tables of `dev` with categories as indicators (one-hot), split 0. "
    "`before` and `after` are objectives of the tree that the search ended with, "
    "before and after its coefficients of each column of categories are shifted; `sum` "
    "is by how much the sum of their sizes could fall, as a share of it, if splits "
    "could get more terms and rows with values that training did not meet could change "
    "their side."
)
OPTIONS: dict[str, Any] = {
    "name": ("fair-german", "telco-churn", "hmeq", "coupon", "fair-adult"),
    "iterations": (2, 40),
    "split": (0,),
}
KEY = ("name", "iterations", "split")


def run(case: Namespace) -> dict[str, Any]:
    """Search for a tree and look at its last step."""
    data = datasets.load(case.name, "dev")
    y = np.asarray(data.target).astype(str)
    rows, _, _, _ = split_rows(np.arange(len(y)), y, case.split)
    steps: list[dict[str, float]] = []

    def watched(best: Incumbent, problem: Problem, plan: Plan) -> None:
        before, could = best.score.objective, _could_fall(best, problem)
        offer_shorter(best, problem, plan)
        after = best.score.objective
        steps.append({"before": before, "after": after, "could": could})

    clf = OptimalTreeClassifier(
        max_depth=2,
        solver="search",
        max_iter=case.iterations,
        time_limit=None,
        random_state=case.split,
        categorical_encoding="onehot",
    )
    with patch.object(train, "offer_shorter", watched):
        clf.fit(data.frame.iloc[rows], y[rows])
    return {"n": len(rows), **steps[-1]}


def _could_fall(best: Incumbent, problem: Problem) -> float:
    """Return by what share the sizes of indicators would fall by their best shift."""
    size = fallen = 0.0
    for coef in best.tree.coef[~best.tree.is_leaf]:
        for block in problem.blocks:
            sizes = [np.abs(coef[block] - v).sum() for v in (0.0, *coef[block])]
            size, fallen = size + sizes[0], fallen + sizes[0] - min(sizes)
    return float(fallen / size) if size else 0.0


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return one table of all trees."""
    head = ["table", "rows", "iterations", "before", "after", "lower by", "sum"]
    lines = [
        [
            r["name"],
            r["n"],
            r["iterations"],
            f"{r['before']:.6g}",
            f"{r['after']:.6g}",
            f"{r['before'] - r['after']:.2g}",
            f"{100 * r['could']:.2g} %",
        ]
        for r in records
    ]
    return [markdown_table(head, lines)]
