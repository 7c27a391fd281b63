"""The ladder of styles: the simplest kind of tree that is about as good as the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from miptree.constraints.constraint import Constraint
from miptree.constraints.fixed_split import FixedSplit
from miptree.control.clock import End
from miptree.tuning.cv_results import CVResults, Winner
from miptree.tuning.scoring import difference_text

_MOST_BEHIND = 0.05
"""Difference in the score that is noticed however large its error is."""
MANY_TERMS = 16
"""Terms of a tree from which on a shorter one is named beside it."""


class Rung(NamedTuple):
    """The best setting of a style, beside the best of all styles.

    Sparse trees have two rungs, of few features a split and of some more.

    Attributes
    ----------
    style : str
        One of :data:`~miptree.tuning.cv_results.STYLES`.
    winner : Winner
        Its best setting.
    behind, behind_se : float
        By how much it is worse in the same folds than the best of all, and the
        standard error of that; NaN if no fold was done.
    is_near : bool
        Whether that is as little as allowed.
    """

    style: str
    winner: Winner
    behind: float
    behind_se: float
    is_near: bool

    @property
    def name(self) -> str:
        """The style, and how many features a sparse split weighs at most."""
        most = self.winner.setting.max_features
        if most is None:
            return self.style
        features = "1 feature" if most == 1 else f"{most} features"
        return f"{self.style} ({features} a split)"


def ladder(results: CVResults, within: float, tolerance: float = 0.0) -> list[Rung]:
    """Return the rungs, the simplest first.

    Parameters
    ----------
    results : CVResults
        What the folds say.
    within : float
        Standard errors of the paired differences by which a style may be behind.
    tolerance : float, default=0
        A difference in the score that is allowed in any case.
    """
    winners = [results.winner(rung) for rung in results.rungs]
    if not results.scores:
        return [Rung(w.setting.style, w, np.nan, np.nan, False) for w in winners]
    best = max(winners, key=lambda w: w.known_score)
    rungs = []
    for winner in winners:
        style = winner.setting.style
        behind, error = results.difference(best, winner)
        # Few folds have large errors, which would make anything about as good.
        allowed = min(within * float(np.nan_to_num(error)), _MOST_BEHIND)
        allowed = max(allowed, tolerance)
        if style == "constant":  # it is of use only if splits are of none
            allowed = 0.0
        is_near = winner is best or (np.isfinite(winner.score) and behind <= allowed)
        rungs.append(Rung(style, winner, behind, error, bool(is_near)))
    return rungs


def chosen(rungs: Sequence[Rung]) -> Rung:
    """Return the simplest rung that is near the best; the last one without a fold."""
    near = [rung for rung in rungs if rung.is_near]
    return near[0] if near else rungs[-1]


def uncompared(rungs: Sequence[Rung], has_rules: bool = False) -> str:
    """Say which styles the time did not suffice for; nothing if there is none.

    Under constraints that may be as no tree of the style keeps them. Of a constant that
    is no news.
    """
    missed = [rung.style for rung in rungs if np.isnan(rung.winner.score)]
    if not missed or len(missed) == len(rungs):
        return ""
    names = " and ".join(dict.fromkeys(missed))
    if has_rules:
        return "" if set(missed) == {"constant"} else UNKEPT.format(names=names)
    return f"The time was too short to compare {names} trees. Give the fit more."


UNKEPT = (
    "The {names} trees could not be compared: in some fold none was found that keeps "
    "the constraints, or the time was too short."
)
"""What to know of styles without a score under constraints."""


def what_fell_short(
    rungs: Sequence[Rung],
    n_done: int,
    n_folds: int,
    end: End,
    interrupted: bool,
    has_rules: bool,
) -> str:
    """Say in which way the comparison did not run to its end; nothing if it did."""
    if interrupted:
        return (
            f"The fit was interrupted after {n_done} of {n_folds} folds; the best "
            "candidate so far was trained."
        )
    if n_folds == 0:
        return (
            "There are no folds, such as of too few rows: a tree was trained without "
            "a comparison. OptimalTreeClassifier may suit you better."
        )
    if n_done == 0 and end == "time_limit":
        return (
            "The time limit left no fold finished: a tree was trained without a "
            "comparison. Give the fit more time."
        )
    if n_done == 0 and has_rules:
        return (
            "In no fold a candidate was found that keeps the constraints: a tree was "
            "trained without a comparison."
        )
    return uncompared(rungs, has_rules)


CONSTANT = (
    "No split helps to predict new rows: the tree is a constant. "
    "The scoring balanced_accuracy or f1_macro, class weights or costs make rare "
    "classes count for more."
)
"""What to know of a tree without a split."""
CONSTANT_UNDER_RULES = (
    "No split was found that keeps the constraints and helps to predict new rows: the "
    "tree is a constant."
)
"""The same under constraints."""
OWN_SPLITS_ALONE = (
    "No further split was found that keeps the constraints and helps to predict new "
    "rows: the tree has those of FixedSplit, and what leads to them."
)
"""The same where some splits are fixed."""


def without_splits(constraints: Sequence[Constraint]) -> str:
    """Say what to know of a tree for which no split was found."""
    if any(isinstance(constraint, FixedSplit) for constraint in constraints):
        return OWN_SPLITS_ALONE
    return CONSTANT_UNDER_RULES if constraints else CONSTANT


def why_chosen(
    rungs: Sequence[Rung],
    n_folds: int,
    scoring: str = "accuracy",
    constraints: Sequence[Constraint] = (),
) -> str:
    """Say in a sentence which style was taken, and why."""
    rung = chosen(rungs)
    if rung.style == "constant":
        return without_splits(constraints)
    if n_folds == 0:
        return f"A tree of style {rung.style} was trained without a comparison."
    best = max(rungs, key=lambda r: r.winner.known_score)
    folds = f"in {n_folds} fold{'s' if n_folds > 1 else ''} of cross-validation"
    if len(rungs) == 1:
        return f"Of the {rung.style} trees the best one {folds} was taken."
    if rung is best:
        why = f"The {rung.name} tree was taken: no simpler style is as good {folds}."
        others = shorter(rungs, scoring), uncompared(rungs, bool(constraints))
        return " ".join([why, *filter(None, others)])
    return (
        f"The {rung.name} tree was taken, as the simplest that is about as good as "
        f"the best, the {best.name} one: it is {_behind(rung, scoring)} {folds}."
    )


def shorter(rungs: Sequence[Rung], scoring: str) -> str:
    """Name the best tree of far fewer terms, where the one taken has many of them."""
    terms = chosen(rungs).winner.terms
    short = [
        rung
        for rung in rungs
        if rung.style != "constant" and 0 < rung.winner.terms <= terms / 2
    ]
    if terms < MANY_TERMS or not short:
        return ""
    best = max(short, key=lambda rung: rung.winner.known_score)
    return (
        f"It has {terms:.0f} terms in the mean; style {best.style!r} gives a tree of "
        f"{best.winner.terms:.0f}, {_behind(best, scoring)}."
    )


def _behind(rung: Rung, scoring: str) -> str:
    """Say by how much the best of all is better than a rung."""
    error = "unknown"
    if np.isfinite(rung.behind_se):
        error = difference_text(scoring, rung.behind_se, unit=False)
    behind = difference_text(scoring, rung.behind)
    return f"behind by {behind} (standard error {error})"
