"""The tree as a picture: coefficients as bars at a split, classes as bars at a leaf."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from miptree.classifiers.predictor import TreePredictor
from miptree.evaluate import evaluate
from miptree.export.cards import Step, steps_of
from miptree.export.conditions import Card
from miptree.export.describe import is_points_tree
from miptree.export.leaf_words import class_shares, row_number
from miptree.export.names import atom_text, number_text
from miptree.export.readable import Atom, Branch, Leaf, ReadableTree, atom_spreads
from miptree.export.shown import shown_rules
from miptree.export.words import condition_words, gap_words, part_words
from miptree.plot._common import FAINT, INK, axes_or_new, colour, plain_text
from miptree.plot._fit import LETTERS, Placed, fit_texts, letter_size
from miptree.utils.arrays import FloatArray, IntArray

_WIDTH, _HEIGHT = 0.92, 0.6
"""Size of a node, in units of a leaf's place and a level."""
_PAD = 0.03
"""Room between a text and the border of its box."""
_WIDE, _LETTERS, _LINES = 1.84, 72, 7
"""Width of a node with words, which has the room of two leaves; its lines."""


def plot_tree(
    clf: TreePredictor,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    n_coefficients: int = 5,
    ax: Any = None,
) -> Any:
    """Draw a tree.

    A split shows its weightiest coefficients, with bars for coefficient times spread of
    the column, a leaf its classes as bars. Rows go
    left where the sum is at most the threshold, or where the value is in the set. A
    split of a points tree is shown in the words of :func:`~miptree.export_text`.

    Parameters
    ----------
    clf : fitted classifier of this package
    X, y : array-like, optional
        Rows and labels to count; by default the counts are those of the training rows.
    n_coefficients : int, default=5
        Most coefficients shown of a split.
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(clf)
    tree, counts = clf.tree_, clf.fitted_.node_count
    rules, digits, _ = shown_rules(clf)
    steps = steps_of(rules) if is_points_tree(rules) else {}
    levels = int(tree.depth) + 1
    ax = axes_or_new(ax, (max(5.0, 2.6 * tree.n_leaves), 1.9 * levels))
    if X is not None and y is not None:
        counts = evaluate(clf, X, y).node_counts
    picture = _Picture(ax, rules, digits, atom_spreads(clf), n_coefficients, steps)
    _set_limits(ax, picture, tree.n_leaves, levels)
    picture.letters = letter_size(ax, (_HEIGHT - 2 * _PAD) / (n_coefficients + 1))
    place = _places(rules)
    for node in rules.nodes:
        x, y_node = place[node.node]
        if isinstance(node, Branch):
            picture.draw_edges(node, place)
            picture.draw_split(x, y_node, node)
        else:
            picture.draw_leaf(x, y_node, node, counts[node.node])
        # On the side where no edge comes in.
        is_left = not any(branch.right is node for branch in rules.branches)
        side, where = (-0.5, "left") if is_left else (0.5, "right")
        edge = x + side * picture.width_of(node)
        kind = "node" if isinstance(node, Branch) else "leaf"
        name = f"{kind} {node.node}, {row_number(int(counts[node.node].sum()))}"
        picture.say(edge, y_node + _HEIGHT / 2 + 0.05, name, where, FAINT)
    picture.draw_legend()
    fit_texts(ax, picture.placed)
    return ax


def _set_limits(ax: Any, picture: _Picture, n_leaves: int, levels: int) -> None:
    ax.set_xlim(-0.6, max(n_leaves, 2) - 0.4)
    # A wide root above two leaves would be behind the legend.
    rules = picture.rules
    is_below = n_leaves == 2 and picture.width_of(rules.root) == _WIDE
    ax.set_ylim(-levels + 0.55, 0.55 + 0.12 * len(rules.classes) * is_below)
    ax.axis("off")


Places = dict[int, tuple[float, float]]


def _places(rules: ReadableTree) -> Places:
    """Place each node at (x, y): leaves side by side, a parent above its children."""
    place: Places = {}

    def put(node: Branch | Leaf, level: int) -> float:
        if isinstance(node, Leaf):
            x = float(sum(1 for leaf in rules.leaves if leaf.node in place))
        else:
            x = (put(node.left, level + 1) + put(node.right, level + 1)) / 2
        place[node.node] = (x, -level)
        return x

    put(rules.root, 0)
    return place


@dataclass
class _Picture:
    """Draws the nodes of a tree on axes.

    Attributes
    ----------
    spread : dict
        By which a coefficient is multiplied to compare it, 1 where nothing is said.
    n_coefficients : int
        Most coefficients shown of a split.
    steps : dict
        What the splits of a points tree ask, by their nodes.
    placed : list
        Texts that are to stay inside their boxes.
    letters : float
        Size of letters, in points.
    """

    ax: Any
    rules: ReadableTree
    digits: int
    spread: dict[Atom, float]
    n_coefficients: int
    steps: dict[int, Step]
    placed: list[Placed] = field(default_factory=list)
    letters: float = LETTERS

    def draw_edges(self, node: Branch, place: Places) -> None:
        """Draw the lines from a split to its children."""
        x, y = place[node.node]
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        step = self.steps.get(node.node)
        yes, no = ("yes", "no") if step is None else step.answers
        for child, word in ((node.left, yes), (node.right, no)):
            cx, cy = place[child.node]
            self.ax.plot([x, cx], [y, cy], color=FAINT, linewidth=1.2, zorder=1)
            middle = (x + cx) / 2, (y + cy) / 2 - 0.02
            self.say(*middle, word, "center", bbox=behind, zorder=3)

    def draw_split(self, x: float, y: float, node: Branch) -> None:
        """Draw a split: the values that go left, or bars for its coefficients."""
        self._draw_box(x, y, INK, self.width_of(node))
        if node.node in self.steps:
            self._draw_step(x, y, self.steps[node.node])
            return
        if node.rule is not None:
            words = node.rule.words(self.rules)
            text = textwrap.fill(words, 26, max_lines=5, placeholder=" …")
            self._say_inside(x, y, text, _WIDTH, weight="bold")
            return
        weight = [abs(coef) * self.spread.get(atom, 1.0) for coef, atom in node.terms]
        n_terms, most = len(node.terms), self.n_coefficients
        order = np.argsort(weight)[::-1][: most - (n_terms > most)]
        lines = len(order) + 1 + (n_terms > len(order))
        step = (_HEIGHT - 0.08) / max(lines, 3)
        levels = y + step * ((lines - 1) / 2 - np.arange(lines))
        longest = max(weight, default=1.0) or 1.0
        for level, k in zip(levels.tolist(), order.tolist(), strict=False):
            coef, atom = node.terms[k]
            length = 0.12 * weight[k] / longest * np.sign(coef)
            shade = "#4d4d4d" if coef > 0 else "#b0b0b0"
            self.ax.barh(level, length, 0.6 * step, x + 0.31, color=shade, zorder=3)
            name = atom_text(self.rules, atom)
            self._say_inside(x + 0.16, level, name, _WIDTH / 2 + 0.16, "right")
        ends = [levels[0] + step / 2, levels[0] - (len(order) - 0.5) * step]
        self.ax.plot([x + 0.31] * 2, ends, color=FAINT, linewidth=0.6, zorder=3)
        if n_terms > len(order):
            more = f"and {n_terms - len(order)} smaller ones"
            self._say_inside(x, levels[-2], more, _WIDTH, color=FAINT)
        operator = "≤" if node.unit > 0 else "≥"
        limit = f"sum {operator} {number_text(node.threshold, self.digits)}"
        if node.missing_left is not None:
            limit += gap_words(node.missing_left)
        self._say_inside(x, levels[-1], limit, _WIDTH, weight="bold")

    def _draw_step(self, x: float, y: float, step: Step) -> None:
        """Write what a step asks: a question, or a list of what has points."""
        asks, inner, start, where = step.asks, "", x, "center"
        texts = [f"{condition_words(self.rules, asks)}?"]
        if isinstance(asks, Card):
            texts = [": ".join(part_words(self.rules, part)) for part in asks.parts]
            texts = [f"Add up points (0 to {asks.total}):", *texts]
            inner, start, where = "    ", x - _WIDE / 2 + 0.05, "left"
        lines = [
            line
            for text in texts
            for line in textwrap.wrap(text, _LETTERS, subsequent_indent=inner)
        ]
        kept = lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"]
        room = self.width_of(step.branch)
        self._say_inside(start, y, "\n".join(kept), room, where, linespacing=1.3)

    def draw_leaf(self, x: float, y: float, leaf: Leaf, counts: IntArray) -> None:
        """Draw a leaf: its class, and bars for the shares of all classes."""
        shade, n_rows = colour(leaf.label), int(counts.sum())
        share: FloatArray = counts / max(1, n_rows)
        self._draw_box(x, y, shade, _WIDTH)
        name = str(self.rules.classes[leaf.label])
        style = {"color": shade, "weight": "bold"}
        self._say_inside(x, y + 0.19, name, _WIDTH, **style)
        width = 0.8 * share
        start = x - 0.4 + width.cumsum() - width
        colours = [colour(k) for k in range(len(share))]
        self.ax.barh(y - 0.02, width, 0.16, start, color=colours, zorder=3)
        text = ", ".join(class_shares(self.rules, counts)) or "no rows"
        is_pure = n_rows > 0 and int(counts[leaf.label]) == n_rows
        self._say_inside(x, y - 0.19, "pure" if is_pure else text, _WIDTH)

    def width_of(self, node: Branch | Leaf) -> float:
        """Return the width of a node's box."""
        step = self.steps.get(node.node)
        if step is None:
            return _WIDTH
        is_short = len(condition_words(self.rules, step.asks)) < _LETTERS // 2
        return _WIDTH if is_short else _WIDE

    def _draw_box(self, x: float, y: float, edge: str, width: float) -> None:
        from matplotlib.patches import FancyBboxPatch

        corner = (x - width / 2, y - _HEIGHT / 2)
        shape = "round,pad=0,rounding_size=0.04"
        box = FancyBboxPatch(corner, width, _HEIGHT, boxstyle=shape, zorder=2)
        box.set(facecolor="white", edgecolor=edge, linewidth=1.2)
        self.ax.add_patch(box)

    def draw_legend(self) -> None:
        """Name the colours of the classes."""
        from matplotlib.patches import Patch

        names = [plain_text(name) for name in self.rules.classes]
        patches = [Patch(color=colour(k), label=name) for k, name in enumerate(names)]
        self.ax.legend(
            handles=patches, loc="upper right", frameon=False, fontsize=LETTERS
        )

    def _say_inside(
        self,
        x: float,
        y: float,
        text: str,
        width: float,
        where: str = "center",
        **style: Any,
    ) -> None:
        """Write a text that stays inside a box of a width."""
        usual = {"fontsize": self.letters, "va": "center", "zorder": 4, "color": INK}
        shown = "\n".join(plain_text(line, 200) for line in text.split("\n"))
        artist = self.ax.text(x, y, shown, ha=where, **(usual | style))
        placed = Placed(artist, text, width - 2 * _PAD, _HEIGHT - 2 * _PAD)
        self.placed.append(placed)

    def say(
        self, x: float, y: float, text: str, where: str, shade: str = INK, **style: Any
    ) -> None:
        """Write a text at, left or right of a place."""
        usual = {"fontsize": self.letters, "va": "center", "zorder": 4}
        self.ax.text(x, y, text, ha=where, color=shade, **(usual | style))
