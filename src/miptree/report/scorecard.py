"""What the page shows of a points tree: its steps, and a card to fill in by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from miptree.export.cards import Step, goal_words, rare_values, steps_of
from miptree.export.conditions import Card
from miptree.export.names import printable
from miptree.export.readable import Atom, Branch, Leaf, ReadableTree
from miptree.export.row_points import row_points
from miptree.export.words import condition_words, lookup, part_words
from miptree.utils.arrays import FloatArray, IntArray

_MOST_CELLS, _MOST_LEVELS = 130, 24
"""Ranges on a card that fits on one page of paper, and of one feature."""


def scorecard(rules: ReadableTree, counts: IntArray) -> dict[str, Any]:
    """List the steps with what is to be looked up, marked and added up at each."""
    steps = steps_of(rules)
    cards = [step.asks for step in steps.values() if isinstance(step.asks, Card)]
    levels = [part.n_levels for card in cards for part in card.parts]
    n_cells = sum(n + 1 for n in levels if n <= _MOST_LEVELS)
    goals = goal_words(rules, steps, counts)
    return {
        "steps": [
            {
                "number": step.number,
                "asks": _asked(rules, step),
                "parts": _parts(rules, step, n_cells <= _MOST_CELLS),
                "answers": [
                    [answer, goals[child.node]]
                    for answer, child in zip(step.answers, _children(step), strict=True)
                ],
            }
            for step in steps.values()
        ],
        "notes": [line for line in rare_values(rules) if line],
    }


def _children(step: Step) -> tuple[Branch | Leaf, Branch | Leaf]:
    return step.branch.left, step.branch.right


def _asked(rules: ReadableTree, step: Step) -> str:
    if isinstance(step.asks, Card):
        return f"Add up points (0 to {step.asks.total})."
    return f"{condition_words(rules, step.asks)}?"


def _parts(rules: ReadableTree, step: Step, has_room: bool) -> list[dict[str, Any]]:
    """List what has points at a step, with ranges to look up where there is room."""
    if not isinstance(step.asks, Card):
        return []
    found = []
    for part in step.asks.parts:
        name, points = map(printable, part_words(rules, part))
        is_listed = has_room and 1 < part.n_levels <= _MOST_LEVELS
        cells = lookup(rules, part) if is_listed else []
        found.append({"name": name, "points": points, "cells": cells})
    return found


def step_facts(rules: ReadableTree, step: Step) -> dict[str, Any]:
    """Describe a split for its box in the tree and what is shown beside it."""
    asks = step.asks
    said = f"{condition_words(rules, asks)}?"
    if isinstance(asks, Card):
        names = [rules.name(part.atom.column) for part in asks.parts]
        said = printable(f"points of {', '.join(names)}")
    return {
        "text": f"STEP {step.number}: {said}",
        "answers": list(step.answers),
        "parts": _parts(rules, step, has_room=False),
        "bars": [],
    }


def points_histogram(
    card: Card, atoms: list[Atom], Z: FloatArray, codes: IntArray, n_classes: int
) -> dict[str, Any]:
    """Count points of rows by class; bars up to 0 are those of rows that go left."""
    counts = np.zeros((n_classes, card.total + 1), dtype=np.intp)
    np.add.at(counts, (codes, row_points(card, atoms, Z)), 1)
    edges = np.arange(card.total + 2) - card.most - 1
    return {
        "edges": edges.tolist(),
        "counts": counts.tolist(),
        "margin": 0,
        "named": ["0 points", f"{card.total} points"],
    }
