"""Why a row of a leaf has its class, in one sentence."""

from __future__ import annotations

from miptree.export.describe import is_points_tree
from miptree.export.names import printable
from miptree.export.readable import Leaf, ReadableTree
from miptree.export.sentences import (
    Way,
    points_and_questions,
    sums_and_rules,
    ways_of,
)


def reasons_of(shown: ReadableTree, digits: int) -> dict[int, str]:
    """Say for each leaf, by its node, which conditions its rows meet.

    The parameters are those that :func:`miptree.export.shown.shown_rules` returns.
    """
    return {
        leaf.node: _reason(shown, digits, leaf, way)
        for leaf, way in ways_of(shown.root)
    }


def _reason(shown: ReadableTree, digits: int, leaf: Leaf, way: Way) -> str:
    name = printable(f"Class {shown.classes[leaf.label]}")
    if not way:
        return f"{name}, as every row."
    if is_points_tree(shown):
        said = points_and_questions(shown, way)
    else:
        said = sums_and_rules(shown, way, digits)
    return f"{name} because {' and '.join(said)}."
