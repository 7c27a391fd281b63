"""``miptree fit``: its options, and the order of its work."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import Annotated

import typer

from miptree.commands._app import app, plain_errors, say
from miptree.commands._file_options import reads_table
from miptree.commands._fit_options import Given, checked_style
from miptree.commands._fit_rows import ColumnChoice
from miptree.commands._fitting import (
    fitted_by_dask,
    fitted_in_memory,
    new_classifier,
    show_fitted,
)
from miptree.commands._model_rows import TABLE_HELP, Details, Force
from miptree.commands._outputs import refuse_model_name, refuse_outputs
from miptree.commands._rules import FAIRNESS, GivenRules
from miptree.data import ENCODINGS
from miptree.data.files import FileOptions
from miptree.export import save_json
from miptree.fit.plan import PROOFS
from miptree.mip.solvers import SOLVERS
from miptree.selection import SELECTORS

# What --help shows the options of a fit under.
COLUMNS, TRAINING, COSTS = "Columns", "Training", "Costs of errors"
RULES, PROOF = "Rules that the tree must keep", "Proof"


@app.command()
@plain_errors
@reads_table
def fit(
    data: Annotated[str, typer.Argument(help=f"{TABLE_HELP} For Dask a pattern.")],
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
        typer.Option(
            help=f"One of {', '.join(SOLVERS)}, search; by default highs.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            help="Column of the weights of the rows.", rich_help_panel=COLUMNS
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Column to leave out; repeatable.", rich_help_panel=COLUMNS),
    ] = None,
    use: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to learn from though it looks like an id.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of numbers that are categories; repeatable.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    categorical_encoding: Annotated[
        str | None,
        typer.Option(
            help=f"How splits use categories: {', '.join(ENCODINGS)}.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Seed of search and solver.", rich_help_panel=TRAINING
        ),
    ] = 0,
    selection: Annotated[
        str | None,
        typer.Option(
            help=f"Train on chosen rows: {', '.join(SELECTORS)}.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="memory, or dask for tables larger than memory.",
            rich_help_panel=TRAINING,
        ),
    ] = "memory",
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Choose how to train by cross-validation, as --style auto does "
            "anyway; with --style oblique or sparse within that style.",
            rich_help_panel=TRAINING,
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
            "f1_macro, between the two; neg_log_loss, of probabilities; cost.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            help="What it costs to be wrong about a row of a class, such as yes:5; by "
            "default 1. Repeatable.",
            rich_help_panel=COSTS,
        ),
    ] = None,
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            help="balanced: all classes weigh the same in training; or the weight of a "
            "class, such as yes:5, by default 1. Repeatable.",
            rich_help_panel=COSTS,
        ),
    ] = None,
    l1_penalty: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Price of coefficients of an oblique tree: more, fewer terms.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    max_features: Annotated[
        int | None,
        typer.Option(min=1, help="Most features in a split.", rich_help_panel=TRAINING),
    ] = None,
    proof: Annotated[
        str | None,
        typer.Option(
            help=f"What to prove of an oblique tree: {', '.join(PROOFS)} (keeps at it "
            "up to the time limit); by default auto.",
            rich_help_panel=PROOF,
        ),
    ] = None,
    proof_log: Annotated[
        Path | None,
        typer.Option(
            help="File for the proof, for miptree check.", rich_help_panel=PROOF
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the groups that --fair compares; no split uses it. "
            "Repeatable: combinations are groups then.",
            rich_help_panel=RULES,
        ),
    ] = None,
    control: Annotated[
        list[str] | None,
        typer.Option(
            help="Column within whose groups they are compared; repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    fair: Annotated[
        list[str] | None,
        typer.Option(
            help="Largest difference between a group's rate and that of all rows: "
            f"{', '.join(FAIRNESS)}, a colon and a number, such as "
            "demographic-parity:0.05; with :pairs after it, between two groups. "
            "Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            help="Label that --fair, --monotone, --signs are about, if not the second.",
            rich_help_panel=RULES,
        ),
    ] = None,
    min_leaf: Annotated[
        int | None,
        typer.Option(
            min=1, help="Fewest training rows of a leaf.", rich_help_panel=RULES
        ),
    ] = None,
    max_rate: Annotated[
        list[str] | None,
        typer.Option(
            help="Largest share of rows that get a label, such as yes:0.1; "
            "yes:0.05:negatives for the false-positive rate. Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    min_rate: Annotated[
        list[str] | None,
        typer.Option(
            help="Smallest share, likewise; yes:0.9:positives for recall. Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            help="Column that no split uses, but that the model still reads; "
            "repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    monotone: Annotated[
        list[str] | None,
        typer.Option(
            help="Column and +1 or -1, such as 'income:+1'. As it rises (falls), the "
            "prediction never moves away from the --positive label. Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    signs: Annotated[
        list[str] | None,
        typer.Option(
            help="Column and +1 or -1, such as 'debt:-1'. At no split raising it leads "
            "to the side with less (more) of the --positive label. Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Column that splits may use, and no others than those named so; "
            "repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    allow_at: Annotated[
        list[str] | None,
        typer.Option(
            help="The same for the splits of a depth, 0 for the root, or of one node: "
            "depth=0:age or node=2:age. Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    fixed_split: Annotated[
        list[str] | None,
        typer.Option(
            help="A split of your own, its node first, 0 for the root, the sides of "
            "node b being 2b+1 and 2b+2: '0:bmi <= 27' or '1:income - 2 * debt <= 15'. "
            "Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Model file to write.")] = None,
    force: Force = False,
    details: Details = False,
    *,
    file: FileOptions,
) -> None:
    """Fit a tree to a table and save it with its certificate.

    Example: miptree fit iris.csv --target species --depth 2 --out model.json

    How the table is written is found out. Columns that tell rows apart, such as an id,
    are left out unless --use names them.
    By default trees of several styles are compared by cross-validation, and the
    simplest is taken that is about as accurate on new rows as the best.
    With --style points splits are small scorecards, and the best tree is proved.
    With --style oblique, --solver or --proof a tree is trained for one objective, and
    bounds on it are proved.
    With --engine dask the table may be a pattern of files, such as 'parts/*.parquet'; a
    points tree is then chosen for a sample of the rows, and not proved for all of them.
    With --fair, --min-leaf, --max-rate, --min-rate, --forbid, --allow, --allow-at,
    --fixed-split, --monotone or --signs an oblique tree is trained that keeps these
    rules on the training rows, or an error says why there is none. With --tune as well,
    trees that keep them are compared by cross-validation, points trees aside, and it is
    told how the rules fare on new rows.
    """
    rules = GivenRules(
        sensitive=list(dict.fromkeys(sensitive or [])),
        control=list(dict.fromkeys(control or [])),
        fair=fair or [],
        positive=positive,
        min_leaf=min_leaf,
        max_rate=max_rate or [],
        min_rate=min_rate or [],
        forbid=forbid or [],
        monotone=monotone or [],
        allow=allow or [],
        allow_at=allow_at or [],
        fixed_split=fixed_split or [],
        signs=signs or [],
    )
    given = Given(
        tune=tune,
        engine=engine,
        solver=solver,
        selection=selection,
        categorical=categorical,
        categorical_encoding=categorical_encoding,
        proof=proof,
        proof_log=proof_log,
        l1_penalty=l1_penalty,
        rule=rules.option,
        split_rule=rules.split_option,
        depth=depth,
        time_limit=time_limit,
        seed=seed,
        max_features=max_features,
        scoring=scoring,
        cost=cost or [],
        class_weight=class_weight or [],
        is_saved=out is not None,
        force=force,
    )
    columns = ColumnChoice(target, weights, drop or [], use or [], categorical or [])
    outputs = {"--out": out, "--proof-log": proof_log}
    refuse_outputs(outputs, _files_read(data, engine), force)
    refuse_model_name(out)
    rules.refuse_target(target)
    unfitted = new_classifier(given, checked_style(given, style))
    fitted = fitted_by_dask if engine == "dask" else fitted_in_memory
    clf = fitted(unfitted, data, columns, file, given, rules)
    unsaved: OSError | None = None
    if out is not None:  # first of all: showing it may fail
        notes = {"target": target, "weights": weights, **rules.notes}
        try:
            save_json(clf, out, force, metadata=notes)
        except OSError as error:  # such as a full disk: show at least what was found
            unsaved = error
    show_fitted(clf, details)
    is_saved = out is not None and unsaved is None
    say(f"Saved as {out}." if is_saved else "The model is not saved.")
    if unsaved is not None:
        raise unsaved
    if proof_log is not None and clf.certificate_.proof_digest:
        say(f"The proof is in {proof_log}; miptree check tells whether it holds.")


def _files_read(data: str, engine: str) -> list[Path]:
    """Return the table, or with Dask all files of a pattern or a folder."""
    if engine != "dask":
        return [Path(data)]
    return [*map(Path, glob(data)), *Path(data).rglob("*.parquet")]
