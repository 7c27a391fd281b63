"""Footnotes: what a reader should know of a data set before trusting its numbers."""

from __future__ import annotations

from miptree.bench.paper import paper_results
from miptree.bench.results import Section
from miptree.bench.suites import Pair

NOTES = {
    "echocardiogram": "survival and still_alive determine the label, so 100 % is "
    "leakage, as in the paper",
    "eeg-eye-state": "a time series: neighbours of test rows are in the training part, "
    "so random splits are optimistic; four gross outliers",
    "avila": "extreme outliers",
    "iris": "UCI's file, which differs from scikit-learn's in two rows",
    "parkinsons": "22 features in UCI's file; the paper says 21",
    "seismic-bumps": "18 features in UCI's file; the paper says 20",
    "wall-following-robot-2": "printed parameters are impossible (alpha_1 * epsilon < "
    "1, beta_2 = 1): read as alpha_1 = 1 / epsilon and beta_2 in percent",
}
OFFICIAL_NOTES = dict.fromkeys(
    ("monks-1", "monks-2", "monks-3"),
    "the official test part contains the training rows",
)
MUCH = 0.01
"""Share of test rows found in the training part that is worth a footnote."""


def notes_of(section: Section, pair: Pair) -> list[str]:
    """Return the footnotes of a pair: what is known, and what was measured."""
    name = pair.set
    n_classes = max((r.Y for r in paper_results() if r.set == name), default=0)
    notes = [NOTES[name]] if name in NOTES else []
    if n_classes > 2**pair.depth:
        notes.append(
            f"{n_classes} classes: a tree of depth {pair.depth} cannot predict them "
            "all, logistic regression can"
        )
    if section.part == "official" and name in OFFICIAL_NOTES:
        return [*notes, OFFICIAL_NOTES[name]]
    shares = [
        record["test_rows_in_training"]
        for (other, _), cell in section.cells.items()
        if other.set == name
        for record in cell.done
    ]
    if shares and (share := sum(shares) / len(shares)) >= MUCH:
        notes.append(
            f"duplicates: {100 * share:.0f} % of the test rows have the features of a "
            "training row"
        )
    return notes
