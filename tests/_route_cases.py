"""Small problems for proofs over routes, and trees that may refute a proof."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from _data import random_heap, random_problem, through_rows
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.mip.node_lp import polish
from miptree.objective import Svm1Objective
from miptree.objective.leaf_labels import with_cheapest_labels
from miptree.proof.routes import RoutesProof, prove_objective
from miptree.search import search
from miptree.tree import HeapTree

PRICES = (1.0, 1.0, 1.0, 1.5, 4.0)
"""slack_penalty * margin: at 1 a missing margin costs as much as an error."""
MARGINS = (0.01, 0.05, 0.05, 0.2, 0.6)
NORMS = (0.1, 1.0, 2.0, 8.0)
KINDS = ("grid", "gauss", "distinct", "constant")
_N_POLISHED = 20
WEIGHTS = ("one", "one", "random", "heavy")


class RouteCase(NamedTuple):
    """A problem with an objective and a depth; ``seed`` makes it again."""

    seed: int
    problem: Problem
    objective: Svm1Objective
    depth: int

    def value(self, heap: HeapTree) -> float:
        """The recounted objective of a tree in scaled units, with the best labels."""
        tree = with_cheapest_labels(self.problem, self.problem.to_user(heap))
        return self.objective.evaluate(self.problem, tree).objective

    def __repr__(self) -> str:
        rows = self.problem.n_rows
        return f"seed {self.seed}: {rows} rows, {self.objective}, D{self.depth}"


def route_case(
    seed: int,
    rows: tuple[int, int],
    depths: tuple[int, ...] = (1, 2, 3),
    kinds: tuple[str, ...] = KINDS,
) -> RouteCase:
    """Random case of all options; every second one has a cost of its own per class."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(rows[0], rows[1] + 1)), int(rng.integers(1, 4))
    n_classes = int(rng.integers(2, min(4, n) + 1))
    kind, weights = str(rng.choice(kinds)), str(rng.choice(WEIGHTS))
    problem = random_problem(seed, n, d, n_classes, kind, weights)
    if rng.random() < 0.3:
        problem = _with_costs(problem, rng)
    price = float(rng.choice(PRICES)) * max(1.0, problem.largest_error_cost)
    margin = float(rng.choice(MARGINS))
    objective = Svm1Objective(price / margin, float(rng.choice(NORMS)), margin)
    depth = int(rng.choice(depths))
    if n_classes > 3:
        depth = min(depth, 2)  # 1540 structures, else
    return RouteCase(seed, problem, objective, depth)


def limited_case(
    seed: int, rows: tuple[int, int], depths: tuple[int, ...] = (1, 2, 2, 3)
) -> RouteCase:
    """Random case of two to four features, not all of which a split may use."""
    case = route_case(seed, rows, depths)
    rng = np.random.default_rng([seed, 1])
    n, d, problem = case.problem.n_rows, int(rng.integers(2, 5)), case.problem
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if rng.random() < 0.5:
        X = rng.normal(size=(n, d)).round(2)
    limited = Problem.from_data(
        X, problem.y, problem.n_classes, problem.weight, problem.class_cost,
        max_features=int(rng.integers(1, d)),
    )  # fmt: skip
    return case._replace(problem=limited)


def many_classes_case(seed: int, rows: tuple[int, int]) -> RouteCase:
    """Random case of depth 3 and five classes and more: proved in groups of classes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(rows[0], rows[1] + 1)), int(rng.integers(1, 4))
    n_classes = int(rng.integers(5, min(8, n) + 1))
    kind, weights = str(rng.choice(KINDS)), str(rng.choice(WEIGHTS))
    problem = random_problem(seed, n, d, n_classes, kind, weights)
    margin = float(rng.choice(MARGINS))
    price, norm = float(rng.choice(PRICES)), float(rng.choice(NORMS))
    return RouteCase(seed, problem, Svm1Objective(price / margin, norm, margin), 3)


def _with_costs(problem: Problem, rng: np.random.Generator) -> Problem:
    """The problem where every class of every row has a cost, some of them no zero."""
    shape = (problem.n_rows, problem.n_classes)
    cost = rng.integers(0, 4, shape).astype(float)
    if rng.random() < 0.5:
        cost[np.arange(shape[0]), problem.y] = 0.0
    return Problem.from_data(
        problem.X, problem.y, problem.n_classes, problem.weight, class_cost=cost
    )


class Refuter:
    """Keeps the least objective of all trees that anybody came upon."""

    def __init__(self, case: RouteCase) -> None:
        self.case = case
        self.best = np.inf
        self._n_offered = 0

    def offer(self, heap: HeapTree) -> float:
        """Take a tree, the first ones polished as well; return the least objective.

        Of splits with more features than they may use, the largest ones are kept.
        """
        heap = self.case.problem.limited(heap)
        self.best = min(self.best, self.case.value(heap))
        self._n_offered += 1
        if self._n_offered <= _N_POLISHED:
            polished = polish(self.case.problem, self.case.objective, heap)
            self.best = min(self.best, self.case.value(polished))
        return self.best

    def search(self, iterations: int, n_random: int = 5) -> float:
        """Search for trees, and draw some at random."""
        problem, objective, depth = self.case[1:]
        rng = np.random.default_rng(self.case.seed)
        clock = Clock(max_iter=iterations)
        found = search(problem, objective, depth, clock=clock, seed=self.case.seed)
        self.offer(found.tree)
        for make in (random_heap, through_rows) * n_random:
            self.offer(make(problem, depth, rng))
        return self.best


def prove(
    case: RouteCase,
    best_value: float,
    refuter: Refuter | None = None,
    max_nodes: int | None = 20_000,
    clock: Clock | None = None,
    **options: Any,
) -> RoutesProof:
    """Prove a bound for a case; trees that come up go to the refuter, if any."""
    offer = (lambda heap: best_value) if refuter is None else refuter.offer
    return prove_objective(
        case.problem, case.objective, case.depth, best_value,
        clock=clock or Clock(), offer=offer, max_nodes=max_nodes, **options,
    )  # fmt: skip
