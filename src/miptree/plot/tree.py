"""The tree as a picture: coefficients as bars at a split, classes as bars at a leaf."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from miptree.estimator import OptimalTreeClassifier
from miptree.evaluate import evaluate
from miptree.export._rules import Atom, Branch, Leaf, Rules, atoms_of, table_of
from miptree.export.text import (
    atom_text,
    number_text,
    shown_rules,
    value_names,
)
from miptree.plot._common import (
    FAINT,
    INK,
    axes_or_new,
    colour,
    plain_text,
)
from miptree.utils.arrays import FloatArray, IntArray

_WIDTH, _HEIGHT = 0.92, 0.6
"""Size of a node, in units of a leaf's place and a level."""


def plot_tree(
    clf: OptimalTreeClassifier,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    n_coefficients: int = 5,
    ax: Any = None,
) -> Any:
    """Draw a tree.

    A split shows its largest coefficients as bars (times the spread of their columns,
    where X is given, so that they can be compared), a leaf its classes as bars. Rows go
    left where the sum is at most the threshold, or where the value is in the set.

    Parameters
    ----------
    clf : OptimalTreeClassifier
        A fitted one.
    X, y : array-like, optional
        Rows and labels, usually the training data, for the counts. Without them a leaf
        shows its estimated probabilities.
    n_coefficients : int, default=5
        Most coefficients shown of a split.
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(clf)
    rules, digits = shown_rules(clf)
    place = _places(rules)
    levels = int(clf.tree_.depth) + 1
    ax = axes_or_new(ax, (max(5.0, 2.6 * clf.tree_.n_leaves), 1.9 * levels))
    counts, spread = None, np.ones(clf.tree_.n_features)
    if X is not None and y is not None:
        spread = clf._validated(X).std(axis=0)
        counts = evaluate(clf, X, y).node_counts
    sizes = dict(zip(atoms_of(table_of(clf)), spread.tolist(), strict=True))
    for node in rules.nodes:
        x, level = place[node.node]
        if isinstance(node, Branch):
            _draw_edges(ax, place, node)
            _draw_split(ax, x, -level, rules, node, digits, sizes, n_coefficients)
        else:
            _draw_leaf(ax, x, -level, rules, node, clf, counts)
        if counts is not None:
            is_left = node.node in clf.tree_.children_left
            _note_count(ax, x, -level, counts[node.node], is_left)
    _legend(ax, rules)
    ax.set_xlim(-0.6, max(clf.tree_.n_leaves, 2) - 0.4)
    ax.set_ylim(-levels + 0.55, 0.55)
    ax.axis("off")
    return ax


def _places(rules: Rules) -> dict[int, tuple[float, int]]:
    """(x, level) of each node: leaves side by side, a parent above its children."""
    place: dict[int, tuple[float, int]] = {}

    def put(node: Branch | Leaf, level: int) -> float:
        if isinstance(node, Leaf):
            x = float(sum(1 for leaf in rules.leaves if leaf.node in place))
        else:
            x = (put(node.left, level + 1) + put(node.right, level + 1)) / 2
        place[node.node] = (x, level)
        return x

    put(rules.root, 0)
    return place


def _box(ax: Any, x: float, y: float, height: float, edge: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (x - _WIDTH / 2, y - height / 2)
    ax.add_patch(
        FancyBboxPatch(
            corner,
            _WIDTH,
            height,
            boxstyle="round,pad=0,rounding_size=0.04",
            facecolor="white",
            edgecolor=edge,
            linewidth=1.2,
            zorder=2,
        )
    )


def _draw_edges(ax: Any, place: dict[int, tuple[float, int]], node: Branch) -> None:
    x, level = place[node.node]
    for child, word in ((node.left, "yes"), (node.right, "no")):
        cx, below = place[child.node]
        ax.plot([x, cx], [-level, -below], color=FAINT, linewidth=1.2, zorder=1)
        ax.text(
            (x + cx) / 2,
            -(level + below) / 2 - 0.02,
            word,
            ha="center",
            va="center",
            fontsize=8,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            zorder=3,
        )


def _draw_split(
    ax: Any,
    x: float,
    y: float,
    rules: Rules,
    node: Branch,
    digits: int,
    sizes: dict[Atom, float],
    most: int,
) -> None:
    _box(ax, x, y, _HEIGHT, INK)
    question = node.question
    if question is not None and question.yes is not question.no:
        _draw_question(ax, x, y, rules, node)
        return
    weight = [abs(coef) * sizes.get(atom, 1.0) for coef, atom in node.terms]
    order = np.argsort(weight)[::-1][:most]
    if len(node.terms) > most:
        order = order[: most - 1]
    lines = len(order) + 1 + (len(node.terms) > len(order))
    step = (_HEIGHT - 0.08) / max(lines, 3)
    top = y + step * (lines - 1) / 2
    longest = max(weight, default=1.0) or 1.0
    for row, k in enumerate(order):
        coef, atom = node.terms[int(k)]
        length = 0.16 * weight[int(k)] / longest * np.sign(coef)
        level = top - row * step
        ax.barh(level, length, 0.6 * step, x + 0.26, color=_sign_colour(coef), zorder=3)
        _say(ax, x + 0.06, level, plain_text(atom_text(rules, atom), 18), "right")
    ax.plot(
        [x + 0.26] * 2,
        [top + step / 2, top - (len(order) - 0.5) * step],
        color=FAINT,
        linewidth=0.6,
        zorder=3,
    )
    row = len(order)
    if len(node.terms) > row:
        more = f"and {len(node.terms) - row} smaller ones"
        _say(ax, x, top - row * step, more, "center", FAINT)
        row += 1
    threshold = f"sum ≤ {number_text(node.threshold, digits)}"
    _say(ax, x, top - row * step, threshold, "center", weight="bold")


def _draw_question(ax: Any, x: float, y: float, rules: Rules, node: Branch) -> None:
    question = node.question
    if question is None:
        return
    _say(ax, x, y + 0.16, plain_text(rules.name(question.member.column)), "center")
    within = "in" if question.yes is node.left else "not in"
    names = [plain_text(name, 18) for name in value_names(rules, question.member)]
    text = f"{within} {{{', '.join(names)}}}"
    lines = textwrap.wrap(text, 26, max_lines=3, placeholder=" …}")
    _say(ax, x, y - 0.06, "\n".join(lines), "center", weight="bold")


def _sign_colour(coef: float) -> str:
    return "#4d4d4d" if coef > 0 else "#b0b0b0"


def _draw_leaf(
    ax: Any,
    x: float,
    y: float,
    rules: Rules,
    leaf: Leaf,
    clf: OptimalTreeClassifier,
    counts: IntArray | None,
) -> None:
    _box(ax, x, y, _HEIGHT, colour(leaf.label))
    share: FloatArray = clf._node_proba[leaf.node]
    if counts is not None:
        share = counts[leaf.node] / max(1, counts[leaf.node].sum())
    name = plain_text(rules.classes[leaf.label], 24)
    _say(ax, x, y + 0.19, name, "center", colour(leaf.label), "bold")
    start = x - 0.4
    for k, part in enumerate(share):
        width = 0.8 * float(part)
        ax.barh(y - 0.02, width, 0.16, start, align="center", color=colour(k), zorder=3)
        start += width
    text = f"{100 * share[leaf.label]:.0f} %" if share.any() else "no rows"
    _say(ax, x, y - 0.19, text, "center")


def _note_count(ax: Any, x: float, y: float, counts: IntArray, is_left: bool) -> None:
    """The number of rows, on the side where no edge comes in."""
    side, where = (-1, "left") if is_left else (1, "right")
    text = f"{counts.sum():,} rows"
    _say(ax, x + side * _WIDTH / 2, y + _HEIGHT / 2 + 0.05, text, where, FAINT)


def _legend(ax: Any, rules: Rules) -> None:
    from matplotlib.patches import Patch

    names = [plain_text(name) for name in rules.classes]
    patches = [Patch(color=colour(k), label=name) for k, name in enumerate(names)]
    ax.legend(handles=patches, loc="upper right", frameon=False, fontsize=8)


def _say(
    ax: Any,
    x: float,
    y: float,
    text: str,
    where: str,
    shade: str = INK,
    weight: str = "normal",
) -> None:
    style = {"fontsize": 8, "va": "center", "zorder": 4}
    ax.text(x, y, text, ha=where, color=shade, weight=weight, **style)
