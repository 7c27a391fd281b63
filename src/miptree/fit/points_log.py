"""The proof file of a points tree: its family, and the root splits that prove it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.data.columns import CategoricalColumn, DroppedColumn
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.fit.proof_log import header, line, write_lines
from miptree.tree import ObliqueTree

if TYPE_CHECKING:
    from miptree.points import Anchor, Family

VERSION = 1
DEEPEST = 3
"""Depth of the deepest trees that the engine proves to be optimal."""


def write_points_proof(
    path: str | os.PathLike[str],
    schema: Schema,
    rows: TrainingRows,
    family: Family,
    tree: ObliqueTree,
    certificate: Certificate,
    anchors: Iterable[Anchor],
    *,
    target: str | None = None,
    force: bool = False,
) -> str:
    """Write the proof of a points tree, gzipped where the name ends in .gz.

    Parameters
    ----------
    path : path
        File to write.
    schema : Schema
        Grid columns and classes.
    rows : TrainingRows
        The rows of the fit in the user's order.
    family : Family
        Signs and allowed columns.
    tree : ObliqueTree
        The tree, over the grid columns of ``schema.table``.
    certificate : Certificate
        Its certificate, with the other limits of the family.
    anchors : iterable of Anchor
        The root splits that the engine evaluated.
    target : str, optional
        Column of the labels in the user's file, where there is one.
    force : bool
        Whether a file of that name is replaced.

    Returns
    -------
    str
        The digest of the file.
    """
    first = points_header(schema, rows, family, tree, certificate, target)
    # Deeper trees have no proof that a checker repeats.
    kept = anchors if certificate.depth <= DEEPEST else ()
    plain = [_anchor(anchor) for anchor in kept]
    section = {"section": "points-anchors", "lines": len(plain)}
    return write_lines(path, map(line, [first, section, *plain]), force)


def points_header(
    schema: Schema,
    rows: TrainingRows,
    family: Family,
    tree: ObliqueTree,
    certificate: Certificate,
    target: str | None,
) -> dict[str, Any]:
    """Return the header of a proof file of a points tree."""
    return header(
        VERSION,
        schema,
        rows,
        target,
        columns=[_column(column) for column in schema.table.columns],
        family=_family(family, certificate),
        tree=[_node(tree, node) for node in range(tree.n_nodes)],
        claim={"cost": certificate.objective, "bound": certificate.objective_bound},
    )


def _column(column: Any) -> dict[str, Any]:
    """Say how the cells of a column become whole numbers."""
    if isinstance(column, DroppedColumn):
        return {"kind": "dropped", "name": column.name}
    if isinstance(column, CategoricalColumn):
        return {
            "kind": "category",
            "name": column.name,
            "values": list(column.values),
            "rare": list(column.rare),
        }
    return {
        "kind": "number",
        "name": column.name,
        "cuts": list(column.cuts),
        "has_gaps": column.has_gaps,
        "fill": column.fill,
    }


def _family(family: Family, certificate: Certificate) -> dict[str, Any]:
    return {
        "depth": certificate.depth,
        "max_features": certificate.max_features,
        "max_points": certificate.max_points,
        "min_samples_leaf": certificate.min_samples_leaf,
        "signs": [int(sign) for sign in family.signs],
        "allowed": [bool(allowed) for allowed in family.allowed],
        "penalties": list(certificate.feature_penalties),
    }


def _node(tree: ObliqueTree, node: int) -> dict[str, Any]:
    if tree.is_leaf[node]:
        return {"class": int(tree.label[node])}
    columns = np.flatnonzero(tree.coef[node])
    return {
        "columns": columns.tolist(),
        "points": [int(points) for points in tree.coef[node, columns]],
        "threshold": int(tree.threshold[node]),
        "left": int(tree.children_left[node]),
        "right": int(tree.children_right[node]),
    }


def _anchor(anchor: Anchor) -> list[Any]:
    return [
        [int(column) for column in anchor.columns],
        [int(points) for points in anchor.points],
        int(anchor.threshold),
        [_anchor(inner) for inner in anchor.left],
        [_anchor(inner) for inner in anchor.right],
    ]
