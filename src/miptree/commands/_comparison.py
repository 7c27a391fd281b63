"""What cross-validation says of the styles of trees, as a small table."""

from __future__ import annotations

import numpy as np
from rich.table import Table

from miptree.commands._app import console, say
from miptree.constraints.constraint import CountingConstraint
from miptree.constraints.fixed_split import FixedSplit
from miptree.estimator_cv import OptimalTreeClassifierCV
from miptree.tuning.scoring import score_heading, score_text


def show_comparison(clf: OptimalTreeClassifierCV) -> None:
    """Print which style was chosen and why, and the table behind it."""
    if np.isnan(clf.best_score_):
        say("Accuracy on new rows: unknown, as no fold was finished.")
        return
    score = score_heading(
        clf.scoring, clf.cost_matrix is not None, clf.class_weight is not None
    )
    table = Table("style", "terms", f"on new rows: {score}", "proved")
    has_fixed = any(isinstance(rule, FixedSplit) for rule in clf.constraints_)
    for rung in clf.rungs_:
        is_taken = rung.winner.index == clf.best_index_
        is_alone = has_fixed and rung.style == "constant"
        name = "fixed splits alone" if is_alone else rung.name
        table.add_row(
            f"{name}{', taken' if is_taken else ''}",
            "-" if np.isnan(rung.winner.terms) else f"{rung.winner.terms:.0f}",
            score_text(clf.scoring, rung.winner.score, rung.winner.se),
            _proved(clf) if is_taken else "",
        )
    for name, value in clf.references_.items():
        name += ", without the rules" if clf.constraints_ else ""
        table.add_row(name, "", score_text(clf.scoring, value), "")
    if clf.style_ != "constant":  # of which a warning has told
        say(clf.why_)
    console.print(table)


def show_rules(clf: OptimalTreeClassifierCV) -> None:
    """Print what was counted of each rule in training, and on rows held out."""
    counted = clf.certificate_.rules or ()
    for sentence, found in zip(counted, clf.rules_held_out_, strict=True):
        say(f"Rule: {sentence}")
        # Others are about the splits, or about the training rows.
        if found.n_folds and isinstance(found.rule, CountingConstraint):
            say(
                f"  On rows held out it was kept in {100 * found.kept:.0f} % of "
                f"{found.n_folds} folds, and missed by {found.excess:.3g} in the mean."
            )


def _proved(clf: OptimalTreeClassifierCV) -> str:
    if clf.style_ != "points":
        return "errors" if _has_fewest_errors(clf) else "no"
    return "yes" if clf.status_ == "optimal" else f"gap {100 * clf.gap_:.0f} %"


def unproved_sentence(clf: OptimalTreeClassifierCV) -> str:
    """Say what is known of a tree that was trained for new rows, not for a proof."""
    found = clf.certificate_
    is_best = _has_fewest_errors(clf)
    others = "--style points and --style oblique give trees that come with a proof"
    if clf.constraints_:  # which points trees do not know
        others = "without --tune bounds are proved of a tree that keeps the rules"
    return (
        f"{found.summary + ' ' if is_best else ''}"
        f"The tree misclassifies {found.errors:,} of {found.n_rows:,} training rows. "
        "It was chosen to predict new rows well, and nothing "
        f"{'else ' if is_best else ''}is proved of it: {others}."
    )


def _has_fewest_errors(clf: OptimalTreeClassifierCV) -> bool:
    """Tell whether no tree at all can do better, such as where there is no error."""
    return clf.certificate_.has_least_cost
