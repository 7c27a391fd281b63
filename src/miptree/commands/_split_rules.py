"""Rules on splits as they are written on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from miptree.constraints import AllowFeatures, Constraint, FixedSplit

_SIGNS = re.compile(r"\s+([+-])\s+")
"""What stands between two terms of a sum: a sign with spaces on both its sides."""


def split_rules(
    allow: Sequence[str], allow_at: Sequence[str], fixed: Sequence[str]
) -> list[Constraint]:
    """Return what --allow, --allow-at and --fixed-split ask for.

    Parameters
    ----------
    allow : sequence of str
        The only columns of all splits.
    allow_at : sequence of str
        Such as ``depth=0:age`` or ``node=2:age``; columns of one place go together.
    fixed : sequence of str
        Such as ``0:bmi <= 27`` or ``1:income - 2 * debt <= 15``.
    """
    found: list[Constraint] = [AllowFeatures(list(allow))] if allow else []
    places: dict[tuple[str, int], list[str]] = {}
    for text in allow_at:
        kind, number, column = _place(text)
        places.setdefault((kind, number), []).append(column)
    for (kind, number), columns in places.items():
        found.append(AllowFeatures(columns, **{kind: number}))
    return [*found, *map(_fixed_split, fixed)]


def _place(text: str) -> tuple[str, int, str]:
    """Read a place and a column such as depth=0:age."""
    match = re.fullmatch(r"(depth|node)=(\d+):(.+)", text, re.DOTALL)
    if match is None:
        raise ValueError(
            "--allow-at must be depth= or node=, a whole number, a colon and a column, "
            f"such as depth=0:age, got {text!r}."
        )
    return match[1], int(match[2]), match[3]


def _fixed_split(text: str) -> FixedSplit:
    """Read a split such as 0:bmi <= 27 or 1:income - 2 * debt <= 15."""
    match = re.fullmatch(r"(\d+):(.+)<=([^<=]+)", text, re.DOTALL)
    if match is None:
        raise _not_a_split(text)
    parts = _SIGNS.split(match[2].strip())
    signs = [1.0, *(1.0 if sign == "+" else -1.0 for sign in parts[1::2])]
    try:
        terms = [_term(part) for part in parts[::2]]
        threshold = float(match[3])
    except ValueError:
        raise _not_a_split(text) from None
    coefficients: dict[str | int, float] = {}
    for sign, (column, coef) in zip(signs, terms, strict=True):
        coefficients[column] = coefficients.get(column, 0.0) + sign * coef
    return FixedSplit(int(match[1]), coefficients, threshold)


def _term(text: str) -> tuple[str, float]:
    """Read a column, or a number times a column."""
    factor, times, column = text.partition("*")
    if times:
        return column.strip(), float(factor)
    return text.strip(), 1.0


def _not_a_split(text: str) -> ValueError:
    return ValueError(
        "--fixed-split must be a node, a colon, a sum of columns, <= and a number, "
        "such as '0:bmi <= 27' or '1:income - 2 * debt <= 15' with spaces around each "
        f"sign between two terms, got {text!r}."
    )
