"""The words that a check of errors ends with."""

from __future__ import annotations

from decimal import ROUND_FLOOR
from fractions import Fraction

from ..data import Rows
from ..routes.sentence import DIGITS, columns_words, verdict
from ..sentence import decimal, given_words, rows_words, unconfirmed
from .file import ErrorsProof
from .points import Labelled


def errors_sentence(
    proof: ErrorsProof,
    rows: Rows,
    points: Labelled,
    found: tuple[Fraction, Fraction],
    is_right: bool,
) -> str:
    """Say what errors no tree undercuts, and what that makes of the file's tree."""
    cost, bound = found
    table = rows_words(len(proof.labels), len(rows.price))
    table += given_words(proof, rows.labels_are_of_data)
    least, value = decimal(bound, ROUND_FLOOR, DIGITS), decimal(cost, digits=DIGITS)
    features = columns_words(proof, rows, points.unlabelled)
    trees = (
        f"decision tree of depth up to {proof.trees.depth} whose splits may {features}"
    )
    if proof.weights is None:
        some = "error or close call" if least == "1" else "errors and close calls"
        none = f"no {trees} makes fewer than {least} {some} on {table}"
        has = f"makes {value}"
    else:
        none = f"no {trees} makes errors and close calls of a weight below {least} on "
        none += table
        has = f"makes some of a weight of {value}"
    meaning = (
        "(a close call is a row nearer to a split on its way than "
        f"{decimal(proof.trees.margin, digits=DIGITS)}, but for a billionth, where the "
        "scores of all rows at a split lie within -1 and 1)"
    )
    if is_right:
        known = f"the tree in the file {has}, {verdict(cost, bound)} {meaning}"
        return f"Checked: {none}; {known}."
    shown = f"the tree {has}, and that {none} {meaning}"
    return unconfirmed(
        proof,
        "the errors and close calls of its tree cost",
        "makes some that cost less than",
        shown,
    )
