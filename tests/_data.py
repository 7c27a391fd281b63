"""Small random problems and trees that several test files share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sklearn.tree  # noqa: F401  (imported in a strategy it would stir `random`)
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from miptree.data.problem import Problem
from miptree.mip.model import Model
from miptree.mip.node_lp import polish
from miptree.mip.solvers import (
    Limits,
    MissingSolverError,
    Result,
    get_solver,
)
from miptree.objective import Svm1Objective
from miptree.search.starts import cart_tree
from miptree.tree import HeapTree, ObliqueTree


def is_installed(solver: str) -> bool:
    """Whether the package of a solver is installed."""
    try:
        get_solver(solver)
    except MissingSolverError:
        return False
    return True


MIP_SOLVERS = [name for name in ("highs", "scip") if is_installed(name)]
ALL_SOLVERS = MIP_SOLVERS + (["portfolio"] if len(MIP_SOLVERS) == 2 else [])

PENALTIES = [(1000, 0.1, 0.01), (100, 10, 0.01), (10, 1, 0.1), (1000, 0, 0.001)]
"""(slack_penalty, l1_penalty, margin), each with slack_penalty * margin >= 1."""

objectives = st.sampled_from([Svm1Objective(*penalty) for penalty in PENALTIES])
depths = st.sampled_from([1, 2, 3])


def examples(number: int) -> settings:
    """Settings for a property test of so many examples, the same in every run."""
    return settings(
        max_examples=number,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


# ---------------------------------------------------------------------- problems


def random_problem(
    seed: int,
    n_rows: int,
    n_features: int,
    n_classes: int,
    kind: str = "grid",
    weights: str = "one",
) -> Problem:
    """Problem with ties, duplicates and conflicting labels (except "distinct").

    A "grid" has few integer values; "gauss" and "distinct" are continuous, "gauss"
    with some rows repeated; "constant" is a grid whose first feature never changes.
    """
    rng = np.random.default_rng(seed)
    if kind in ("grid", "constant"):
        X = rng.integers(-2, 3, (n_rows, n_features)).astype(float)
    else:
        X = rng.normal(scale=10.0, size=(n_rows, n_features))
    if kind == "gauss":
        X[rng.integers(n_rows, size=2)] = X[rng.integers(n_rows, size=2)]
    if kind == "constant":
        X[:, 0] = 7.0
    y = rng.permutation(np.arange(n_rows) % n_classes)
    weight = {
        "one": np.ones(n_rows),
        "random": rng.uniform(0.2, 3.0, n_rows),
        "heavy": rng.choice([1.0, 1.0, 25.0], n_rows),
    }[weights]
    return Problem.from_data(X, y, n_classes, weight)


def problems(
    rows: tuple[int, int] = (3, 7),
    features: int = 2,
    classes: int = 3,
    kinds: tuple[str, ...] = ("gauss", "grid", "distinct", "constant"),
) -> st.SearchStrategy[Problem]:
    """Random problems, with and without weights."""
    return st.builds(
        random_problem,
        seed=st.integers(0, 2**20),
        n_rows=st.integers(*rows),
        n_features=st.sampled_from(range(features, 0, -1)),
        n_classes=st.integers(2, classes),
        kind=st.sampled_from(kinds),
        weights=st.sampled_from(["random", "one", "heavy"]),
    )


def noise(n_rows: int) -> Problem:
    """Labels by lot: no proof of (1a) comes near."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, 4)), rng.integers(2, size=n_rows)
    return Problem.from_data(X, y, 2)


def blobs(n: int = 300, seed: int = 0) -> tuple[Problem, ObliqueTree]:
    """Three classes in the plane, and CART's tree."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) + np.array([[0, 0], [3, 0], [0, 3]])[y]
    problem = Problem.from_data(X, y, 3)
    return problem, problem.to_user(cart_tree(problem, 2))


def data_folder() -> Path:
    """Folder of the paper's data sets, which need not exist."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    return Path(os.environ.get("MIPTREE_DATA", beside)) / "paper"


