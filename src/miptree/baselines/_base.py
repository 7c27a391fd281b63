"""The scikit-learn side that the baselines with a MIP share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from miptree.baselines._train import train_baseline
from miptree.baselines._valuation import BaselineValuation
from miptree.classifiers.numeric_classifier import NumericTreeClassifier
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.progress import FitCallback, listeners_of
from miptree.mip.formulations.baselines import BaselineFormulation
from miptree.mip.solvers import SOLVERS, Limits, get_solver

Seed = int | np.random.RandomState | None
ClassWeight = dict[Any, float] | str | None

MIP_CONSTRAINTS: dict[str, list[Any]] = {
    "max_depth": [Interval(Integral, 1, 10, closed="both")],
    "solver": [StrOptions(set(SOLVERS))],
    "init": [StrOptions({"cart", "search"})],
    "time_limit": [Interval(Real, 0, None, closed="left"), None],
    "node_limit": [Interval(Integral, 0, None, closed="left"), None],
    "gap_tol": [Interval(Real, 0, None, closed="left")],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "callback": [callable, None],
}
"""What the parameters of every baseline with a MIP may be."""


@dataclass(kw_only=True, eq=False, repr=False)
class BaselineClassifier(NumericTreeClassifier):
    """Base of the baselines that are a formulation each.

    A child names itself (:attr:`method`), takes the parameters below and its own, and
    makes its formulation of a problem.

    Parameters
    ----------
    max_depth : int, default=2
        Depth D of the tree.
    solver : str, default="highs"
        Who solves the MIP; one of ``miptree.mip.solvers.SOLVERS``.
    init : {"cart", "search"}, default="cart"
        Start of the MIP: CART's tree, as in the papers; or the best tree of the
        baseline's class that a local search finds in at most 30 % of the time.
    time_limit : float or None, default=60
        Seconds for the whole fit.
    node_limit : int or None, default=None
        Branch-and-bound nodes, a budget that does not depend on speed.
    gap_tol : float, default=0
        Stop when (objective - bound) / objective is at most this.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into ``sample_weight``.
    n_jobs : int or None, default=None
        Threads of the solver; -1 for all cores.
    random_state : int, RandomState or None, default=None
        Seed of the solver.
    verbose : int, default=0
        1 shows a live line of progress on standard error.
    callback : callable, default=None
        Called with a :class:`~miptree.fit.progress.FitProgress` now and then; a true
        answer stops the fit.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    tree_ : ObliqueTree
        The tree, in the units of X.
    objective_, bound_, gap_ : float
        The baseline's own objective recounted by prediction, a proved lower bound on it
        for the baseline's class of trees, and the relative gap between them.
    status_ : str
        "optimal" when the objective meets the bound; otherwise why the fit stopped:
        "gap_tol", "time_limit", "node_limit", "interrupted", or "unproved" where the
        solver was done and the recount does not meet its bound.
    certificate_ : Certificate
        What is known, in numbers and as a sentence.
    trace_ : list of FitProgress
        Objective and bound over time.
    fit_time_ : float
        Seconds that fit took.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, where X had string names.
    """

    method: ClassVar[str]
    """Name of the method in certificates."""

    max_depth: int = 2
    solver: str = "highs"
    init: str = "cart"
    time_limit: float | None = 60.0
    node_limit: int | None = None
    gap_tol: float = 0.0
    class_weight: ClassWeight = None
    n_jobs: int | None = None
    random_state: Seed = None
    verbose: int = 0
    callback: FitCallback | None = None

    @abstractmethod
    def _formulation(self, problem: Problem) -> BaselineFormulation:
        """Make the baseline's MIP for the data."""

    def valuation(self, problem: Problem) -> BaselineValuation:
        """Return the baseline's objective, made for the data."""
        return BaselineValuation(self.method, self._formulation(problem))

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BaselineClassifier:
        """Learn a tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Class labels, at least two different ones.
        sample_weight : array-like of shape (n_samples,), optional
            Weights >= 0: a row of weight 2 counts as two rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        clock = Clock(self.time_limit)
        get_solver(self.solver)  # a missing one should fail before any work
        problem, schema = self._problem_of(X, y, sample_weight)
        valuation = self.valuation(problem)
        limits = Limits(
            nodes=self.node_limit,
            gap=self.gap_tol,
            threads=effective_n_jobs(self.n_jobs),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        listeners = listeners_of(self.verbose, self.callback)
        self.adopt(
            schema,
            train_baseline(valuation, self.solver, limits, clock, listeners, self.init),
        )
        self._warn_if_interrupted()
        return self
