"""Data selection on the 17 rows of the paper's tables 6-8.

Three parts, each resumable (``results/selection.jsonl``); the Markdown beside it is
written afresh at the end. CPU seconds on one core, compiling not counted.

    python benchmarks/selection.py speed                       # minutes
    python benchmarks/selection.py accuracy --splits 11 12 13  # hours
    python benchmarks/selection.py printed --splits 11         # 17 x 300 s
    python benchmarks/selection.py --table

``speed``: rows kept and seconds on all rows of each set, beside one LP per point (a
random sample of points, extrapolated) and warm LPs over the extreme points only.
``accuracy``: search on the subset, then from its tree on all rows; 75/25 splits. What
``auto`` spends on its race, ``random`` gets as extra search on all rows.
``printed``: S1O-DS as printed: CART, Algorithm 1, the MIP (1a)-(1k) by HiGHS.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import highspy
import numpy as np
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from common import RESULTS, Journal, load
from miptree.bench.s1o import S1OClassifier
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.search import compile_kernels, search
from miptree.search.starts import cart_tree
from miptree.selection import (
    AutoSelection,
    BalancedSelection,
    CoverSelection,
    HullSelection,
    Selection,
    Selector,
    StratifiedSelection,
    UniformSelection,
    hull_membership,
    leaf_clusters,
)
from miptree.tree import HeapTree, ObliqueTree

JOURNAL = Journal(
    RESULTS / "selection.jsonl", ("part", "name", "depth", "split", "method")
)


class Paper(NamedTuple):
    """A row of tables 6-8: parameters, share kept and S1O-DS accuracies in percent."""

    margin: float
    slack: float
    l1: float
    eps: float
    beta1: float
    beta2: float
    kept: float
    test: float
    train: float


# Robot-2 is printed with a1 * eps = .024 and beta2 = 1, which break a1 * eps >= 1 and
# beta2 < 1: slack 1250 and beta2 = .01 (percent, likely) are used here.
ROWS = {
    ("statlog-landsat", 2): Paper(0.1, 1e6, 0.1, 0.0, 0.3, 0.07, 7.0, 74.2, 74.1),
    ("spambase", 2): Paper(0.02, 1e3, 0.1, 0.0, 0.3, 0.1, 10.0, 89.1, 88.9),
    ("thyroid-ann", 2): Paper(0.01, 1e3, 0.1, 0.0, 0.1, 0.12, 12.0, 96.3, 96.7),
    ("wall-following-robot-2", 2): Paper(
        0.0008, 1250, 0.01, 0.0, 0.4, 0.01, 1.0, 93.7, 93.7
    ),
    ("seismic-bumps", 2): Paper(0.01, 1e3, 0.1, 0.0, 0.4, 0.1, 10.0, 93.3, 93.3),
    ("avila", 2): Paper(0.01, 1e3, 0.1, 0.1, 0.2, 0.05, 4.5, 52.6, 55.0),
    ("eeg-eye-state", 2): Paper(0.04, 1e3, 0.1, 0.0, 0.1, 0.02, 2.0, 66.5, 67.1),
    ("htru2", 2): Paper(0.5, 1e3, 0.1, 0.0, 0.1, 0.03, 3.0, 97.8, 97.5),
    ("pendigits", 2): Paper(0.01, 1e3, 0.1, 0.3, 0.1, 0.1, 7.1, 38.9, 38.9),
    ("skin-segmentation", 2): Paper(0.03, 1e3, 0.1, 0.0, 0.2, 0.05, 0.42, 86.3, 87.1),
    ("shuttle", 2): Paper(0.007, 1e3, 0.1, 0.0, 0.1, 0.02, 2.0, 94.0, 94.1),
    ("avila", 3): Paper(0.02, 1e3, 0.1, 0.0, 0.2, 0.02, 2.0, 55.8, 58.1),
    ("eeg-eye-state", 3): Paper(0.02, 1e3, 0.1, 0.0, 0.1, 0.02, 2.0, 66.5, 70.6),
    ("htru2", 3): Paper(0.02, 1e5, 0.01, 0.1, 0.2, 0.04, 1.8, 97.9, 97.4),
    ("pendigits", 3): Paper(0.01, 1e3, 0.1, 0.3, 0.1, 0.08, 2.8, 62.5, 62.2),
    ("skin-segmentation", 3): Paper(0.03, 1e3, 0.1, 0.0, 0.2, 0.03, 0.39, 94.9, 94.7),
    ("shuttle", 3): Paper(0.008, 1e3, 0.1, 0.0, 0.1, 0.015, 1.5, 99.5, 99.5),
}

METHODS = (
    "all", "printed", "capped", "balanced", "cover", "stratified", "auto", "random"
)  # fmt: skip
SAMPLE = 40
"""Points of the naive and the warm LPs."""
RACE_SHARE = 0.3
"""Part of the time of the searches that the race of "auto" may take beside them."""


def selector(
    method: str, row: Paper, depth: int, seed: int, seconds: float | None = None
) -> Selector:
    """The selector of a method with the paper's parameters where it has some."""
    made: dict[str, Callable[[], Selector]] = {
        "printed": lambda: HullSelection(row.beta1, row.beta2, row.eps, cap=False),
        "capped": lambda: HullSelection(row.beta1, row.beta2, row.eps),
        "balanced": lambda: BalancedSelection(seed=seed),
        "cover": lambda: CoverSelection(share=row.beta2),
        "stratified": lambda: StratifiedSelection(row.beta2, seed=seed),
        "auto": lambda: AutoSelection(row.beta2, depth, seconds=seconds, seed=seed),
    }
    return made[method]()


