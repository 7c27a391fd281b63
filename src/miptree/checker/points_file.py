"""The proof file of a points tree: what a header says of its family, and anchors."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from .columns import POINTS_COLUMNS, read_columns
from .nodes import Anchor, Node, read_anchors, read_tree
from .proof_file import Document, Proof, common_values, read_costs
from .values import Refused, a_bool, a_list, a_whole, an_object

MAX_LEAF = 1 << 40


class Limits(NamedTuple):
    """Which trees are compared."""

    depth: int
    max_features: int
    max_points: int
    min_leaf: int
    signs: tuple[int, ...]
    allowed: tuple[bool, ...]
    penalties: tuple[Fraction, ...]


@dataclass(frozen=True)
class PointsProof(Proof):
    """The proof of a points tree, of the right types but not believed."""

    limits: Limits
    tree: tuple[Node, ...]
    anchors: tuple[Anchor, ...]


def read_points_proof(document: Document) -> PointsProof:
    """Read the header and the anchors of a points tree."""
    anchors = read_anchors(document.lines(), document.n_lines)
    header = document.header
    columns = read_columns(header["columns"], POINTS_COLUMNS)
    common = common_values(header, columns)
    n_grid = sum(column.n_numbers for column in columns)
    limits = _limits(header["family"], n_grid)
    tree = read_tree(header["tree"], n_grid, len(common["classes"]))
    return PointsProof(**common, limits=limits, tree=tree, anchors=anchors)


def _limits(given: Any, n_grid: int) -> Limits:
    keys = (*Limits._fields[:3], "min_samples_leaf", *Limits._fields[4:])
    given = an_object(given, "family", " ".join(keys))
    signs, allowed = given["signs"], given["allowed"]
    for name in ("signs", "allowed"):
        if given[name] != []:
            a_list(given[name], name, n_grid, n_grid)
    penalties = read_costs(given["penalties"], "penalties", n_grid)
    if penalties is None:
        raise Refused("'penalties' of the proof file must be a list.")
    return Limits(
        a_whole(given["depth"], "depth", 1, 100),
        a_whole(given["max_features"], "max_features", 1, 3),
        a_whole(given["max_points"], "max_points", 1, 5),
        a_whole(given["min_samples_leaf"], "min_samples_leaf", 1, MAX_LEAF),
        tuple(a_whole(sign, "signs", -1, 1) for sign in signs),
        tuple(a_bool(value, "allowed") for value in allowed),
        penalties,
    )
