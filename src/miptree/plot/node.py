"""One split: how the scores of its rows lie on both sides of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from miptree.estimator import OptimalTreeClassifier
from miptree.export._rules import Branch
from miptree.export.text import shown_rules, split_text
from miptree.plot._common import FAINT, INK, axes_or_new, codes_of, colour, plain_text
from miptree.utils.arrays import BoolArray, FloatArray

_BINS = 40


def node_scores(
    clf: OptimalTreeClassifier, Z: FloatArray, node: int
) -> tuple[FloatArray, BoolArray, float]:
    """Scores ``x @ coef - threshold`` at a split, who reaches it, and the margin.

    Returns
    -------
    score : float array of shape (n_samples,)
    reaches : bool array of shape (n_samples,)
    margin : float
        epsilon in the units of the scores, whose box is that of the rows given.
    """
    tree = clf.tree_
    score: FloatArray = Z @ tree.coef[node] - tree.threshold[node]
    reaches = tree.ancestors[tree.apply(Z)][:, node]
    largest = float(np.abs(score).max(initial=0.0))
    margin = getattr(clf.certificate_, "margin", 0.0)  # a baseline may know none
    return score, reaches, margin * max(1.0, largest)


def plot_node(
    clf: OptimalTreeClassifier,
    X: ArrayLike,
    y: ArrayLike,
    node: int = 0,
    *,
    ax: Any = None,
) -> Any:
    """Draw a histogram of the scores of the rows that reach a split, by class.

    Rows with a score of at most 0 go left. The band is the margin that the objective
    asks rows to keep.

    Parameters
    ----------
    clf : OptimalTreeClassifier
        A fitted one.
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
    rules, digits = shown_rules(clf)
    found = [branch for branch in rules.branches if branch.node == node]
    if not found:
        splits = ", ".join(str(branch.node) for branch in rules.branches)
        raise ValueError(f"Node {node} is no split of the tree; splits are {splits}.")
    Z = clf._validated(X)
    codes = codes_of(clf, y, len(Z))
    score, reaches, margin = node_scores(clf, Z, node)
    ax = axes_or_new(ax, (7.0, 3.6))
    by_class = [score[reaches & (codes == k)] for k in range(len(clf.classes_))]
    here = score[reaches] if reaches.any() else np.zeros(1)
    reach = max(float(np.abs(here).max()), margin) or 1.0
    low, high = min(float(here.min()), -margin), max(float(here.max()), margin)
    width = (high - low) / _BINS or reach / _BINS
    # A bin edge at 0: no bar may stand on both sides of the split.
    edges = width * np.arange(np.floor(low / width), np.ceil(high / width) + 1)
    ax.hist(
        by_class,
        bins=edges,
        stacked=True,
        color=[colour(k) for k in range(len(by_class))],
        label=[plain_text(name) for name in clf.classes_],
    )
    ax.axvspan(-margin, margin, color=FAINT, alpha=0.25, linewidth=0, label="margin")
    ax.axvline(0, color=INK, linewidth=1.2)
    _say_sides(ax, found[0], rules.classes)
    ax.set_xlabel("score: left where at most 0")
    ax.set_ylabel("rows")
    title = plain_text(split_text(rules, found[0], digits), 90)
    ax.set_title(f"node {node}: {title}", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)
    return ax


def _say_sides(ax: Any, branch: Branch, classes: list[Any]) -> None:
    for child, x, where in ((branch.left, 0.01, "left"), (branch.right, 0.99, "right")):
        text = f"to node {child.node}"
        if not isinstance(child, Branch):
            text += f": {plain_text(classes[child.label], 20)}"
        text = f"← {text}" if where == "left" else f"{text} →"
        ax.text(x, 0.97, text, transform=ax.transAxes, ha=where, va="top", fontsize=8)
