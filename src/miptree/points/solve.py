"""Find the best points tree and prove it: the entry to the engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from miptree.control.clock import Clock, End
from miptree.points.family import Directions
from miptree.points.layout import cost_type, rows_of, space_of
from miptree.points.part import Anchor, Part
from miptree.points.problem import PointsProblem
from miptree.tree import HeapTree

if TYPE_CHECKING:
    from miptree.points.job import Job

DEEPEST_TREE = 4
"""Depth of the deepest points tree: more steps than that nobody follows."""


@dataclass(frozen=True, eq=False)
class Found:
    """A points tree and what is proved.

    Attributes
    ----------
    heap : HeapTree
        Over the grid columns, with whole coefficients and thresholds.
    cost : int
        What it costs, in the units of its problem.
    bound : int
        No tree of the family costs less.
    n_evaluated : int
        Root splits whose subtrees were found exactly.
    anchors : tuple of Anchor
        Those root splits, from which the bound follows; kept where asked for.
    ended : str
        Why the search ended, "optimal" if the tree is proved.
    """

    heap: HeapTree
    cost: int
    bound: int
    n_evaluated: int
    anchors: tuple[Anchor, ...] = ()
    ended: End = "optimal"

    @property
    def is_proved(self) -> bool:
        """Whether no tree of the family costs less than this one."""
        return self.bound >= self.cost


def solve(
    problem: PointsProblem,
    depth: int,
    clock: Clock,
    told: Callable[[Found], object] = lambda found: None,
    *,
    n_jobs: int = 1,
    max_evaluations: int | None = None,
    keep_anchors: bool = False,
) -> Found:
    """Find the cheapest points tree of a problem, and a bound for all others.

    Parameters
    ----------
    problem : PointsProblem
    depth : int
        1 to 4. Trees of depth 1 to 3 are proved optimal where time allows; those of
        depth 4 are found by search, with the best subtrees of depth 2.
    clock : Clock
        Ends the search; the best tree so far is returned.
    told : callable
        Called with better trees and, now and then, with a better bound.
    n_jobs : int
        Threads.
    max_evaluations : int, optional
        Root splits to evaluate at most, a budget that does not depend on speed.
    keep_anchors : bool
        Whether to return what a checker needs to repeat the proof.

    Returns
    -------
    Found
    """
    if not 1 <= depth <= DEEPEST_TREE:
        raise ValueError(f"depth must be 1 to {DEEPEST_TREE}, got {depth}.")
    if depth == 1:
        problem = problem.of_roots()
    dtype = cost_type(problem)
    budget = max_evaluations, n_jobs, keep_anchors
    return _solve(problem, dtype, depth, clock, told, *budget)


def make_ready(problem: PointsProblem, depth: int, dtype: type | None = None) -> None:
    """Compile the kernels that a problem needs, by a search on a few of its rows.

    They count costs in the integers that hold those of the problem, or in those given.
    """
    chosen = np.append(np.arange(10), np.unique(problem.label, return_index=True)[1])
    few = np.unique(chosen[chosen < problem.n_rows])
    one = Directions(*(array[:1] for array in problem.directions))
    small = replace(
        problem,
        grid=np.ascontiguousarray(problem.grid[:, few]),
        label=problem.label[few],
        weight=problem.weight[few],
        count=problem.count[few],
        directions=one,
        penalty=problem.penalty[:1],
        roots=None,
    )
    dtype = cost_type(problem) if dtype is None else dtype
    _solve(small, dtype, depth, Clock(), lambda found: None, 1, 1, False)


def _solve(
    problem: PointsProblem,
    dtype: type,
    depth: int,
    clock: Clock,
    told: Callable[[Found], object],
    max_evaluations: int | None,
    n_jobs: int,
    keep_anchors: bool,
) -> Found:
    # They load numba, which takes a while: only who searches should wait.
    from miptree.points.deep import best_deep_tree
    from miptree.points.job import Job

    rows = rows_of(problem, dtype)
    grain = math.gcd(*problem.weight.tolist()) or 1
    with clock.flag() as flag:
        job = Job(
            space_of(problem, dtype),
            problem.n_classes,
            problem.min_leaf,
            grain,
            flag,
            clock,
            max_evaluations,
            n_jobs,
            keep_anchors,
            lambda part: told(_found(part, job, "max_iter")),
            problem.roots,
        )
        part = best_deep_tree(job, rows, depth)
    return _found(part, job, _why(part, clock))


def _found(part: Part, job: Job, ended: End) -> Found:
    return Found(part.heap, part.cost, part.bound, job.n_evaluated, part.anchors, ended)


def _why(part: Part, clock: Clock) -> End:
    if part.bound >= part.cost:
        return "optimal"
    if clock.is_over and clock.ended is not None:
        return clock.ended
    return "max_iter"
