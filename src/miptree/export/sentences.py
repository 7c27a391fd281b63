"""The tree as sentences, one for each leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from miptree.export._gaps import gap_notes
from miptree.export._plain_rule import Has
from miptree.export.cards import card_words, costs_note, hung, rare_values, steps_of
from miptree.export.conditions import (
    Card,
    Condition,
    Every,
    OneOf,
    Part,
    Within,
    negated,
)
from miptree.export.describe import condition_of, is_points_tree
from miptree.export.leaf_words import leaf_text
from miptree.export.names import printable
from miptree.export.readable import Branch, Leaf, Member, Model, ReadableTree
from miptree.export.shown import shown_rules
from miptree.export.text import counts_of, labels_note, split_text
from miptree.export.words import part_words, words_in_row

T = TypeVar("T")
Way = list[tuple[Branch, bool]]
"""The splits above a leaf, and whether it lies to their left."""


def export_rules(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    digits: int | None = None,
    width: int | None = None,
) -> str:
    """Write a tree as sentences: one for each leaf, in which order does not matter.

    The parameters are those of :func:`export_text`, and so are the numbers shown. Where
    splits of a points tree add up points, these are explained first, by the numbers of
    the steps of :func:`export_text`.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from miptree.tree import HeapTree, ObliqueTree
    >>> heap = HeapTree(np.array([[1.5, -1.0]]), np.array([3.0]), np.array([0, 1]))
    >>> print(export_rules(ObliqueTree.from_heap(heap), ["width", "height"]))
    IF 1.5 width - height <= 3 THEN class 0 (leaf 1)
    IF 1.5 width - height > 3 THEN class 1 (leaf 2)
    """
    rules, digits, notes = shown_rules(model, feature_names, class_names, digits)
    counts, lines = counts_of(model), []
    for leaf, way in ways_of(rules.root):
        if is_points_tree(rules):
            said = points_and_questions(rules, way)
        else:
            said = sums_and_rules(rules, way, digits)
        start = f"IF {' and '.join(said)} THEN" if said else "ALWAYS"
        lines.append(f"{start} {leaf_text(rules, leaf, counts)}")
    notes = [*rare_values(rules), *gap_notes(rules), *notes]
    if is_points_tree(rules):
        lines = [*_explained(rules), *lines]
        for note in costs_note(rules, counts):
            notes += ["", note]
    else:
        notes += labels_note(model, rules)
    said = [*lines, *notes]
    return "\n".join(part for line in said for part in hung(line, width))


def ways_of(node: Branch | Leaf) -> list[tuple[Leaf, Way]]:
    """List the leaves below a node with the splits that lead there."""
    if isinstance(node, Leaf):
        return [(node, [])]
    return [
        (leaf, [(node, child is node.left), *way])
        for child in (node.left, node.right)
        for leaf, way in ways_of(child)
    ]


# ----------------------------------------------------------------------- oblique trees


def sums_and_rules(rules: ReadableTree, way: Way, digits: int) -> list[str]:
    """Say what holds for all rows that go a way, values of one column together."""
    held: list[Has | str] = []
    for split, left in way:
        rule = split.rule
        if rule is not None and not left:
            rule = rule.negated()
        if rule is None or not (rule.is_every or len(rule.parts) == 1):
            held.append(split_text(rules, split, digits, left, len(way) == 1))
            continue
        for part in rule.parts:
            if isinstance(part, Has):
                _add(held, part, _both_properties)
            else:
                held.append(part.words(rules, is_alone=False))
    return [
        part if isinstance(part, str) else printable(part.words(rules)) for part in held
    ]


def _both_properties(one: Has | str, two: Has | str) -> Has | None:
    if isinstance(one, str) or isinstance(two, str):
        return None
    if not isinstance(one.atom, Member) or not isinstance(two.atom, Member):
        return None
    both = _values_of_both(OneOf(one.atom, one.holds), OneOf(two.atom, two.holds))
    return None if both is None else Has(both.member, both.holds)


# ------------------------------------------------------------------------ points trees


def _explained(rules: ReadableTree) -> list[str]:
    """Say what is added up in each step that adds up."""
    steps: dict[tuple[Part, ...], list[str]] = {}
    for step in steps_of(rules).values():
        if isinstance(step.asks, Card):
            steps.setdefault(step.asks.parts, []).append(f"STEP {step.number}")
    lines = []
    for parts, names in steps.items():
        adds = "adds" if len(names) == 1 else "add"
        lines.append(f"{' and '.join(names)} {adds} up:")
        lines += [f"  {': '.join(part_words(rules, part))}" for part in parts]
    return [*lines, ""] if lines else []


def points_and_questions(rules: ReadableTree, way: Way) -> list[str]:
    """Say what holds for all rows that go a way, points by the number of their step."""
    held = conditions_on(way)
    pairs = zip(held, words_in_row(rules, held), strict=True)
    return [card_words(rules, part) or text for part, text in pairs]


def conditions_on(way: Way) -> list[Condition]:
    """List what holds for all rows that go a way, each column's limits together."""
    asked = [(condition_of(split), left) for split, left in way]
    held = [found if left else negated(found) for found, left in asked]
    merged: list[Condition] = []
    for found in held:
        for part in found.parts if isinstance(found, Every) else (found,):
            _add(merged, part, _both)
    return merged


def _add(merged: list[T], new: T, both_of: Callable[[T, T], T | None]) -> None:
    """Add a condition to others; one of the same column is narrowed instead."""
    for k, old in enumerate(merged):
        both = both_of(old, new)
        if both is not None:
            merged[k] = both
            return
    merged.append(new)


def _both(one: Condition, two: Condition) -> Condition | None:
    """Return the one condition that says as much as two, if there is such."""
    if isinstance(one, Within) and isinstance(two, Within):
        return _range_of_both(one, two)
    if isinstance(one, OneOf) and isinstance(two, OneOf):
        return _values_of_both(one, two)
    return None


def _range_of_both(one: Within, two: Within) -> Within | None:
    lows = [end for end in (one.low, two.low) if end is not None]
    highs = [end for end in (one.high, two.high) if end is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    is_empty = low is not None and high is not None and low >= high
    if one.column != two.column or is_empty:
        return None
    missing = None if one.missing is None else bool(one.missing and two.missing)
    return Within(one.column, low, high, missing)


def _values_of_both(one: OneOf, two: OneOf) -> OneOf | None:
    if one.member.column != two.member.column:
        return None
    first, second = one.member.values, two.member.values
    if not one.holds and not two.holds:
        kept = tuple(dict.fromkeys(first + second))
        return OneOf(Member(one.member.column, kept), False)
    if one.holds and two.holds:
        kept = tuple(value for value in first if value in second)
    else:
        having, lacking = (first, second) if one.holds else (second, first)
        kept = tuple(value for value in having if value not in lacking)
    return OneOf(Member(one.member.column, kept), True) if kept else None
