"""The progress of a cross-validation, as callbacks see it."""

from __future__ import annotations

from dataclasses import dataclass

from miptree.tuning.scoring import score_name, score_text


@dataclass(frozen=True)
class TuningProgress:
    """State of a cross-validation at a moment.

    Attributes
    ----------
    stage : str
        "compile", "folds" or "done".
    seconds : float
        Since the fit began.
    n_done, n_folds : int
        Folds done, of how many.
    score : float
        Mean score of the best candidate so far on rows held out.
    scoring : str
        What the score is, as the estimator was told.
    """

    stage: str
    seconds: float
    n_done: int
    n_folds: int
    score: float
    scoring: str = "accuracy"

    def __str__(self) -> str:
        if self.stage == "compile":
            return (
                f"{self.stage} {self.seconds:6.1f} s  once on this machine; trees that "
                "need nothing compiled are compared meanwhile"
            )
        bar = round(20 * self.n_done / max(1, self.n_folds))
        done = f"[{'#' * bar:<20}] {self.n_done}/{self.n_folds} folds"
        if self.stage == "done":  # a share of folds would look like one cut short
            done = f"after {self.n_done} fold{'s' * (self.n_done != 1)}"
        return (
            f"{self.stage:>6} {self.seconds:7.1f} s  {done}  "
            f"{score_name(self.scoring)} {score_text(self.scoring, self.score)}"
        )
