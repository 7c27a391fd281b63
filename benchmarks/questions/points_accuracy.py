"""Points trees on new rows, beside trees of depth 2 and risk scores.

Parts: the paper's ``small`` sets and the ``general`` ones of the development data.
Published are splits 20 and up, on which nothing was chosen. FasterRisk (two classes)
needs MIPTREE_PEERS_PYTHON, the Python that has it; see questions/_fasterrisk.py.

    python benchmarks/run.py points_accuracy --part small --split 20 21 --method points
"""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterator
from itertools import product
from subprocess import SubprocessError
from typing import Any

import numpy as np
import pandas as pd

from common import split_of
from miptree import datasets
from miptree.bench.markdown import markdown_table, number
from miptree.bench.measure import measure
from miptree.bench.methods import METHODS as BENCH
from miptree.bench.methods import Method, Setting
from miptree.bench.stats import compare
from questions._fasterrisk import FasterRiskScores
from questions._points import make_ready, points_tree
from questions._points_data import GENERAL, load_general, without_gaps
from questions.accuracy import tuned
from questions.baselines import NAMES

TITLE = "Points trees: accuracy on new rows"
N_FEATURES = 5
LIMIT = 20.0
ABOUT = (
    "Percent of test rows, 75/25 stratified, `random_state` = split. `points` is "
    "`PointsTreeClassifier(max_depth=2, max_features_per_split=3, "
    'feature_penalty="auto", n_jobs=1)` with the time limit shown, in CPU seconds as '
    "other work shared the machine; it reads categories and gaps as they are. The "
    "others get a category as code and one-hot, a missing number as the median and a "
    "column that says so. `cart` is CART of depth 2, `ccp_alpha` chosen by 5-fold "
    "cross-validation inside the training rows; `streed` and `contree` are optimal "
    "univariate trees of depth 2 (on 5 quantiles, on all thresholds) as they come, "
    f"within {LIMIT:g} s; `fasterrisk` is the risk score of FasterRisk with at most "
    f"{N_FEATURES} terms, chosen among 20 thresholds of each number and all "
    "categories, for two classes only. RiskSLIM did not install (no distribution in "
    "our index; it needs CPLEX)."
)
ALPHAS = [0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05]
METHODS = {
    "points": Method(
        "points",
        "points",
        lambda s: points_tree(s.seconds, max_features_per_split=3, random_state=s.seed),
        "frame",
    ),
    "cart": tuned("cart", BENCH["cart"].make, ccp_alpha=ALPHAS),
    "streed": BENCH["pystreed"],
    "contree": BENCH["pycontree"],
    "fasterrisk": Method(
        "fasterrisk",
        "fasterrisk",
        lambda s: FasterRiskScores(N_FEATURES, 3 * s.seconds),
    ),
}
KEY = ("part", "name", "split", "method")
SETS = {"small": NAMES, "general": GENERAL}
OPTIONS = {"part": tuple(SETS), "split": (20,), "limit": LIMIT}


def cases(options: Namespace) -> Iterator[tuple]:
    """Yield fits split by split."""
    for part, split in product(options.part, options.split):
        yield from (
            (part, name, split, method) for name, method in product(SETS[part], METHODS)
        )


def run(case: Namespace) -> dict[str, Any]:
    """Fit one method to one split."""
    frame, target = _frame(case.part, case.name)
    if case.method == "fasterrisk" and target.nunique() != 2:
        return {"test": None, "why": "more than two classes"}
    rows, method = split_of(frame, target, case.split), METHODS[case.method]
    if method.encoding == "frame":
        make_ready()
    else:
        rows = without_gaps(rows)
    setting = Setting(case.name, 2, case.limit, case.split)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, found = measure(method, setting, rows)
    except SubprocessError as error:
        return {"test": None, "why": type(error).__name__, "limit": case.limit}
    fields = ("test", "train", "wall", "cpu", "fit_status")
    record = {field: found.get(field, "") for field in fields}
    return record | {"limit": case.limit} | _size(model)


def _frame(part: str, name: str) -> tuple[pd.DataFrame, pd.Series]:
    if part == "general":
        return load_general(name)
    data = datasets.load(name)
    return data.frame, data.target


