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
        *_comparison(found, methods),
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


def _comparison(found: pd.DataFrame, methods: list[str]) -> list[str]:
    """Return the mean of each method, paired with points trees fit by fit."""
    if "points" not in methods:
        return []
    by_split = found.pivot_table("test", ["name", "split"], "method")
    rows = []
    for method in methods:
        paired = by_split[["points", method]].dropna()
        ours, other = paired.groupby("name").mean().to_numpy().T
        cells = [f"{other.mean():.2f}", f"{ours.mean():.2f}", "", ""]
        if method != "points":
            c = compare(ours, other)
            cells[2:] = [f"{c.mean:+.2f} +- {c.error:.2f}"]
            cells.append(f"{c.wins}/{c.ties}/{c.losses}")
        cpu = found[found["method"] == method]["cpu"].mean()
        seconds = f"{cpu:.1f}" if method != "fasterrisk" else ""
        rows.append([method, len(ours), len(paired), *cells, seconds])
    head = ["method", "sets", "fits", "mean", "points on these", "points minus it",
            "wins/ties/losses", "CPU s a fit"]  # fmt: skip
    return [_summary(found), markdown_table(head, rows)]


def _summary(found: pd.DataFrame) -> str:
    """Return the size of the points trees, and what could not be measured."""
    ours = found[found["method"] == "points"]
    features, uses = ours.groupby("name")[["features", "uses"]].mean().mean()
    limits = ", ".join(f"{limit:g}" for limit in sorted(ours["limit"].unique()))
    in_time = ~ours["chosen"].str.startswith("the usual one")
    told = (
        f"Points trees: {features:.2f} different features a tree and {uses:.2f} uses "
        f"in its splits (means over the sets); limit {limits} s; "
        f"{(ours['fit_status'] == 'optimal').sum()} of {len(ours)} fits proved, in "
        f"{in_time.sum()} there was time to compare penalties. The comparisons "
        "are over the splits that both methods ran."
    )
    given_up = found[found["test"].isna()]
    if "why" in given_up:
        given_up = given_up[given_up["why"] != "more than two classes"]
    if len(given_up):
        told += f" Given up after its time: {_named(given_up)}."
    return told


def _named(found: pd.DataFrame) -> str:
    counts = found.groupby(["method", "name"]).size()
    return ", ".join(f"{' on '.join(key)} ({n})" for key, n in counts.items())
