"""The proof file of an oblique tree: its objective, the tree, and a section."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from ..columns import (
    OBLIQUE_COLUMNS,
    SUBSETS_COLUMNS,
    ColumnRule,
    SubsetCategory,
    read_columns,
)
from ..proof_file import SUBSETS, Document, Proof, common_values
from ..values import (
    Refused,
    a_cost,
    a_float,
    a_list,
    a_whole,
    an_object,
    parsed,
)

DEEPEST = 3
MAX_NODES = 2 ** (DEEPEST + 1) - 1
MAX_EXPONENT = 40


class Objective(NamedTuple):
    """Which trees are compared, and what they cost beside errors."""

    depth: int
    slack_penalty: Fraction
    l1_penalty: Fraction
    margin: Fraction
    max_features: int | None


class SplitNode(NamedTuple):
    """A node of the tree: a leaf where ``coef`` is None.

    At a split by a subset, ``subset`` is the number of the category among those that
    are split by subsets, and the values that go left; then ``coef`` is empty.
    """

    coef: tuple[tuple[int, float], ...] | None
    threshold: float
    left: int
    right: int
    label: int
    subset: tuple[int, frozenset[int]] | None = None


@dataclass(frozen=True)
class RoutesProof(Proof):
    """The proof of an oblique tree, of the right types but not believed."""

    objective: Objective
    tree: tuple[SplitNode, ...]
    exponent: int
    document: Document

    @property
    def has_subsets(self) -> bool:
        """Whether trees may split categories by subsets of their values."""
        return any(column.is_subset for column in self.columns)

    def events(self) -> Iterator[bytes]:
        """Give the lines of the section."""
        return itertools.islice(self.document.lines(), 1, None)


def read_routes_proof(document: Document) -> RoutesProof:
    """Read the header of an oblique tree, and the first line of its section."""
    header = document.header
    is_new = document.version == SUBSETS
    readers = SUBSETS_COLUMNS if is_new else OBLIQUE_COLUMNS
    columns = read_columns(header["columns"], readers)
    common = common_values(header, columns)
    return RoutesProof(
        **common,
        objective=_objective(header["family"]),
        tree=read_tree(header["tree"], columns, len(common["classes"]), MAX_NODES),
        exponent=_exponent(document),
        document=document,
    )


def _objective(given: Any) -> Objective:
    names = "kind depth slack_penalty l1_penalty margin max_features"
    given = an_object(given, "family", names)
    if given["kind"] != "oblique":
        raise Refused(f"The proof file is about trees of kind {given['kind']!r:.50}.")
    slack, l1, margin = (
        a_cost(given[name], name) for name in ("slack_penalty", "l1_penalty", "margin")
    )
    if not (0 < margin <= 1 and l1 > 0):
        raise Refused("'margin' must lie in (0, 1], and 'l1_penalty' above 0.")
    most = given["max_features"]
    return Objective(
        a_whole(given["depth"], "depth", 1, DEEPEST),
        slack,
        l1,
        margin,
        None if most is None else a_whole(most, "max_features", 1, 1 << 40),
    )


def read_tree(
    given: Any, columns: tuple[ColumnRule, ...], n_classes: int, most: int
) -> tuple[SplitNode, ...]:
    """Read a tree of so many nodes at most, which come after their parents."""
    nodes = a_list(given, "tree", 1, most)
    tree = tuple(
        _node(node, number, len(nodes), columns, n_classes)
        for number, node in enumerate(nodes)
    )
    below = [c for node in tree if node.coef is not None for c in node[2:4]]
    if sorted(below) != list(range(1, len(tree))):
        raise Refused("'tree' of the proof file has a node without a parent.")
    return tree


def _node(
    given: Any, number: int, n: int, columns: tuple[ColumnRule, ...], n_classes: int
) -> SplitNode:
    if isinstance(given, dict) and set(given) == {"class"}:
        label = a_whole(given["class"], "class", 0, n_classes - 1)
        return SplitNode(None, 0.0, 0, 0, label)
    if isinstance(given, dict) and "category" in given:
        return _subset_node(given, number, n, columns)
    given = an_object(given, "tree", "coef threshold left right")
    coef, n_columns = [], sum(column.n_numbers for column in columns)
    for pair in a_list(given["coef"], "coef", 0, n_columns):
        column, value = a_list(pair, "coef", 2, 2)
        place = a_whole(column, "coef", 0, n_columns - 1)
        coef.append((place, a_float(value, "coef")))
    if any(a[0] >= b[0] for a, b in itertools.pairwise(coef)):
        raise Refused("'coef' of a split in the proof file is not in ascending order.")
    left, right = _below(given, number, n)
    threshold = a_float(given["threshold"], "threshold")
    return SplitNode(tuple(coef), threshold, left, right, 0)


def _subset_node(
    given: Any, number: int, n: int, columns: tuple[ColumnRule, ...]
) -> SplitNode:
    """Read a split by a subset of the values of a category."""
    given = an_object(given, "tree", "category left_values left right")
    place = a_whole(given["category"], "category", 0, len(columns) - 1)
    column = columns[place]
    if not isinstance(column, SubsetCategory):
        raise Refused("The tree splits a column by values that must not be split so.")
    most = column.n_values
    values = a_list(given["left_values"], "left_values", 0, most)
    goes_left = frozenset(a_whole(v, "left_values", 0, most - 1) for v in values)
    feature = sum(other.is_subset for other in columns[:place])
    left, right = _below(given, number, n)
    return SplitNode((), 0.0, left, right, 0, (feature, goes_left))


def _below(given: dict[str, Any], number: int, n: int) -> list[int]:
    """Read the numbers of the children, which come after their parent."""
    return [a_whole(given[side], side, number + 1, n - 1) for side in ("left", "right")]


def _exponent(document: Document) -> int:
    """Read the line of the section, which must have all the lines that follow."""
    line = next(document.lines(), None)
    if line is None:
        raise Refused("The proof file has no section: it is cut off.")
    section = an_object(parsed(line), "a section", "section lines exponent")
    if section["section"] != "routes":
        kind = f"{section['section']!r:.50}"
        raise Refused(f"The proof file has a section of an unknown kind, {kind}.")
    a_whole(section["lines"], "lines", document.n_lines - 1, document.n_lines - 1)
    return a_whole(section["exponent"], "exponent", 0, MAX_EXPONENT)
