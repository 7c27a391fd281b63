"""The proof file of the errors: which trees it is about, a tree, and a section."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from ..columns import OBLIQUE_COLUMNS, SUBSETS_COLUMNS, read_columns
from ..proof_file import SUBSETS, Document, Proof, common_values
from ..routes.file import SplitNode, read_tree
from ..values import Refused, a_cost, a_whole, an_object, parsed

KIND, ROOTS = "errors", "errors-roots"
"""Kinds of the section: parts of the rows, and all splits of the root. The first one is
that of the family of trees as well."""
DEEPEST = 5
ROUNDING = Fraction(1, 10**9)
"""A row that misses so little of the margin keeps it: trees are found by LPs."""


class Trees(NamedTuple):
    """Which trees are compared."""

    depth: int
    margin: Fraction
    max_features: int | None

    @property
    def least_score(self) -> Fraction:
        """How far from 0 the scores of a row are that is no close call."""
        return self.margin - ROUNDING


@dataclass(frozen=True)
class ErrorsProof(Proof):
    """The proof of the errors, of the right types but not believed."""

    trees: Trees
    tree: tuple[SplitNode, ...]
    document: Document
    is_of_roots: bool

    @property
    def has_subsets(self) -> bool:
        """Whether trees may split categories by subsets of their values."""
        return any(column.is_subset for column in self.columns)

    def events(self) -> Iterator[bytes]:
        """Give the lines of the section."""
        return itertools.islice(self.document.lines(), 1, None)


def is_about_errors(document: Document) -> bool:
    """Tell whether a file is about errors, not about an objective."""
    family = document.header["family"]
    return isinstance(family, dict) and family.get("kind") == KIND


def read_errors_proof(document: Document) -> ErrorsProof:
    """Read the header, and the first line of the section."""
    header = document.header
    is_new = document.version == SUBSETS
    readers = SUBSETS_COLUMNS if is_new else OBLIQUE_COLUMNS
    columns = read_columns(header["columns"], readers)
    common = common_values(header, columns)
    if common["costs"] is not None or common["row_costs"] is not None:
        raise Refused(
            "The proof file is about errors, which cost the same whatever the class "
            "predicted, but it holds costs by class."
        )
    trees = _trees(header["family"])
    most = 2 ** (trees.depth + 1) - 1
    kind = _section(document)
    return ErrorsProof(
        **common,
        trees=trees,
        tree=read_tree(header["tree"], columns, len(common["classes"]), most),
        document=document,
        is_of_roots=kind == ROOTS,
    )


def _trees(given: Any) -> Trees:
    given = an_object(given, "family", "kind depth margin max_features")
    margin, most = a_cost(given["margin"], "margin"), given["max_features"]
    if not ROUNDING < margin <= 1:
        raise Refused("'margin' must lie in (1e-9, 1].")
    return Trees(
        a_whole(given["depth"], "depth", 1, DEEPEST),
        margin,
        None if most is None else a_whole(most, "max_features", 1, 1 << 40),
    )


def _section(document: Document) -> str:
    """Read the line of the section, which must have all the lines that follow."""
    line = next(document.lines(), None)
    if line is None:
        raise Refused("The proof file has no section: it is cut off.")
    section = an_object(parsed(line), "a section", "section lines")
    kind = section["section"]
    if kind not in (KIND, ROOTS):
        text = f"{kind!r:.50}"
        raise Refused(f"The proof file has a section of an unknown kind, {text}.")
    a_whole(section["lines"], "lines", document.n_lines - 1, document.n_lines - 1)
    return str(kind)
