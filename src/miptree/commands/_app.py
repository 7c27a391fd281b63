"""The application that the commands register with, and how they show things."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from miptree._version import __version__
from miptree.estimator import OptimalTreeClassifier
from miptree.export import export_text
from miptree.export.text import printable

P = ParamSpec("P")

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
    """Small oblique decision trees with a certificate.

    Example: miptree fit iris.csv --target species --out model.json, then miptree report
    model.json iris.csv --out iris.html
    """


def plain_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Turn what a user can cause into one line on standard error and exit code 2."""

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (ValueError, TypeError, OSError, ImportError) as error:
            typer.echo(f"Error: {_one_line(error)}", err=True)
            raise typer.Exit(2) from None

    return guarded


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {printable(str(error.filename))}"
    return printable(" ".join(str(error).split()))


def show_tree(clf: OptimalTreeClassifier) -> None:
    """Print the rules in the names of the columns and classes."""
    console.print(export_text(clf), markup=False, soft_wrap=True)


def show_certificate(clf: OptimalTreeClassifier) -> None:
    """Print the certificate as a table and as a sentence."""
    found = clf.certificate_
    table = Table("certificate", "", show_header=True)
    for name, value in (
        ("errors on the training rows", f"{found.errors} of {found.n_rows}"),
        ("objective, recounted", f"{found.objective:.6g}"),
        ("bound: no tree is below", f"{found.objective_bound:.6g}"),
        ("gap", f"{100 * found.gap:.3g} %"),
        ("proved optimal", "yes" if found.objective_optimal else "no"),
        ("by", printable(found.objective_proved_by)),
        ("status", f"{clf.status_}, after {clf.fit_time_:.1f} s"),
    ):
        table.add_row(name, Text(value))
    console.print(table)
    console.print(printable(found), markup=False)
