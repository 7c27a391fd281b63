"""How a fit went: the best objective and the bound over time."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from miptree.classifiers.predictor import TreePredictor
from miptree.objective.tolerance import percent
from miptree.plot._common import COLOURS, FAINT, axes_or_new, finish


def plot_trace(clf: TreePredictor, *, ax: Any = None) -> Any:
    """Draw the objective of the best tree and the proved bound over the fit's time.

    Parameters
    ----------
    clf : fitted classifier of this package
    ax : matplotlib Axes, optional
        Where to draw, by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(clf)
    ax = axes_or_new(ax, (7.0, 3.6))
    trace = [state for state in clf.trace_ if state.stage != "compile"]
    seconds = [state.seconds for state in trace]
    objective = [state.objective for state in trace]
    bound = [state.bound for state in trace]
    ax.fill_between(
        seconds, bound, objective, step="post", color=COLOURS[0], alpha=0.1, linewidth=0
    )
    style = {"where": "post", "linewidth": 2}
    ax.step(seconds, objective, color=COLOURS[1], label="best tree", **style)
    ax.step(seconds, bound, color=COLOURS[0], label="no tree is below", **style)
    _name_stages(ax, [(state.stage, state.seconds) for state in trace])
    proved = "proved optimal" if clf.certificate_.objective_optimal else "not proved"
    title = f"gap {percent(clf.gap_)}, {proved}"
    finish(ax, "seconds", "objective", title)
    ax.set_ylim(bottom=0)
    if len(set(seconds)) > 1:
        ax.set_xlim(seconds[0], seconds[-1])
    return ax


def _name_stages(ax: Any, stages: list[tuple[str, float]]) -> None:
    """Draw a faint line where work of another kind began."""
    last = "start"
    for stage, seconds in stages:
        if stage not in (last, "done", "start"):
            ax.axvline(seconds, color=FAINT, linewidth=0.8, linestyle=":")
            ax.annotate(
                stage,
                (seconds, 0.02),
                xycoords=("data", "axes fraction"),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize=8,
                color=FAINT,
                rotation=90,
            )
        last = stage