# -------------------------------------------------------------------------- speed


class ConvexLP:
    """(7) of the points of a cluster, in HiGHS: given columns, one point at a time.

    ``fixed`` columns serve all points (warm); otherwise each point has its own LP over
    all others, as printed.
    """

    def __init__(self, X: np.ndarray, columns: np.ndarray, eps: float) -> None:
        self.X, self.columns, self.eps = X, columns, eps

    def build(self, j: int, columns: np.ndarray) -> highspy.Highs:
        """Max b: -eps <= b x_j - sum lambda x <= eps, sum lambda = b, b <= 1."""
        X, n = self.X, len(columns)
        lp = highspy.HighsLp()
        d = X.shape[1]
        lp.num_col_, lp.num_row_ = n + 1, d + 1
        lp.col_cost_ = np.append(np.zeros(n), -1.0)
        lp.col_lower_ = np.zeros(n + 1)
        lp.col_upper_ = np.append(np.full(n, highspy.kHighsInf), 1.0)
        lp.row_lower_ = np.append(np.full(d, -self.eps), 0.0)
        lp.row_upper_ = np.append(np.full(d, self.eps), 0.0)
        A = np.vstack([np.c_[-X[columns], np.ones(n)], np.append(X[j], -1.0)])
        used = A != 0
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        starts = np.append(0, np.cumsum(used.sum(axis=1)))
        lp.a_matrix_.start_ = starts.astype(np.int32)
        lp.a_matrix_.index_ = np.nonzero(used)[1].astype(np.int32)
        lp.a_matrix_.value_ = A[used]
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.passModel(lp)
        return highs

    def naive(self, j: int) -> bool:
        """Floor(b_j) by an LP of its own."""
        highs = self.build(j, np.delete(self.columns, np.searchsorted(self.columns, j)))
        highs.run()
        return highs.getSolution().col_value[-1] > 1 - 1e-6

    def warm(self, points: np.ndarray) -> None:
        """Solve one LP over the same columns for each point, each from the last."""
        n = len(self.columns)
        highs = self.build(int(points[0]), self.columns)
        place = {int(point): i for i, point in enumerate(self.columns)}
        for j in points:
            for k, x in enumerate(self.X[j]):
                highs.changeCoeff(k, n, float(x))
            own = place.get(int(j))
            if own is not None:
                highs.changeColBounds(own, 0.0, 0.0)
            highs.run()
            if own is not None:
                highs.changeColBounds(own, 0.0, highspy.kHighsInf)


def cpu(work: Callable[[], Any]) -> tuple[Any, float]:
    """Answer and CPU seconds of a call."""
    began = time.process_time()
    answer = work()
    return answer, time.process_time() - began


