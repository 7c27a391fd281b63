"""S1O and S1O-DS as the paper describes them, without this package's own engine."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from miptree.baselines._train import NONZEROS_PER_SECOND
from miptree.classifiers.numeric_classifier import NumericTreeClassifier
from miptree.classifiers.predictor import smoothed_frequencies
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.train import mip_size
from miptree.mip.formulations import FORMULATIONS
from miptree.mip.solvers import Limits, get_solver
from miptree.objective import Svm1Objective
from miptree.search.starts import cart_tree
from miptree.tree import ObliqueTree


class S1OClassifier(NumericTreeClassifier):
    """The paper's method: (1a)-(1k) with its cuts, from CART's tree, by a MIP solver.

    The better of CART's tree and the solver's, by (1a) recounted on all rows, is kept.

    Parameters
    ----------
    max_depth, slack_penalty, l1_penalty, margin
        D, alpha_1, alpha_2 and epsilon.
    selector : Selector or None, default=None
        Which rows the MIP sees, given CART's tree: S1O-DS. None: all of them.
    solver : str, default="highs"
        One of ``miptree.mip.solvers.SOLVERS``.
    time_limit : float or None, default=60
        Seconds for the whole fit.
    node_limit : int or None, default=None
        Branch-and-bound nodes.
    random_state : int, RandomState or None, default=None
        Seed of the solver.
    """

    class_weight = None

    def __init__(
        self,
        *,
        max_depth: int = 2,
        slack_penalty: float = 1000.0,
        l1_penalty: float = 0.1,
        margin: float = 0.01,
        selector: Any = None,
        solver: str = "highs",
        time_limit: float | None = 60.0,
        node_limit: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.slack_penalty = slack_penalty
        self.l1_penalty = l1_penalty
        self.margin = margin
        self.selector = selector
        self.solver = solver
        self.time_limit = time_limit
        self.node_limit = node_limit
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> S1OClassifier:
        """Learn a tree."""
        clock = Clock(self.time_limit)
        objective = Svm1Objective(self.slack_penalty, self.l1_penalty, self.margin)
        problem = self._problem(X, y, None)
        start = problem.to_user(cart_tree(problem, self.max_depth)).prune(problem.X)
        seen = self._selected(problem, start)
        self.n_selected_ = seen.n_rows
        found = self._solved(seen, objective, start, clock)
        trees = [start] if found is None else [start, found]
        scores = [objective.evaluate(problem, tree).objective for tree in trees]
        self.objective_, self.tree_ = min(
            zip(scores, trees, strict=True), key=lambda pair: pair[0]
        )
        self._node_proba = smoothed_frequencies(problem, self.tree_)
        self.fit_time_ = clock.elapsed
        return self

    def _selected(self, problem: Problem, start: ObliqueTree) -> Problem:
        if self.selector is None:
            return problem
        chosen = self.selector.select(problem, start)
        return problem.subset(chosen.rows, chosen.weight)

    def _solved(
        self,
        problem: Problem,
        objective: Svm1Objective,
        start: ObliqueTree,
        clock: Clock,
    ) -> ObliqueTree | None:
        """Return the MIP's tree; None if it is too large to be built in the time."""
        size = mip_size(problem, self.max_depth)
        if clock.limit is not None and size > NONZEROS_PER_SECOND * clock.limit:
            self.status_ = "too_large"
            return None
        formulation = FORMULATIONS["paper"](problem, objective, self.max_depth)
        result = get_solver(self.solver).solve(
            formulation.model,
            formulation.encode(problem.to_scaled(start, self.max_depth)),
            Limits(
                seconds=clock.remaining,
                nodes=self.node_limit,
                seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            ),
        )
        self.status_ = result.status
        if result.x is None:
            return None
        return problem.to_user(formulation.decode(result.x)).prune(problem.X)
