"""``miptree fit``, ``predict`` and ``show``."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from miptree.commands import _tables
from miptree.commands._app import (
    app,
    plain_errors,
    say,
    show_certificate,
    show_tree,
)
from miptree.commands._comparison import show_comparison, unproved_sentence
from miptree.commands._costs import cost_matrix
from miptree.commands._fit_options import (
    Given,
    chosen_style,
    refuse_for_log,
    refuse_for_style,
    refuse_long_texts,
    refuse_together,
)
from miptree.commands._model_rows import (
    DataFile,
    Force,
    ModelFile,
    read_features,
)
from miptree.commands._outputs import refuse_outputs
from miptree.data import ENCODINGS
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_cv import OptimalTreeClassifierCV
from miptree.estimator_points import PointsTreeClassifier
from miptree.explain import leaf_reasons
from miptree.export import load_json, save_json
from miptree.fit.plan import PROOFS
from miptree.mip.solvers import SOLVERS
from miptree.selection import SELECTORS
from miptree.tuning.style_settings import SPARSE_FEATURES


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
    categorical_encoding: Annotated[
        str | None,
        typer.Option(help=f"How splits use categories: {', '.join(ENCODINGS)}."),
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
        typer.Option(
            "--tune",
            help="Choose how to train by cross-validation, as --style auto does "
            "anyway; with --style oblique or sparse within that style.",
        ),
    ] = False,
    style: Annotated[
        str | None,
        typer.Option(
            help="auto: the simplest that is about as good as the best of all; points: "
            "splits that people can add up; sparse: splits of few features; oblique. "
            "By default auto, unless another option belongs to one style."
        ),
    ] = None,
    scoring: Annotated[
        str | None,
        typer.Option(
            help="What --style auto and --tune compare trees by: accuracy; "
            "balanced_accuracy, for which rare classes count as much as others; "
            "f1_macro, between the two; neg_log_loss, of probabilities; cost."
        ),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            help="What it costs to be wrong about a row of a class, such as yes:5; by "
            "default 1. Repeatable."
        ),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(help="balanced: all classes weigh the same in training."),
    ] = None,
    proof: Annotated[
        str | None,
        typer.Option(
            help=f"What to prove of an oblique tree: {', '.join(PROOFS)} (keeps at it "
            "up to the time limit); by default auto."
        ),
    ] = None,
    proof_log: Annotated[
        Path | None,
        typer.Option(help="File for the proof, for miptree check."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Model file to write.")] = None,
    force: Force = False,
) -> None:
    """Fit a tree to a table and save it with its certificate.

    Example: miptree fit iris.csv --target species --depth 2 --out model.json

    By default trees of several styles are compared by cross-validation, and the
    simplest is taken that is about as accurate on new rows as the best.
    With --style points splits are small scorecards, and the best tree is proved.
    With --style oblique, --solver or --proof a tree is trained for one objective, and
    bounds on it are proved.
    With --engine dask the table may be a pattern of files, such as 'parts/*.parquet'; a
    points tree is then chosen for a sample of the rows, and not proved for all of them.
    """
    outputs = {"--out": out, "--proof-log": proof_log}
    refuse_outputs(outputs, _files_read(data, engine), force)
    given = Given(
        tune,
        engine,
        solver,
        selection,
        categorical,
        categorical_encoding,
        proof,
        proof_log,
    )
    refuse_together(given)
    style = chosen_style(given, style)
    refuse_for_style(given, style, depth)
    if proof_log is not None:
        refuse_for_log(given)
    clf: OptimalTreeClassifier | OptimalTreeClassifierCV | PointsTreeClassifier
    if style == "points":
        clf = PointsTreeClassifier()
    elif tune or style == "auto":
        clf = OptimalTreeClassifierCV(style=style, n_jobs=-1)
    else:
        clf = OptimalTreeClassifier(
            solver=solver or "highs",
            selection=selection,
            max_features_per_split=SPARSE_FEATURES if style == "sparse" else None,
        )
    clf.set_params(max_depth=depth, time_limit=time_limit, random_state=seed, verbose=1)
    if proof is not None:
        clf.set_params(proof=proof)
    if class_weight is not None:
        clf.set_params(class_weight=class_weight)
    if scoring is not None:
        if not isinstance(clf, OptimalTreeClassifierCV):
            raise ValueError("--scoring is for --style auto and for --tune.")
        if scoring == "cost" and not cost:
            raise ValueError("--scoring cost needs --cost, such as --cost yes:5.")
        clf.set_params(scoring=scoring)
    if categorical_encoding is not None:
        clf.set_params(categorical_encoding=categorical_encoding)
    if engine == "dask":
        if cost:
            raise ValueError(
                "--cost works without --engine dask: give distributed.fit a classifier "
                "with a cost_matrix."
            )
        from miptree import distributed

        clf = distributed.fit(
            data, target, classifier=clf, weights=weights, drop=drop or []
        )
    else:
        table = _tables.read_table(Path(data))
        y = _tables.labels(table, target)
        if cost:
            clf.set_params(cost_matrix=cost_matrix(cost, y))
        weight = _tables.weights(table, weights)
        rows = _features(table, {target, weights, *(drop or [])})
        named = _tables.columns_of(rows, categorical or [])
        rows = rows.astype(dict.fromkeys(named.columns, "category"))
        if out is not None:
            refuse_long_texts(rows)
        if isinstance(clf, OptimalTreeClassifierCV):
            clf.fit(rows, y, weight)
        else:
            labels = pd.Series(y, name=target)  # the proof says what it is about
            clf.fit(rows, labels, weight, proof_log=proof_log, force=force)
    if out is not None:  # first of all: showing it may fail
        save_json(clf, out, force, metadata={"target": target, "weights": weights})
    show_tree(clf)
    if isinstance(clf, OptimalTreeClassifierCV):
        show_comparison(clf)
    if isinstance(clf, OptimalTreeClassifierCV) and clf.style_ != "points":
        say(unproved_sentence(clf))
    else:
        show_certificate(clf)
    if out is not None:
        say(f"Saved as {out}.")
    if proof_log is not None and clf.certificate_.proof_digest:
        say(f"The proof is in {proof_log}; miptree check tells whether it holds.")


def _files_read(data: str, engine: str) -> list[Path]:
    """Return the table, or with Dask all files of a pattern or a folder."""
    if engine != "dask":
        return [Path(data)]
    return [*map(Path, glob(data)), *Path(data).rglob("*.parquet")]


@app.command()
@plain_errors
def predict(
    model: ModelFile,
    data: DataFile,
    out: Annotated[Path | None, typer.Option(help="CSV or Parquet to write.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the leaf, and the reason in words.")
    ] = False,
    force: Force = False,
) -> None:
    """Predict the class of every row, with its probability.

    Columns are found by name; others are ignored. Without --out the table goes to
    standard output. miptree explain tells more about single rows.

    Example: miptree predict model.json new.csv --out predicted.csv
    """
    refuse_outputs({"--out": out}, [model, data], force)
    clf = load_json(model)
    rows = read_features(clf, data)
    label = clf.predict(rows)
    # With costs, the class predicted need not be the most frequent one.
    place = np.searchsorted(clf.classes_, label)
    probability = clf.predict_proba(rows)[np.arange(len(label)), place]
    predicted = pd.DataFrame({"prediction": label, "probability": probability})
    if explain:
        predicted["leaf"] = clf.apply(rows)
        predicted["reason"] = predicted["leaf"].map(leaf_reasons(clf))
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


def _features(table: pd.DataFrame, left_out: set[str | None]) -> pd.DataFrame:
    """Take the columns to learn from; those left out must be there."""
    for name in left_out - {None}:
        _tables.column_of(table, str(name))
    names = [name for name in table.columns if name not in left_out]
    if not names:
        raise ValueError("No column is left to learn from.")
    return table[names]
