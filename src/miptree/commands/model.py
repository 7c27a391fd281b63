"""``miptree fit``, ``predict``, ``show`` and ``verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from miptree.certificate.verification import verify as verify_certificate
from miptree.commands import _tables
from miptree.commands._app import (
    app,
    plain_errors,
    printable,
    say,
    show_certificate,
    show_tree,
)
from miptree.commands._model_rows import (
    DataFile,
    Force,
    ModelFile,
    Target,
    read_features,
    read_labelled,
)
from miptree.data.labels import row_weights
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_cv import OptimalTreeClassifierCV
from miptree.estimator_points import MOST_DEPTH, PointsTreeClassifier
from miptree.evaluate import label_codes
from miptree.export import load_json, save_json
from miptree.export._json_values import MAX_TEXT
from miptree.export.json import read_model
from miptree.mip.solvers import SOLVERS
from miptree.selection import SELECTORS
from miptree.utils.files import refuse_overwriting


@app.command()
@plain_errors
def fit(
    data: Annotated[
        str, typer.Argument(help="CSV, CSV.gz or Parquet file; for Dask a pattern.")
    ],
    target: Annotated[str, typer.Option(help="Column of the class labels.")],
    depth: Annotated[
        int,
        typer.Option(
            min=1, max=10, help="Depth of the tree; with --style points up to 4."
        ),
    ] = 2,
    time_limit: Annotated[
        float, typer.Option(min=0.0, help="Seconds for the whole fit.")
    ] = 60.0,
    solver: Annotated[
        str | None,
        typer.Option(help=f"One of {', '.join(SOLVERS)}, search; by default highs."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Column of the weights of the rows.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; repeatable.")
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(help="Column of numbers that are categories; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of search and solver.")] = 0,
    selection: Annotated[
        str | None,
        typer.Option(help=f"Train on chosen rows: {', '.join(SELECTORS)}."),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="memory, or dask for tables larger than memory.")
    ] = "memory",
    tune: Annotated[
        bool,
        typer.Option("--tune", help="Choose how to train by cross-validation instead."),
    ] = False,
    style: Annotated[
        str,
        typer.Option(help="oblique, or points: splits that people can add up."),
    ] = "oblique",
    proof_log: Annotated[
        Path | None,
        typer.Option(help="File for the proof of a points tree, for miptree check."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Model file to write.")] = None,
    force: Force = False,
) -> None:
    """Fit a tree to a table and save it with its certificate.

    Example: miptree fit iris.csv --target species --depth 2 --out model.json

    With --engine dask the table may be a pattern of files, such as 'parts/*.parquet'.
    With --tune the tree is trained for accuracy on new rows, and no solver is called.
    With --style points splits are small scorecards, and the best tree is proved.
    """
    for path in (out, proof_log):
        if path is not None:
            refuse_overwriting(path, force)  # before the work, not after it
    _refuse_together(tune, engine, solver, selection, categorical)
    _refuse_for_style(style, depth, tune, engine, solver, selection, proof_log)
    clf: OptimalTreeClassifier | OptimalTreeClassifierCV | PointsTreeClassifier
    if style == "points":
        clf = PointsTreeClassifier()
    elif tune:
        clf = OptimalTreeClassifierCV()
    else:
        clf = OptimalTreeClassifier(solver=solver or "highs", selection=selection)
    clf.set_params(max_depth=depth, time_limit=time_limit, random_state=seed, verbose=1)
    if engine == "dask":
        from miptree import distributed

        clf = distributed.fit(
            data, target, classifier=clf, weights=weights, drop=drop or []
        )
    else:
        table = _tables.read_table(Path(data))
        y = _tables.labels(table, target)
        weight = _tables.weights(table, weights)
        rows = _features(table, {target, weights, *(drop or [])})
        named = _tables.columns_of(rows, categorical or [])
        rows = rows.astype(dict.fromkeys(named.columns, "category"))
        if out is not None:
            _refuse_long_texts(rows)
        if isinstance(clf, PointsTreeClassifier):
            labels = pd.Series(y, name=target)  # the proof says what it is about
            clf.fit(rows, labels, weight, proof_log=proof_log, force=force)
        else:
            clf.fit(rows, y, weight)
    if out is not None:  # first of all: showing it may fail
        save_json(clf, out, force, metadata={"target": target, "weights": weights})
    show_tree(clf)
    show_certificate(clf)
    if isinstance(clf, OptimalTreeClassifierCV):
        say(_cross_validated(clf))
    if out is not None:
        say(f"Saved as {out}.")
    if proof_log is not None:
        say(f"The proof is in {proof_log}.")


def _refuse_long_texts(rows: pd.DataFrame) -> None:
    """Refuse a column of texts that a model file could not hold, before the work."""
    for name in rows.select_dtypes(exclude=["number", "bool"]).columns:
        longest = max((len(v) for v in rows[name] if isinstance(v, str)), default=0)
        if longest > MAX_TEXT:
            raise ValueError(
                f"Column {name!r} holds a text of {longest} characters, more than the "
                f"{MAX_TEXT} of a value that a model file can hold: --drop {name!r}."
            )


def _refuse_together(
    tune: bool,
    engine: str,
    solver: str | None,
    selection: str | None,
    categorical: list[str] | None,
) -> None:
    """Refuse options of which one would be ignored without a word."""
    if engine not in ("memory", "dask"):
        raise ValueError(f"--engine must be memory or dask, got {engine!r}.")
    if tune and (engine == "dask" or selection is not None):
        raise ValueError(
            "--tune works without --engine dask and --selection: it takes a sample "
            "of large tables by itself."
        )
    if tune and solver is not None:
        raise ValueError(f"--tune calls no solver: leave out --solver {solver}.")
    if engine == "dask" and categorical:
        raise ValueError(
            "--engine dask reads numbers only: leave out --categorical, and --drop "
            f"{categorical[0]!r} or encode it as 0/1 columns."
        )


def _refuse_for_style(
    style: str,
    depth: int,
    tune: bool,
    engine: str,
    solver: str | None,
    selection: str | None,
    proof_log: Path | None,
) -> None:
    """Refuse options of the other kind of tree."""
    if style not in ("oblique", "points"):
        raise ValueError(f"--style must be oblique or points, got {style!r}.")
    if style == "points" and depth > MOST_DEPTH:
        raise ValueError(
            f"--depth of a points tree is {MOST_DEPTH} at most, got {depth}: leave out "
            "--style points for deeper trees."
        )
    if style == "oblique":
        if proof_log is not None:
            raise ValueError("--proof-log is for points trees: add --style points.")
        return
    given = {
        "--tune": tune,
        "--engine dask": engine == "dask",
        f"--solver {solver}": solver is not None,
        f"--selection {selection}": selection is not None,
    }
    wrong = [option for option, is_given in given.items() if is_given]
    if wrong:
        raise ValueError(
            f"--style points works without {wrong[0]}: it goes through all splits by "
            f"itself. Leave out {wrong[0]}."
        )


def _cross_validated(clf: OptimalTreeClassifierCV) -> str:
    """Say the accuracy in cross-validation."""
    if np.isnan(clf.best_score_):
        return "Accuracy in cross-validation: unknown, as no fold was finished."
    error = f" (standard error {100 * clf.best_score_se_:.1f})"
    known = "" if np.isnan(clf.best_score_se_) else error
    return f"Accuracy in cross-validation: {100 * clf.best_score_:.1f} %{known}."


@app.command()
@plain_errors
def predict(
    model: ModelFile,
    data: DataFile,
    out: Annotated[Path | None, typer.Option(help="CSV or Parquet to write.")] = None,
    force: Force = False,
) -> None:
    """Predict the class of every row, with its probability.

    Columns are found by name; others are ignored. Without --out the table goes to
    standard output.

    Example: miptree predict model.json new.csv --out predicted.csv
    """
    if out is not None:
        refuse_overwriting(out, force)
    clf = load_json(model)
    rows = read_features(clf, data)
    label = clf.predict(rows)
    # With costs, the class predicted need not be the most frequent one.
    place = np.searchsorted(clf.classes_, label)
    probability = clf.predict_proba(rows)[np.arange(len(label)), place]
    predicted = pd.DataFrame({"prediction": label, "probability": probability})
    if out is None:
        # UTF-8 whatever the terminal's encoding, as in a file.
        typer.echo(predicted.to_csv(index=False).encode(), nl=False)
    else:
        _tables.write_table(predicted, out, force)
        say(f"{len(predicted)} rows in {out}.")


@app.command()
@plain_errors
def show(model: ModelFile) -> None:
    """Show the tree of a model and its certificate.

    Example: miptree show model.json
    """
    clf = load_json(model)
    show_tree(clf)
    show_certificate(clf)


@app.command()
@plain_errors
def verify(
    model: ModelFile,
    data: DataFile,
    target: Target = None,
    weights: Annotated[
        str | None, typer.Option(help="Column of the weights, if not as in the fit.")
    ] = None,
    resolve_with: Annotated[
        str | None, typer.Option(help="Solver to repeat a solver's proofs with.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0.0, help="Seconds for each repeated proof.")
    ] = 60.0,
) -> None:
    """Check a model's certificate against its training data, in exact arithmetic.

    Exit code 0 if every check holds, 1 if one does not.

    Example: miptree verify model.json iris.csv
    """
    saved = read_model(model)
    weights = weights or saved.metadata.get("weights")
    table, rows, y = read_labelled(saved, model, data, target, weights)
    clf, weight = saved.clf, _tables.weights(table, weights)
    if getattr(clf, "class_weight", None) is not None:
        # A label that is no class is found by the checks, whatever it weighs.
        _, codes = label_codes(clf.classes_, y)
        codes = np.minimum(codes, len(clf.classes_) - 1)
        weight, _ = row_weights(clf.class_weight, clf.classes_, codes, weight)
    found = verify_certificate(
        clf.certificate_,
        clf.tree_,
        rows,
        y,
        weight,
        table=getattr(clf, "table_", None),
        cost_matrix=getattr(clf, "cost_matrix", None),
        classes=clf.classes_,
        resolve_with=resolve_with,
        resolve_seconds=time_limit,
    )
    for line in str(found).splitlines():
        say(printable(line))
    raise typer.Exit(0 if found.ok else 1)


def _features(table: pd.DataFrame, left_out: set[str | None]) -> pd.DataFrame:
    """Take the columns to learn from; those left out must be there."""
    for name in left_out - {None}:
        _tables.column_of(table, str(name))
    names = [name for name in table.columns if name not in left_out]
    if not names:
        raise ValueError("No column is left to learn from.")
    return table[names]