def run_speed(name: str, depth: int, split: int, method: str, options: Any) -> dict:
    """Rows kept, seconds and ratios, on all rows of a set."""
    row = ROWS[name, depth]
    X, y = load(name)
    problem, merge = cpu(lambda: Problem.from_data(X, y, int(y.max()) + 1))
    tree = problem.to_user(cart_tree(problem, depth))
    record: dict[str, Any] = {"n": len(X), "distinct": problem.n_rows}
    for kind in ("printed", "capped"):
        chosen, seconds = cpu(
            lambda kind=kind: selector(kind, row, depth, 0).select(problem, tree)
        )
        record[f"kept_{kind}"] = len(chosen)
        record[f"seconds_{kind}"] = round(seconds + merge, 3)
    # Membership alone, on the rows as they are: what the LPs (7) would decide.
    X = (X - problem.offset) / problem.scale
    key = tree.apply(X * problem.scale + problem.offset) * problem.n_classes + y
    groups = [np.flatnonzero(key == k) for k in np.unique(key)]
    found, fast = cpu(lambda: [hull_membership(X[rows], row.eps) for rows in groups])
    record |= {"seconds_fast": round(fast, 3)}
    record["extreme"] = sum(len(hull.extreme) for hull in found)
    record["unsure"] = sum(hull.n_unsure for hull in found)
    record |= compare(X, groups, found, row.eps, options.sample)
    if problem.n_rows < 0.9 * len(X):
        # The same had the paper merged duplicates first, as we do.
        clusters = leaf_clusters(problem, tree)
        groups = [cluster.rows for cluster in clusters]
        found = [hull_membership(problem.scaled[rows], row.eps) for rows in groups]
        merged = compare(problem.scaled, groups, found, row.eps, options.sample)
        record["seconds_naive_distinct"] = merged["seconds_naive"]
    return record


def compare(
    X: np.ndarray, groups: list, found: list, eps: float, sample: int
) -> dict[str, Any]:
    """Naive and warm LPs on a random sample of all rows, extrapolated."""
    rng = np.random.default_rng(0)
    group = np.concatenate([np.full(len(rows), g) for g, rows in enumerate(groups)])
    place = np.concatenate([np.arange(len(rows)) for rows in groups])
    naive = warm = 0.0
    n_warm = differ = 0
    for i in rng.permutation(len(group))[:sample]:
        rows, hull, j = groups[group[i]], found[group[i]], int(place[i])
        lp = ConvexLP(X[rows], np.arange(len(rows)), eps)
        inside, seconds = cpu(lambda lp=lp, j=j: lp.naive(j))
        naive += seconds
        # Copies of a point express each other in (7) as printed.
        differ += inside != (hull.inside[j] or hull.multiplicity[j] > 1)
        points = rng.permutation(len(rows))[:10]
        lp = ConvexLP(X[rows], hull.extreme, eps)
        warm += cpu(lambda lp=lp, points=points: lp.warm(points))[1]
        n_warm += len(points)
    return {
        "sample": sample,
        "differ": int(differ),
        "seconds_naive": round(naive / sample * len(group), 1),
        "seconds_warm": round(warm / n_warm * len(group), 2),
    }


# ----------------------------------------------------------------------- accuracy


