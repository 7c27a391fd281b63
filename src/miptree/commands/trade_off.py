"""``miptree trade-off``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from miptree.commands import _tables
from miptree.commands._app import app, console, plain_errors
from miptree.commands._file_options import reads_table
from miptree.commands._fit_rows import ColumnChoice, FitRows, note, read_fit_rows
from miptree.commands._model_rows import DataFile, Force
from miptree.commands._outputs import refuse_outputs
from miptree.commands._rules import FAIRNESS, GivenRules
from miptree.data.files import FileOptions
from miptree.estimator import OptimalTreeClassifier
from miptree.trade_off import TradeOff
from miptree.trade_off import trade_off as fit_all
from miptree.utils.files import write_atomic

PICTURES = (".png", ".svg", ".pdf")


@app.command("trade-off")
@plain_errors
@reads_table
def trade_off(
    data: DataFile,
    target: Annotated[str, typer.Option(help="Column of the class labels.")],
    sensitive: Annotated[
        list[str], typer.Option(help="Column of the groups; repeatable.")
    ],
    fair: Annotated[
        str, typer.Option(help=f"The rule: {', '.join(FAIRNESS)}.")
    ] = "demographic-parity",
    bounds: Annotated[
        str, typer.Option(help="Largest differences of rates, with commas between.")
    ] = "0.01,0.02,0.05,0.1,0.2",
    positive: Annotated[
        str | None, typer.Option(help="Label that it is about, if not the second.")
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="Table of rows that no fit sees.")
    ] = None,
    depth: Annotated[int, typer.Option(min=1, max=10, help="Depth of the trees.")] = 2,
    time_limit: Annotated[
        float, typer.Option(min=0.0, help="Seconds for each of the fits.")
    ] = 10.0,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Picture (PNG, SVG or PDF) or table (CSV) to write."),
    ] = None,
    force: Force = False,
    *,
    file: FileOptions,
) -> None:
    """Show what a fairness rule costs: one fit for each of several bounds.

    Example: miptree trade-off people.csv --target paid --sensitive sex --bounds
    0.01,0.05,0.2 --out curve.png
    """
    refuse_outputs({"--out": out}, [data, test], force)
    if out is not None and out.suffix.lower() not in (*PICTURES, ".csv"):
        names = ".png, .svg, .pdf or .csv"
        raise ValueError(f"--out must end in {names}, got {str(out)!r}.")
    columns = ColumnChoice(target, None, drop or [], [], [])
    numbers = _numbers(bounds)
    asked = f"{fair}:{numbers[0]!r}"
    rules = GivenRules(sensitive=sensitive, fair=[asked], positive=positive)
    rules.refuse_target(target)
    rows = read_fit_rows(data, columns, file)
    clf = OptimalTreeClassifier(
        max_depth=depth,
        time_limit=time_limit,
        solver="search",
        random_state=seed,
        constraints=rules.constraints(rows.labels),
    )
    other = None
    if test is not None:
        other = _test_rows(rows, read_fit_rows(test, columns, file), rules)
    groups = rules.groups(rows.table)
    found = fit_all(clf, rows.features, rows.labels, numbers, test=other, **groups)
    for bound, why in found.failed.items():
        note(f"With a bound of {bound:g}: {why}")
    if not found.points:
        raise ValueError(
            "None of the bounds gave a tree, so there is nothing to show. Give looser "
            "--bounds, or more --time-limit or --depth."
        )
    if out is not None:
        _write(found, out, force)
    console.print(_table(found))


def _numbers(text: str) -> list[float]:
    try:
        bounds = [float(part) for part in text.split(",")]
    except ValueError:
        bounds = []
    # 1 rules nothing out: it is a decimal comma, as in 0,1, rather than a bound.
    if not bounds or max(bounds) >= 1:
        raise ValueError(
            "--bounds must be numbers below 1 with commas between, such as 0.01,0.05, "
            f"got {text!r}."
        )
    return bounds


def _test_rows(rows: FitRows, test: FitRows, rules: GivenRules) -> tuple[Any, ...]:
    """Return features, labels and groups of test rows, in the columns of the fit."""
    names = list(rows.features.columns)
    groups = rules.groups(test.table)["sensitive_features"]
    return _tables.columns_of(test.table, names), test.labels, groups


def _table(found: TradeOff) -> Table:
    table = Table(title=f"What {found.rule} costs", title_justify="left")
    heads = ["bound", "accuracy", found.what]
    heads += ["test accuracy", f"test {found.what}"] if found.is_tested else []
    for head in heads:
        table.add_column(head, justify="right")
    for point in found.points:
        cells = [f"{point.bound:g}", f"{point.accuracy:.3f}", f"{point.value:.4f}"]
        if found.is_tested:
            cells += [f"{point.test_accuracy:.3f}", f"{point.test_value:.4f}"]
        table.add_row(*cells)
    return table


def _write(found: TradeOff, out: Path, force: bool) -> None:
    """Write the picture, or the numbers."""
    import io

    if out.suffix.lower() == ".csv":
        import pandas as pd

        text = pd.DataFrame(found.table()).to_csv(index=False)
        write_atomic(out, text.encode(), force)
        return
    from miptree.plot import plot_trade_off

    figure = plot_trade_off(found)[0].figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format=out.suffix.lower()[1:], dpi=150)
    write_atomic(out, buffer.getvalue(), force)
