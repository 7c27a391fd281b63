"""One split: how the scores of its rows lie on both sides of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from miptree.classifiers.predictor import TreePredictor
from miptree.evaluate import codes_of, score_histogram
from miptree.export._describe import is_points_tree
from miptree.export._names import number_text
from miptree.export._rules import Branch, rules_of
from miptree.export._shown import shown_rules
from miptree.export._wrap import wrapped
from miptree.export.text import split_text
from miptree.plot._common import FAINT, INK, axes_or_new, colour, finish, plain_text

_BINS = 40
_LETTERS = 14
"""Letters of a title on an inch, counted by the widest that are usual."""


def plot_node(
    clf: TreePredictor,
    X: ArrayLike,
    y: ArrayLike,
    node: int = 0,
    *,
    ax: Any = None,
) -> Any:
    """Draw a histogram of the sums of the rows that reach a split, by class.

    Sums are those of the split as it is the title. The line is its limit, the band the
    margin that the objective asks rows to keep.

    Parameters
    ----------
    clf : fitted classifier of this package
    X, y : array-like
        Rows and labels, usually the training data.
    node : int, default=0
        Index of the split in ``clf.tree_``; 0 is the root.
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(clf)
    rules, digits, _ = shown_rules(clf)
    if is_points_tree(rules):
        rules = rules_of(clf)  # with the sides that the scores have
    found = [branch for branch in rules.branches if branch.node == node]
    if not found:
        splits = ", ".join(str(branch.node) for branch in rules.branches)
        raise ValueError(f"Node {node} is no split of the tree; splits are {splits}.")
    Z = clf.tree_inputs(X)
    codes = codes_of(clf, y, len(Z))
    edges, counts, margin = score_histogram(clf, Z, codes, node, _BINS)
    split, exact = found[0], float(clf.tree_.threshold[node])
    edges, limit = (edges + exact) / split.unit, exact / split.unit
    margin /= abs(split.unit)
    if (
        split.unit < 0
    ):  # the rule has opposite signs, so that left is where sums are high
        edges, counts = edges[::-1], counts[:, ::-1]
    ax = axes_or_new(ax, (7.0, 3.6))
    below = counts.cumsum(axis=0) - counts
    for k, name in enumerate(clf.classes_):
        style = {"color": colour(k), "label": plain_text(name), "align": "edge"}
        ax.bar(edges[:-1], counts[k], np.diff(edges), below[k], **style)
    if margin > 0:
        style = {"color": FAINT, "label": "margin"}
        ends = limit - margin, limit + margin
        ax.axvspan(*ends, alpha=0.25, linewidth=0, **style)
    ax.axvline(limit, color=INK, linewidth=1.2)
    _say_sides(ax, split, rules.classes)
    side = "most" if split.unit > 0 else "least"
    shown = number_text(split.threshold, digits)
    finish(ax, f"sum: yes where it is at {side} {shown}", "rows", "")
    title = f"node {node}: {split_text(rules, split, digits)}"
    letters = int(_LETTERS * ax.get_window_extent().width / ax.figure.dpi)
    lines = wrapped(title, letters, "    ")
    lines = [plain_text(line, len(line)) for line in lines]
    ax.set_title("\n".join(lines), fontsize=9, multialignment="left")
    return ax


def _say_sides(ax: Any, branch: Branch, classes: list[Any]) -> None:
    """Write on both sides where its rows go."""
    low, high = branch.left, branch.right
    if branch.unit < 0:
        low, high = high, low
    for child, x, where in ((low, 0.01, "left"), (high, 0.99, "right")):
        text = f"to node {child.node}"
        if not isinstance(child, Branch):
            text += f": {plain_text(classes[child.label], 20)}"
        text = f"← {text}" if where == "left" else f"{text} →"
        ax.text(x, 0.97, text, transform=ax.transAxes, ha=where, va="top", fontsize=8)
