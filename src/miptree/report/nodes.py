"""The nodes of a tree as the page shows them."""

from __future__ import annotations

from math import floor, log10
from typing import Any

import numpy as np

from miptree.classifiers.predictor import TreePredictor
from miptree.data import Cells
from miptree.data.columns import show_value
from miptree.evaluate import score_histogram
from miptree.export.cards import steps_of
from miptree.export.conditions import Card
from miptree.export.describe import is_points_tree
from miptree.export.names import atom_text, number_text, printable
from miptree.export.readable import (
    Atom,
    Branch,
    Leaf,
    Member,
    Missing,
    ReadableTree,
    Steps,
    atom_spreads,
    atoms_of,
)
from miptree.export.shown import shown_rules
from miptree.export.text import split_text, term_text
from miptree.report.scorecard import points_histogram, step_facts
from miptree.tree.rounding import ALL_DIGITS
from miptree.utils.arrays import FloatArray, IntArray

_BINS = 30
_DIGITS = 4
_EXAMPLES = 5


def nodes_of(
    clf: TreePredictor,
    rules: ReadableTree,
    Z: FloatArray,
    codes: IntArray,
    counts: IntArray,
    cells: list[Cells],
) -> list[dict[str, Any]]:
    """List the nodes in the order of ``tree_``, exact, and what is shown of them."""
    leaf = clf.tree_.apply(Z)
    found: list[dict[str, Any]] = []
    for node in rules.nodes:
        entry: dict[str, Any] = {
            "id": node.node,
            "counts": counts[node.node].tolist(),
            "depth": int(clf.tree_.node_depth[node.node]),
        }
        if isinstance(node, Leaf):
            entry |= {
                "label": node.label,
                "proba": clf.fitted_.node_proba[node.node].tolist(),
                "examples": _examples(rules, cells, np.flatnonzero(leaf == node.node)),
            }
        else:
            entry |= {
                "terms": [_term(coef, atom) for coef, atom in node.terms],
                "threshold": node.threshold,
                "blur": float(clf.fitted_.blur[node.node]),
                "left": node.left.node,
                "right": node.right.node,
            }
        found.append(entry)
    describe = _steps if is_points_tree(rules) else _oblique
    splits = describe(clf, rules, Z, codes)
    found = [entry | splits.get(entry["id"], {}) for entry in found]
    return sorted(found, key=lambda entry: entry["id"])


def _oblique(
    clf: TreePredictor, rules: ReadableTree, Z: FloatArray, codes: IntArray
) -> dict[int, dict[str, Any]]:
    """Describe the splits of a tree: rounded texts, sizes of terms, and scores."""
    shown, digits, _ = shown_rules(clf)
    spread = atom_spreads(clf)
    found = {}
    for rounded, node in zip(shown.branches, rules.branches, strict=True):
        found[node.node] = {
            "text": split_text(rules, rounded, digits),
            "terms_shown": [] if rounded.rule else _terms(rules, rounded, digits),
            "answers": ["yes", "no"],
            "bars": _bars(rules, rounded, spread, digits),
            "histogram": _histogram(clf, Z, codes, node, rounded.unit),
        }
    return found


def _histogram(
    clf: TreePredictor,
    Z: FloatArray,
    codes: IntArray,
    node: Branch,
    unit: float,
) -> dict[str, Any]:
    """Count scores by class; those at the ends are named as the sums of the text."""
    edges, counts, margin = score_histogram(clf, Z, codes, node.node, _BINS)
    ends = [(end + node.threshold) / unit for end in edges[[0, -1]].tolist()]
    return {
        "edges": edges.tolist(),
        "counts": counts.tolist(),
        "margin": margin,
        "named": _told_apart(ends),
    }


def _told_apart(ends: list[float]) -> list[str]:
    """Write the ends of a range with four digits of its width: years differ late."""
    width = max(ends) - min(ends)
    places = _DIGITS - 1 - floor(log10(width)) if width else _DIGITS
    return [number_text(round(end, places), ALL_DIGITS) for end in ends]


def _steps(
    clf: TreePredictor, rules: ReadableTree, Z: FloatArray, codes: IntArray
) -> dict[int, dict[str, Any]]:
    """Describe the splits of a points tree: words, and points where they are added."""
    atoms, passed = atoms_of(clf.table_), clf.tree_.ancestors[clf.tree_.apply(Z)]
    found = {}
    for node, step in steps_of(rules).items():
        here = passed[:, node]
        found[node] = step_facts(rules, step) | {"histogram": None}
        if isinstance(step.asks, Card):
            found[node]["histogram"] = points_histogram(
                step.asks, atoms, Z[here], codes[here], len(rules.classes)
            )
    return found


def _terms(rules: ReadableTree, node: Branch, digits: int) -> list[str]:
    """Write the terms of a split one by one, as they stand in its text."""
    return [
        printable(term_text(rules, coef, atom, digits)) for coef, atom in node.terms
    ]


def _term(coef: float, atom: Atom) -> dict[str, Any]:
    """Write down a term of a split, for the form that predicts a row."""
    term: dict[str, Any] = {"coef": coef, "column": atom.column}
    if isinstance(atom, Member):
        values = plain_values(atom)
        return term | {"kind": "member", "values": values, "gap": atom.has_missing}
    if isinstance(atom, Missing):
        return term | {"kind": "missing"}
    if isinstance(atom, Steps):
        return term | {"kind": "steps", "cuts": atom.cuts, "gap": atom.of_missing}
    return term | {"kind": "number", "fill": atom.fill}


def _bars(
    rules: ReadableTree, node: Branch, spread: dict[Atom, float], digits: int
) -> list[dict[str, Any]]:
    """List coefficients times the spread of their columns, in the order of a text."""
    if node.question.member is not None:
        return []
    return [
        {
            "name": atom_text(rules, atom),
            "coef": number_text(coef, digits),
            "size": coef * spread.get(atom, 1.0),
        }
        for coef, atom in node.terms
    ]


def _examples(
    rules: ReadableTree, cells: list[Cells], rows: IntArray
) -> list[list[str]]:
    """Take some rows of a leaf evenly: their cells in the columns that splits read."""
    chosen = rows[np.linspace(0, len(rows) - 1, min(_EXAMPLES, len(rows))).astype(int)]
    return [[_cell(cells[j], int(row)) for j in rules.used] for row in chosen]


def _cell(cells: Cells, row: int) -> str:
    if cells.numbers is not None:
        number = float(cells.numbers[row])
        return "" if np.isnan(number) else number_text(number, ALL_DIGITS)
    value = cells.as_values()[row]
    return "" if value is None else show_value(value)


def plain_values(member: Member) -> list[str | float]:
    """Make values of a column what a script compares: texts and numbers."""
    return [v if isinstance(v, str) else float(v) for v in member.present]
