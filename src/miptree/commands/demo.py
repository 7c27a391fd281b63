"""``miptree demo``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import typer
from rich.table import Table
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from miptree.commands._app import app, console, say, show_tree, show_verdict
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_points import PointsTreeClassifier
from miptree.fit.compiling import compile_kernels
from miptree.report.gather import usual_models
from miptree.tree import ObliqueTree


@app.command()
def demo(
    depth: int = typer.Option(2, min=1, max=4, help="Depth of the tree."),
    time_limit: float = typer.Option(20.0, min=0.0, help="Seconds for the fit."),
) -> None:
    """Fit two trees on the wine data and show how well they do.

    Example: miptree demo --depth 2 --time-limit 20
    """
    wine = load_wine(as_frame=True)
    names = pd.Series(wine.target_names[wine.target], name="kind")
    X_train, X_test, y_train, y_test = train_test_split(
        wine.data, names, test_size=0.25, random_state=0, stratify=names
    )
    console.print(
        f"Wine: {len(y_train)} training rows, {len(y_test)} test rows, "
        f"{X_train.shape[1]} features, {len(wine.target_names)} classes. "
        f"Depth {depth}, at most {time_limit:g} s for each tree."
    )
    with console.status("Compiling (slow only the first time)"):
        compile_kernels()
    given: dict[str, Any] = {
        "max_depth": depth, "time_limit": time_limit, "random_state": 0,
    }  # fmt: skip
    points = PointsTreeClassifier(**given, verbose=1)
    oblique = OptimalTreeClassifier(**given, verbose=1)
    table = Table("", "terms", "training %", "test %")
    models = {
        f"points tree, depth {depth}": points,
        f"oblique tree, depth {depth}": oblique,
        **usual_models(depth),
    }
    for name, model in models.items():
        model.fit(X_train, y_train)
        scores = model.score(X_train, y_train), model.score(X_test, y_test)
        table.add_row(name, _terms(model), *(f"{100 * score:.1f}" for score in scores))
    _show("A points tree: splits that people can add up.", points)
    _show("An oblique tree: splits that weigh features.", oblique)
    say("")
    console.print(table)


def _show(title: str, clf: PointsTreeClassifier | OptimalTreeClassifier) -> None:
    """Print a tree, and what is proved of it."""
    say(f"\n{title}\n")
    show_tree(clf)
    say("")
    show_verdict(clf)


def _terms(model: Any) -> str:
    """Count the coefficients of the splits of a tree of ours."""
    tree = getattr(model, "tree_", None)
    return str(np.count_nonzero(tree.coef)) if isinstance(tree, ObliqueTree) else ""
