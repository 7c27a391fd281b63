"""The style of the tree that a comparison ended with, why, and what to warn of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from miptree.constraints.constraint import Constraint
from miptree.tuning.comparison import Asked
from miptree.tuning.cv_results import CVResults, Winner
from miptree.tuning.kernels import LEFT_OUT
from miptree.tuning.ladder import Rung, chosen, why_chosen, without_splits


class Taken(NamedTuple):
    """The tree that a comparison ended with.

    Attributes
    ----------
    style : str
        Its style.
    why : str
        Why it was taken, in a sentence.
    is_bare : bool
        Whether that is as no split was of use, but those of ``FixedSplit``.
    """

    style: str
    why: str
    is_bare: bool = False


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
    n_folds, style, is_bare = len(results.scores), winner.setting.style, False
    why = f"The best of {len(results.settings)} candidates was taken."
    if n_folds == 0:
        why = "The first candidate was trained without a comparison."
    if isinstance(asked.candidates, str):
        why = why_chosen(rungs, n_folds, asked.scoring, constraints)
        is_bare = chosen(rungs).style == "constant"
        if winner is not chosen(rungs).winner:
            why = (
                f"The {style} tree was taken: simpler ones that are about as good in "
                "cross-validation find no split on all rows."
            )
        if is_constant:  # a candidate of any style may find no split
            style = "constant"
            if n_folds:
                why, is_bare = without_splits(constraints), True
    if is_searched and not is_constant:
        is_bare = False
        style = "sparse" if winner.setting.max_features else "oblique"
        why = (
            "No tree of the candidates chosen keeps the constraints on all rows: one "
            "was searched for that does."
        )
    return Taken(style, why, is_bare)


def warning_of(
    taken: Taken, fell_short: str, are_late: bool, was_interrupted: bool
) -> str:
    """Return what to warn of after a comparison, nothing where all went well.

    Parameters
    ----------
    taken : Taken
    fell_short : str
        In which way the comparison did not run to its end.
    are_late : bool
        Whether kernels were not compiled in time.
    was_interrupted : bool
        Whether the user stopped it: nothing else is news then.
    """
    if was_interrupted:
        return fell_short
    if taken.is_bare:
        return taken.why
    return LEFT_OUT if are_late else fell_short
