"""One split: how the scores of its rows lie on both sides of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from miptree.classifiers.predictor import TreePredictor
from miptree.evaluate import codes_of, score_histogram
from miptree.export.cards import Step, steps_of
from miptree.export.conditions import Card
from miptree.export.describe import is_points_tree
from miptree.export.names import number_text
from miptree.export.readable import Branch, Leaf, ReadableTree, atoms_of
from miptree.export.row_points import row_points
from miptree.export.shown import shown_rules
from miptree.export.text import split_text
from miptree.export.wrap import wrapped
from miptree.plot._common import FAINT, INK, axes_or_new, colour, finish, plain_text
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

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
    margin that the objective asks rows to keep. At a card of a points tree the sums are
    the points, at one of its questions there is a bar for each answer.

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
    found = [branch for branch in rules.branches if branch.node == node]
    if not found:
        splits = ", ".join(str(branch.node) for branch in rules.branches)
        raise ValueError(f"Node {node} is no split of the tree; splits are {splits}.")
    Z = clf.tree_inputs(X)
    codes = codes_of(clf, y, len(Z))
    ax = axes_or_new(ax, (7.0, 3.6))
    if is_points_tree(rules):
        _draw_step(ax, clf, rules, steps_of(rules)[node], Z, codes)
    else:
        _draw_sums(ax, clf, found[0], digits, Z, codes)
    title = f"node {node}: {split_text(rules, found[0], digits)}"
    letters = int(_LETTERS * ax.get_window_extent().width / ax.figure.dpi)
    lines = wrapped(title, letters, "    ")
    lines = [plain_text(line, len(line)) for line in lines]
    ax.set_title("\n".join(lines), fontsize=9, multialignment="left")
    return ax


def _draw_sums(
    ax: Any,
    clf: TreePredictor,
    split: Branch,
    digits: int,
    Z: FloatArray,
    codes: IntArray,
) -> None:
    """Draw how the sums of rows lie at a split."""
    edges, counts, margin = score_histogram(clf, Z, codes, split.node, _BINS)
    exact = float(clf.tree_.threshold[split.node])
    edges, limit = (edges + exact) / split.unit, exact / split.unit
    margin /= abs(split.unit)
    low, high = split.left, split.right
    if split.unit < 0:  # the rule has opposite signs: left is where sums are high
        edges, counts = edges[::-1], counts[:, ::-1]
        low, high = high, low
    _draw_bars(ax, clf, edges, counts)
    if margin > 0:
        style = {"color": FAINT, "label": "margin"}
        ends = limit - margin, limit + margin
        ax.axvspan(*ends, alpha=0.25, linewidth=0, **style)
    ax.axvline(limit, color=INK, linewidth=1.2)
    _say_sides(ax, (low, high), clf.classes_)
    side = "most" if split.unit > 0 else "least"
    shown = number_text(split.threshold, digits)
    finish(ax, f"sum: yes where it is at {side} {shown}", "rows", "")


def _draw_step(
    ax: Any,
    clf: TreePredictor,
    rules: ReadableTree,
    step: Step,
    Z: FloatArray,
    codes: IntArray,
) -> None:
    """Draw the points of rows at a card of a points tree, or their answers."""
    split, asks = step.branch, step.asks
    passed = clf.tree_.ancestors[clf.tree_.apply(Z)]
    here = passed[:, split.node]
    if isinstance(asks, Card):
        place, most = row_points(asks, atoms_of(clf.table_), Z[here]), asks.total
        limit = asks.most + 0.5
        asked = f"points in STEP {step.number}: yes where they are at most {asks.most}"
    else:
        place, most = 1 - passed[here, split.left.node].astype(np.intp), 1
        limit, asked = 0.5, f"answer in STEP {step.number}"
        ax.set_xticks([0, 1], step.answers)
    counts = np.zeros((len(clf.classes_), most + 1), dtype=np.intp)
    np.add.at(counts, (codes[here], place), 1)
    _draw_bars(ax, clf, np.arange(most + 2, dtype=np.float64) - 0.5, counts)
    ax.axvline(limit, color=INK, linewidth=1.2)
    _say_sides(ax, (split.left, split.right), clf.classes_)
    finish(ax, asked, "rows", "")


def _draw_bars(
    ax: Any, clf: TreePredictor, edges: FloatArray, counts: IntArray
) -> None:
    """Draw a bar between each two edges, with the classes one above the other."""
    below = counts.cumsum(axis=0) - counts
    for k, name in enumerate(clf.classes_):
        style = {"color": colour(k), "label": plain_text(name), "align": "edge"}
        ax.bar(edges[:-1], counts[k], np.diff(edges), below[k], **style)


def _say_sides(
    ax: Any, children: tuple[Branch | Leaf, Branch | Leaf], classes: AnyArray
) -> None:
    """Write on both sides where its rows go."""
    places = ((0.01, "left"), (0.99, "right"))
    for child, (x, where) in zip(children, places, strict=True):
        text = f"to node {child.node}"
        if not isinstance(child, Branch):
            text += f": {plain_text(classes[child.label], 20)}"
        text = f"← {text}" if where == "left" else f"{text} →"
        ax.text(x, 0.97, text, transform=ax.transAxes, ha=where, va="top", fontsize=8)
