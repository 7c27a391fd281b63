"""Tables about the default path: all styles beside oblique trees and black boxes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from miptree.bench.markdown import markdown_table
from miptree.bench.paper import paper_results

_BLACK_BOXES = ("rbf-svm", "forest")


def common_splits(found: pd.DataFrame) -> pd.DataFrame:
    """Return the records of the splits that all methods have done on all sets."""
    n_pairs = len(found[["name", "depth"]].drop_duplicates())
    done = found.groupby(["split", "method"]).size().unstack() == n_pairs
    some = done.columns[done.any()]
    splits = done.index[done[some].all(axis=1)]
    return found[found["split"].isin(splits) & found["method"].isin(some)]


def default_path(found: pd.DataFrame) -> list[str]:
    """Compare the auto style with the oblique one, and both with black boxes."""
    if not {"auto", "cv"} <= set(found["method"]):
        return []
    return [
        "### All styles beside the oblique one",
        _styles(found),
        "### Pairs whose classes fit the leaves",
        "A tree of depth 2 has no leaf for some classes of image-segmentation, "
        "dermatology and heart-disease-cleveland; black boxes have. On the others:",
        _black_boxes(_fitting(found)),
    ]


def _styles(found: pd.DataFrame) -> str:
    """Return accuracies and terms of every pair, and what they come to."""
    rows = []
    for (name, depth), own in found.groupby(["name", "depth"], sort=False):
        auto, tuned = (own[own["method"] == method] for method in ("auto", "cv"))
        counts = auto["style"].value_counts()
        styles = ", ".join(f"{style} {n}" for style, n in counts.items())
        accuracies = [f"{part['test'].mean():.1f}" for part in (auto, tuned)]
        terms = [f"{part['terms'].mean():.1f}" for part in (auto, tuned)]
        rows.append([name, depth, accuracies[0], styles, terms[0]])
        rows[-1] += [accuracies[1], terms[1]]
    accuracy, terms = (
        found.pivot_table(field, ["name", "depth"], "method")
        for field in ("test", "terms")
    )
    rows.append(_overall("mean", accuracy.mean(), terms.mean()))
    rows.append(_overall("median of terms", None, terms.median()))
    head = ["set", "D", "`auto`", "its styles", "terms", "`cv`", "terms"]
    wide = found.pivot_table("test", ["name", "depth", "split"], "method")
    return "\n\n".join(
        [
            markdown_table(head, rows),
            f"`auto` minus `cv`: {_difference(wide, 'auto', 'cv')}.",
        ]
    )


def _overall(
    title: str, accuracy: pd.Series | None, terms: pd.Series
) -> list[str | object]:
    means = ["", ""]
    if accuracy is not None:
        means = [f"**{accuracy[method]:.2f}**" for method in ("auto", "cv")]
    return [title, "", means[0], "", f"{terms['auto']:.1f}", means[1],
            f"{terms['cv']:.1f}"]  # fmt: skip


def _fitting(found: pd.DataFrame) -> pd.DataFrame:
    """Return the records of pairs that have a leaf for every class."""
    n_classes = {result.set: result.Y for result in paper_results()}
    fits = found["name"].map(n_classes) <= 2 ** found["depth"]
    return found[fits]


def _black_boxes(found: pd.DataFrame) -> str:
    wide = found.pivot_table("test", ["name", "depth", "split"], "method")
    rows = [
        [
            f"`{ours}`",
            f"{wide[ours].mean():.2f}",
            *(_difference(wide, ours, other) for other in _BLACK_BOXES),
        ]
        for ours in ("cv", "auto")
    ]
    others = ", ".join(f"{name} {wide[name].mean():.2f}" for name in _BLACK_BOXES)
    head = ["method", "mean", *(f"minus {name}" for name in _BLACK_BOXES)]
    n_pairs = len(found[["name", "depth"]].drop_duplicates())
    return markdown_table(head, rows) + f"\n\n{n_pairs} pairs; {others}."


def _difference(wide: pd.DataFrame, one: str, other: str) -> str:
    """Return a mean difference with its standard errors over pairs and splits."""
    paired = (wide[one] - wide[other]).dropna()
    by_pair = paired.groupby(["name", "depth"]).mean()
    by_split = paired.groupby("split").mean()
    over_splits = by_split.sem() if len(by_split) > 1 else np.nan
    return (
        f"{paired.mean():+.2f} (s.e. over pairs {by_pair.sem():.2f}, over splits "
        f"{over_splits:.2f})"
    )
