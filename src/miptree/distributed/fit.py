"""The fit of a tree to a table that need not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from miptree.classifiers.points_parameters import check_depth
from miptree.control.clock import Clock
from miptree.distributed._client import Fitting
from miptree.distributed._dask import Partitions
from miptree.distributed._files import open_table, refuse_lost_columns
from miptree.distributed._frame import Columns
from miptree.distributed._points import PointsFitting
from miptree.distributed._ruled import RuledFitting, refuse_constraints
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_points import PointsTreeClassifier


def fit(
    data: Any,
    target: str,
    client: Any = None,
    *,
    classifier: OptimalTreeClassifier | PointsTreeClassifier | None = None,
    weights: str | None = None,
    drop: Sequence[str] = (),
    max_rows: int = 20_000,
    sensitive: str | Sequence[str] | None = None,
    control: str | Sequence[str] | None = None,
) -> OptimalTreeClassifier | PointsTreeClassifier:
    """Fit a tree to a table that need not fit into memory.

    Every partition is summarised and sampled where it lies. The client trains on the
    rows chosen, at most about ``max_rows``; its best trees are scored on all
    partitions, and the one whose errors cost least on *all* rows wins. Rows that it
    gets wrong join the next of ``classifier.max_rounds`` rounds.

    A points tree is chosen for one stratified sample of ``max_rows`` rows. Its leaves
    are labelled and its cost is counted on all rows, of which nothing is proved.

    Parameters
    ----------
    data : dask DataFrame or str
        The table, or a pattern of Parquet or CSV files such as ``"parts/*.parquet"``.
        All columns but the target are features, and must be numbers or truth values.
    target : str
        Column of the class labels.
    client : distributed.Client, optional
        A Dask cluster; by default threads of this process, which hold a few
        partitions in memory at a time.
    classifier : OptimalTreeClassifier or PointsTreeClassifier, optional
        Its parameters are used, ``selection`` ("hull", "cover" or a selector; None,
        "stratified" and "auto" are a stratified sample) among them; ``class_weight``
        (of an oblique tree) and ``categorical_features`` are refused. It is not
        changed. Its callback is told of the end only, that of a points tree also of
        the search on the sample. Every fit makes at least five passes over the data
        (that of a points tree three), whatever its ``time_limit``; Ctrl-C keeps the
        best tree so far.
    weights : str, optional
        Column of the weights of the rows.
    drop : sequence of str, default=()
        Columns to leave out.
    max_rows : int, default=20000
        Rows that the client trains on.
    sensitive, control : str or sequence of str, optional
        Columns of the groups that ``classifier.constraints`` compare. No split uses
        them. Of constraints those that need only counts work here: rates, parities,
        ``MaxCost`` and ``MinLeaf``. The tree keeps them on all rows; it is trained in
        one round, on a stratified sample.

    Returns
    -------
    OptimalTreeClassifier or PointsTreeClassifier
        Fitted. Its certificate counts the errors and the objective of all rows.

    Notes
    -----
    With ``time_limit=None`` and a ``max_iter`` the result depends on the data, the
    partitions and the seed alone: not on the client, the workers, or workers that
    were lost on the way.
    """
    if classifier is None:
        classifier = OptimalTreeClassifier()
    if not isinstance(classifier, (OptimalTreeClassifier, PointsTreeClassifier)):
        raise ValueError(
            "Out of memory only an OptimalTreeClassifier or a PointsTreeClassifier can "
            f"be trained, got {type(classifier).__name__}. Give one of these, or fit "
            "that to a sample of the rows in memory."
        )
    classifier = clone(classifier)
    classifier._validate_params()
    clock = Clock(classifier.time_limit)
    _refuse_options(classifier)
    if max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {max_rows!r}.")
    table = open_table(data)
    names = [str(name) for name in table.columns]
    groups = (*_names(sensitive), *_names(control))
    refuse_lost_columns(table, (target, weights, *drop, *groups))
    table = table.drop(columns=[name for name in drop if name not in groups])
    left_out = {target, weights, *drop, *groups}
    features = tuple(name for name in names if name not in left_out)
    if not features:
        raise ValueError("No column is left to learn from.")
    truths = _truth_columns(table, features, classifier)
    constraints = tuple(getattr(classifier, "constraints", None) or ())
    columns = Columns(
        features,
        target,
        weights,
        truths,
        _names(sensitive),
        _names(control),
        bool(constraints),
    )
    if groups and not constraints:
        table = table.drop(columns=list(groups))
        columns = replace(columns, sensitive=(), control=())
    partitions = Partitions(table, client)
    if isinstance(classifier, PointsTreeClassifier):
        return PointsFitting(partitions, columns, classifier, max_rows, clock).run()
    given = partitions, columns, classifier, max_rows, clock
    classifier.constraints_ = constraints
    if constraints:
        return RuledFitting(*given, constraints=constraints).run()
    return Fitting(*given).run()


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of columns, of which one may be given as it is."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def _refuse_options(clf: OptimalTreeClassifier | PointsTreeClassifier) -> None:
    """Refuse what cannot be done without all rows at hand."""
    asked = clf.categorical_features
    if asked is not None and not isinstance(asked, str):
        raise ValueError(
            "categorical_features is not supported out of memory, got "
            f"{asked!r}. Encode categories as 0/1 columns (dask.dataframe.get_dummies) "
            "and leave it at 'from_dtype'; columns of truth values are categories."
        )
    if isinstance(clf, PointsTreeClassifier):
        check_depth(clf)
        return
    if clf.constraints:
        refuse_constraints(clf.constraints)
        if clf.selection not in (None, "auto", "stratified"):
            raise ValueError(
                "Out of memory constraints go with a stratified sample, got selection="
                f"{clf.selection!r}. Set selection=None."
            )
    if clf.class_weight is not None:
        raise ValueError(
            "class_weight is not supported out of memory: multiply it into a column of "
            "weights, and name that with weights=..."
        )
    if clf.solver != "search" and (clf.time_limit, clf.node_limit) == (None, None):
        raise ValueError(
            "time_limit=None leaves the MIP of every round without a limit, got "
            f"solver={clf.solver!r}. Set a node_limit, or solver='search'."
        )


def _truth_columns(
    table: Any,
    features: Sequence[str],
    clf: OptimalTreeClassifier | PointsTreeClassifier,
) -> frozenset[str]:
    """Return the features that hold truth values; refuse categories and text."""
    import pandas as pd

    truths = set()
    for name, dtype in zip(map(str, table.columns), table.dtypes, strict=True):
        if name not in features:
            continue
        if isinstance(dtype, pd.CategoricalDtype):
            raise ValueError(
                f"Column {name!r} is of a category type, which is not supported out of "
                "memory. Encode it as 0/1 columns (dask.dataframe.get_dummies), or "
                "leave it out with drop=[...] (--drop)."
            )
        if pd.api.types.is_bool_dtype(dtype):
            truths.add(name)
        elif not pd.api.types.is_numeric_dtype(dtype):
            raise ValueError(
                f"Column {name!r} is of type {dtype}, but out of memory columns must "
                "hold numbers or truth values. Encode it as numbers, or leave it out "
                "with drop=[...] (--drop)."
            )
    if truths and clf.categorical_features is None:
        raise ValueError(
            f"Column {min(truths)!r} holds truth values, but categorical_features is "
            "None. Set it to 'from_dtype', or turn the column into numbers."
        )
    return frozenset(truths)