class Split(NamedTuple):
    """A 75/25 split of a set."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def problem(self) -> Problem:
        """The training part."""
        n_classes = int(max(self.y.max(), self.y_test.max())) + 1
        return Problem.from_data(self.X, self.y, n_classes)


def split_of(name: str, split: int) -> Split:
    """A split of a set by its seed."""
    X, y = load(name)
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=split
    )
    return Split(X, y, X_test, y_test)


def accuracies(rows: Split, tree: ObliqueTree) -> tuple[float, float]:
    """Percent right on all training rows and on test."""
    train, test = (
        round(100 * float((tree.predict(X) == y).mean()), 3)
        for X, y in ((rows.X, rows.y), (rows.X_test, rows.y_test))
    )
    return train, test


def searched(
    problem: Problem, depth: int, seconds: float, seed: int, starts: list[HeapTree]
) -> HeapTree:
    """Tree of fewest errors found in so many CPU seconds."""
    return search(
        problem,
        None,
        depth,
        clock=Clock(seconds),
        seed=seed,
        starts=starts,
        time_source=time.process_time,
    ).tree


def race_of(
    name: str, depth: int, split: int, problem: Problem, options: Any
) -> tuple[int, float]:
    """Rows that "auto" keeps and the CPU seconds of its race: noted, or raced again."""
    for record in JOURNAL.records():
        key = tuple(record[part] for part in JOURNAL.key)
        if key == ("accuracy", name, depth, split, "auto"):
            return record["kept"], record["select_seconds"]
    chosen, seconds = chosen_rows("auto", name, depth, split, problem, options)
    return len(chosen), seconds


def chosen_rows(
    method: str, name: str, depth: int, split: int, problem: Problem, options: Any
) -> tuple[Selection, float]:
    """Rows of a method, and the CPU seconds of choosing them."""
    limit = 2 * RACE_SHARE * options.seconds
    made = selector(method, ROWS[name, depth], depth, split, limit)
    start = problem.to_user(cart_tree(problem, depth))
    chosen, seconds = cpu(lambda: made.select(problem, start))
    return chosen, round(seconds, 2)


def run_accuracy(name: str, depth: int, split: int, method: str, options: Any) -> dict:
    """Search on the subset, then on all rows from its tree, and the race's best."""
    rows = split_of(name, split)
    problem = rows.problem
    if method == "all":
        tree = searched(problem, depth, 2 * options.seconds, split, [])
        both = accuracies(rows, problem.to_user(tree))
        return {"kept": problem.n_rows, "train": both[0], "test": both[1]}
    extra = 0.0
    if method == "random":
        size, extra = race_of(name, depth, split, problem, options)
        uniform = UniformSelection(min(size / problem.n_rows, 0.999), split)
        start = problem.to_user(cart_tree(problem, depth))
        chosen, seconds = uniform.select(problem, start), 0.0
    else:
        chosen, seconds = chosen_rows(method, name, depth, split, problem, options)
    subset = problem.subset(chosen.rows, chosen.weight)
    raw = subset.to_user(searched(subset, depth, options.seconds, split, []))
    raw_both = accuracies(rows, raw)
    starts = [problem.to_scaled(tree, depth) for tree in (raw, *chosen.trees[:1])]
    polished = searched(problem, depth, options.seconds + extra, split, starts)
    both = accuracies(rows, problem.to_user(polished))
    return {
        "kept": len(chosen),
        "select_seconds": seconds,
        "extra_seconds": extra,
        "raw_train": raw_both[0],
        "raw_test": raw_both[1],
        "train": both[0],
        "test": both[1],
    }


def run_printed(name: str, depth: int, split: int, method: str, options: Any) -> dict:
    """S1O-DS as printed: the paper's formulation, parameters and start, by HiGHS."""
    rows, row = split_of(name, split), ROWS[name, depth]
    clf = S1OClassifier(
        max_depth=depth,
        slack_penalty=row.slack,
        l1_penalty=row.l1,
        margin=row.margin,
        selector=selector("printed", row, depth, split),
        time_limit=options.mip_seconds,
        random_state=split,
    ).fit(rows.X, rows.y)
    problem = rows.problem
    cart = accuracies(rows, problem.to_user(cart_tree(problem, depth)))
    return {
        "kept": clf.n_selected_,
        "train": round(100 * clf.score(rows.X, rows.y), 3),
        "test": round(100 * clf.score(rows.X_test, rows.y_test), 3),
        "cart_train": cart[0],
        "cart_test": cart[1],
        "status": clf.status_,
        "mip_seconds": options.mip_seconds,
    }


PARTS: dict[str, tuple[Callable[..., dict], tuple[str, ...]]] = {
    "speed": (run_speed, ("hull",)),
    "accuracy": (run_accuracy, METHODS),
    "printed": (run_printed, ("printed",)),
}


def missing(options: Any) -> Iterator[tuple[str, str, int, int, str]]:
    """Runs not in the journal, split by split."""
    done = JOURNAL.done()
    for part in options.parts:
        for split in [0] if part == "speed" else options.splits:
            for name, depth in ROWS:
                for method in PARTS[part][1]:
                    wanted = part != "accuracy" or method in options.methods
                    run = (part, name, depth, split, method)
                    if wanted and run not in done:
                        yield run


# ------------------------------------------------------------------------- tables


