"""What ``miptree fit`` trains, on what rows, and what it shows of the tree."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import pandas as pd

from miptree.commands._app import say, show_certificate, show_tree
from miptree.commands._comparison import show_comparison, show_rules, unproved_sentence
from miptree.commands._costs import class_weights, cost_matrix, weights_of_all
from miptree.commands._fit_options import Given, refuse_long_texts
from miptree.commands._fit_rows import (
    ColumnChoice,
    left_out_of_blocks,
    note,
    read_fit_rows,
    refuse_with_dask,
)
from miptree.commands._outputs import unplain_sentence, unsaved_sentence
from miptree.commands._rules import GivenRules
from miptree.data.files import FileOptions
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_cv import OptimalTreeClassifierCV
from miptree.estimator_points import PointsTreeClassifier
from miptree.tuning.style_settings import SPARSE_FEATURES

Classifier: TypeAlias = (
    OptimalTreeClassifier | OptimalTreeClassifierCV | PointsTreeClassifier
)


def new_classifier(given: Given, style: str) -> Classifier:
    """Return the classifier of a style that the options ask for, not fitted yet."""
    clf: Classifier
    if style == "points":
        clf = PointsTreeClassifier()
    elif given.tune or style == "auto":
        clf = OptimalTreeClassifierCV(style=style, n_jobs=-1)
    else:
        clf = OptimalTreeClassifier(
            solver=given.solver or "highs",
            selection=given.selection,
            max_features_per_split=SPARSE_FEATURES if style == "sparse" else None,
        )
    asked = {
        "proof": given.proof,
        "l1_penalty": given.l1_penalty,
        "max_features_per_split": given.max_features,
        "scoring": given.scoring,
        "categorical_encoding": given.categorical_encoding,
    }
    return clf.set_params(
        max_depth=given.depth,
        time_limit=given.time_limit,
        random_state=given.seed,
        verbose=1,
        **{name: value for name, value in asked.items() if value is not None},
    )


def fitted_by_dask(
    clf: Classifier,
    data: str,
    columns: ColumnChoice,
    file: FileOptions,
    given: Given,
    rules: GivenRules,
) -> Classifier:
    """Fit to a table in blocks, which may be larger than memory."""
    if given.cost:
        raise ValueError(
            "--cost works without --engine dask: give distributed.fit a classifier "
            "with a cost_matrix."
        )
    refuse_with_dask(file)
    if given.class_weight:
        clf.set_params(class_weight=weights_of_all(given.class_weight))
    from miptree import distributed
    from miptree.distributed._files import distinct_labels

    if given.rule is not None:
        labels = distinct_labels(data, columns.target)
        clf.set_params(constraints=rules.constraints(labels) or None)
    return distributed.fit(
        data,
        columns.target,
        classifier=clf,
        weights=columns.weights,
        drop=left_out_of_blocks(data, columns, [*rules.sensitive, *rules.control]),
        sensitive=rules.sensitive,
        control=rules.control,
    )


def fitted_in_memory(
    clf: Classifier,
    data: str,
    columns: ColumnChoice,
    file: FileOptions,
    given: Given,
    rules: GivenRules,
) -> Classifier:
    """Fit to a table that is read as a whole."""
    rows, y, weight, is_plain, table = read_fit_rows(Path(data), columns, file)
    if given.proof_log is not None and not is_plain:
        note(unplain_sentence(data))
    if given.class_weight:
        clf.set_params(class_weight=class_weights(given.class_weight, y))
    if given.cost:
        clf.set_params(cost_matrix=cost_matrix(given.cost, y))
    if given.is_saved:
        refuse_long_texts(rows)
    else:
        note(unsaved_sentence(data))
    groups = {}
    if not isinstance(clf, PointsTreeClassifier):
        clf.set_params(constraints=rules.constraints(y) or None)
        groups = rules.groups(table)
    if isinstance(clf, OptimalTreeClassifierCV):
        return clf.fit(rows, y, weight, **groups)
    labels = pd.Series(y, name=columns.target)  # the proof says what it is about
    log = given.proof_log
    return clf.fit(rows, labels, weight, proof_log=log, force=given.force, **groups)


def show_fitted(clf: Classifier, details: bool) -> None:
    """Print the tree, what it was compared with, and what is proved of it."""
    show_tree(clf)
    if isinstance(clf, OptimalTreeClassifierCV):
        show_comparison(clf)
    if isinstance(clf, OptimalTreeClassifierCV) and clf.style_ != "points":
        say(unproved_sentence(clf))
        show_rules(clf)
    else:
        show_certificate(clf, details)
