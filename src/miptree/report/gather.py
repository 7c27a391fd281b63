"""Everything the page shows, as plain values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from miptree._version import __version__
from miptree.data import Cells, read_cells
from miptree.data.columns import show_value
from miptree.estimator import OptimalTreeClassifier
from miptree.evaluate import Evaluation, evaluate
from miptree.export._rules import Branch, Leaf, Member, Missing, Rules, rules_of
from miptree.export.text import atom_text, number_text, shown_rules, split_text
from miptree.plot._common import codes_of
from miptree.plot.node import node_scores
from miptree.utils.arrays import FloatArray, IntArray

_BINS = 30
_EXAMPLES = 5
_MOST_POINTS = 400
"""Points of the trace."""
_MOST_NODES = 255
"""A larger tree is no longer one to look at."""


def gather(
    clf: OptimalTreeClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    test: tuple[Any, ArrayLike] | None,
) -> dict[str, Any]:
    """Facts about a model and its data."""
    if clf.tree_.n_nodes > _MOST_NODES:
        raise ValueError(
            f"A page shows trees of up to {_MOST_NODES} nodes, this one has "
            f"{clf.tree_.n_nodes}. Use export_text."
        )
    Z = clf._validated(X)
    codes = codes_of(clf, y, len(Z))
    _refuse_one_class(clf, codes)
    rules = rules_of(clf)
    cells = read_cells(X if hasattr(X, "columns") else np.asarray(X))
    found = evaluate(clf, X, y)
    return {
        "version": __version__,
        "classes": [str(name) for name in rules.classes],
        "n_rows": len(Z),
        "are_fitted": _are_fitted(clf, found, sample_weight),
        "columns": [_column(rules, cells[j], j) for j in rules.used],
        "refuses": {
            "missing": rules.refuses_missing,
            "unknown": rules.refuses_unknown,
        },
        "nodes": _nodes(clf, rules, Z, codes, found.node_counts, cells),
        "certificate": _certificate(clf),
        "accuracy": _accuracy(clf, Z, codes, sample_weight, test),
        "confusion": found.confusion.tolist(),
        "trace": _trace(clf),
    }


def _refuse_one_class(clf: OptimalTreeClassifier, codes: IntArray) -> None:
    if (codes == codes[0]).all():
        label = clf.classes_.tolist()[codes[0]]
        raise ValueError(
            "A report compares the tree with models that need rows of two classes, but "
            f"all rows are of class {label!r}. Give the rows of the fit."
        )


# --------------------------------------------------------------------------- columns


def _column(rules: Rules, cells: Cells, j: int) -> dict[str, Any]:
    """A column for the form: its kind, its values, and a typical one."""
    column: dict[str, Any] = {"id": j, "name": rules.name(j)}
    if not rules.is_category(j):
        numbers = np.asarray(cells.numbers, dtype=np.float64)
        there = numbers[~np.isnan(numbers)]
        typical = float(np.sort(there)[len(there) // 2]) if len(there) else None
        return column | {"kind": "number", "typical": typical}
    values = [value for value in rules.known_values(j) if value is not None]
    plain = [value if isinstance(value, str) else float(value) for value in values]
    given = [value for value in cells.as_values() if value is not None]
    # Of values that are equally frequent, the first one given.
    typical_value = Counter(given).most_common(1)[0][0] if given else None
    return column | {
        "kind": "category",
        "values": plain,
        "shown": [show_value(value) for value in values],
        "typical": values.index(typical_value) if typical_value in values else -1,
    }


# ----------------------------------------------------------------------------- nodes


def _nodes(
    clf: OptimalTreeClassifier,
    rules: Rules,
    Z: FloatArray,
    codes: IntArray,
    counts: IntArray,
    cells: list[Cells],
) -> list[dict[str, Any]]:
    """The nodes in the order of ``tree_``, exact, and what is shown of them."""
    shown, digits = shown_rules(clf)
    by_number = {node.node: node for node in shown.nodes}
    spread = Z.std(axis=0)
    leaf = clf.tree_.apply(Z)
    found: dict[int, dict[str, Any]] = {}
    for node in rules.nodes:
        entry: dict[str, Any] = {
            "id": node.node,
            "counts": counts[node.node].tolist(),
            "depth": int(clf.tree_.node_depth[node.node]),
        }
        if isinstance(node, Leaf):
            entry |= {
                "label": node.label,
                "proba": clf._node_proba[node.node].tolist(),
                "examples": _examples(rules, cells, np.flatnonzero(leaf == node.node)),
            }
        else:
            short = by_number[node.node]
            entry |= _split(rules, node, short, digits)
            entry["bars"] = _bars(clf, spread, node, rules)
            entry["histogram"] = _histogram(clf, Z, codes, node.node)
        found[node.node] = entry
    return [found[number] for number in sorted(found)]


def _split(
    rules: Rules, node: Branch, short: Branch | Leaf, digits: int
) -> dict[str, Any]:
    text = split_text(rules, short, digits) if isinstance(short, Branch) else ""
    terms = []
    for coef, atom in node.terms:
        term: dict[str, Any] = {"coef": coef, "column": atom.column}
        if isinstance(atom, Member):
            values = [v for v in atom.values if v is not None]
            plain = [v if isinstance(v, str) else float(v) for v in values]
            term |= {"kind": "member", "values": plain, "gap": None in atom.values}
        elif isinstance(atom, Missing):
            term["kind"] = "missing"
        else:
            term |= {"kind": "number", "fill": atom.fill}
        terms.append(term)
    return {
        "text": text,
        "terms": terms,
        "threshold": node.threshold,
        "left": node.left.node,
        "right": node.right.node,
    }


def _bars(
    clf: OptimalTreeClassifier, spread: FloatArray, node: Branch, rules: Rules
) -> list[dict[str, Any]]:
    """Coefficients times the spread of their columns, the largest first."""
    if node.question is not None:
        return []
    used = np.flatnonzero(clf.tree_.coef[node.node])
    sizes = clf.tree_.coef[node.node][used] * spread[used]
    bars = [
        {
            "name": atom_text(rules, atom),
            "coef": number_text(coef, 4),
            "size": float(size),
        }
        for (coef, atom), size in zip(node.terms, sizes, strict=True)
    ]
    return sorted(bars, key=lambda bar: -abs(bar["size"]))


def _histogram(
    clf: OptimalTreeClassifier, Z: FloatArray, codes: IntArray, node: int
) -> dict[str, Any]:
    """Scores of the rows that reach a split, by class; a bin edge lies at 0."""
    score, reaches, margin = node_scores(clf, Z, node)
    here = score[reaches]
    low = min(float(here.min(initial=0.0)), -margin)
    high = max(float(here.max(initial=0.0)), margin)
    width = (high - low) / _BINS or 1.0
    first, last = int(np.floor(low / width)), int(np.ceil(high / width))
    edges = width * np.arange(first, last + 1)
    # Left is <= 0: a score of 0 belongs to the bin that ends there.
    place = np.clip(np.ceil(here / width).astype(int) - 1 - first, 0, last - first - 1)
    counts = np.zeros((len(clf.classes_), last - first), dtype=np.intp)
    np.add.at(counts, (codes[reaches], place), 1)
    return {"edges": edges.tolist(), "counts": counts.tolist(), "margin": margin}


def _examples(rules: Rules, cells: list[Cells], rows: IntArray) -> list[list[str]]:
    """Some rows of a leaf, taken evenly: the cells of the columns that splits read."""
    chosen = rows[np.linspace(0, len(rows) - 1, min(_EXAMPLES, len(rows))).astype(int)]
    return [[_cell(cells[j], int(row)) for j in rules.used] for row in chosen]


def _cell(cells: Cells, row: int) -> str:
    if cells.numbers is not None:
        number = float(cells.numbers[row])
        return "" if np.isnan(number) else f"{number:.6g}"
    value = cells.as_values()[row]
    return "" if value is None else show_value(value)


# -------------------------------------------------------------------------- figures


def _are_fitted(
    clf: OptimalTreeClassifier, found: Evaluation, weight: ArrayLike | None
) -> bool:
    """Whether the rows can be those of the fit: as many, with as many errors.

    Rows of weight 0 did not count there, so with weights there may be more of both.
    """
    certificate = clf.certificate_
    n_rows, n_wrong = found.n_rows, found.n_rows - found.n_right
    if weight is not None and not np.all(np.asarray(weight) > 0):
        return n_rows > certificate.n_rows and n_wrong >= certificate.errors
    return (n_rows, n_wrong) == (certificate.n_rows, certificate.errors)


def _certificate(clf: OptimalTreeClassifier) -> list[list[str]]:
    found = clf.certificate_
    at_margin = getattr(found, "errors_bound", None)  # a baseline's has none
    least, cost = "no tree that keeps the margin has fewer than", []
    if not np.isclose(found.cost, found.errors, rtol=1e-9):
        least = "no tree that keeps the margin has a lower cost than"
        cost = [["what they cost", f"{found.cost:.6g}"]]
    return [
        ["errors on the training rows", f"{found.errors:,} of {found.n_rows:,}"],
        *cost,
        *([[least, f"{at_margin:.6g}"]] if at_margin is not None else []),
        ["objective, recounted by prediction", f"{found.objective:.6g}"],
        ["no tree is below", f"{found.objective_bound:.6g}"],
        ["gap", f"{100 * found.gap:.3g} %"],
        ["proved optimal", "yes" if found.objective_optimal else "no"],
        ["proved by", found.objective_proved_by],
        ["status", f"{clf.status_}, after {clf.fit_time_:.1f} s"],
    ]


def _accuracy(
    clf: OptimalTreeClassifier,
    Z: FloatArray,
    codes: IntArray,
    weight: ArrayLike | None,
    test: tuple[Any, ArrayLike] | None,
) -> list[dict[str, Any]]:
    """The tree beside CART of its depth and logistic regression, on the same rows."""
    depth = max(1, int(clf.certificate_.depth))
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0)
    cart.fit(Z, codes, sample_weight=weight)
    logistic.fit(Z, codes, logisticregression__sample_weight=weight)
    rows = [(Z, codes)]
    if test is not None:
        test_rows = clf._validated(test[0])
        rows.append((test_rows, codes_of(clf, test[1], len(test_rows))))
    found = []
    for name, model in (
        ("this tree", clf.tree_),
        (f"CART, depth {depth}", cart),
        ("logistic regression", logistic),
    ):
        shares = [float(np.mean(model.predict(data) == truth)) for data, truth in rows]
        found.append({"name": name, "shares": shares})
    return found


def _trace(clf: OptimalTreeClassifier) -> list[list[Any]]:
    states = [state for state in clf.trace_ if state.stage != "compile"]
    step = max(1, -(-len(states) // _MOST_POINTS))
    kept = states[::step] + (states[-1:] if states and (len(states) - 1) % step else [])
    return [[s.seconds, s.objective, s.bound, s.errors, s.stage] for s in kept]
