"""The commands of ``miptree``, written with typer and rich."""

from __future__ import annotations

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from miptree._version import __version__
from miptree.estimator import OptimalTreeClassifier
from miptree.export import export_text
from miptree.solvers import SOLVERS, MissingSolverError, get_solver

app = typer.Typer(
    help="Small oblique decision trees with a certificate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console(highlight=False)


def _show_version(asked: bool) -> None:
    if asked:
        console.print(f"miptree {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show version."
    ),
) -> None:
    """Small oblique decision trees with a certificate."""


@app.command()
def demo(
    depth: int = typer.Option(2, min=1, max=4, help="Depth of the tree."),
    time_limit: float = typer.Option(30.0, min=0.0, help="Seconds for the fit."),
) -> None:
    """Fit a tree on the wine data and show what it is worth.

    Example: miptree demo --depth 2 --time-limit 30
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
    tree = OptimalTreeClassifier(
        max_depth=depth, time_limit=time_limit, random_state=0, verbose=1
    )
    rivals = {
        f"miptree, depth {depth}": tree,
        f"CART, depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0),
        "logistic regression": make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=1000)
        ),
    }
    table = Table("", "training %", "test %")
    for name, model in rivals.items():
        model.fit(X_train, y_train)
        scores = model.score(X_train, y_train), model.score(X_test, y_test)
        table.add_row(name, *(f"{100 * score:.1f}" for score in scores))
    names = [str(name) for name in np.asarray(wine.feature_names)]
    console.print()
    shown = export_text(tree.tree_, names, wine.target_names)
    console.print(shown, markup=False, soft_wrap=True)
    console.print()
    console.print(table)
    console.print()
    _show_certificate(tree)


def _show_certificate(clf: OptimalTreeClassifier) -> None:
    found = clf.certificate_
    table = Table("certificate", "", show_header=True)
    table.add_row("errors on the training rows", f"{found.errors} of {found.n_rows}")
    table.add_row("objective, recounted", f"{found.objective:.6g}")
    table.add_row("bound: no tree is below", f"{found.objective_bound:.6g}")
    table.add_row("gap", f"{100 * found.gap:.3g} %")
    table.add_row("proved optimal", "yes" if found.objective_optimal else "no")
    table.add_row("by", found.objective_proved_by)
    table.add_row("status", f"{clf.status_}, after {clf.fit_time_:.1f} s")
    console.print(table)
    console.print(str(found), markup=False)


@app.command()
def solvers() -> None:
    """List the solvers and say how to install those that are missing.

    Example: miptree solvers
    """
    table = Table("solver", "state")
    for name, (_, _, requirement) in SOLVERS.items():
        try:
            get_solver(name)
        except MissingSolverError:
            table.add_row(name, f"missing: pip install '{requirement}'")
        else:
            table.add_row(name, "installed")
    console.print(table, markup=False)
