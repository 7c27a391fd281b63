"""Write a proof file: all that a stranger needs to check a proof against the data.

A file of JSON lines: a header that says how cells become numbers, what errors cost,
which trees are compared, the tree and what is claimed of it; then sections, each of a
kind, with what the proof rests on; at last a digest. Nothing in it must be believed:
``miptree.checker`` computes every number again.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from miptree._version import __version__
from miptree.certificate.certificate import Certificate
from miptree.data.columns import CategoricalColumn, DroppedColumn
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.tree import ObliqueTree
from miptree.utils.files import write_atomic

FORMAT, VERSION = "miptree-proof", 1
DEEPEST = 3
"""Depth of the deepest trees that the engine proves to be optimal."""


class FamilyLike(Protocol):
    """What a proof file takes from :class:`miptree.points.Family`."""

    @property
    def signs(self) -> tuple[int, ...]:
        """Sign of each grid column."""

    @property
    def allowed(self) -> tuple[bool, ...]:
        """Which grid columns may be used."""


class AnchorLike(Protocol):
    """What a proof file takes from :class:`miptree.points.Anchor`."""

    @property
    def columns(self) -> tuple[int, ...]:
        """Grid columns of a root split; none for 'all rows'."""

    @property
    def points(self) -> tuple[int, ...]:
        """Points of each."""

    @property
    def threshold(self) -> int:
        """Most points that go left."""

    @property
    def left(self) -> Iterable[AnchorLike]:
        """Anchors of the proof of the left side, in trees of depth 3."""

    @property
    def right(self) -> Iterable[AnchorLike]:
        """Anchors of the proof of the right side."""


def write_proof(
    path: str | os.PathLike[str],
    schema: Schema,
    rows: TrainingRows,
    family: FamilyLike,
    tree: ObliqueTree,
    certificate: Certificate,
    anchors: Iterable[AnchorLike],
    *,
    target: str | None = None,
    force: bool = False,
) -> None:
    """Write the proof of a points tree, gzipped where the name ends in .gz.

    Parameters
    ----------
    path : path
        File to write.
    schema : Schema
        Grid columns and classes.
    rows : TrainingRows
        The rows of the fit in the user's order, whose labels, weights and costs are
        written; their cells are not, a checker takes them from the user's data.
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
    """
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"miptree {__version__}",
        "columns": [_column(column) for column in schema.table.columns],
        "is_named": schema.feature_names is not None,
        "classes": schema.classes.tolist(),
        "target": target,
        **_rows(rows),
        "family": _family(family, certificate),
        "tree": [_node(tree, node) for node in range(tree.n_nodes)],
        "claim": {"cost": certificate.objective, "bound": certificate.objective_bound},
    }
    # Deeper trees have no proof that a checker repeats.
    kept = anchors if certificate.depth <= DEEPEST else ()
    plain = [_anchor(anchor) for anchor in kept]
    section = {"section": "points-anchors", "lines": len(plain)}
    content = "".join(_lines([header, section, *plain])).encode()
    digest = {"digest": hashlib.sha256(content).hexdigest()}
    content += "".join(_lines([digest])).encode()
    if os.fspath(path).endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    write_atomic(path, content, force)


def _lines(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield json.dumps(value, allow_nan=False, separators=(",", ":")) + "\n"


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


def _rows(rows: TrainingRows) -> dict[str, Any]:
    """Give labels, and weights and costs where they are not all 1."""
    is_plain = bool((rows.weight == 1).all())
    costs, row_costs = rows.costs, rows.row_costs
    return {
        "labels": rows.y.tolist(),
        "weights": None if is_plain else rows.weight.tolist(),
        "costs": None if costs is None else costs.tolist(),
        "row_costs": None if row_costs is None else row_costs.tolist(),
    }


def _family(family: FamilyLike, certificate: Certificate) -> dict[str, Any]:
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


def _anchor(anchor: AnchorLike) -> list[Any]:
    return [
        [int(column) for column in anchor.columns],
        [int(points) for points in anchor.points],
        int(anchor.threshold),
        [_anchor(inner) for inner in anchor.left],
        [_anchor(inner) for inner in anchor.right],
    ]
