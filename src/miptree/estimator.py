"""The scikit-learn estimator: the whole pipeline behind fit and predict."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from miptree.classifiers.oblique_classifier import (
    OBLIQUE_CONSTRAINTS,
    ObliqueClassifier,
)
from miptree.classifiers.ruled_rows import GivenGroups, possible_rules, ruled_rows
from miptree.constraints.constraint import Constraint
from miptree.constraints.contradictions import refuse_contradictions
from miptree.constraints.rules import source_names
from miptree.control.clock import Clock
from miptree.data.checks import UnreadableColumnError
from miptree.data.far_columns import warn_of_far_columns
from miptree.data.problem import Problem
from miptree.data.rows import Revision, TrainingRows, unrevised
from miptree.data.schema import Schema
from miptree.fit.all_columns import AllColumns
from miptree.fit.constrained import train_under_rules
from miptree.fit.fitted import FittedTree
from miptree.fit.layers import PerLayer
from miptree.fit.logged import name_of, with_errors_file, with_proof_file
from miptree.fit.plan import PROOFS, Plan
from miptree.fit.progress import listeners_of
from miptree.fit.rounds import train_in_rounds
from miptree.fit.train import train
from miptree.fit.unlogged import refuse_unloggable
from miptree.mip.formulations import FORMULATIONS
from miptree.mip.formulations.paper import one_cost_per_row
from miptree.mip.solvers import SOLVERS, get_solver
from miptree.objective.penalties import Auto, largest_cost, suited_objective
from miptree.selection import SELECTORS, Selector
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray
from miptree.utils.files import refuse_overwriting


@dataclass(kw_only=True, eq=False, repr=False)
class OptimalTreeClassifier(ObliqueClassifier):
    """Small oblique decision tree, near-optimal by search, with proved bounds.

    Minimises the total cost: misclassified rows + ``slack_penalty`` * missing margins +
    ``l1_penalty`` * 1-norms of the hyperplanes, over trees of depth ``max_depth`` whose
    every split is a hyperplane in the features scaled to [0, 1].

    Parameters
    ----------
    max_depth : int, default=2
        Depth of the tree.
    slack_penalty : float or "auto", default="auto"
        Price of what a row lacks of its margin. ``slack_penalty * margin`` must be at
        least the price of the most costly error, by default 1; "auto" makes it that.
    l1_penalty : float or "auto", default="auto"
        Price of coefficients: a larger value gives sparser splits and fewer of them.
        "auto" takes 8 for 200 rows of two classes, in inverse proportion to the
        classes, and with the fourth root of the rows.
    margin : float or "auto", default="auto"
        Distance that rows should keep from a hyperplane whose scores are boxed to
        [-1, 1], at least 1e-4. "auto" takes 0.05 for up to 200 rows that fill their
        range, and less where there are more rows or heavy tails.
    formulation : {"compact", "paper", "flow"}, default="compact"
        The MIP, where one is solved: the exact compact one, the paper's, or a
        relaxation that proves bounds faster.
    solver : str, default="highs"
        Who solves the MIP: "highs", "scip", both at once ("portfolio"), "gurobi",
        "cplex"; "search" stops before all proofs.
    init : {"auto", "cart"} or ObliqueTree, default="auto"
        Start tree: found by search, CART's, or your own in the units of X. From the
        latter two the proofs go on without a search, unless it is ``"search"``.
    time_limit : float or None, default=60
        Most seconds for the whole fit. It ends sooner when it is done: when the tree is
        proved optimal, or neither tree nor bound has moved for a while that grows with
        the time spent.
    max_iter : int or None, default=None
        Most iterations of the search, a budget that does not depend on speed. The while
        is then counted in iterations, too.
    node_limit : int or None, default=None
        Branch-and-bound nodes of each proof, likewise.
    gap_tol : float, default=0
        Stop when (objective - bound) / objective is at most this.
    proof : {"auto", "errors", "objective"}, default="auto"
        What should be proved: first the number of errors, then the objective, each as
        long as something moves; or only one of them, with all the time.
    selection : str, Selector, PerLayer or None, default=None
        Train on chosen rows, for data too large for a MIP: "auto", "hull" (the
        paper's way), "balanced", "cover" or "stratified", or a selector of
        :mod:`miptree.selection` with your parameters. The best tree on *all* rows is
        kept.
    max_rounds : int, default=3
        Rounds of selecting and training, with ``selection`` only.
    constraints : list of Constraint or None, default=None
        Rules that the tree must keep, of :mod:`miptree.constraints`: rates, budgets,
        fairness, leaves, columns. The tree keeps all of them on the training rows,
        counted in whole numbers, or the fit fails and says why.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into ``sample_weight``.
    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        ``cost_matrix[j, k]`` is what it costs to predict class k for a row of class j
        and weight 1, in the order of ``classes_``; 0 on the diagonal. Where it only
        matters of which class a row is, such costs give the same tree as a
        ``class_weight``, but probabilities count the rows as they are. Others may be at
        most ``slack_penalty * margin`` where both are given. By default every error
        costs 1.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories, not numbers: those of a category, text or bool
        type; or a mask, or a list of names or indices.
    categorical_encoding : {"both", "native", "onehot"}, default="both"
        What splits may do with them. "native": a split takes one categorical feature
        and sends a subset of its values left. "onehot": hyperplanes read 0/1
        indicators of the values. "both": either, with indicators for features
        of up to 10 values.
    max_features_per_split : int or None, default=None
        Most non-zero coefficients of a hyperplane, so that people can read it.
    missing : {"fill", "error"}, default="fill"
        Missing numbers are filled with the median, and a 0/1 column that hyperplanes
        may use says where; a missing category is a value of its own. "error" refuses.
    unknown : {"majority", "error"}, default="majority"
        Where ``predict`` sends a category that training did not meet: at a split by
        its values to the side of most training points; in a hyperplane none of its
        indicators is 1. "error" refuses.
    n_jobs : int or None, default=None
        Parallel searches and threads of the solver; -1 for all cores.
    random_state : int, RandomState or None, default=None
        Seed of the search and the solver.
    verbose : int, default=0
        1 shows a live line of progress on standard error.
    callback : callable, default=None
        Called with a :class:`~miptree.fit.progress.FitProgress` now and then; a true
        answer stops the fit.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    table_ : Table
        How the columns of X become the numbers that the tree reads.
    tree_ : ObliqueTree
        The tree, in the units of X; its columns are those of ``table_``.
    objective_, bound_, gap_ : float
        Total cost of ``tree_`` recounted by prediction, a proved lower bound on that of
        all trees, and the relative gap between them.
    status_ : str
        "optimal" when the recounted objective meets the bound; otherwise why the fit
        stopped: "gap_tol", "stalled" (nothing moved for a while), "time_limit",
        "node_limit", "max_iter" (or nothing was left to do) or "interrupted".
    certificate_ : Certificate
        What is known, in numbers and as a sentence.
    feature_importances_ : float array of shape (n_features_in_,)
        How much the splits use each column: its share of coefficient times spread,
        weighed by the training rows that reach the split.
    fitted_ : FittedTree
        All that the fit left behind, as one object.
    trace_ : list of FitProgress
        Objective and bound over time.
    n_iter_ : int
        Iterations of the search.
    fit_time_ : float
        Seconds that fit took.
    selected_ : int array
        With ``selection``: rows of X that the last round trained on (of identical
        rows the first).
    constraints_ : tuple of Constraint
        The constraints that took effect, those on sensitive columns included.
    rounds_ : list of Round
        With ``selection``: rows, raw tree, errors and bound of every round.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, where X had string names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree import OptimalTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifier(solver="search", max_iter=50, random_state=0)
    >>> clf.fit(X, y).get_n_leaves()
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_depth": [Interval(Integral, 1, 10, closed="both")],
        "slack_penalty": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "l1_penalty": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "margin": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "formulation": [StrOptions(set(FORMULATIONS))],
        "solver": [StrOptions({*SOLVERS, "search"})],
        "init": [StrOptions({"auto", "cart"}), ObliqueTree],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "node_limit": [Interval(Integral, 0, None, closed="left"), None],
        "gap_tol": [Interval(Real, 0, None, closed="left")],
        "proof": [StrOptions(set(PROOFS))],
        "selection": [StrOptions(set(SELECTORS)), HasMethods("select"), PerLayer, None],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "constraints": [list, tuple, None],
        **OBLIQUE_CONSTRAINTS,
    }

    max_depth: int = 2
    slack_penalty: float | Auto = "auto"
    l1_penalty: float | Auto = "auto"
    margin: float | Auto = "auto"
    formulation: str = "compact"
    solver: str = "highs"
    init: str | ObliqueTree = "auto"
    time_limit: float | None = 60.0
    max_iter: int | None = None
    node_limit: int | None = None
    gap_tol: float = 0.0
    proof: str = "auto"
    selection: str | Selector | PerLayer | None = None
    max_rounds: int = 3
    constraints: Sequence[Constraint] | None = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        proof_log: str | os.PathLike[str] | None = None,
        force: bool = False,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
    ) -> OptimalTreeClassifier:
        """Learn a tree.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Finite numbers and categories; missing values where ``missing`` allows.
        y : array-like of shape (n_samples,)
            Class labels, at least two different ones.
        sample_weight : array-like of shape (n_samples,), optional
            Weights >= 0, the largest at least 1e-5: a row of weight 2 counts as two
            rows, and the penalties are meant for rows of weight 1.
        proof_log : path, optional
            File to write the proof of the objective's bound into, for ``miptree
            check``. It holds what the branch and bound over routes proved; what a
            solver claims cannot be checked, and a warning says so. With
            ``proof="errors"`` it holds the proof of the errors' bound.
        force : bool, default=False
            Whether to overwrite that file.
        sensitive_features : array-like, Series or data frame, optional
            Groups that constraints compare, one value for each row; of several columns
            each combination is a group, and so is a missing value. A column of X of
            the same name is not used in splits.
        control_features : array-like, Series or data frame, optional
            Groups within which they are compared.

        Returns
        -------
        OptimalTreeClassifier
            The fitted estimator.
        """
        given = GivenGroups(sensitive_features, control_features)
        self._fit(X, y, sample_weight, given, proof_log=proof_log, force=force)
        self._warn_if_interrupted()
        return self

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: GivenGroups | None = None,
        revise: Revision = unrevised,
        proof_log: str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> None:
        """Fit to rows that ``revise`` may give other labels and costs."""
        clock = Clock(self.time_limit)
        if proof_log is not None:
            self._refuse_log(proof_log, force)  # before the work, not after it
        # What no rows can make right should fail before any work.
        suited_objective(self.slack_penalty, self.l1_penalty, self.margin)
        if self.solver != "search":
            get_solver(self.solver)
        most = largest_cost(self.slack_penalty, self.margin)
        rows, classes = revise(*self._rows(X, y, sample_weight, most))
        self.constraints_: tuple[Constraint, ...]
        rows, self.constraints_ = ruled_rows(
            rows, classes, self.constraints, sample_weight, groups or GivenGroups()
        )
        refuse_contradictions(
            self.constraints_, self.max_depth, self.max_features_per_split
        )
        problem, schema = self._problem_of(rows, classes)
        warn_of_far_columns(problem, schema.table.open_names)
        if self.formulation == "paper" and self.solver != "search":
            one_cost_per_row(problem)  # costs it cannot count fail before any work
        self.__dict__.pop("rounds_", None)  # of an earlier fit
        self.__dict__.pop("selected_", None)
        if self.constraints_:
            self._refuse_beside_constraints(proof_log)
            fitted = self._trained_under_rules(problem, schema, rows, clock)
        else:
            fitted = self._trained(problem, clock, proof_log is not None)
        if proof_log is not None:
            known = schema, rows, problem, fitted
            write = with_errors_file if self.proof == "errors" else with_proof_file
            fitted = write(proof_log, *known, target=name_of(y), force=force)
        self.adopt(schema, fitted)

    def _refuse_log(self, path: str | os.PathLike[str], force: bool) -> None:
        """Refuse a file that is there already, and fits whose proof is of some rows."""
        refuse_overwriting(path, force)
        if self.selection is not None:
            raise ValueError(
                "proof_log works without selection, whose bounds are of some rows only."
            )

    # ------------------------------------------------------------- constraints

    def _refuse_beside_constraints(self, proof_log: object) -> None:
        """Refuse what does not go with constraints."""
        if self.selection is not None:
            raise ValueError(
                "constraints count all rows: they do not go with selection, which "
                "trains on some. Set selection=None."
            )
        if proof_log is not None:
            raise ValueError(
                "proof_log does not go with constraints: the proof would be of the "
                "best tree that need not keep them. Leave out one of the two."
            )

    def _trained_under_rules(
        self, problem: Problem, schema: Schema, rows: TrainingRows, clock: Clock
    ) -> FittedTree:
        """Train a tree that keeps the constraints."""
        asked = self.constraints_
        rules = possible_rules(asked, problem, schema, rows, clock.remaining)
        objective = suited_objective(
            self.slack_penalty, self.l1_penalty, self.margin, problem
        )
        listeners = listeners_of(self.verbose, self.callback)
        plan = Plan.of(self, objective)
        given = problem, plan, rules, clock, listeners
        return train_under_rules(*given, self._all_columns(rows, schema.classes))

    def _all_columns(self, rows: TrainingRows, classes: AnyArray) -> AllColumns | None:
        """Return the rows with the columns that constraints leave out, if they do.

        None also where such a column cannot be read, for example one with gaps where
        ``missing`` refuses them: there are no trees that use it then.
        """
        if not rows.left_out:
            return None
        wide = replace(rows, left_out=frozenset(), groups=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no split of the tree uses such a column
            try:
                problem, schema = self._problem_of(wide, classes)
            except UnreadableColumnError:
                return None
        sources = source_names(schema.table)
        is_shared = [name not in rows.left_out for name in sources]
        return AllColumns(problem, np.array(is_shared, dtype=bool))

    def _trained(
        self, problem: Problem, clock: Clock, record: bool = False
    ) -> FittedTree:
        objective = suited_objective(
            self.slack_penalty, self.l1_penalty, self.margin, problem
        )
        plan = replace(Plan.of(self, objective), record=record)
        if record:
            refuse_unloggable(problem, plan, clock)
        listeners = listeners_of(self.verbose, self.callback)
        if self.selection is None:
            return train(problem, plan, clock, listeners)
        fitted, self.rounds_ = train_in_rounds(
            problem, plan, self.selection, self.max_rounds, clock, listeners
        )
        last = self.rounds_[-1].rows if self.rounds_ else np.zeros(0, dtype=np.intp)
        self.selected_ = np.sort(last)
        return fitted
