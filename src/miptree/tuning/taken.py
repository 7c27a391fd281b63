"""The style of the tree that a comparison ended with, and why it was taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from miptree.constraints.constraint import Constraint
from miptree.tuning.comparison import Asked
from miptree.tuning.cv_results import CVResults, Winner
from miptree.tuning.ladder import Rung, chosen, why_chosen, without_splits


class Taken(NamedTuple):
    """The style of a tree, and in a sentence why it was taken."""

    style: str
    why: str


def what_was_taken(
    asked: Asked,
    rungs: Sequence[Rung],
    results: CVResults,
    winner: Winner,
    *,
    constraints: Sequence[Constraint],
    is_constant: bool,
    is_searched: bool,
) -> Taken:
    """Name the style of a tree, and say why it was taken.

    Parameters
    ----------
    asked : Asked
    rungs : sequence of Rung
    results : CVResults
    winner : Winner
        What was trained.
    constraints : sequence of Constraint
        What the tree must keep.
    is_constant : bool
        Whether the tree has one leaf.
    is_searched : bool
        Whether no tree of the candidates kept the constraints, and one was searched for
        that does.
    """
    n_folds, style = len(results.scores), winner.setting.style
    why = f"The best of {len(results.settings)} candidates was taken."
    if n_folds == 0:
        why = "The first candidate was trained without a comparison."
    if isinstance(asked.candidates, str):
        why = why_chosen(rungs, n_folds, asked.scoring, constraints)
        if winner is not chosen(rungs).winner:
            why = (
                f"The {style} tree was taken: simpler ones that are about as good in "
                "cross-validation find no split on all rows."
            )
        if is_constant:  # a candidate of any style may find no split
            text = without_splits(constraints)
            style, why = "constant", text if n_folds else why
    if is_searched and not is_constant:
        style = "sparse" if winner.setting.max_features else "oblique"
        why = (
            "No tree of the candidates chosen keeps the constraints on all rows: one "
            "was searched for that does."
        )
    return Taken(style, why)
