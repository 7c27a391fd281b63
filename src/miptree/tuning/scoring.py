"""What trees are compared by, on rows that they have not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.objective.blurred import blurred, suited_blur
from miptree.objective.leaf_probabilities import smoothed_frequencies
from miptree.tree import ObliqueTree
from miptree.tuning.scores import costs_of
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

SCORINGS = ("accuracy", "balanced_accuracy", "f1_macro", "neg_log_loss", "cost")
"""Names of scores, those of scikit-learn where it has one."""
WEIGHING = ("balanced_accuracy", "f1_macro")
"""Those for which rows are trained with weights of their classes."""


def needs_probabilities(scoring: str) -> bool:
    """Tell whether the score is one of probabilities."""
    return scoring == "neg_log_loss"


def check_scoring(scoring: str, class_weight: object, cost_matrix: object) -> None:
    """Raise an error that says what to leave out where two aims are given."""
    if scoring in WEIGHING and class_weight is not None:
        raise ValueError(
            f'scoring="{scoring}" weighs the classes by itself: leave out '
            f"class_weight, got {class_weight!r:.100}."
        )
    if scoring in ("f1_macro", "neg_log_loss") and cost_matrix is not None:
        raise ValueError(
            f'With a cost_matrix trees are compared by their costs, not by "{scoring}":'
            ' leave out one of them, or give scoring="cost".'
        )
    if scoring == "cost" and cost_matrix is None:
        raise ValueError('scoring="cost" needs a cost_matrix, which was not given.')


def score_text(scoring: str, value: float, error: float = np.nan) -> str:
    """Return a score as people read it, in percent or a log loss, and its error."""
    if np.isnan(value):
        return "-"
    is_loss = needs_probabilities(scoring)
    text = difference_text(scoring, -value if is_loss else value, unit=False)
    if np.isnan(error):
        return text
    return f"{text} ± {difference_text(scoring, error, unit=False)}"


def difference_text(scoring: str, value: float, unit: bool = True) -> str:
    """Return a difference of two scores as people read it."""
    if needs_probabilities(scoring):
        return f"{value:.3f}{' in log loss' if unit else ''}"
    return f"{100 * value:.1f}{' points' if unit else ''}"


def score_name(scoring: str) -> str:
    """Return the words for a score, with its unit where it has one."""
    names = {
        "neg_log_loss": "log loss",
        "f1_macro": "F1 score, %",
        "cost": "1 - cost / largest cost, %",
    }
    return names.get(scoring, f"{scoring.replace('_', ' ')}, %")


def score_heading(scoring: str, has_costs: bool, has_class_weights: bool) -> str:
    """Return the heading of a column of scores."""
    if has_costs:
        return score_name("cost")
    if needs_probabilities(scoring):
        return "log loss (less is better)"
    return f"{'weighted ' if has_class_weights else ''}{score_name(scoring)}"


def between_rows_and_classes(rows: TrainingRows) -> TrainingRows:
    """Return the rows with class weights halfway to balanced ones.

    They are square roots, to two digits with 1 for the largest class. The best F1 score
    is reached between counting rows and counting classes.
    """
    total = np.bincount(rows.y, rows.weight, minlength=rows.n_classes)
    rarity = total.max() / np.where(total > 0, total, total.max())
    factor = np.array([float(f"{value:.2g}") for value in np.sqrt(rarity)])
    return replace(rows, weight=rows.weight * factor[rows.y], class_factor=factor)


def tree_score(
    scoring: str,
    held_out: TrainingRows,
    X: FloatArray,
    tree: ObliqueTree,
    problem: Problem,
    has_blur: bool,
) -> float:
    """Score a tree on rows held out.

    Parameters
    ----------
    X : float array
        The rows held out, as the tree reads them.
    problem : Problem
        The rows that the tree was trained on, which its probabilities come from.
    has_blur : bool
        Whether a row near a split counts to both sides, as in an oblique tree.
    """
    if not needs_probabilities(scoring):
        return held_out_score(scoring, held_out, tree.predict(X))
    proba = smoothed_frequencies(problem, tree)
    blur = np.zeros(tree.n_nodes)
    if has_blur:
        blur = suited_blur(problem, tree, proba)
    mixed = blurred(tree, X, proba, blur)
    return held_out_score(scoring, held_out, tree.predict(X), mixed)


def held_out_score(
    scoring: str,
    rows: TrainingRows,
    predicted: IntArray,
    proba: FloatArray | None = None,
) -> float:
    """Return the score of what was predicted for rows held out; larger is better.

    Accuracy and log loss count the rows' weights, in which a balanced accuracy has the
    weights of the classes. With costs it is 1 - cost / largest cost.
    """
    if scoring == "neg_log_loss":
        assert proba is not None
        return -_log_loss(rows, proba)
    if scoring == "f1_macro":
        return _f1_macro(rows, predicted)
    costs = costs_of(rows)
    cost = costs[rows.y, predicted] / costs.max()
    return 1.0 - float(rows.weight @ cost / rows.weight.sum())


def _log_loss(rows: TrainingRows, proba: FloatArray) -> float:
    likelihood: AnyArray = np.clip(proba[np.arange(len(rows)), rows.y], 1e-15, 1.0)
    return -float(rows.weight @ np.log(likelihood) / rows.weight.sum())


def _f1_macro(rows: TrainingRows, predicted: IntArray) -> float:
    """Return the mean F1 score of the classes, the rows without class weights."""
    from sklearn.metrics import f1_score

    weight = rows.weight / rows.class_factor[rows.y]
    return float(
        f1_score(
            rows.y, predicted, average="macro", sample_weight=weight, zero_division=0
        )
    )
