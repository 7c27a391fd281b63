"""Why a row of a leaf has its class, in one sentence."""

from __future__ import annotations

from miptree.export._conditions import Card, Condition
from miptree.export._describe import is_points_tree
from miptree.export._names import printable
from miptree.export._rules import Leaf, Rules
from miptree.export._words import points_words, words_in_row
from miptree.export.cards import steps_of
from miptree.export.sentences import Way, conditions_on, sums_and_rules, ways_of


def reasons_of(shown: Rules, digits: int) -> dict[int, str]:
    """Say for each leaf, by its node, which conditions its rows meet.

    The parameters are those that :func:`miptree.export._shown.shown_rules` returns.
    """
    return {
        leaf.node: _reason(shown, digits, leaf, way)
        for leaf, way in ways_of(shown.root)
    }


def card_words(shown: Rules, found: Condition) -> str:
    """Say how many points are asked for on a card, and of which step; else nothing."""
    if not isinstance(found, Card):
        return ""
    for step in steps_of(shown).values():
        asks = step.asks
        if isinstance(asks, Card) and (asks.parts, asks.most) == (
            found.parts,
            found.most,
        ):
            return f"{points_words(found)} in STEP {step.number}"
    return ""


def _reason(shown: Rules, digits: int, leaf: Leaf, way: Way) -> str:
    name = printable(f"Class {shown.classes[leaf.label]}")
    if not way:
        return f"{name}, as every row."
    if is_points_tree(shown):
        held = conditions_on(way)
        pairs = zip(held, words_in_row(shown, held), strict=True)
        said = [card_words(shown, part) or text for part, text in pairs]
    else:
        said = sums_and_rules(shown, way, digits)
    return f"{name} because {' and '.join(said)}."
