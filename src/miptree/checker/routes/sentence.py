"""The words that a check of an oblique tree ends with."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from ..data import Rows
from ..sentence import decimal, given_words, rows_words, unconfirmed
from .file import RoutesProof
from .numbers import Points

DIGITS = 8
PARTS = ((10**9, "a billion"), (10**6, "a million"))


def routes_sentence(
    proof: RoutesProof,
    rows: Rows,
    points: Points,
    found: tuple[Fraction, Fraction],
    is_right: bool,
) -> str:
    """Say what no tree undercuts, and what that makes of the tree in the file."""
    cost, bound = found
    table = rows_words(len(proof.labels), len(rows.price))
    table += given_words(proof, rows.labels_are_of_data)
    least, value = decimal(bound, ROUND_FLOOR, DIGITS), decimal(cost, digits=DIGITS)
    columns = _columns(proof, rows, points)
    none = (
        f"no decision tree of depth up to {proof.objective.depth} whose splits may "
        f"{columns} has an objective below {least} on {table}"
    )
    meaning = f"({_meaning(proof)})"
    if is_right:
        known = f"the tree in the file has {value}, {verdict(cost, bound)} {meaning}"
        return f"Checked: {none}; {known}."
    shown = f"the tree has {value}, and that {none} {meaning}"
    return unconfirmed(proof, "its tree has an objective of", "has one below", shown)


def _columns(proof: RoutesProof, rows: Rows, points: Points) -> str:
    """Say how many columns of the data splits may use; a category may be several."""
    read = [column for column in proof.columns if column.n_numbers > 0]
    n_columns, subsets = points.X.shape[1], _subsets(points)
    n, n_categories = len(read), sum(column.is_category for column in read)
    n_others = rows.n_unread + sum(c.is_read for c in proof.columns) - n
    words = "the one column" if n == 1 else f"all {n} columns"
    if n_others:
        words = f"{n} of {n + n_others} columns"
    if n_categories:
        words += f", {n_categories} of them as categories"
    n_alike = sum(column.n_alike for column in proof.columns)
    if n_alike:
        words += f" ({n_alike} rare values are not told apart)"
    if n != n_columns:
        words += f", which the proof file reads as {n_columns} columns of numbers,"
    if not subsets:
        return f"use {words}"
    return f"use {words} or {subsets}" if n else subsets


def _subsets(points: Points) -> str:
    """Say which values splits may part, if any: those of the data, as they are read."""
    counts = [len(set(own)) for own in points.values.T.tolist()]
    if not counts:
        return ""
    features = "one feature" if len(counts) == 1 else f"one of {len(counts)} features"
    *most, last = [str(count) for count in counts]
    listed = f"{', '.join(most)} and {last}" if most else last
    read = f"{listed} different ones, as the proof file reads them"
    return f"send any of the values of {features} to a side ({read})"


def verdict(cost: Fraction, bound: Fraction) -> str:
    """Say how good the tree is at least."""
    if cost == bound:
        return "so it is optimal"
    for parts, words in PARTS:
        if (cost - bound) * parts <= cost:
            return f"so it is optimal to within one part in {words}"
    percent = 100 * (cost - bound) / cost
    most = decimal(percent, ROUND_CEILING, digits=3)
    return f"so no tree is better by more than {most} %"


def _free(proof: RoutesProof) -> str:
    """Say that splits by values have no price."""
    return "; splits by values cost nothing" if proof.has_subsets else ""


def _meaning(proof: RoutesProof) -> str:
    """Say what the objective adds up, in words."""
    given = proof.objective
    margin, slack, price = (
        decimal(number, digits=DIGITS)
        for number in (given.margin, given.slack_penalty, given.l1_penalty)
    )
    is_plain = proof.costs is None and proof.row_costs is None
    errors = "errors" if is_plain else "the costs of errors"
    errors += " by weight" if is_plain and proof.weights is not None else ""
    return (
        f"the objective is {errors} + {slack} times what rows lack of a distance of "
        f"{margin} to the splits on their way + {price} times the size of the splits' "
        f"weights{_free(proof)}, with features scaled to 0 to 1 and scores within -1 "
        "and 1"
    )
