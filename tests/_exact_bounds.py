"""Bounds of MIPs on tiny random problems, held to the exact optimum.

By hand: ``python tests/_exact_bounds.py FIRST NUMBER`` tries that many seeds, tells of
every bound that is above an optimum, and counts what was tried. A run that was ended
goes on at the seed that it told last.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from _data import is_installed, random_heap
from _exact_optima import ExactOptima
from miptree.data.problem import Problem
from miptree.mip.formulations import FORMULATIONS, CountFormulation
from miptree.mip.formulations.formulation import Svm1Formulation
from miptree.mip.solvers import Limits, get_solver
from miptree.objective import Svm1Objective
from miptree.tree import HeapTree

SOLVERS = [name for name in ("highs", "scip", "gurobi", "cplex") if is_installed(name)]
RACE = ["portfolio"] if {"highs", "scip"} <= set(SOLVERS) else []
SHARES = {"highs": 8, "scip": 2, "gurobi": 1, "cplex": 2, "portfolio": 1}
"""How often each is drawn: HiGHS, the default, is in every install."""
FASTEST = "gurobi" if "gurobi" in SOLVERS else "highs"
MIPS = {"count": CountFormulation, **FORMULATIONS}
DECADES = (0, 0, 1, 2, 3, 4, 6, 8, 10, 12, 14)
TOPS = (-4, -2, 0, 0, 0, 3, 6, 9)
"""Over how many decades weights are spread, and where they end."""


class BoundCase(NamedTuple):
    """A tiny problem with an objective and a depth; ``seed`` makes it again."""

    seed: int
    problem: Problem
    objective: Svm1Objective
    depth: int

    @property
    def mips(self) -> list[str]:
        """MIPs that know such problems."""
        costs = self.problem.costs
        has_prices = self.problem.class_cost is not None or costs.is_partial.any()
        return [name for name in MIPS if name != "paper" or not has_prices]


class Claim(NamedTuple):
    """A bound beside the optimum that it is a bound on."""

    solver: str
    mip: str
    bound: float
    optimum: float
    largest: float

    @property
    def is_refuted(self) -> bool:
        """Whether the bound is above by more than rounding."""
        slip = 1e-9 * abs(self.optimum) + 1e-14 * self.largest
        return self.bound > self.optimum + slip

    @property
    def is_met(self) -> bool:
        """Whether the bound proves the optimum."""
        return self.bound >= self.optimum * (1 - 1e-6) - 1e-9 * self.largest


def bound_case(seed: int) -> BoundCase:
    """Random problem of all options."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    X = _points(rng, n)
    y = rng.permutation(np.arange(n) % n_classes)
    top = float(rng.choice(TOPS))
    weight = 10.0 ** (top - rng.uniform(0, rng.choice(DECADES), n))
    if rng.random() < 0.2:  # two levels only
        weight = rng.choice([weight.min(), weight.max()], n)
    options: dict[str, object] = {}
    if rng.random() < 0.25:
        options["class_cost"] = _costs(rng, n, n_classes)
    if rng.random() < 0.2:
        values = rng.integers(0, 3, n)
        X = np.column_stack([X, np.eye(3)[values]])
        options["value_feature"] = np.zeros(3, dtype=np.intp)
    elif X.shape[1] > 1 and rng.random() < 0.25:
        options["max_features"] = 1
    problem = Problem.from_data(X, y, n_classes, weight, **options)
    margin = float(rng.choice([0.001, 0.01, 0.1, 0.3, 0.6]))
    price = float(rng.choice([1.0, 1.0, 1.5, 4.0])) * max(
        1.0, problem.largest_error_cost
    )
    norm = float(rng.choice([0.0, 1e-4, 0.01, 0.1, 1.0, 8.0]))
    if rng.random() < 0.5:
        norm *= float(weight.max())
    depth = int(rng.choice([1, 1, 2, 2, 3] if n < 4 else [1, 2]))
    return BoundCase(seed, problem, Svm1Objective(price / margin, norm, margin), depth)


def _points(rng: np.random.Generator, n: int) -> np.ndarray:
    shape = (n, int(rng.integers(1, 3)))
    if rng.random() < 0.5:
        return rng.integers(-1, 2, shape).astype(float)
    return rng.normal(scale=10.0 ** rng.integers(-3, 4), size=shape)


def _costs(rng: np.random.Generator, n: int, n_classes: int) -> np.ndarray:
    shape = (n, n_classes)
    if rng.random() < 0.5:
        return rng.integers(0, 4, shape).astype(float)
    return 10.0 ** -rng.uniform(0, rng.choice(DECADES), shape)


def claims(case: BoundCase, pairs: int | None = None) -> Iterator[Claim]:
    """Give the bounds of all pairs of a solver and a MIP, or of some at random."""
    rng = np.random.default_rng(case.seed)
    problem, objective, depth = case.problem, case.objective, case.depth
    exact = ExactOptima(problem, objective)
    heap = random_heap(problem, depth, rng)
    all_pairs = [(solver, mip) for solver in SOLVERS + RACE for mip in case.mips]
    odds = np.array([SHARES[solver] for solver, _ in all_pairs], dtype=float)
    number = len(all_pairs) if pairs is None else pairs
    chosen = rng.choice(len(all_pairs), number, replace=False, p=odds / odds.sum())
    largest = float(problem.costs.spread.max() + problem.costs.base.max())
    for solver, mip in (all_pairs[k] for k in chosen):
        made = MIPS[mip](problem, objective, depth)
        start = _start(made, heap, rng)
        bound = get_solver(solver).solve(made.model, start, Limits(nodes=2000)).bound
        if mip == "count":
            bound, optimum = made.round_up(bound), exact.fewest_errors(depth)
        else:
            optimum = exact.optimum(depth)
        yield Claim(solver, mip, bound, optimum, largest)


def _start(
    made: Svm1Formulation, heap: HeapTree, rng: np.random.Generator
) -> np.ndarray | None:
    """Nothing, a random tree, or a good one, such as fits start from.

    A good one is optimal for other costs. HiGHS without its presolve has called such a
    start the best, where it was not.
    """
    kind = rng.choice(["none", "random", "good"], p=[0.25, 0.25, 0.5])
    if kind == "good":
        factor = np.exp(rng.normal(size=made.model.n_variables))
        other = replace(made.model, cost=made.model.cost * factor)
        return get_solver(FASTEST).solve(other, limits=Limits(nodes=200)).x
    problem = made.problem
    has_any = not len(problem.value_feature) and problem.max_features is None
    return made.encode(heap) if kind == "random" and has_any else None


def main(first: int, number: int, pairs: int = 1) -> None:
    """Try many seeds, and tell of what is refuted at once."""
    counts = {word: Counter[str]() for word in ("bounds", "none", "met", "refuted")}
    for seed in range(first, first + number):
        for claim in claims(bound_case(seed), pairs):
            name = f"{claim.solver} {claim.mip}"
            counts["bounds"][name] += 1
            counts["none"][name] += claim.bound == -np.inf
            counts["met"][name] += claim.is_met
            counts["refuted"][name] += claim.is_refuted
            if claim.is_refuted:
                _tell("refuted:", seed, claim)
        done = seed + 1 - first
        if done % 50 == 0 or done == number:
            totals = (f"{count.total()} {word}" for word, count in counts.items())
            _tell(seed + 1, "is next:", done, "problems", *totals)
    for name in sorted(counts["bounds"]):
        _tell(name, *(f"{count[name]} {word}" for word, count in counts.items()))


def _tell(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
