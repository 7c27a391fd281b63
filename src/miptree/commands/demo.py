"""``miptree demo``."""

from __future__ import annotations

import typer
from rich.table import Table
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from miptree.commands._app import app, console, say, show_certificate
from miptree.estimator import OptimalTreeClassifier
from miptree.export import export_text
from miptree.fit.compiling import compile_kernels
from miptree.report.gather import usual_models


@app.command()
def demo(
    depth: int = typer.Option(2, min=1, max=4, help="Depth of the tree."),
    time_limit: float = typer.Option(20.0, min=0.0, help="Seconds for the fit."),
) -> None:
    """Fit a tree on the wine data and show how well it does.

    Example: miptree demo --depth 2 --time-limit 20
    """
    wine = load_wine()
    parts = train_test_split(
        wine.data, wine.target, test_size=0.25, random_state=0, stratify=wine.target
    )
    X_train, X_test, y_train, y_test = parts
    console.print(
        f"Wine: {len(y_train)} training rows, {len(y_test)} test rows, "
        f"{X_train.shape[1]} features, {len(wine.target_names)} classes. "
        f"Depth {depth}, at most {time_limit:g} s."
    )
    with console.status("Compiling (slow only the first time)"):
        compile_kernels()
    tree = OptimalTreeClassifier(
        max_depth=depth, time_limit=time_limit, random_state=0, verbose=1
    )
    table = Table("", "training %", "test %")
    models = {f"miptree, depth {depth}": tree, **usual_models(depth)}
    for name, model in models.items():
        model.fit(X_train, y_train)
        scores = model.score(X_train, y_train), model.score(X_test, y_test)
        table.add_row(name, *(f"{100 * score:.1f}" for score in scores))
    console.print()
    shown = export_text(tree.tree_, list(wine.feature_names), wine.target_names)
    say(shown)
    console.print()
    console.print(table)
    console.print()
    show_certificate(tree)
