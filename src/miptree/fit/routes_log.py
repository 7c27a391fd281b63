"""The proof file of an oblique tree: what was branched on, and what closed it.

After the header comes a section of lines: a line for each part of the rows with its
threshold, a line for each structure (a tree's shape and its labels), and the events of
its proof in pre-order. A point is named by the first data row that has its features.
Files about trees with subset splits of categories have a version of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.data.columns import CategoricalColumn, DroppedColumn
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.data.table import Table
from miptree.fit.proof_log import header, line, write_lines
from miptree.fit.roots_lines import n_roots_lines, roots_lines
from miptree.fit.trace_lines import n_lines_of, structure_lines
from miptree.proof.routes.trace import EXPONENT
from miptree.tree import ObliqueTree
from miptree.utils.arrays import IntArray

if TYPE_CHECKING:
    from miptree.proof.routes.result import Part

VERSION, SUBSETS_VERSION = 2, 3


def write_routes_proof(
    path: str | os.PathLike[str],
    schema: Schema,
    rows: TrainingRows,
    problem: Problem,
    tree: ObliqueTree,
    certificate: Certificate,
    parts: Sequence[Part],
    *,
    target: str | None = None,
    force: bool = False,
) -> str:
    """Write the proof of an oblique tree, gzipped where the name ends in .gz.

    Parameters
    ----------
    path : path
        File to write.
    schema : Schema
        Columns and classes.
    rows : TrainingRows
        The rows of the fit in the user's order.
    problem : Problem
        The problem that was made of them.
    tree : ObliqueTree
        The tree in the user's units.
    certificate : Certificate
        Its certificate, with the penalties and limits of the trees compared.
    parts : sequence of Part
        Disjoint parts of the rows with their proofs, whose thresholds add up; those
        without a proof are left out.
    target : str, optional
        Column of the labels in the user's file, where there is one.
    force : bool
        Whether a file of that name is replaced.

    Returns
    -------
    str
        The digest of the file.
    """
    parts = [part for part in parts if part.is_recorded]
    proved = sum(part.threshold for part in parts)
    bound = min(certificate.objective_bound, proved)
    first = routes_header(schema, rows, tree, certificate, target, bound)
    section = {"section": "routes", "lines": _n_lines(parts), "exponent": EXPONENT}
    number = data_rows(problem)

    def lines() -> Iterator[str]:
        yield line(first)
        yield line(section)
        for part in parts:
            yield from _part_lines(part, number)

    return write_lines(path, lines(), force)


def routes_header(
    schema: Schema,
    rows: TrainingRows,
    tree: ObliqueTree,
    certificate: Certificate,
    target: str | None,
    bound: float,
) -> dict[str, Any]:
    """Return the header of such a file, which claims that no tree is below a bound."""
    table = schema.table
    has_subsets = len(table.features) > 0
    return header(
        SUBSETS_VERSION if has_subsets else VERSION,
        schema,
        rows,
        target,
        columns=[_column(column, has_subsets) for column in table.columns],
        family=_family(certificate),
        tree=[_node(table, tree, node) for node in range(tree.n_nodes)],
        claim={"cost": certificate.objective, "bound": bound},
    )


def data_rows(problem: Problem) -> IntArray:
    """Return (n,): the first of the user's rows with the features of each row."""
    source = np.arange(problem.n_rows) if problem.source is None else problem.source
    first = np.full(int(problem.same_x.max()) + 1, np.iinfo(np.intp).max)
    np.minimum.at(first, problem.same_x, source)
    return np.asarray(first[problem.same_x])


# --------------------------------------------------------------------------- header


def _column(column: Any, has_subsets: bool) -> dict[str, Any]:
    """Say how the cells of a column become numbers, and values for subset splits."""
    if isinstance(column, DroppedColumn):
        return {"kind": "dropped", "name": column.name}
    if isinstance(column, CategoricalColumn):
        is_subset = {"is_subset": column.as_subsets} if has_subsets else {}
        return {
            "kind": "category",
            "name": column.name,
            "values": list(column.values),
            "rare": list(column.rare),
            "is_open": column.as_indicators,
            **is_subset,
        }
    return {
        "kind": "number",
        "name": column.name,
        "fill": column.fill,
        "has_gaps": column.marks_missing,
    }


def _family(certificate: Certificate) -> dict[str, Any]:
    names = ("depth", "slack_penalty", "l1_penalty", "margin", "max_features")
    return {"kind": "oblique"} | {name: getattr(certificate, name) for name in names}


def _node(table: Table, tree: ObliqueTree, node: int) -> dict[str, Any]:
    if tree.is_leaf[node]:
        return {"class": int(tree.label[node])}
    columns, n_open = np.flatnonzero(tree.coef[node]), len(table.open_names)
    below = {
        "left": int(tree.children_left[node]),
        "right": int(tree.children_right[node]),
    }
    if (columns >= n_open).any():
        feature = table.value_feature[columns[0] - n_open]
        values = tree.coef[node, n_open:][table.value_feature == feature]
        goes_left = np.flatnonzero(values <= tree.threshold[node])
        places = [
            k
            for k, column in enumerate(table.columns)
            if isinstance(column, CategoricalColumn) and column.as_subsets
        ]
        place = places[feature]
        return {"category": place, "left_values": goes_left.tolist(), **below}
    return {
        "coef": [[int(j), float(tree.coef[node, j])] for j in columns],
        "threshold": float(tree.threshold[node]),
        **below,
    }


# -------------------------------------------------------------------------- section


def _n_lines(parts: Sequence[Part]) -> int:
    proofs = sum(n_lines_of(part.structures or ()) for part in parts)
    roots = sum(n_roots_lines(part.roots) for part in parts if part.roots is not None)
    return len(parts) + proofs + roots


def _part_lines(part: Part, data_row: IntArray) -> Iterator[str]:
    """Write a part: the points it consists of, its share of the 1-norm, its proofs."""
    number = data_row[part.problem.first_row]
    is_all = len(number) == len(np.unique(data_row))
    points = None if is_all else number.tolist()
    ratio = list(Fraction(part.share).as_integer_ratio())
    yield line(["part", points, ratio, float(part.threshold)])
    yield from structure_lines(part.structures or (), number)
    if part.roots is not None:
        yield from roots_lines(part.roots, number)
