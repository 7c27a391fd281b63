"""How the seconds of a proof grow with rows, features and classes, on made tables."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from miptree.bench.markdown import markdown_table
from questions._points import measured_fit, proved_fields

NOISE = 0.2
"""Share of the labels that are drawn anew."""
FIGURE = "points-growth.svg"


class Shape(NamedTuple):
    """Size of a made table."""

    rows: int = 2000
    features: int = 10
    classes: int = 3


CASES = {
    **{f"rows-{n}": Shape(rows=n) for n in (500, 2000, 8000, 32_000, 128_000, 512_000)},
    **{f"features-{d}": Shape(features=d) for d in (5, 10, 20, 40, 80)},
    **{f"classes-{k}": Shape(classes=k) for k in (2, 3, 6, 12, 24)},
}


def table(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Make normal numbers whose labels follow a points tree, but for the noise.

    Each split adds up two features; the four leaves hold different classes as far as
    there are so many.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(shape.rows, shape.features)).round(2)
    root, left, right = (
        X[:, rng.choice(shape.features, 2, replace=False)].sum(axis=1) > 0
        for _ in range(3)
    )
    leaf = 2 * root + np.where(root, right, left)
    noisy = rng.random(shape.rows) < NOISE
    drawn = rng.integers(shape.classes, size=shape.rows)
    return X, np.where(noisy, drawn, leaf % shape.classes)


def run(case: Namespace) -> dict[str, Any]:
    """Prove the best tree of one made table."""
    X, y = table(CASES[case.name], case.split)
    parameters = {"max_features_per_split": 2, "max_points": 1, "feature_penalty": 0.0}
    found = measured_fit(X, y, case.limit, **parameters)
    return {"rows": len(y), **proved_fields(found), "limit": case.limit}


def tables(found: pd.DataFrame) -> list[str]:
    """Return the seconds of each size, and the figure."""
    rows = [
        [name, len(own), f"{own['roots'].mean():.0f}", f"{own['cpu'].mean():.2f}",
         f"{(own['status'] == 'optimal').sum()} of {len(own)}"]
        for name, own in found.groupby("name", sort=False)
    ]  # fmt: skip
    usual = Shape()
    return [
        "## Growth",
        f"Made tables of {usual.rows} rows, {usual.features} features and "
        f"{usual.classes} classes but for the one size that varies; labels follow a "
        f"points tree, {100 * NOISE:.0f} % of them are drawn anew. Two features a "
        f"split; the seeds are {sorted(found['split'].unique().tolist())}.",
        f"![growth with rows, features and classes]({FIGURE})",
        markdown_table(["table", "fits", "roots", "CPU s", "proved"], rows),
    ]


def draw(records: list[dict[str, Any]], folder: Path) -> None:
    """Draw CPU seconds over each size on logarithmic axes."""
    if not records:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams |= {"svg.hashsalt": "points", "svg.fonttype": "none"}
    found = pd.DataFrame(records)
    figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="tight")
    for axis, size in zip(axes, Shape._fields, strict=True):
        own = found[found["name"].str.startswith(f"{size}-")]
        of_size = own["name"].map({n: getattr(s, size) for n, s in CASES.items()})
        mean = own["cpu"].groupby(of_size).mean()
        is_open = own["status"] != "optimal"
        axis.loglog(mean.index, mean, color="tab:blue")
        axis.loglog(of_size, own["cpu"], "o", color="tab:blue", label="proved")
        axis.loglog(of_size[is_open], own["cpu"][is_open], "o", color="white",
                    markeredgecolor="tab:blue", label="open at the limit")  # fmt: skip
        sizes = sorted(of_size.unique())[:: 2 if size == "rows" else 1]
        axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axis.minorticks_off()
        axis.set_xlabel(size)
    axes[0].set_ylabel("CPU seconds")
    axes[-1].legend(fontsize="small")
    figure.savefig(folder / FIGURE, metadata={"Date": None})
    plt.close(figure)