def speed_table(records: list[dict[str, Any]]) -> list[str]:
    """Rows kept, seconds and ratios."""
    lines = [
        "## Rows kept and seconds\n",
        "All rows, clusters of CART, the paper's parameters. `fast` is membership "
        "alone (b, extreme points and weights); `one LP each` is (7) by HiGHS for each "
        "row as it stands, `warm` HiGHS over the extreme points only, both from a "
        "random sample of rows, extrapolated. `differ` counts rows of the sample "
        "where b differs.\n",
        "| set | D | rows | extreme % | kept %: printed | capped | paper | CPU s: "
        "printed | capped | fast | one LP each | warm | ratio | ratio, warm | differ |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    order = list(ROWS)
    records = sorted(records, key=lambda r: order.index((r["name"], r["depth"])))
    for r in records:
        row = ROWS[r["name"], r["depth"]]
        n, fast = r["n"], max(r["seconds_fast"], 1e-3)
        lines.append(
            f"| {r['name']} | {r['depth']} | {n} | {100 * r['extreme'] / n:.1f} "
            f"| {100 * r['kept_printed'] / n:.2f} | {100 * r['kept_capped'] / n:.2f} "
            f"| {row.kept} | {r['seconds_printed']:.2f} | {r['seconds_capped']:.2f} "
            f"| {fast:.2f} | {r['seconds_naive']:.0f} | {r['seconds_warm']:.1f} "
            f"| {r['seconds_naive'] / fast:,.0f} | {r['seconds_warm'] / fast:.0f} "
            f"| {r['differ']} of {r['sample']} |"
        )
    for r in records:
        if "seconds_naive_distinct" in r:
            naive = r["seconds_naive_distinct"]
            lines.append(
                f"\n{r['name']}, D = {r['depth']}: {r['n']} rows, {r['distinct']} of "
                f"them distinct; one LP for each distinct row: {naive:.0f} s, ratio "
                f"{naive / r['seconds_fast']:,.0f}."
            )
    total = sum(r["seconds_capped"] for r in records)
    lines.append(
        f"\nSelection (capped, the default) on {len(records)} of {len(ROWS)} rows: "
        f"{total:.1f} CPU s.\n"
    )
    return lines


def accuracy_table(records: list[dict[str, Any]]) -> list[str]:
    """Means over the splits that every method has."""
    cells: dict[tuple[str, int, str], dict[int, dict]] = defaultdict(dict)
    for r in records:
        cells[r["name"], r["depth"], r["method"]][r["split"]] = r
    lines = [
        "## Accuracy\n",
        "75/25 splits; search for fewest errors on the subset, then polished on all "
        "training rows; `all` searches on all rows for both times together. Means in "
        "percent; before / after the polish.\n",
    ]
    for what in ("train", "test"):
        head = " | ".join(METHODS)
        lines += [
            f"### {'All training rows' if what == 'train' else 'Test rows'}\n",
            f"| set | D | splits | {head} | S1O-DS |",
            "|---|---|---|" + "---|" * (len(METHODS) + 1),
        ]
        above = compared = 0
        for (name, depth), row in ROWS.items():
            found = {m: cells[name, depth, m] for m in METHODS}
            shown = [show(list(found[m].values()), what) for m in METHODS]
            if not any(shown):
                continue
            theirs = row.train if what == "train" else row.test
            auto = [r[what] for r in found["auto"].values()]
            compared += bool(auto)
            above += bool(auto) and np.mean(auto) > theirs
            splits = max(len(f) for f in found.values())
            lines.append(
                f"| {name} | {depth} | {splits} | " + " | ".join(shown)
                + f" | {theirs} |"
            )  # fmt: skip
        lines.append(f"\n`auto`, polished, above S1O-DS: {above} of {compared} rows.\n")
    return lines + paired_table(cells)


def paired_table(cells: dict[tuple[str, int, str], dict[int, dict]]) -> list[str]:
    """Differences auto - random, split by split."""
    lines = [
        "### `auto` less `random`\n",
        "A random subset of as many rows, and as many CPU seconds in all: what `auto` "
        "spends on its race, `random` searches longer on all rows. Paired differences "
        "in percentage points, mean +- standard error over the splits.\n",
        "| set | D | splits | race, CPU s | train | test |",
        "|---|---|---|---|---|---|",
    ]
    every: list[float] = []
    for name, depth in ROWS:
        auto, rand = cells[name, depth, "auto"], cells[name, depth, "random"]
        splits = sorted(auto.keys() & rand.keys())
        if not splits:
            continue
        gaps = {
            what: np.array([auto[s][what] - rand[s][what] for s in splits])
            for what in ("train", "test")
        }
        every += gaps["train"].tolist()
        race = np.mean([auto[s]["select_seconds"] for s in splits])
        shown = " | ".join(with_error(gap) for gap in gaps.values())
        lines.append(f"| {name} | {depth} | {len(splits)} | {race:.1f} | {shown} |")
    if not every:
        return []
    gap = np.array(every)
    lines.append(
        f"\nTraining accuracy, {len(gap)} paired runs: better in {(gap > 0).sum()}, "
        f"equal in {(gap == 0).sum()}, worse in {(gap < 0).sum()}; difference "
        f"{with_error(gap)}, worst {gap.min():+.2f}.\n"
    )
    return lines


def with_error(gap: np.ndarray) -> str:
    """Mean and standard error, where there is more than one run."""
    if len(gap) < 2:
        return f"{gap.mean():+.2f}"
    return f"{gap.mean():+.2f} +- {gap.std(ddof=1) / len(gap) ** 0.5:.2f}"


def show(found: list[dict[str, Any]], what: str) -> str:
    """Mean before / after the polish."""
    if not found:
        return ""
    after = f"{np.mean([r[what] for r in found]):.1f}"
    if f"raw_{what}" not in found[0]:
        return after
    return f"{np.mean([r[f'raw_{what}'] for r in found]):.1f} / {after}"


def printed_table(records: list[dict[str, Any]]) -> list[str]:
    """S1O-DS as printed beside the paper's figures."""
    lines = [
        "## S1O-DS as printed\n",
        "CART, Algorithm 1 (not capped), (1a)-(1k) by HiGHS from CART's tree, and "
        "nothing of this package's search. The better of CART's tree and the MIP's, by "
        "(1a) on all training rows, is kept.\n",
        "| set | D | split | MIP s | rows | CART train / test | S1O-DS train / test "
        "| paper train / test |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in records:
        row = ROWS[r["name"], r["depth"]]
        lines.append(
            f"| {r['name']} | {r['depth']} | {r['split']} | {r['mip_seconds']:g} "
            f"| {r['kept']} | {r['cart_train']:.1f} / {r['cart_test']:.1f} "
            f"| {r['train']:.1f} / {r['test']:.1f} | {row.train} / {row.test} |"
        )
    return lines


def table() -> str:
    """Markdown of the journal."""
    parts = defaultdict(list)
    for record in JOURNAL.records():
        parts[record["part"]].append(record)
    lines = [
        "# Data selection\n",
        "Written by `benchmarks/selection.py` from `selection.jsonl`. Robot-2 with "
        "slack penalty 1250 and beta2 = .01: as printed (30 and 1.0) it breaks "
        "a1 * eps >= 1 and beta2 < 1.\n",
    ]
    if parts["speed"]:
        lines += speed_table(parts["speed"])
    if parts["accuracy"]:
        lines += accuracy_table(parts["accuracy"])
    if parts["printed"]:
        lines += printed_table(parts["printed"])
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    # Not 10: `auto` was changed after a look at it.
    parser.add_argument("--splits", type=int, nargs="+", default=[11, 12, 13])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--seconds", type=float, default=5.0, help="CPU s of a search")
    parser.add_argument("--mip-seconds", type=float, default=300.0)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--table", action="store_true", help="only write the table")
    options = parser.parse_args()
    if not options.table:
        options.parts = options.parts or list(PARTS)
        with threadpool_limits(1):
            run(options)
    (RESULTS / "selection.md").write_text(table())


def run(options: Any) -> None:
    """Run what is not in the journal."""
    compile_kernels()
    for eps in (0.0, 0.1):
        hull_membership(np.random.default_rng(0).normal(size=(50, 2)), eps)
    for part, name, depth, split, method in missing(options):
        record = PARTS[part][0](name, depth, split, method, options)
        key = dict(zip(JOURNAL.key, (part, name, depth, split, method), strict=True))
        JOURNAL.append(key | record)
        print(key | record, flush=True)


if __name__ == "__main__":
    main()
