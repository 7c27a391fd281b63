"""The tree as text, in the user's feature names, values and units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from miptree._predicting import TreePredictor
from miptree._typing import FloatArray
from miptree.table import Table
from miptree.tree import ObliqueTree


def export_text(
    tree: ObliqueTree | TreePredictor,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    digits: int = 4,
) -> str:
    """Write a tree as indented rules.

    Parameters
    ----------
    tree : OptimalTreeClassifier, rival of ``miptree.baselines``, or ObliqueTree
        A fitted classifier, which knows its columns, values and classes, or a tree.
    feature_names : sequence of str, optional
        Names of the columns of a tree, by default ``x[0]``, ``x[1]``, ...; a
        classifier has its own.
    class_names : sequence, optional
        Names of the classes, by default those of the classifier, or indices.
    digits : int, default=4
        Significant digits shown; the tree itself is not rounded.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from miptree.tree import HeapTree
    >>> heap = HeapTree(np.array([[1.5, -1.0]]), np.array([3.0]), np.array([0, 1]))
    >>> print(export_text(ObliqueTree.from_heap(heap), ["width", "height"]))
    1.5 width - 1 height <= 3
    ├─ yes: class 0
    └─ no:  class 1
    """
    table = None
    if not isinstance(tree, ObliqueTree):
        check_is_fitted(tree)
        class_names = tree.classes_.tolist() if class_names is None else class_names
        if feature_names is None:
            feature_names = getattr(tree, "feature_names_in_", None)
        table, tree = getattr(tree, "table_", None), tree.tree_
    names: Sequence[str]
    if table is None:
        names = _names(feature_names, tree.n_features, "feature_names")
    else:
        names = table.open_names
    n_classes = int(tree.label.max()) + 1
    classes = class_names if class_names is not None else range(n_classes)
    if len(classes) < n_classes:
        raise ValueError(
            f"class_names must name at least {n_classes} classes, got {len(classes)}."
        )

    def lines(node: int) -> list[str]:
        if tree.is_leaf[node]:
            return [printable(f"class {classes[tree.label[node]]}")]
        coef, threshold = tree.coef[node], float(tree.threshold[node])
        if table is not None and coef[len(names) :].any():
            rule = _subset(table, coef[len(names) :])
        else:
            rule = f"{_linear(coef, names, digits)} <= {threshold:.{digits}g}"
        yes = lines(int(tree.children_left[node]))
        no = lines(int(tree.children_right[node]))
        return [
            printable(rule),
            f"├─ yes: {yes[0]}",
            *(f"│       {line}" for line in yes[1:]),
            f"└─ no:  {no[0]}",
            *(f"        {line}" for line in no[1:]),
        ]

    return "\n".join(lines(0))


def printable(text: object) -> str:
    """Text on one line, whose control characters cannot steer a terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text)
    )


def _names(given: Sequence[str] | None, n: int, parameter: str) -> list[str]:
    if given is None:
        return [f"x[{j}]" for j in range(n)]
    if len(given) != n:
        raise ValueError(f"{parameter} must have {n} names, got {len(given)}.")
    return [str(name) for name in given]


def _subset(table: Table, coef: FloatArray) -> str:
    """Write a subset split, such as ``colour in {red, blue}``.

    ``not in`` where all values but some go left: also those that training did not meet.
    """
    used = np.flatnonzero(coef)
    column = table.features[table.value_feature[used[0]]].name
    values = ", ".join(table.value_names[place] for place in used)
    return f"{column} {'in' if coef[used[0]] < 0 else 'not in'} {{{values}}}"


def _linear(coef: FloatArray, names: Sequence[str], digits: int) -> str:
    """Write a linear form, such as ``1.5 width - 1 height``."""
    used = np.flatnonzero(coef).tolist()
    if not used:
        return "0"
    text = ""
    for j in used:
        sign = "-" if coef[j] < 0 else "+"
        text += f" {sign} {abs(coef[j]):.{digits}g} {names[j]}"
    return text.removeprefix(" + ") if text.startswith(" + ") else "-" + text[3:]
