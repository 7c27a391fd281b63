"""S1O and S1O-DS as the paper describes them, without this package's own engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from miptree.classifiers.numeric_classifier import NumericTreeClassifier
from miptree.control.clock import Clock, End
from miptree.data.problem import Problem
from miptree.fit.incumbent import Incumbent
from miptree.fit.mips import ended_by
from miptree.mip.formulations import FORMULATIONS
from miptree.mip.size import mip_size, pays
from miptree.mip.solvers import Limits, get_solver
from miptree.objective import Svm1Objective
from miptree.objective.proved import Bounds
from miptree.search.starts import cart_tree
from miptree.tree import ObliqueTree


@dataclass(kw_only=True, eq=False, repr=False)
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

    max_depth: int = 2
    slack_penalty: float = 1000.0
    l1_penalty: float = 0.1
    margin: float = 0.01
    selector: Any = None
    solver: str = "highs"
    time_limit: float | None = 60.0
    node_limit: int | None = None
    random_state: int | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> S1OClassifier:
        """Learn a tree."""
        clock = Clock(self.time_limit)
        objective = Svm1Objective(self.slack_penalty, self.l1_penalty, self.margin)
        problem, schema = self._problem_of(X, y, None)
        start = problem.to_user(cart_tree(problem, self.max_depth)).prune(problem.X)
        bounds = Bounds.without_solver(problem, self.max_depth)
        best = Incumbent(start, objective.evaluate(problem, start), bounds, clock)
        seen = self._selected(problem, start)
        self.n_selected_ = seen.n_rows
        found, best.ended = self._solved(seen, objective, start, clock)
        if found is not None:
            best.offer(found, objective.evaluate(problem, found))
        return self.adopt(schema, best.end(problem, objective, self.max_depth))

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
    ) -> tuple[ObliqueTree | None, End]:
        """Return the tree of the MIP, if any, and why the solver ended.

        A MIP that is too large to be built in the time is not tried.
        """
        if not pays(mip_size(problem, self.max_depth), clock):
            return None, "time_limit"
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
        if result.x is None:
            return None, ended_by(result, "unproved")
        tree = problem.to_user(formulation.decode(result.x)).prune(problem.X)
        return tree, ended_by(result, "unproved")
