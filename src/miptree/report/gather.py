"""Everything the page shows, as plain values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context

from miptree._version import __version__
from miptree.classifiers.predictor import TreePredictor
from miptree.data import Cells, read_cells
from miptree.data.columns import show_value
from miptree.evaluate import Evaluation, codes_of, evaluate
from miptree.export.describe import is_points_tree, readable
from miptree.export.readable import Member, ReadableTree, readable_tree
from miptree.export.text import certificate_facts
from miptree.report.form import form_facts
from miptree.report.nodes import nodes_of, plain_values
from miptree.report.scorecard import scorecard
from miptree.utils.arrays import FloatArray, IntArray

_MOST_POINTS = 400
"""Points of the trace."""
_MOST_NODES = 255
"""A larger tree is no longer one to look at."""


def gather(
    clf: TreePredictor,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    test: tuple[Any, ArrayLike] | None,
) -> dict[str, Any]:
    """Gather what the page shows of a model and its data."""
    if clf.tree_.n_nodes > _MOST_NODES:
        raise ValueError(
            f"A page shows trees of up to {_MOST_NODES} nodes, this one has "
            f"{clf.tree_.n_nodes}. Use export_text."
        )
    Z = clf.tree_inputs(X)
    codes = codes_of(clf, y, len(Z))
    _refuse_one_class(clf, codes)
    rules = readable_tree(clf)
    is_points = is_points_tree(rules)
    rules = readable(rules) if is_points else rules
    cells = read_cells(X if hasattr(X, "columns") else np.asarray(X))
    found = evaluate(clf, X, y)
    return {
        "version": __version__,
        "classes": [str(name) for name in rules.classes],
        "n_rows": len(Z),
        "n_columns": len(rules.columns),
        "are_fitted": _are_fitted(clf, found),
        "columns": [_column(rules, cells[j], j) for j in rules.used],
        "refuses": {
            "missing": rules.refuses_missing,
            "unknown": rules.refuses_unknown,
        },
        "nodes": nodes_of(clf, rules, Z, codes, found.node_counts, cells),
        "scorecard": scorecard(rules, clf.fitted_.node_count) if is_points else None,
        "certificate": list(certificate_facts(clf).items()),
        "accuracy": _accuracy(clf, Z, codes, sample_weight, test),
        "confusion": found.confusion.tolist(),
        "test_confusion": test and evaluate(clf, *test).confusion.tolist(),
        "trace": _trace(clf),
        "form": form_facts(clf),
    }


def _refuse_one_class(clf: TreePredictor, codes: IntArray) -> None:
    if (codes == codes[0]).all():
        label = clf.classes_.tolist()[codes[0]]
        raise ValueError(
            "A report compares the tree with models that need rows of two classes, but "
            f"all rows are of class {label!r}. Give the rows of the fit."
        )


# --------------------------------------------------------------------------- columns


def _column(rules: ReadableTree, cells: Cells, j: int) -> dict[str, Any]:
    """Describe a column for the form: its kind, its values, and a typical one."""
    column: dict[str, Any] = {"id": j, "name": rules.name(j)}
    if not rules.is_category(j):
        numbers = np.asarray(cells.numbers, dtype=np.float64)
        there = numbers[~np.isnan(numbers)]
        typical = float(np.sort(there)[len(there) // 2]) if len(there) else None
        return column | {"kind": "number", "typical": typical}
    known = Member(j, rules.known_values(j))
    values = known.present
    given = [value for value in cells.as_values() if value is not None]
    # Of values that are equally frequent, the first one given.
    typical_value = Counter(given).most_common(1)[0][0] if given else None
    return column | {
        "kind": "category",
        "values": plain_values(known),
        "shown": [show_value(value) for value in values],
        "typical": values.index(typical_value) if typical_value in values else -1,
    }


# -------------------------------------------------------------------------- figures


def _are_fitted(clf: TreePredictor, found: Evaluation) -> bool:
    """Tell whether the rows can be those of the fit: as many, with as many errors.

    Errors at rows of weight 0 did not count there, so there may be more of them.
    """
    certificate = clf.certificate_
    more_errors = found.n_rows - found.n_right - certificate.errors
    if found.n_rows != certificate.n_rows + certificate.n_unweighted:
        return False
    return 0 <= more_errors <= certificate.n_unweighted


def _accuracy(
    clf: TreePredictor,
    Z: FloatArray,
    codes: IntArray,
    weight: ArrayLike | None,
    test: tuple[Any, ArrayLike] | None,
) -> list[dict[str, Any]]:
    """Compare the tree with other models fitted on the same rows."""
    others = usual_models(max(1, int(clf.certificate_.depth)))
    cart, logistic = others.values()
    cart.fit(Z, codes, sample_weight=weight)
    with config_context(enable_metadata_routing=False):  # which takes no such name
        logistic.fit(Z, codes, logisticregression__sample_weight=weight)
    rows = [(Z, codes)]
    if test is not None:
        test_rows = clf.tree_inputs(test[0])
        rows.append((test_rows, codes_of(clf, test[1], len(test_rows))))
    return [
        {
            "name": name,
            "shares": [float(np.mean(model.predict(X) == y)) for X, y in rows],
        }
        for name, model in {"this tree": clf.tree_, **others}.items()
    ]


def usual_models(depth: int) -> dict[str, Any]:
    """Make CART of a depth and logistic regression, to compare a tree with."""
    # They are imported only where a report is wanted.
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return {
        f"CART, depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0),
        "logistic regression": logistic,
    }


def _trace(clf: TreePredictor) -> list[list[Any]]:
    states = [state for state in clf.trace_ if state.stage != "compile"]
    step = max(1, -(-len(states) // _MOST_POINTS))
    kept = states[::step] + (states[-1:] if states and (len(states) - 1) % step else [])
    return [[s.seconds, s.objective, s.bound, s.errors, s.stage] for s in kept]
