"""The page on the accuracy of points trees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from miptree.bench.markdown import markdown_table, number
from miptree.bench.stats import compare

FRESH = 20
"""First of the splits on which nothing was chosen."""


def section(
    part: str, found: pd.DataFrame, names: Iterable[str], known: Iterable[str]
) -> list[str]:
    """Return the accuracies of each set, and the means with their differences."""
    means = found.pivot_table("test", "name", "method", sort=False)
    methods = [method for method in known if method in means]
    means = means.reindex([n for n in names if n in means.index])[methods]
    splits = sorted(found["split"].unique().tolist())
    own = found[found["method"] == "points"].groupby("name")
    rows = [
        [name, *(number(mean) for mean in means.loc[name]), *_used(own, name)]
        for name in means.index
    ]
    head = ["set", *methods, "features", "uses", "CPU s", "proved"]
    kind = "" if splits[0] >= FRESH else ", used in development"
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
