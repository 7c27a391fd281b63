"""What an export tells of a row: its class, its leaf, its probability, its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from miptree.export.readable import Branch, Leaf, Model, ReadableTree, readable_tree
from miptree.export.reasons import reasons_of
from miptree.export.shown import shown_rules
from miptree.export.text import split_text
from miptree.objective.blurred import SEEN
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray

OUTPUTS = ("class", "leaf", "probability", "reason")
"""What can be asked for."""
Output = str | Sequence[str]
"""One of them, or several."""

LEAD = 1 + SEEN
"""By this factor the class of a leaf is at least as probable as another one."""


@dataclass(frozen=True)
class Answers:
    """A tree, and what its leaves answer.

    Attributes
    ----------
    rules : ReadableTree
        The splits as ``predict`` uses them.
    outputs : tuple of str
        What is asked for.
    reasons : dict from int to str
        Why rows of a leaf have its class, by node; empty where nobody asks.
    proba : float array of shape (n_nodes, n_classes)
        Probabilities of the classes at the leaves.
    blur : float array of shape (n_nodes,)
        Width of the zone at each split within which a row counts to both sides.
    """

    rules: ReadableTree
    outputs: tuple[str, ...]
    reasons: dict[int, str]
    proba: FloatArray
    blur: FloatArray

    @property
    def only_class(self) -> bool:
        """Whether nothing but the class is asked for."""
        return self.outputs == ("class",)

    @property
    def is_blurred(self) -> bool:
        """Whether the probability depends on more than the leaf."""
        return bool(self.blur.any())

    @property
    def n_classes(self) -> int:
        """Number of classes that have a probability."""
        return int(self.proba.shape[1])

    @cached_property
    def labels(self) -> dict[int, int]:
        """The class of each leaf, by node."""
        return {leaf.node: leaf.label for leaf in self.rules.leaves}

    @cached_property
    def leaders(self) -> list[int]:
        """Leaves whose class stays the most probable one for each of their rows."""
        first = self.proba.argmax(axis=1)
        return [node for node, label in self.labels.items() if first[node] == label]

    def of_leaf(self, leaf: Leaf) -> float:
        """Return the probability of a leaf's class there."""
        return float(self.proba[leaf.node, leaf.label])

    def shares(self, leaf: Leaf) -> list[float]:
        """List the probabilities of all classes at a leaf."""
        return [float(share) for share in self.proba[leaf.node]]

    def width(self, branch: Branch) -> float:
        """Return the blur of a split, 0 where it has none."""
        return float(self.blur[branch.node])


def answers_of(
    model: Model,
    feature_names: Sequence[str] | None,
    class_names: Sequence[object] | None,
    output: Output,
) -> Answers:
    """Gather what a model's leaves answer; the parameters are those of the exports."""
    outputs = _checked(output)
    shown, digits, _ = shown_rules(model, feature_names, class_names)
    reasons = reasons_of(shown, digits) if "reason" in outputs else {}
    rules = _commented(readable_tree(model, feature_names, class_names), shown, digits)
    return Answers(rules, outputs, reasons, *probabilities(model, rules))


def _commented(rules: ReadableTree, shown: ReadableTree, digits: int) -> ReadableTree:
    """Give each split its number and its words in texts, as a comment."""
    told = {branch.node: branch for branch in shown.branches}

    def below(node: Branch | Leaf) -> Branch | Leaf:
        if isinstance(node, Leaf):
            return node
        # Texts may have turned the split round.
        split, yes = told[node.node], node.question.yes.node
        words = split_text(shown, split, digits, goes_left=split.left.node == yes)
        comment = f"node {node.node}: {words}"
        left, right = below(node.left), below(node.right)
        return replace(node, comment=comment, left=left, right=right)

    return replace(rules, root=below(rules.root))


def _checked(output: Output) -> tuple[str, ...]:
    asked = (output,) if isinstance(output, str) else tuple(output)
    unknown = [entry for entry in asked if entry not in OUTPUTS]
    if unknown or not asked or len(set(asked)) < len(asked):
        raise ValueError(
            f"output must be one or several of {', '.join(OUTPUTS)}, each once; "
            f"got {output!r}."
        )
    return asked


def probabilities(model: Model, rules: ReadableTree) -> tuple[FloatArray, FloatArray]:
    """Give those of each leaf, (nodes, classes), and the blur of each split, (nodes,).

    For a bare tree a leaf has 1 for its class.
    """
    if isinstance(model, ObliqueTree):
        return np.eye(len(rules.classes))[model.label], np.zeros(model.n_nodes)
    return model.fitted_.node_proba, model.fitted_.blur


def reach_terms(answers: Answers) -> list[tuple[Leaf, str]]:
    """Write for each leaf the part of a row that gets there, as a product.

    ``part3`` is the part that goes right at node 3.
    """

    def below(node: Branch | Leaf, factors: list[str]) -> list[tuple[Leaf, str]]:
        if isinstance(node, Leaf):
            return [(node, " * ".join(factors) or "1.0")]
        return [
            *below(node.left, [*factors, f"(1.0 - part{node.node})"]),
            *below(node.right, [*factors, f"part{node.node}"]),
        ]

    return below(answers.rules.root, [])
