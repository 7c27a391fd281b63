"""The tree of a proof file, and its anchors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from .values import Refused, TooMuch, a_list, a_whole, an_object, parsed

MAX_NODES, MAX_ANCHORS = 1000, 2_000_000
MAX_POINTS, LARGEST = 100, 1 << 40
"""Points of a column in a split, and any other whole number."""


class Anchor(NamedTuple):
    """A root split, none for all rows, with the anchors of both of its sides."""

    columns: tuple[int, ...]
    points: tuple[int, ...]
    threshold: int
    left: tuple[Anchor, ...]
    right: tuple[Anchor, ...]


class Node(NamedTuple):
    """A node of a tree: a leaf where ``columns`` is None."""

    columns: tuple[int, ...] | None
    points: tuple[int, ...]
    threshold: int
    left: int
    right: int
    label: int


def read_tree(given: Any, n_grid: int, n_classes: int) -> tuple[Node, ...]:
    """Read a tree, whose nodes come after their parents."""
    nodes = a_list(given, "tree", 1, MAX_NODES)
    tree = tuple(
        _node(node, number, len(nodes), n_grid, n_classes)
        for number, node in enumerate(nodes)
    )
    below = [c for node in tree if node.columns is not None for c in node[3:5]]
    if sorted(below) != list(range(1, len(tree))):
        raise Refused("'tree' of the proof file has a node without a parent.")
    return tree


def _node(given: Any, number: int, n: int, n_grid: int, n_classes: int) -> Node:
    if isinstance(given, dict) and set(given) == {"class"}:
        label = a_whole(given["class"], "class", 0, n_classes - 1)
        return Node(None, (), 0, 0, 0, label)
    given = an_object(given, "tree", "columns points threshold left right")
    columns, points = _card(given["columns"], given["points"], 1, n_grid)
    threshold = a_whole(given["threshold"], "threshold", -LARGEST, LARGEST)
    left, right = (a_whole(given[s], s, number + 1, n - 1) for s in ("left", "right"))
    return Node(columns, points, threshold, left, right, 0)


def _card(
    columns: Any, points: Any, least: int, n_grid: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Read ascending columns and their points, none of which is 0."""
    columns = a_list(columns, "columns", least, 3)
    points = a_list(points, "points", len(columns), len(columns))
    found = tuple(a_whole(j, "columns", 0, n_grid - 1) for j in columns)
    if any(a >= b for a, b in itertools.pairwise(found)):
        raise Refused("'columns' of a split in the proof file are not ascending.")
    whole = tuple(a_whole(p, "points", -MAX_POINTS, MAX_POINTS) for p in points)
    if 0 in whole:
        raise Refused("A column of a split in the proof file has 0 points.")
    return found, whole


def read_anchors(reader: Iterator[bytes], n_lines: int) -> tuple[Anchor, ...]:
    """Read the sections, of so many lines; this program knows one kind."""
    found: list[Anchor] = []
    budget = iter(range(MAX_ANCHORS))
    for line in reader:
        section = an_object(parsed(line), "a section", "section lines")
        if section["section"] != "points-anchors":
            kind = f"{section['section']!r:.50}"
            raise Refused(f"The proof file has a section of an unknown kind, {kind}.")
        n = a_whole(section["lines"], "lines", 0, n_lines)
        for _ in range(n):
            text = next(reader, None)
            if text is None:
                raise Refused("The proof file is cut off.")
            found.append(_anchor(parsed(text), budget, 2))
    return tuple(found)


def _anchor(given: Any, budget: Iterator[int], level: int) -> Anchor:
    if next(budget, None) is None:
        raise TooMuch(f"The proof file has more than {MAX_ANCHORS} anchors.")
    columns, points, threshold, left, right = a_list(given, "anchors", 5, 5)
    most = MAX_ANCHORS if level > 1 else 0
    below = [
        tuple(
            _anchor(inner, budget, level - 1)
            for inner in a_list(side, "anchors", 0, most)
        )
        for side in (left, right)
    ]
    return Anchor(
        *_card(columns, points, 0, LARGEST),
        a_whole(threshold, "threshold", -LARGEST, LARGEST),
        *below,
    )
