"""The tree as text, in the user's feature names and units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree._typing import FloatArray
from miptree.tree import ObliqueTree


def export_text(
    tree: ObliqueTree,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    digits: int = 4,
) -> str:
    """Write a tree as indented rules.

    Parameters
    ----------
    tree : ObliqueTree
        For example ``clf.tree_``.
    feature_names : sequence of str, optional
        Names of the columns, by default ``x[0]``, ``x[1]``, ...
    class_names : sequence, optional
        Names of the classes, by default their indices.
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
    names = _names(feature_names, tree.n_features, "feature_names")
    n_classes = int(tree.label.max()) + 1
    classes = class_names if class_names is not None else range(n_classes)
    if len(classes) < n_classes:
        raise ValueError(
            f"class_names must name at least {n_classes} classes, got {len(classes)}."
        )

    def lines(node: int) -> list[str]:
        if tree.is_leaf[node]:
            return [f"class {classes[tree.label[node]]}"]
        rule = f"{_linear(tree.coef[node], names, digits)} <= "
        rule += f"{tree.threshold[node]:.{digits}g}"
        yes = lines(int(tree.children_left[node]))
        no = lines(int(tree.children_right[node]))
        return [
            rule,
            f"├─ yes: {yes[0]}",
            *(f"│       {line}" for line in yes[1:]),
            f"└─ no:  {no[0]}",
            *(f"        {line}" for line in no[1:]),
        ]

    return "\n".join(lines(0))


def _names(given: Sequence[str] | None, n: int, parameter: str) -> list[str]:
    if given is None:
        return [f"x[{j}]" for j in range(n)]
    if len(given) != n:
        raise ValueError(f"{parameter} must have {n} names, got {len(given)}.")
    return [str(name) for name in given]


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
