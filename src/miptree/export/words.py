"""The words for what a points tree asks: sentences that a stranger reads aloud."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

import numpy as np

from miptree.export.conditions import (
    Card,
    Condition,
    Depending,
    Either,
    Every,
    OneOf,
    Part,
    TwoOfThree,
    Within,
    opposite,
)
from miptree.export.names import printable, value_names
from miptree.export.readable import Member, ReadableTree

_FEW_LEVELS = 3
"""Levels of a number that a card lists one by one."""
_LARGE = 10_000
"""Numbers from here on are hard to read without commas."""


def condition_words(rules: ReadableTree, found: Condition) -> str:
    """Say a condition on one line."""
    return printable(_words(rules, found, is_alone=True))


def words_in_row(rules: ReadableTree, found: Sequence[Condition]) -> list[str]:
    """Say conditions that all hold, in brackets where an 'or' could be misread."""
    texts = [condition_words(rules, part) for part in found]
    return [
        f"({text})" if len(texts) > 1 and _is_compound(part) else text
        for part, text in zip(found, texts, strict=True)
    ]


def _is_compound(found: Condition) -> bool:
    if isinstance(found, OneOf):
        return len(set(found.member.values)) > 1
    return isinstance(found, (Every, Either, TwoOfThree))


def _words(rules: ReadableTree, found: Condition, is_alone: bool = False) -> str:
    if isinstance(found, Within):
        return f"{rules.name(found.column)} {_range(rules, found)}{_gap(found)}"
    if isinstance(found, OneOf):
        return _category(rules, found, is_alone)
    if isinstance(found, Depending):
        return _depending(rules, found)
    if isinstance(found, Card):
        return _card(rules, found)
    if not found.parts:
        return "any row" if isinstance(found, Every) else "no row"
    text = _several(rules, found)
    # Within another condition, brackets tell which 'and' and 'or' belong together.
    return text if is_alone else f"({text})"


# --------------------------------------------------------------------- one feature


def _range(rules: ReadableTree, found: Within) -> str:
    cuts = getattr(rules.columns[found.column], "cuts", ())
    low, high = (
        "" if end is None else _number(end, cuts) for end in (found.low, found.high)
    )
    if low and high:
        return f"from {low} to below {high}"
    return f"{low} or more" if low else f"below {high}"


def _gap(found: Within) -> str:
    """Say what becomes of a missing number, where training had such."""
    return "" if found.missing is None else gap_words(found.missing)


def gap_words(is_met: bool) -> str:
    """Say whether a missing number meets a condition, after the words for others."""
    return " (or missing)" if is_met else " (not missing)"


def _category(rules: ReadableTree, found: OneOf, is_alone: bool) -> str:
    name, values = rules.name(found.member.column), value_names(rules, found.member)
    if len(values) == 1:
        is_equal = "=" if found.member.values != (None,) else "is"
        return f"{name} {is_equal if found.holds else 'is not'} {values[0]}"
    if len(values) == 2:
        text = " or ".join(values) if found.holds else f"neither {' nor '.join(values)}"
    else:
        text = f"{'one' if found.holds else 'none'} of: {', '.join(values)}"
    # Beside other conditions, brackets tell their 'or' from that of the values.
    return f"{name} is {text}" if is_alone else f"({name} is {text})"


def _number(number: float, beside: Sequence[float]) -> str:
    """Write a number in full, with commas where numbers beside it are large."""
    size = abs(number)
    if size and not 1e-6 <= size < 1e16:
        return repr(number)
    text = np.format_float_positional(number, trim="-")
    whole, point, rest = text.partition(".")
    is_large = max(map(abs, beside), default=0.0) >= _LARGE and size >= 1000
    return f"{int(whole):,}{point}{rest}" if is_large else text


# ------------------------------------------------------------------ several features


def _several(rules: ReadableTree, found: Every | Either | TwoOfThree) -> str:
    if all(isinstance(part, OneOf) and not part.holds for part in found.parts):
        return _refused(rules, found)
    texts = [_words(rules, part) for part in found.parts]
    if isinstance(found, TwoOfThree):
        return f"at least two of: {'; '.join(texts)}"
    word = " and " if isinstance(found, Every) else " or "
    if isinstance(found, Either) and any(text.endswith(" or more") for text in texts):
        word = ", or "
    return word.join(texts)


def _refused(rules: ReadableTree, found: Every | Either | TwoOfThree) -> str:
    """Say that some of several things must not be."""
    parts = [opposite(part) for part in found.parts if isinstance(part, OneOf)]
    texts = [_words(rules, part) for part in parts]
    if isinstance(found, TwoOfThree):
        return f"at most one of: {'; '.join(texts)}"
    if len(texts) > 2:
        few = "none" if isinstance(found, Every) else "not all"
        return f"{few} of: {'; '.join(texts)}"
    if isinstance(found, Every):
        return f"neither {texts[0]} nor {texts[1]}"
    return f"not both {texts[0]} and {texts[1]}"


def _depending(rules: ReadableTree, found: Depending) -> str:
    name, when = rules.name(found.then.column), condition_words(rules, found.when)
    gap = _gap(found.then).strip(" ()")
    more = f"; {gap}" if gap else ""
    usual, special = _range(rules, found.otherwise), _range(rules, found.then)
    return f"{name} {usual} ({special} when {when}{more})"


def _card(rules: ReadableTree, found: Card) -> str:
    lines = "; ".join(": ".join(part_words(rules, part)) for part in found.parts)
    return f"{points_words(found)} of [{lines}]"


# ----------------------------------------------------------------------------- cards


def points_words(found: Card) -> str:
    """Say how many points a card asks for."""
    if found.holds:
        return f"{plural(found.most)} or fewer"
    return f"{plural(found.most + 1)} or more"


def plural(points: int) -> str:
    """Count points."""
    return f"{points} point" + "s" * (points != 1)


def part_words(rules: ReadableTree, part: Part) -> tuple[str, str]:
    """Say what has points on a card, and how many."""
    if part.n_levels == 1:
        has_points = _words(rules, opposite(part.at_most(0)), is_alone=True)
        return has_points, plural(part.weight)
    return rules.name(part.atom.column), _levels(part) + _missing_points(part)


def _missing_points(part: Part) -> str:
    gap = part.missing_level
    return "" if gap is None else f"; missing: {part.weight * gap}"


def _levels(part: Part) -> str:
    """Say the points of a number's levels: by a rule where cuts are evenly spaced."""
    exact = [Decimal(repr(cut)) for cut in part.cuts]
    units = {high - low for low, high in pairwise(exact)}
    if len(exact) <= _FEW_LEVELS or len(units) > 1:
        return _listed(part)
    (unit,) = units
    step, points = _number(float(unit), part.cuts), plural(part.weight)
    if part.falls:
        every, end = f"{step} (or part of {step}) below", exact[-1]
    elif unit == 1 and exact[0] == int(exact[0]):
        every, end = "whole number above", exact[0] - 1
    else:
        every, end = f"full {step} above", exact[0] - unit
    limit = _number(float(end), part.cuts)
    return f"{points} for every {every} {limit}, at most {part.most_points}"


