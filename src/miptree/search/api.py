"""The search as one function: trees in, better trees out, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from miptree.control.clock import Clock, End
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.objective.bounds import combinatorial_bound
from miptree.objective.leaf_labels import tree_value
from miptree.search.data import SearchData
from miptree.search.starts import start_trees
from miptree.tree import HeapTree

_MANY_ROWS = 20_000

# The kernels are imported inside the functions: importing numba takes longer than
# the whole rest of the package.


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    trees : list of HeapTree
        Distinct good trees, best first: complete, in scaled units, inside the box.
        A split that is not used has ``coef = 0`` and ``threshold = 1``.
    values : list of float
        Their objective values, counted by prediction.
    n_iter : int
        Iterations done.
    stopped : str
        Why the search ended: "time_limit", "max_iter", "stalled", "bound" or
        "interrupted".
    """

    trees: list[HeapTree]
    values: list[float]
    n_iter: int
    stopped: End

    @property
    def tree(self) -> HeapTree:
        """The best tree."""
        return self.trees[0]

    @property
    def value(self) -> float:
        """Objective value of the best tree."""
        return self.values[0]


def search(
    problem: Problem,
    objective: Svm1Objective | None,
    depth: int,
    *,
    clock: Clock,
    seed: int = 0,
    starts: Sequence[HeapTree] = (),
    n_jobs: int | None = None,
    on_improvement: Callable[[HeapTree, float], object] | None = None,
    lower_bound: float = 0.0,
    warms_up: bool = True,
) -> SearchResult:
    """Find trees of low objective fast, without any proof.

    Anytime, and never worse than the given starts, CART (up to 200 000 rows), a greedy
    1-norm SVM tree, one logistic split and the constant tree; a limit of 0 returns
    the best of these.

    Parameters
    ----------
    problem : Problem
    objective : Svm1Objective or None
        Objective (1a), or None for the plain cost of the errors.
    depth : int
        Depth of the trees.
    clock : Clock
        When to end, in seconds or iterations; one of them must be limited. Without a
        limit in seconds the result is the same for a seed on one platform, whatever
        the number of jobs and threads. Its stop is heard between iterations and LPs,
        and during long ones.
    seed : int
    starts : sequence of HeapTree
        Trees to start from, in scaled units.
    n_jobs : int, optional
        Threads, counted as joblib counts jobs. Under the clock each runs a search of
        its own; an iteration budget is dealt out to a number of searches that does not
        depend on the jobs.
    on_improvement : callable, optional
        Called with every tree better than all before, and its value.
    lower_bound : float
        Stop once a tree reaches it.
    warms_up : bool
        Whether a search of (1a) makes better starts first, by short searches. Where
        those given are good that takes long, and brings little.

    Returns
    -------
    SearchResult
    """
    if not clock.has_limit:
        raise ValueError(
            "The search would never end. Give the clock seconds, max_iter or stall."
        )
    clock = clock.restarted()
    pool = [problem.into_box(tree) for tree in starts] + start_trees(problem, depth)
    data = SearchData.from_problem(problem)
    n_iter, stopped = 0, _stops_at_once(clock)
    if stopped is None:
        from miptree.search.engine import run_searches

        if problem.n_rows > _MANY_ROWS:
            _leave_time_to_recount(clock)
        found, n_iter, stopped = run_searches(
            problem,
            data,
            objective,
            pool,
            clock,
            seed=seed,
            n_jobs=n_jobs,
            on_improvement=on_improvement,
            lower_bound=max(lower_bound, combinatorial_bound(problem, depth)[0]),
            warms_up=warms_up,
        )
        # The search valued the starts, too: with many rows, not again.
        pool = found if problem.n_rows > _MANY_ROWS else found + pool
    trees, values = _ranked(problem, data, objective, pool)
    return SearchResult(trees, values, n_iter, stopped)


def improve(
    problem: Problem,
    objective: Svm1Objective | None,
    tree: HeapTree,
    seed: int,
    *,
    clock: Clock,
) -> tuple[HeapTree, float]:
    """Search shortly from one tree, as a heuristic inside a MIP solve.

    Only kernels run here, no LP and no MIP, so that it may be called from within a
    solver's callback. Returns a tree that is not worse, and its value.
    """
    from miptree.search.engine import run_improvement

    data, tree = SearchData.from_problem(problem), problem.into_box(tree)
    found = run_improvement(data, objective, tree, clock.restarted(), seed)
    trees, values = _ranked(problem, data, objective, [*found, tree])
    return trees[0], values[0]


def _stops_at_once(clock: Clock) -> End | None:
    """Return a reason to stop before the first iteration, if a limit is zero."""
    if clock.limit == 0:
        return "time_limit"
    if clock.max_iter == 0:
        return "max_iter"
    return "stalled" if clock.stall == 0 else None


def _leave_time_to_recount(clock: Clock) -> None:
    """Shorten a clock by the time that recounting the result will take.

    Like making the starts, which took the time so far, it reads all rows several
    times, about twice as often.
    """
    if clock.limit is not None:
        clock.limit = max(0.7 * clock.limit, clock.limit - 2 * clock.elapsed)


def _ranked(
    problem: Problem,
    data: SearchData,
    objective: Svm1Objective | None,
    trees: Sequence[HeapTree],
) -> tuple[list[HeapTree], list[float]]:
    """Tidy trees inside the box with their values, best first, no tree twice."""
    from miptree.search.simplify import simplify

    penalties = data.penalties(objective)
    ranked: list[tuple[float, HeapTree]] = []
    for tree in trees:
        boxed = problem.into_box(tree)
        tidy = simplify(data, boxed, penalties)
        same = _equal(tidy, boxed)
        scored = [
            (tree_value(problem, objective, t), t)
            for t in ((tidy,) if same else (tidy, boxed))
        ]
        # Rounding may route a point otherwise: the simpler tree must not be worse.
        value, best = min(scored, key=lambda pair: pair[0])
        if not any(_equal(best, other) for _, other in ranked):
            ranked.append((value, best))
    ranked.sort(key=lambda pair: pair[0])
    return [tree for _, tree in ranked], [value for value, _ in ranked]


def _equal(one: HeapTree, two: HeapTree) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
