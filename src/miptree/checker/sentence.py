"""The words that a check ends with, made of what was computed."""

from __future__ import annotations

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from .family import BESIDE_A_NUMBER, Family
from .points_file import PointsProof
from .proof_file import Proof
from .values import SAME_DATA

DIGITS = 12
"""Significant digits of a number that has more."""


class Found(NamedTuple):
    """What was computed: cost of the tree, bound, rows, and those with a weight.

    ``is_below`` tells whether the file claims a higher bound.
    """

    cost: Fraction
    bound: Fraction
    n_rows: int
    n_weighted: int
    labels_are_of_data: bool
    is_below: bool


def sentence(proof: PointsProof, family: Family, found: Found, is_right: bool) -> str:
    """Say what the tree costs, and what no tree of the family undercuts."""
    cost, bound = decimal(found.cost), decimal(found.bound, ROUND_FLOOR)
    holds = (
        f"the tree costs {cost} on {rows_words(found.n_rows, found.n_weighted)}"
        f"{given_words(proof, found.labels_are_of_data)}, "
        f"and no {_trees(proof, family)} costs less"
    )
    if found.bound < found.cost:
        holds += f" than {bound}"
    if not is_right:
        return unconfirmed(proof, "its tree costs", "costs less than", holds)
    if found.is_below:
        holds += (
            f"; the file claims {decimal(proof.claimed_bound)}, more by no more than "
            "rounding of the costs explains"
        )
    return f"Checked: {holds}."


def unconfirmed(proof: Proof, tree_has: str, none_has: str, shown: str) -> str:
    """Say what a file claims and that it is not shown, then what is.

    Parameters
    ----------
    proof : Proof
        Whose claims of the cost and the bound are told.
    tree_has, none_has : str
        Words before the numbers of the claim.
    shown : str
        What was computed from the data, to go after 'that'.
    """
    cost, bound = (decimal(c) for c in (proof.claimed_cost, proof.claimed_bound))
    return (
        f"Does not hold as claimed: the file claims that {tree_has} {cost} and that no "
        f"tree {none_has} {bound}, and that is not shown. With these data the proof "
        f"shows only that {shown}. {SAME_DATA}"
    )


def rows_words(n_rows: int, n_weighted: int) -> str:
    """Say how many rows count."""
    if n_weighted == n_rows:
        return f"these {n_rows} rows"
    return f"those {n_weighted} of these {n_rows} rows that have a weight"


def given_words(proof: Proof, labels_are_of_data: bool) -> str:
    """Say what was taken from the proof file, not from the data."""
    taken = {
        "labels": not labels_are_of_data,
        "weights": proof.weights is not None,
        "costs": proof.costs is not None or proof.row_costs is not None,
    }
    words = [word for word, is_taken in taken.items() if is_taken]
    given = f" (with the {' and '.join(words)} of the proof file)" if words else ""
    if labels_are_of_data and proof.target is not None:
        return f" labelled by {proof.target!r:.60}{given}"
    return given


def _trees(proof: PointsProof, family: Family) -> str:
    """Name the trees that were compared."""
    limits = proof.limits
    most = limits.max_features
    words = [f"at most {most} feature{'s' if most > 1 else ''} a split"]
    if most > 1:
        words.append(f"points up to {limits.max_points}")
        words[-1] += _exceptions(family, limits.max_points)
    if limits.min_leaf > 1:
        words.append(f"at least {limits.min_leaf} rows a leaf")
    if any(limits.signs):
        words.append("the signs of the proof file")
    if not all(limits.allowed):
        words.append(f"{sum(limits.allowed)} of its {len(limits.allowed)} columns")
    low, high = min(limits.penalties, default=0), max(limits.penalties, default=0)
    if high > 0:
        price = decimal(high) if low == high else f"{decimal(low)} to {decimal(high)}"
        words.append(f"a cost of {price} for each feature in a split")
    last = f" and {words.pop()}" if len(words) > 1 else ""
    return (
        f"points tree of depth {limits.depth} on the grid of the proof file with "
        f"{', '.join(words)}{last}"
    )


def _exceptions(family: Family, max_points: int) -> str:
    """Say what else the points of a split may be, or may not."""
    words = []
    if {family.steps[j] == 1 for j in family.usable} == {True, False}:
        *some, last = map(str, BESIDE_A_NUMBER[max_points])
        points = f"{', '.join(some)} or {last}"
        words.append(f"{points} for a yes/no column beside one number")
        words[-1] += " of 1 a step" if max_points > 1 else ""
        words[-1] += f", such as {last} smoker=yes + age"
    categories = [family.source[j] for j in family.usable if family.is_category[j]]
    if len(set(categories)) < len(categories):
        words.append("the same for values of one category")
    return f" ({'; '.join(words)})" if words else ""


def decimal(
    number: Fraction | int, rounding: str = ROUND_HALF_EVEN, digits: int = DIGITS
) -> str:
    """Write a number exactly if it is short; else rounded, or 'about' so much."""
    number = Fraction(number)
    context = Context(prec=digits, rounding=rounding)
    short = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    if Fraction(short) == number:
        return f"{short.normalize():f}"
    return (
        f"about {short.normalize():f}" if rounding == ROUND_HALF_EVEN else f"{short:f}"
    )
