"""The proof file of the errors: limits of coefficients, and one of two searches.

A search of parts of the rows is written as parts and branches; one of all splits of the
root as pairs of combinations, lemmas about them, and the sides of points case by case.

The header is that of a proof over routes, but for the family of trees, which has no
penalties, and what is claimed. A point is named by the first data row that has its
features and its class.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.fit.proof_log import line, write_lines
from miptree.fit.routes_log import routes_header
from miptree.objective.bounds import Bound, combinatorial_bound
from miptree.proof import ErrorsRecord
from miptree.tree import ObliqueTree

SECTION, ROOTS_SECTION = "errors", "errors-roots"
"""Kinds of the section; the first one is that of the family of trees as well."""


def write_errors_proof(
    path: str | os.PathLike[str],
    schema: Schema,
    rows: TrainingRows,
    problem: Problem,
    tree: ObliqueTree,
    certificate: Certificate,
    record: ErrorsRecord,
    *,
    target: str | None = None,
    force: bool = False,
) -> str:
    """Write the proof of the errors, and return the digest of the file.

    Parameters
    ----------
    path : path
        File to write, gzipped where the name ends in .gz.
    schema, rows, problem, tree, certificate, target, force
        As for :func:`miptree.fit.routes_log.write_routes_proof`.
    record : ErrorsRecord
        What was recorded.
    """
    shown = bound_shown(record, problem, certificate.depth)
    bound = min(certificate.errors_bound, shown.value)
    first = errors_header(schema, rows, tree, certificate, target, bound)
    name = np.arange(problem.n_rows) if problem.source is None else problem.source
    limits = record.limits
    n_lines = len(limits.left_out) + len(limits.multipliers)
    n_lines += len(record.roots)
    n_lines += sum(1 + len(part.branches) for part in record.parts)

    def lines() -> Iterator[str]:
        yield line(first)
        section = ROOTS_SECTION if record.roots else SECTION
        yield line({"section": section, "lines": n_lines})
        for column, terms in limits.left_out.items():
            yield line(["w", column, _flat(terms)])
        for column, terms in limits.multipliers.items():
            named = {int(name[i]): times for i, times in terms.items()}
            yield line(["h", column, _flat(named)])
        for part in record.parts:
            is_all = len(part.rows) == problem.n_rows
            points = None if is_all else name[part.rows].tolist()
            yield line(["part", points, part.most, list(part.made_of)])
            yield from part.branches
        yield from record.roots

    return write_lines(path, lines(), force)


def bound_shown(record: ErrorsRecord, problem: Problem, depth: int) -> Bound:
    """Return the errors that a file shows: of its parts, or such as are counted."""
    counted = combinatorial_bound(problem, depth)
    return max(record.bound, counted, key=lambda bound: bound.value)


def errors_header(
    schema: Schema,
    rows: TrainingRows,
    tree: ObliqueTree,
    certificate: Certificate,
    target: str | None,
    bound: float,
) -> dict[str, Any]:
    """Return the header of such a file, which claims so many errors of every tree."""
    header = routes_header(schema, rows, tree, certificate, target, bound)
    family = {
        "kind": SECTION,
        "depth": certificate.depth,
        "margin": certificate.margin,
        "max_features": certificate.max_features,
    }
    claim = {"cost": certificate.cost_at_margin, "bound": bound}
    return header | {"family": family, "claim": claim}


def _flat(terms: dict[int, int]) -> list[int]:
    return [number for pair in terms.items() for number in pair]
