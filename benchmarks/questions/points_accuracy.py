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
from miptree.bench.measure import measure
from miptree.bench.methods import METHODS as BENCH
from miptree.bench.methods import Method, Setting
from questions._fasterrisk import FasterRiskScores
from questions._points import make_ready, points_tree
from questions._points_data import GENERAL, load_general, without_gaps
from questions._points_page import FRESH, section
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
    "our index; it needs CPLEX). Of the general sets a first run with a limit of 6 s "
    "was stopped within split 20: on wide tables nearly all of that went into reading "
    "the columns (mice-protein: 27 %). Nothing but the limit was changed after it."
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
            here = found[(found["part"] == part) & ((found["split"] >= FRESH) == late)]
            if len(here):
                blocks += section(part, here, SETS[part], METHODS)
    return blocks