def _size(model: Any) -> dict[str, Any]:
    """Return how many features a points tree uses, and how it was chosen."""
    if not hasattr(model, "family_"):
        return {}
    used = np.argwhere(model.tree_.coef != 0)[:, 1]
    sources = np.array(model.table_.open_sources)[used]
    return {
        "features": len(set(sources.tolist())),
        "uses": len(used),
        "penalty": model.feature_penalty_,
        "chosen": model.penalty_chosen_,
        "left_out": model.narrowing_,
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return a section for each part, splits of development apart."""
    found = pd.DataFrame(records)
    blocks = []
    for part in SETS:
        for late in (True, False):
            here = found[(found["part"] == part) & ((found["split"] >= 20) == late)]
            if len(here):
                blocks += _section(part, here, late)
    return blocks


def _section(part: str, found: pd.DataFrame, late: bool) -> list[str]:
    """Return the accuracies of each set, and the means with their differences."""
    means = found.pivot_table("test", "name", "method", sort=False)
    methods = [method for method in METHODS if method in means]
    means = means.reindex([n for n in SETS[part] if n in means.index])[methods]
    splits = sorted(found["split"].unique().tolist())
    own = found[found["method"] == "points"].groupby("name")
    rows = [
        [name, *(number(mean) for mean in means.loc[name]), *_used(own, name)]
        for name in means.index
    ]
    head = ["set", *methods, "features", "uses", "CPU s", "proved"]
    kind = "" if late else ", used in development"
    return [
        f"## The {len(means)} {part} sets, splits {splits[0]}-{splits[-1]}{kind}",
        *_comparison(found, means, methods),
        markdown_table(head, rows),
    ]


def _used(own: Any, name: str) -> list[str]:
    """Return features, uses, seconds and proofs of the points trees of a set."""
    if name not in own.groups:
        return ["", "", "", ""]
    found = own.get_group(name)
    proved = (found["fit_status"] == "optimal").sum()
    means = [f"{found[field].mean():.1f}" for field in ("features", "uses", "cpu")]
    return [*means, f"{proved} of {len(found)}"]


def _comparison(
    found: pd.DataFrame, means: pd.DataFrame, methods: list[str]
) -> list[str]:
    """Return the mean of each method, paired with points trees set by set."""
    if "points" not in methods:
        return []
    rows = []
    for method in methods:
        fits = found[(found["method"] == method) & found["test"].notna()]
        both = means[["points", method]].dropna() if method != "points" else means
        cells = [f"{both[method].mean():.2f}", f"{both['points'].mean():.2f}", "", ""]
        if method != "points":
            c = compare(both["points"].to_numpy(), both[method].to_numpy())
            cells[2:] = [f"{c.mean:+.2f} +- {c.error:.2f}"]
            cells.append(f"{c.wins}/{c.ties}/{c.losses}")
        cpu = f"{fits['cpu'].mean():.1f}" if method != "fasterrisk" else ""
        rows.append([method, len(both), len(fits), *cells, cpu])
    ours = found[found["method"] == "points"]
    limits = ", ".join(f"{limit:g}" for limit in sorted(ours["limit"].unique()))
    told = (
        f"Points trees: {ours.groupby('name')['features'].mean().mean():.2f} different "
        f"features a tree and {ours.groupby('name')['uses'].mean().mean():.2f} uses in "
        f"its splits; limit {limits} s; {(ours['fit_status'] == 'optimal').sum()} of "
        f"{len(ours)} fits proved."
    )
    given_up = found[found["test"].isna() & (found["why"] != "more than two classes")]
    if len(given_up):
        told += f" Given up after its time: {_named(given_up)}."
    head = ["method", "sets", "fits", "mean", "points on these", "points minus it",
            "wins/ties/losses", "CPU s a fit"]  # fmt: skip
    return [told, markdown_table(head, rows)]


def _named(found: pd.DataFrame) -> str:
    counts = found.groupby(["method", "name"]).size()
    return ", ".join(f"{' on '.join(key)} ({n})" for key, n in counts.items())
