"""What the form needs to read a typed row, to give reasons, and to find a change."""

from __future__ import annotations

from typing import Any

from miptree.classifiers.predictor import TreePredictor
from miptree.data import CategoricalColumn, GridColumn, NumericalColumn
from miptree.data.columns import OF_NUMBERS
from miptree.data.limits import Limits
from miptree.explain.limits import known_limits
from miptree.explain.splits import Story
from miptree.export.conditions import Card, Part
from miptree.export.describe import condition_of
from miptree.export.names import number_text
from miptree.export.readable import Branch, Member
from miptree.report.nodes import plain_values


def form_facts(clf: TreePredictor) -> dict[str, Any]:
    """Gather ranges of the columns by their place, and rules of the splits by node."""
    story, columns = Story.of(clf), clf.table_.columns
    limits = known_limits(columns)
    splits = story.shown.branches if story.is_of_points else story.exact.branches
    pairs = zip(splits, story.shown.branches, strict=True)
    found: dict[int, dict[str, Any]] = {}
    for j in story.exact.used:
        column = columns[j]
        if isinstance(column, CategoricalColumn):
            found[j] = {"n_offered": len([v for v in column.values if v is not None])}
        elif isinstance(column, OF_NUMBERS) and j in limits:
            found[j] = _range(limits[j], column)
    return {
        "columns": found,
        "splits": {branch.node: _split(story, branch, told) for branch, told in pairs},
    }


def _range(limits: Limits, column: NumericalColumn | GridColumn) -> dict[str, Any]:
    return {
        "low": limits.low,
        "high": limits.high,
        "places": limits.places,
        "most_places": limits.most_places,
        "start": limits.nearest(column.fill),
        "cuts": column.cuts if isinstance(column, GridColumn) else None,
    }


def _split(story: Story, branch: Branch, told: Branch) -> dict[str, Any]:
    """Say the rule for either side, its limit, and what has points on a card."""
    (kind, left), (_, right) = (
        story.rule_of(branch, told, goes_left) for goes_left in (True, False)
    )
    found: dict[str, Any] = {"kind": kind, "rules": [left, right], "unit": told.unit}
    found["tells_gaps"] = told.missing_left is not None
    found["told"] = number_text(told.threshold, story.digits)
    card = condition_of(branch) if kind == "points" else None
    if isinstance(card, Card):
        found |= {"most": card.most, "parts": [_part(part) for part in card.parts]}
    return found


def _part(part: Part) -> dict[str, Any]:
    """Write down a part of a card as a term that the page can read of a row."""
    atom = part.atom
    term: dict[str, Any] = {
        "column": atom.column,
        "weight": part.weight,
        "levels": part.n_levels,
    }
    term["falls"] = part.falls
    if isinstance(atom, Member):
        values = plain_values(atom)
        return term | {"kind": "member", "values": values, "gap": atom.has_missing}
    if part.missing_level is None:
        gap = sum(cut <= atom.fill for cut in part.cuts)
    else:
        gap = part.missing_level
        gap = part.n_levels - gap if part.falls else gap
    return term | {"kind": "steps", "cuts": part.cuts, "gap": gap}
