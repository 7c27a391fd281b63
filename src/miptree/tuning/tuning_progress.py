"""The progress of a cross-validation, as callbacks see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from miptree.control.clock import Clock
from miptree.tuning.cv_results import CVResults
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


def teller(
    listeners: Sequence[Callable[[TuningProgress], bool | None]],
    clock: Clock,
    n_folds: int,
    scoring: str,
) -> Callable[[str, CVResults], bool]:
    """Return a function that tells the listeners and whether one asks to stop.

    It is given the stage and the results so far.
    """

    def tell(stage: str, results: CVResults) -> bool:
        n_done, score = len(results.scores), results.winner().score
        state = TuningProgress(stage, clock.elapsed, n_done, n_folds, score, scoring)
        answers = [listener(state) for listener in listeners]  # all are told
        return any(answers)

    return tell
