"""The words that a check of an oblique tree ends with."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import NamedTuple

from ..data import Rows
from ..proof_file import Proof
from ..sentence import decimal, given_words, rows_words, unconfirmed
from ..values import SAME_DATA
from .file import RoutesProof
from .numbers import Points

DIGITS = 8
PARTS = ((10**9, "a billion"), (10**6, "a million"))


class Held(NamedTuple):
    """What was computed of the tree and of all others, and which claims hold.

    ``is_limited`` says that the bound is one of splits of few features only.
    """

    cost: Fraction
    bound: Fraction
    cost_is_right: bool
    bound_is_right: bool
    is_limited: bool

    @property
    def all(self) -> bool:
        """Whether the file claims nothing that is not so."""
        return self.cost_is_right and self.bound_is_right


def routes_sentence(proof: RoutesProof, rows: Rows, points: Points, held: Held) -> str:
    """Say what no tree undercuts, and what that makes of the tree in the file."""
    cost, bound = held.cost, held.bound
    table = rows_words(len(proof.labels), len(rows.price))
    table += given_words(proof, rows.labels_are_of_data)
    least, value = decimal(bound, ROUND_FLOOR, DIGITS), decimal(cost, digits=DIGITS)
    most = proof.objective.max_features if held.is_limited else None
    columns = columns_words(proof, rows, points, most)
    none = (
        f"no decision tree of depth up to {proof.objective.depth} whose splits may "
        f"{columns} has an objective below {least} on {table}"
    )
    meaning = f"({_meaning(proof)})"
    if held.all:
        known = f"the tree in the file has {value}, {verdict(cost, bound)} {meaning}"
        return f"Checked: {none}; {known}."
    if held.bound_is_right:
        claimed = decimal(proof.claimed_cost)
        return (
            f"Does not hold as claimed: the file claims that its tree has an objective "
            f"of {claimed}, but with these data it has {decimal(cost)}. What it claims "
            f"of all trees holds: {none} {meaning}. {SAME_DATA}"
        )
    shown = f"the tree has {value}, and that {none} {meaning}"
    return unconfirmed(proof, "its tree has an objective of", "has one below", shown)


def columns_words(
    proof: Proof, rows: Rows, points: Points, most: int | None = None
) -> str:
    """Say how many columns of the data splits may use; a category may be several.

    ``most`` is how many of them one split may use.
    """
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
    if most is not None and most < n_columns:
        words += "," if n == n_columns else ""
        words += f" at most {most} of them in a split,"
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
