"""The tree as a Graphviz graph."""

from __future__ import annotations

from collections.abc import Sequence

from miptree.export.leaf_words import rows_text
from miptree.export.names import printable
from miptree.export.readable import Branch, Leaf, Model, ReadableTree
from miptree.export.shown import shown_rules
from miptree.export.text import counts_of, node_text, split_text
from miptree.utils.arrays import IntArray


def export_dot(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    digits: int | None = None,
) -> str:
    r"""Write a tree as a Graphviz DOT graph, for example for ``dot -Tsvg``.

    The parameters are those of :func:`export_text`, and so are the numbers shown.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from miptree.tree import HeapTree, ObliqueTree
    >>> heap = HeapTree(np.array([[1.5, -1.0]]), np.array([3.0]), np.array([0, 1]))
    >>> print(export_dot(ObliqueTree.from_heap(heap), ["width", "height"]))
    digraph tree {
      node [shape=box, fontname="Helvetica"];
      edge [fontname="Helvetica"];
      0 [label="1.5 width - height <= 3\nnode 0"];
      0 -> 1 [label="yes"];
      0 -> 2 [label="no"];
      1 [label="class 0\nleaf 1", style="rounded"];
      2 [label="class 1\nleaf 2", style="rounded"];
    }
    """
    rules, digits, _ = shown_rules(model, feature_names, class_names, digits)
    counts = counts_of(model)
    return "\n".join(
        [
            "digraph tree {",
            '  node [shape=box, fontname="Helvetica"];',
            '  edge [fontname="Helvetica"];',
            *(
                line
                for node in rules.nodes
                for line in _lines(rules, node, digits, counts)
            ),
            "}",
        ]
    )


def _lines(
    rules: ReadableTree, node: Branch | Leaf, digits: int, counts: IntArray | None
) -> list[str]:
    if isinstance(node, Leaf):
        name = f"class {rules.classes[node.label]}"
        facts = [name, f"leaf {node.node}"]
        if counts is not None:
            facts.append(rows_text(rules, node, counts[node.node]))
        return [f'  {node.node} [label={_quoted(*facts)}, style="rounded"];']
    text = _quoted(split_text(rules, node, digits), node_text(node, counts))
    return [
        f"  {node.node} [label={text}];",
        f'  {node.node} -> {node.left.node} [label="yes"];',
        f'  {node.node} -> {node.right.node} [label="no"];',
    ]


def _quoted(*lines: str) -> str:
    plain = (
        printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines
    )
    return '"' + r"\n".join(plain) + '"'
