"""What cross-validation says of the styles of trees, as a small table."""

from __future__ import annotations

import numpy as np
from rich.table import Table

from miptree.commands._app import console, say
from miptree.estimator_cv import OptimalTreeClassifierCV


def show_comparison(clf: OptimalTreeClassifierCV) -> None:
    """Print which style was chosen and why, and the table behind it."""
    if np.isnan(clf.best_score_):
        say("Accuracy on new rows: unknown, as no fold was finished.")
        return
    score = clf.scoring.replace("_", " ")
    if clf.cost_matrix is not None:
        score = "1 - cost / largest cost"
    table = Table("style", "terms", f"{score} on new rows, %", "proved")
    for rung in clf.rungs_:
        is_taken = rung.style == clf.style_
        table.add_row(
            f"{rung.style}{' (taken)' if is_taken else ''}",
            _number(rung.winner.terms, 0),
            _with_error(100 * rung.winner.score, 100 * rung.winner.se),
            _proved(clf) if is_taken else "",
        )
    for name, value in clf.references_.items():
        table.add_row(name, "", _number(100 * value, 1), "")
    if clf.style_ != "constant":  # of which a warning has told
        say(clf.why_)
    console.print(table)


def _proved(clf: OptimalTreeClassifierCV) -> str:
    if clf.style_ != "points":
        return "no"
    return "yes" if clf.status_ == "optimal" else f"gap {100 * clf.gap_:.0f} %"


def _with_error(value: float, error: float) -> str:
    known = "" if np.isnan(error) else f" ± {error:.1f}"
    return _number(value, 1) + known


def _number(value: float, digits: int) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def unproved_sentence(clf: OptimalTreeClassifierCV) -> str:
    """Say what is known of a tree that was trained for new rows, not for a proof."""
    found = clf.certificate_
    return (
        f"The tree misclassifies {found.errors:,} of {found.n_rows:,} training rows. "
        "It was chosen to predict new rows well, and nothing is proved of it: --style "
        "points and --style oblique give trees that come with a proof."
    )
