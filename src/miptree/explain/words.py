"""An explanation as text that a clerk reads out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil, floor, isclose, isfinite, log10

import numpy as np

from miptree.data import Value
from miptree.data.columns import show_value
from miptree.explain.explanation import (
    Contribution,
    Explanation,
    FeatureChange,
    NearestChange,
    SplitMet,
)
from miptree.export.names import number_text, printable
from miptree.export.words import gap_words, plural
from miptree.objective.tolerance import percent

_MOST_SHOWN = 8
"""Contributions of a split that are listed one by one."""
_MOST_OTHERS = 4
"""Further values of a category that are named."""
_LONG, _DIGITS = 12, 7
"""Characters of a number beyond which it is shortened, and digits that it keeps."""
_FEWEST_DIGITS, _MOST_DIGITS = 4, 15
"""Digits of what is added: so many that people who add it up find the sum."""
_MOST_SHARE = 10.0
"""Share of what a sum can vary by up to which percent are said."""
_TINY = 1e-6
"""Part of a split's largest contribution below which others are about 0, if they are
below the last digit of the sum as well."""


def explanation_text(found: Explanation) -> str:
    """Write an explanation on several lines."""
    head = f"Row {found.row + 1}: class {found.label}"
    head += f" (probability {_rounded(found.probability)}), leaf {found.leaf}"
    lines = [head]
    for number, split in enumerate(found.splits, start=1):
        lines += _split_lines(number, split)
    if not found.splits:
        lines.append("  Every row has this class.")
    if said := change_words(found):
        lines.append(f"  {said}")
    return "\n".join(printable(line) for line in lines)


def change_words(found: Explanation) -> str:
    """Say in a sentence what changes the class, or why nothing does."""
    if found.change is None:
        return printable(found.no_change)
    return printable(_change_words(found.change))


def _change_words(change: NearestChange) -> str:
    # Of two features each may have other values, but not surely both at once.
    is_free = sum(bool(part.others) for part in change.changes) == 1
    parts = ", ".join(_changed(part, is_free) for part in change.changes)
    nearest = (
        "Nearest change" if change.is_nearest else "A change, not surely the nearest,"
    )
    end = f"{_leaves(change, is_free)}, cost {_rounded(change.cost)}"
    return f"{nearest} to class {change.label}: {parts} ({end})."


def _leaves(change: NearestChange, is_free: bool) -> str:
    """Name the leaf of a change, and those of other values that are named as well."""
    others = [part.other_leaves for part in change.changes if is_free]
    leaves = sorted({change.leaf}.union(*others))
    if len(leaves) == 1:
        return f"leaf {change.leaf}"
    return f"leaves {', '.join(map(str, leaves[:-1]))} and {leaves[-1]}"


def _changed(part: FeatureChange, is_free: bool) -> str:
    others = part.others if is_free else ()
    after = " or ".join(_shown(v) for v in (part.after, *others[:_MOST_OTHERS]))
    if len(others) > _MOST_OTHERS:
        after += f" or {len(others) - _MOST_OTHERS} more values"
    return f"{part.feature} from {_shown(part.before)} to {after}"


def _shown(value: Value) -> str:
    """Write a cell; a number of many digits with a few of them."""
    text = show_value(value)
    is_long = isinstance(value, float) and len(text) > _LONG
    return f"{value:.{_DIGITS}g}" if is_long else text


def _split_lines(number: int, split: SplitMet) -> list[str]:
    lines = [f"  {number}. {split.rule}"]
    parts = split.contributions
    if split.kind == "question" or _is_the_number(parts, split.score):
        cells = ", ".join(_cell(part) for part in split.contributions)
        return [*lines, f"     here {cells}"] if cells else lines
    if split.kind == "points":
        lines.append(f"     here {plural(int(split.score))}:")
    else:
        lines.append(f"     here {_score_words(split)}")
    shown, rest = split.contributions[:_MOST_SHOWN], split.contributions[_MOST_SHOWN:]
    said = [(_cell(part), _amount(part.amount, split)) for part in shown]
    if rest:
        more = sum(part.amount for part in rest)
        features = "feature" if len(rest) == 1 else "features"
        said.append((f"{len(rest)} more {features}", _amount(more, split)))
    wide = max((len(cell) for cell, _ in said), default=0)
    return [*lines, *(f"       {cell:<{wide}}  {amount}" for cell, amount in said)]


def _is_the_number(parts: Sequence[Contribution], score: float) -> bool:
    """Tell whether a sum is just one number: 'the sum' would be an odd word for it."""
    if len(parts) != 1 or not isinstance(parts[0].value, (int, float)):
        return False
    return all(isclose(n, score) for n in (parts[0].value, parts[0].amount))


def _cell(part: Contribution) -> str:
    value = "is missing" if part.value is None else f"= {_shown(part.value)}"
    if part.taken_as is not None:
        value += f", taken as {_shown(part.taken_as)}"
    return printable(f"{part.feature} {value}")


def _amount(amount: float, split: SplitMet) -> str:
    if split.kind == "points":
        return plural(int(amount))
    largest = max(abs(part.amount) for part in split.contributions)
    place = _last_place(split)
    if 0 < abs(amount) < min(_TINY * largest, 10.0**place):
        return " about 0"
    if not amount:
        return " 0"
    digits = _leading_place(amount) - place + 1
    digits = min(max(digits, _FEWEST_DIGITS), _MOST_DIGITS)
    return f"{'+' if amount > 0 else '-'}{number_text(abs(amount), digits)}"


def _last_place(split: SplitMet) -> int:
    """Return the power of ten to which the sum of a split is shown."""
    return _leading_place(split.score or split.threshold) - _sum_digits(split) + 1


def _leading_place(number: float) -> int:
    # Sums of numbers near 1e308 may be infinite.
    return floor(log10(abs(number))) if number and isfinite(number) else 0


def _score_words(split: SplitMet) -> str:
    digits = _sum_digits(split)
    both = split.score + 0.0, split.threshold + 0.0  # no -0
    score, limit = (number_text(number, digits) for number in both)
    if split.distance == 0.0:
        return f"the sum is {score}, just the limit:"
    side = "below" if split.score <= split.threshold else "above"
    # The rule may show a limit that is rounded.
    exact = "" if float(limit) == float(_limit_told(split)) else "the exact limit "
    far = f"{number_text(split.distance, 3)} {side} {exact}{limit}"
    if split.share is not None and isfinite(split.share):
        far += f" ({_share_words(split.share)} what it can vary by)"
    return f"the sum is {score}, {far}:"


def _share_words(share: float) -> str:
    """Write a share; of more than the whole, how many times it is that."""
    if share <= _MOST_SHARE:
        return f"{percent(share)} of"
    return f"{number_text(share, 3)} times"


def _limit_told(split: SplitMet) -> str:
    """Return the limit as it stands at the end of a rule."""
    return _without_gap(split.rule).rpartition(" ")[2]


def _least_digits(split: SplitMet) -> int:
    """Return how many digits a sum has at least: no fewer than its rule."""
    told = re.sub("e.*", "", _limit_told(split))
    digits = re.sub("[^0-9]", "", told).lstrip("0")
    # Zeros at the end of a whole number may not count.
    return max(_FEWEST_DIGITS, len(digits if "." in told else digits.rstrip("0")))


def _sum_digits(split: SplitMet) -> int:
    """Return with how many digits the distance of a sum from its limit shows, too."""
    score, limit = split.score, split.threshold
    far, more = abs(score - limit), 0
    if 0.0 < far < np.inf:
        more = ceil(log10(max(abs(score), abs(limit)) / far)) - 1
    return min(max(_FEWEST_DIGITS + more, _least_digits(split)), 17)


def _without_gap(rule: str) -> str:
    """Cut off what a rule says of missing numbers."""
    for is_met in (True, False):
        rule = rule.removesuffix(gap_words(is_met))
    return rule


def _rounded(number: float) -> str:
    return f"{number:.3g}"
