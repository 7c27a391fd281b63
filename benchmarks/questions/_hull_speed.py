"""The part ``speed`` of the question ``selection``: hull membership beside LPs."""

from __future__ import annotations

from functools import partial
from typing import Any

import highspy
import numpy as np

from common import load, problem_of, timed
from miptree.bench.markdown import markdown_table
from miptree.bench.methods import hull_selection, paper_parameters
from miptree.bench.paper import printed
from miptree.search.starts import cart_tree
from miptree.selection import HullMembership, hull_membership, leaf_clusters


def inside_by_lp(
    X: np.ndarray, columns: np.ndarray, eps: float, points: np.ndarray
) -> list[bool]:
    """Say whether (7) expresses points by the rows ``columns``, without themselves.

    One LP for each point, each from the basis of the last: max b such that
    -eps <= b x_j - sum lambda x <= eps, sum lambda = b, b <= 1.
    """
    n, d = len(columns), X.shape[1]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n + 1, d + 1
    lp.col_cost_ = np.append(np.zeros(n), -1.0)
    lp.col_lower_ = np.zeros(n + 1)
    lp.col_upper_ = np.append(np.full(n, highspy.kHighsInf), 1.0)
    lp.row_lower_ = np.append(np.full(d, -eps), 0.0)
    lp.row_upper_ = np.append(np.full(d, eps), 0.0)
    A = np.vstack([np.c_[-X[columns], np.ones(n)], np.append(X[points[0]], -1.0)])
    used = A != 0
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.append(0, used.sum(axis=1).cumsum()).astype(np.int32)
    lp.a_matrix_.index_ = np.nonzero(used)[1].astype(np.int32)
    lp.a_matrix_.value_ = A[used]
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.passModel(lp)
    place = {int(point): i for i, point in enumerate(columns)}
    answers = []
    for j in map(int, points):
        for k, x in enumerate(X[j]):
            highs.changeCoeff(k, n, float(x))
        if j in place:
            highs.changeColBounds(place[j], 0.0, 0.0)
        highs.run()
        answers.append(highs.getSolution().col_value[-1] > 1 - 1e-6)
        if j in place:
            highs.changeColBounds(place[j], 0.0, highspy.kHighsInf)
    return answers


def run(name: str, depth: int, sample: int) -> dict[str, Any]:
    """Count rows kept, seconds and ratios, on all rows of a set."""
    X, y = load(name)
    eps = paper_parameters(name, depth)["eps"]
    problem, merge = timed(lambda: problem_of(X, y))
    tree = problem.to_user(cart_tree(problem, depth))
    record: dict[str, Any] = {"n": len(X), "distinct": problem.n_rows}
    for kind in ("printed", "capped"):
        selector = hull_selection(name, depth, cap=kind == "capped")
        chosen, seconds = timed(partial(selector.select, problem, tree))
        record[f"kept_{kind}"] = len(chosen)
        record[f"seconds_{kind}"] = round(seconds + merge, 3)
    # Membership alone, on the rows as they are: what the LPs (7) would decide.
    X = (X - problem.offset) / problem.scale
    key = tree.apply(X * problem.scale + problem.offset) * problem.n_classes + y
    groups = [np.flatnonzero(key == k) for k in np.unique(key)]
    found, fast = timed(lambda: [hull_membership(X[rows], eps) for rows in groups])
    record["seconds_fast"] = round(fast, 3)
    record["extreme"] = sum(len(hull.extreme) for hull in found)
    record["unsure"] = sum(hull.n_unsure for hull in found)
    record |= _compare_with_lps(X, groups, found, eps, sample)
    if problem.n_rows < 0.9 * len(X):
        # The same had the paper merged duplicates first, as we do.
        X, groups = problem.scaled, [c.rows for c in leaf_clusters(problem, tree)]
        found = [hull_membership(X[rows], eps) for rows in groups]
        merged = _compare_with_lps(X, groups, found, eps, sample)
        record["seconds_naive_distinct"] = merged["seconds_naive"]
    return record


def _compare_with_lps(
    X: np.ndarray,
    groups: list[np.ndarray],
    found: list[HullMembership],
    eps: float,
    sample: int,
) -> dict[str, Any]:
    """Time naive and warm LPs on a random sample of all rows, and extrapolate."""
    rng = np.random.default_rng(0)
    group = np.concatenate([np.full(len(rows), g) for g, rows in enumerate(groups)])
    place = np.concatenate([np.arange(len(rows)) for rows in groups])
    naive = warm = 0.0
    n_warm = differ = 0
    for i in rng.permutation(len(group))[:sample]:
        rows, hull, j = groups[group[i]], found[group[i]], int(place[i])
        solve = partial(inside_by_lp, X[rows])
        (inside,), seconds = timed(partial(solve, np.arange(len(rows)), eps, [j]))
        naive += seconds
        # Copies of a point express each other in (7) as printed.
        differ += inside != (hull.inside[j] or hull.multiplicity[j] > 1)
        points = rng.permutation(len(rows))[:10]
        warm += timed(partial(solve, hull.extreme, eps, points))[1]
        n_warm += len(points)
    return {
        "sample": sample,
        "differ": int(differ),
        "seconds_naive": round(naive / sample * len(group), 1),
        "seconds_warm": round(warm / n_warm * len(group), 2),
    }


def tables(records: list[dict[str, Any]], n_pairs: int) -> list[str]:
    """Return rows kept, seconds and ratios."""
    rows, merged = [], []
    for r in records:
        name, depth, n = r["name"], r["depth"], r["n"]
        fast, naive, warm = (r[f"seconds_{k}"] for k in ("fast", "naive", "warm"))
        fast = max(fast, 1e-3)
        kept = [f"{100 * r[f'kept_{k}'] / n:.2f}" for k in ("printed", "capped")]
        took = [f"{r[f'seconds_{k}']:.2f}" for k in ("printed", "capped")]
        took += [f"{fast:.2f}", f"{naive:.0f}", f"{warm:.1f}"]
        ratios = [f"{naive / fast:,.0f}", f"{warm / fast:.0f}"]
        own = [*kept, float(printed(name, depth).selected), *took, *ratios]
        extreme = f"{100 * r['extreme'] / n:.1f}"
        rows.append([name, depth, n, extreme, *own, f"{r['differ']} of {r['sample']}"])
        if "seconds_naive_distinct" in r:
            each = r["seconds_naive_distinct"]
            merged.append(
                f"{name}, D = {depth}: {n} rows, {r['distinct']} of them distinct; one "
                f"LP for each distinct row: {each:.0f} s, ratio "
                f"{each / r['seconds_fast']:,.0f}."
            )
    total = sum(r["seconds_capped"] for r in records)
    head = ["set", "D", "rows", "extreme %", "kept %: printed", "capped", "paper",
            "CPU s: printed", "capped", "fast", "one LP each", "warm", "ratio",
            "ratio, warm", "differ"]  # fmt: skip
    return [
        "## Rows kept and seconds",
        "All rows, clusters of CART, the paper's parameters. `fast` is membership "
        "alone (b, extreme points and weights); `one LP each` is (7) by HiGHS for each "
        "row as it stands, `warm` HiGHS over the extreme points only, both from a "
        "random sample of rows, extrapolated. `differ` counts rows of the sample "
        "where b differs.",
        markdown_table(head, rows),
        *merged,
        f"Selection (capped, the default) on {len(records)} of {n_pairs} rows: "
        f"{total:.1f} CPU s.",
    ]
