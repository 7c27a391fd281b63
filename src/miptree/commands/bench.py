"""``miptree bench run``, ``tables`` and ``figures``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress
from rich.table import Table

from miptree.commands._app import app, console, plain_errors, printable
from miptree.commands._outputs import refuse_outputs
from miptree.utils.files import write_atomic

bench = typer.Typer(
    help="The paper's tables, filled in by running them.", no_args_is_help=True
)
app.add_typer(bench, name="bench")

SUITE_NAMES = "small, medium, large, dev or smoke"
PUBLISHED = "10-14"
Folder = Annotated[Path, typer.Option(help="Folder of the journals.")]
Splits = Annotated[str, typer.Option(help="Seeds of the splits, such as 10-14 or 1,3.")]
Suites = Annotated[
    str, typer.Option("--suite", help=f"Of {SUITE_NAMES}, with commas between.")
]
_RESULTS = Path("benchmarks/results")


@bench.command("run")
@plain_errors
def run_command(
    suite: Annotated[str, typer.Option(help=f"One of {SUITE_NAMES}.")] = "smoke",
    methods: Annotated[
        str | None,
        typer.Option(help="With commas between; by default those of the tables."),
    ] = None,
    splits: Splits = PUBLISHED,
    time_limit: Annotated[
        float, typer.Option(min=0.0, help="Seconds that a fit may take.")
    ] = 20.0,
    jobs: Annotated[int, typer.Option(help="Fits at a time; -1 for all cores.")] = 1,
    results: Folder = _RESULTS,
    official: Annotated[
        bool, typer.Option("--official", help="Also on UCI's official test parts.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed fits again.")
    ] = False,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler to run on.")
    ] = None,
) -> None:
    """Run what is missing of a suite; stop it and start it again at any time.

    Exit code 0 if every fit of the suite has a result, 1 if one failed.

    Example: miptree bench run --suite small --splits 10-14 --time-limit 20 --jobs 2
    """
    from miptree.bench import plan, run
    from miptree.bench.results import journal_of
    from miptree.bench.runner import count_failed
    from miptree.bench.suites import DEFAULT_METHODS

    pairs = _pairs(suite)
    chosen = DEFAULT_METHODS[suite] if methods is None else _words(methods)
    fits = plan(pairs, chosen, _numbers(splits), time_limit, official)
    journal = journal_of(results, suite)
    with _cluster(dask), _shown(len(fits)) as show:
        try:
            elsewhere = dask is not None
            count = run(fits, journal, jobs, retry_failed, show, elsewhere)
        except KeyboardInterrupt:
            typer.echo("Stopped; the same command goes on from here.", err=True)
            raise typer.Exit(130) from None
    done = f"{count} fits run, {len(fits) - count} were there already: {journal.path}"
    console.print(done, markup=False, soft_wrap=True)
    if failed := count_failed(fits, journal):
        told = "their errors are in the journal, and --retry-failed runs them again."
        typer.echo(f"{failed} of the {len(fits)} fits failed: {told}", err=True)
        raise typer.Exit(1)


@bench.command("methods")
def methods_command() -> None:
    """List the methods, and what those that are not available need.

    Example: miptree bench methods
    """
    from miptree.bench.methods import METHODS, MissingMethodError

    table = Table("method", "label", "columns", "state")
    for method in METHODS.values():
        try:
            method.check()
            state = "available"
        except MissingMethodError as error:
            state = printable(error)
        table.add_row(method.name, method.label, method.encoding, state)
    console.print(table, markup=False)


@bench.command("tables")
@plain_errors
def tables_command(
    results: Folder = _RESULTS,
    suites: Suites = "small,large",
    splits: Splits = PUBLISHED,
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("docs/results.md"),
) -> None:
    """Write the results beside the paper's numbers, as Markdown.

    Example: miptree bench tables --out docs/results.md
    """
    from miptree.bench.results import journal_of
    from miptree.bench.tables import results_page

    found = _sections(results, suites, splits)
    journals = [journal_of(results, name).path for name in _words(suites)]
    refuse_outputs({"--out": out}, journals, force=True)
    figures = {path.name for path in (out.parent / "figures").glob("*")}
    write_atomic(out, results_page(found, figures).encode(), force=True)
    console.print(f"{len(found)} sections in {out}.", markup=False, soft_wrap=True)


@bench.command("figures")
@plain_errors
def figures_command(
    results: Folder = _RESULTS,
    suites: Suites = "small,large",
    splits: Splits = PUBLISHED,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path(
        "docs/figures"
    ),
) -> None:
    """Draw the results: PNG files and an interactive page each.

    Example: miptree bench figures --out docs/figures
    """
    from miptree.bench.figures import write_figures

    for section in _sections(results, suites, splits):
        for path in write_figures(section, out):
            console.print(str(path), markup=False, soft_wrap=True)


def _sections(results: Path, suites: str, splits: str) -> list[Any]:
    from miptree.bench.results import sections

    names = _words(suites)
    for name in names:
        _pairs(name)
    found = sections(results, names, _numbers(splits))
    if not found:
        raise ValueError(
            f"There is no finished fit of {suites} on splits {splits} in {results}. "
            f"Run: miptree bench run --suite {names[0]} --splits {splits}"
        )
    return found


def _pairs(suite: str) -> Any:
    from miptree.bench import SUITES

    if suite not in SUITES:
        raise ValueError(f"There is no suite {suite!r}; there are {SUITE_NAMES}.")
    return SUITES[suite]


def _words(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    return list(dict.fromkeys(word for word in words if word))


def _numbers(text: str) -> list[int]:
    """Return the numbers of "10-14" or "1,3,5-7"."""
    found: list[int] = []
    for word in _words(text):
        first, _, last = word.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            raise ValueError(f"Splits must look like 10-14 or 1,3; got {text!r}.")
        found += range(int(first), int(last or first) + 1)
    if not found:
        raise ValueError(f"Splits must name at least one number, got {text!r}.")
    return list(dict.fromkeys(found))


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Let joblib send its work to a Dask cluster, if there is one, in this context."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "--dask needs Dask. Run: pip install 'miptree[dask]'"
        ) from error
    from joblib import parallel_config

    with Client(address), parallel_config(backend="dask"):
        yield


@contextmanager
def _shown(total: int) -> Iterator[Any]:
    """Show a bar with the time left on a terminal, elsewhere a line for each fit."""
    began = time.monotonic()
    columns = (BarColumn(), MofNCompleteColumn(), "{task.fields[left]} left")
    bar = Progress(
        "{task.description}",
        *columns,
        console=console,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=total, left="")

    def show(record: dict[str, Any], done: int, missing: int) -> None:
        left = _duration((time.monotonic() - began) / done * (missing - done))
        name, completed = _short(record), total - missing + done
        bar.update(task, completed=completed, description=name, left=left)
        if bar.disable:
            line = f"{done}/{missing} {name}, {left} left"
            console.print(line, markup=False, soft_wrap=True)

    with bar:
        yield show


def _short(record: dict[str, Any]) -> str:
    result = f"{record['test']:.1f} %" if record["status"] == "ok" else "failed"
    where = f"{record['set']} D{record['depth']} split {record['split']}"
    return f"{where} {record['method']}: {result}"


def _duration(seconds: float) -> str:
    minutes, hours = seconds / 60, seconds / 3600
    if hours >= 1:
        return f"{hours:.1f} h"
    return f"{minutes:.0f} min" if minutes >= 1 else f"{seconds:.0f} s"
