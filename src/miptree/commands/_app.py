"""The application that the commands register with, and how they show things."""

from __future__ import annotations

import functools
import inspect
import platform
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from typing import Any, ParamSpec

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from miptree._version import __version__
from miptree.certificate.rules_words import rules_words
from miptree.classifiers.table_classifier import TableClassifier
from miptree.data.files import TableNote
from miptree.export import export_text
from miptree.export.names import printable
from miptree.export.text import certificate_facts

P = ParamSpec("P")

app = typer.Typer(
    help="Small decision trees, oblique or of points, with a certificate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console(highlight=False)


_TOLD = (
    "numpy", "scipy", "scikit-learn", "numba", "llvmlite", "highspy", "pandas",
    "pyscipopt", "gurobipy", "cplex", "dask", "typer",
)  # fmt: skip
"""Packages whose versions matter where something is wrong."""


def _show_version(asked: bool) -> None:
    if asked:
        say(f"miptree {__version__}")
        system = f"{platform.system()} {platform.release()} {platform.machine()}"
        say(f"Python {platform.python_version()} on {system}")
        for name in _TOLD:
            with suppress(metadata.PackageNotFoundError):
                say(f"{name} {metadata.version(name)}")
        raise typer.Exit


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show warnings as one line on standard error, without their source."""

    def show(message: Warning | str, *place: Any, **more: Any) -> None:
        word = "Note" if isinstance(message, TableNote) else "Warning"
        typer.echo(f"{word}: {printable(' '.join(str(message).split()))}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@app.callback()
def _common(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show versions."
    ),
) -> None:
    """Small decision trees, oblique or of points, with a certificate.

    Example: miptree fit iris.csv --target species --out model.json, then miptree report
    model.json iris.csv --out iris.html
    """
    context.with_resource(plain_warnings())


def plain_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Turn what a user can cause into one line on standard error and exit code 2."""

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except BrokenPipeError:
            raise  # the reader of our output has enough, which is no mistake
        except (ValueError, TypeError, OSError, ImportError) as error:
            typer.echo(f"Error: {_one_line(error)}", err=True)
            raise typer.Exit(2) from None
        except MemoryError as error:
            typer.echo(f"Error: {_out_of_memory(error)}", err=True)
            raise typer.Exit(2) from None

    guarded.__doc__ = _unwrapped(command)
    return guarded


def _unwrapped(command: Callable[..., None]) -> str:
    """Return a command's help, a line for each paragraph: terminals wrap it anew."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(lines.split()) for lines in paragraphs)


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {printable(str(error.filename))}"
    return printable(" ".join(str(error).split()))


def _out_of_memory(error: MemoryError) -> str:
    """Say what there was no memory for, if that is known, and what to do."""
    what = f" ({_one_line(error)})" if str(error) else ""
    return (
        f"There is not enough memory{what}. Use fewer rows or columns, or "
        "a machine with more memory."
    )


def show_tree(clf: TableClassifier) -> None:
    """Print the rules in the names of the columns and classes."""
    # A file or another program takes lines of any length.
    text = export_text(clf, width=console.width if console.is_terminal else None)
    if console.options.ascii_only:
        text = text.translate(_ASCII_LINES)
    say(text)


def say(text: str) -> None:
    """Print a text as it is."""
    console.print(text, markup=False, soft_wrap=True)


_ASCII_LINES = str.maketrans("├└│─", "|`|-")


def show_verdict(clf: TableClassifier) -> None:
    """Print in a sentence what is proved, and in another one how many errors are."""
    found = clf.certificate_
    untried = "" if _was_proof_tried(clf) else f" {_UNTRIED}"
    say(printable(f"{found.summary}{untried} {found.counted_errors}."))
    if found.rules is not None:
        say(printable(rules_words(found)))


_UNTRIED = (
    "No proof was tried: `miptree fit` with --style points, sparse or oblique tries "
    "one, unless --solver is search, or --tune is given."
)


def _was_proof_tried(clf: TableClassifier) -> bool:
    """Tell whether a fit did more than search, or had nothing left to prove.

    A tree that was chosen to predict new rows is searched for without a proof.
    """
    found = clf.certificate_
    is_searched = getattr(clf, "solver", None) == "search"
    return not is_searched or found.objective_optimal or found.errors_optimal


def show_certificate(clf: TableClassifier, details: bool) -> None:
    """Print what is proved; if asked, all of the certificate."""
    show_verdict(clf)
    if not details:
        say("--details tells what was compared and how it was proved.")
        return
    table = Table("certificate", "", show_header=True)
    for name, value in certificate_facts(clf).items():
        table.add_row(name, Text(printable(value)))
    console.print(table)
    console.print(printable(clf.certificate_), markup=False)