def _listed(part: Part) -> str:
    """Say the points of each level, from few to many."""
    cuts = [_number(cut, part.cuts) for cut in part.cuts]
    ranges = [f"from {cut} on" for cut in cuts]
    if part.falls:
        ranges = [f"below {cut}" for cut in reversed(cuts)]
    said = [f"{plural(part.weight * (k + 1))} {text}" for k, text in enumerate(ranges)]
    return ", ".join(said)


def lookup(rules: ReadableTree, part: Part) -> list[tuple[str, int]]:
    """List every range of a feature on a card with its points, to be looked up."""
    if isinstance(part.atom, Member):
        has_points = part.weight * (not part.falls)
        name = condition_words(rules, OneOf(part.atom, True))
        return [(name, has_points), ("otherwise", part.weight - has_points)]
    cuts = [_number(cut, part.cuts) for cut in part.cuts]
    ranges = [f"below {cuts[0]}"]
    ranges += [f"{low} to below {high}" for low, high in pairwise(cuts)]
    ranges += [f"{cuts[-1]} or more"]
    levels = range(part.n_levels, -1, -1) if part.falls else range(part.n_levels + 1)
    found = [(text, part.weight * n) for text, n in zip(ranges, levels, strict=True)]
    gap = part.missing_level
    return found + ([] if gap is None else [("missing", part.weight * gap)])