# ------------------------------------------------------------------------- trees


@dataclass(frozen=True)
class Case:
    """A problem, an objective, a depth and a tree in scaled units in the box."""

    problem: Problem
    objective: Svm1Objective
    depth: int
    heap: HeapTree


def random_heap(problem: Problem, depth: int, rng: np.random.Generator) -> HeapTree:
    """Tree of random hyperplanes, each near some row, with random classes."""
    n_branch = 2**depth - 1
    coef = rng.normal(size=(n_branch, problem.n_features))
    coef *= rng.random(coef.shape) < 0.8
    near = problem.scaled[rng.integers(problem.n_rows, size=n_branch)]
    threshold = (coef * near).sum(axis=1) + rng.normal(scale=0.3, size=n_branch)
    label = rng.integers(problem.n_classes, size=n_branch + 1)
    return problem.into_box(HeapTree(coef, threshold, label))


def through_rows(problem: Problem, depth: int, rng: np.random.Generator) -> HeapTree:
    """Random tree whose every hyperplane passes through a row."""
    heap = random_heap(problem, depth, rng)
    rows = problem.scaled[rng.integers(problem.n_rows, size=len(heap.threshold))]
    threshold = np.cumsum(heap.coef * rows, axis=1)[:, -1]
    return problem.into_box(heap._replace(threshold=threshold))


def make_case(
    problem: Problem, objective: Svm1Objective, depth: int, kind: str, seed: int
) -> Case:
    """Case with a tree of the given kind."""
    rng = np.random.default_rng(seed)
    if kind == "cart":
        heap = cart_tree(problem, depth)
    elif kind == "through rows":
        heap = through_rows(problem, depth, rng)
    else:
        heap = random_heap(problem, depth, rng)
    if kind == "polished":
        heap = polish(problem, objective, heap)
    if kind == "pruned":
        heap = problem.to_scaled(problem.to_user(heap).prune(problem.X), depth)
    return Case(problem, objective, depth, heap)


TREE_KINDS = ("random", "cart", "polished", "pruned", "through rows")


def cases(
    problem: st.SearchStrategy[Problem] | None = None,
    kinds: tuple[str, ...] = TREE_KINDS,
) -> st.SearchStrategy[Case]:
    """Random problems with random trees on them."""
    return st.builds(
        make_case,
        problem=problems((3, 20), 3, 5) if problem is None else problem,
        objective=objectives,
        depth=depths,
        kind=st.sampled_from(kinds),
        seed=st.integers(0, 2**20),
    )


def is_clear(case: Case) -> bool:
    """Whether no row lies on a hyperplane."""
    heap = case.heap
    score = case.problem.scaled @ heap.coef.T - heap.threshold
    return bool(np.abs(score).min() > 1e-7)


# ------------------------------------------------------------------------ solving


def solve(model: Model, solver: str = "highs") -> Result:
    """Solve a model to proved optimality."""
    result = get_solver(solver).solve(model, limits=Limits(nodes=200_000))
    assert result.status in ("optimal", "gap_tol"), result.status
    assert result.objective - result.bound <= close(result.objective)
    return result


def close(value: float) -> float:
    """Difference that a solver's tolerances explain, relative above 1."""
    return 2e-6 * max(1.0, abs(value))


def wrong_at_margin(problem: Problem, heap: HeapTree, margin: float) -> np.ndarray:
    """(n,): whether each row is wrong, or too near to a hyperplane on its way."""
    leaf = heap.leaf_of(problem.scaled)
    score = np.abs(problem.scaled @ heap.coef.T - heap.threshold)
    node, near = leaf + len(heap.threshold), np.zeros(problem.n_rows, dtype=bool)
    for _ in range(heap.depth):
        node = (node - 1) // 2
        near |= score[np.arange(problem.n_rows), node] < margin - 1e-9
    return near | (heap.label[leaf] != problem.y)
