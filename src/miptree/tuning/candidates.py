"""What cross-validation chooses from: ways to train a tree.

A candidate is a frozen record whose fields are its parameters. Candidates come in
styles, from the simplest to the most free: a constant, points trees, sparse oblique
trees, oblique trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from miptree.objective.penalties import Auto, suited_objective


def _check_range(
    kind: str, name: str, value: float, low: float, high: float = np.inf
) -> None:
    if not (np.isfinite(value) and low <= value <= high):
        wanted = f"in [{low:g}, {high:g}]" if np.isfinite(high) else f">= {low:g}"
        raise ValueError(
            f"{name} of {kind} must be finite and {wanted}, got {value!r}."
        )


@dataclass(frozen=True)
class SoftTree:
    """A soft tree of least penalised log-loss, made hard.

    Parameters
    ----------
    smoothing : float, default=0
        How far labels give way to the votes of trees that did not see the row, from 0
        to 1.
    l1, l2 : float, default=0
        Penalties on the coefficients of standardised features, per row.
    """

    smoothing: float = 0.0
    l1: float = 0.0
    l2: float = 0.0

    def __post_init__(self) -> None:
        _check_range("SoftTree", "smoothing", self.smoothing, 0.0, 1.0)
        _check_range("SoftTree", "l1", self.l1, 0.0)
        _check_range("SoftTree", "l2", self.l2, 0.0)


@dataclass(frozen=True)
class Svm1Tree:
    """A tree of low total cost, searched for from soft trees.

    Parameters
    ----------
    smoothing : float, default=0
        As for :class:`SoftTree`; the labels enter as costs.
    slack_penalty, l1_penalty, margin : float or "auto", default="auto", 8, "auto"
        As for ``OptimalTreeClassifier``. On a part of the rows l1_penalty is that part
        of it; slack_penalty is raised where a cost_matrix asks for it.
    """

    smoothing: float = 0.0
    slack_penalty: float | Auto = "auto"
    l1_penalty: float = 8.0
    margin: float | Auto = "auto"

    def __post_init__(self) -> None:
        _check_range("Svm1Tree", "smoothing", self.smoothing, 0.0, 1.0)
        if isinstance(self.l1_penalty, str):
            raise ValueError(
                f"l1_penalty of Svm1Tree must be a number, got {self.l1_penalty!r}."
            )
        suited_objective(self.slack_penalty, self.l1_penalty, self.margin)


@dataclass(frozen=True)
class CartTree:
    """scikit-learn's greedy tree of splits on single features."""


@dataclass(frozen=True)
class GreedySvmTree:
    """The greedy tree of 1-norm SVMs.

    Parameters
    ----------
    C : float, default=10
        Price of the hinge loss beside the 1-norm.
    """

    C: float = 10.0

    def __post_init__(self) -> None:
        _check_range("GreedySvmTree", "C", self.C, 1e-6)


@dataclass(frozen=True)
class LogisticTree:
    """A greedy tree of logistic regressions between two groups of classes.

    Parameters
    ----------
    C : float, default=3
        How little the 2-norm costs, on standardised features.
    n_levels : int or None, default=None
        Levels that are split; 1 is a single logistic split. None is the tree's depth.
    """

    C: float = 3.0
    n_levels: int | None = None

    def __post_init__(self) -> None:
        _check_range("LogisticTree", "C", self.C, 1e-6)
        if self.n_levels is not None:
            _check_range("LogisticTree", "n_levels", self.n_levels, 1)
            if self.n_levels != int(self.n_levels):
                raise ValueError(
                    "n_levels of LogisticTree must be a whole number, got "
                    f"{self.n_levels!r}."
                )


@dataclass(frozen=True)
class ConstantTree:
    """No split at all: the class that costs least, whatever the row."""


@dataclass(frozen=True)
class PointsTree:
    """A points tree, see :class:`~miptree.PointsTreeClassifier`.

    Parameters
    ----------
    penalty : float, default=0.0066
        What a feature in a split costs, as a part of what it costs to be wrong for all
        rows.
    """

    penalty: float = 0.0066

    def __post_init__(self) -> None:
        _check_range("PointsTree", "penalty", self.penalty, 0.0, 1.0)


ObliqueCandidate: TypeAlias = (
    SoftTree | Svm1Tree | CartTree | GreedySvmTree | LogisticTree | ConstantTree
)
Candidate: TypeAlias = ObliqueCandidate | PointsTree

DEFAULT_CANDIDATES: tuple[Candidate, ...] = (
    SoftTree(0.4, l1=3e-3),
    SoftTree(0.0, l1=2e-3),
    SoftTree(0.0, l2=1e-3),
    SoftTree(0.7, l2=3e-3),
    SoftTree(0.8, l1=3e-3),
    SoftTree(0.8, l1=1e-2),
    SoftTree(0.0, l1=5e-4),
    SoftTree(0.0, l1=1e-2),
    # Nearly one hyperplane: right for few rows of many features.
    *(SoftTree(0.0, l2=l2) for l2 in (0.01, 0.03, 0.1, 0.3, 1.0)),
    Svm1Tree(0.0),
    Svm1Tree(0.4),
    Svm1Tree(0.4, l1_penalty=24.0),
    GreedySvmTree(1.0),
    GreedySvmTree(10.0),
    *(LogisticTree(C) for C in (0.3, 3.0, 30.0)),
    # On two classes no worse than logistic regression, as it is one.
    *(LogisticTree(C, n_levels=1) for C in (0.03, 0.3, 3.0)),
    CartTree(),
)
"""From trusting the labels to smoothing them, sparse and dense."""

SPARSE_CANDIDATES: tuple[Candidate, ...] = (
    SoftTree(0.4, l1=3e-3),
    SoftTree(0.0, l1=2e-3),
    SoftTree(0.0, l2=1e-3),
    SoftTree(0.8, l1=1e-2),
    SoftTree(0.0, l2=0.03),
    Svm1Tree(0.0),
    Svm1Tree(0.4),
    GreedySvmTree(1.0),
    GreedySvmTree(10.0),
    LogisticTree(0.3),
    LogisticTree(30.0),
    CartTree(),
)
"""Of those the ones that get along with few features in a split."""

POINTS_CANDIDATES: tuple[Candidate, ...] = tuple(
    PointsTree(penalty) for penalty in (0.0066, 0.0, 0.0033, 0.0198)
)
"""From all splits that the rows seem to justify to few features."""


def check_candidates(given: Sequence[object]) -> None:
    """Raise an error unless all are candidates, and there are some."""
    wrong = [c for c in given if not isinstance(c, Candidate)]
    if wrong or not given:
        raise ValueError(
            "candidates must be a sequence of SoftTree, Svm1Tree, GreedySvmTree, "
            "LogisticTree, CartTree, PointsTree or ConstantTree of miptree.tuning, "
            f"got {wrong[:1] or given!r}."
        )


def describe(candidate: Candidate) -> dict[str, Any]:
    """List the kind and the parameters of a candidate, for tables."""
    return {"kind": type(candidate).__name__, **asdict(candidate)}
