"""What cross-validation chooses from: ways to train a tree on a part of the rows.

A candidate is a frozen record whose fields are its parameters. All candidates are
handed to :func:`grow` at once, as some are much faster together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from miptree._typing import FloatArray
from miptree.objective import Svm1Objective
from miptree.polish import polish, relabel, tree_value
from miptree.problem import Problem
from miptree.search import SearchBudget, compile_kernels, improve
from miptree.search.starts import cart_tree, greedy_svm_tree, start_trees
from miptree.tree import HeapTree
from miptree.tuning.part import Part
from miptree.tuning.soft import SoftBatch, out_of_bag_votes, train_soft


@dataclass(frozen=True)
class SoftTree:
    """A soft tree of least penalised log-loss, made hard.

    Parameters
    ----------
    smoothing : float
        How far labels give way to the votes of trees that did not see the row.
    l1, l2 : float
        Penalties on the coefficients of standardised features, per row.
    """

    smoothing: float = 0.0
    l1: float = 0.0
    l2: float = 0.0


@dataclass(frozen=True)
class Svm1Tree:
    """A tree of low (1a), searched for from soft trees.

    Parameters
    ----------
    smoothing : float
        As for :class:`SoftTree`; the labels enter as costs.
    slack_penalty, l1_penalty, margin : float
        As for ``OptimalTreeClassifier``. On a part of the rows l1_penalty is that
        part of it.
    """

    smoothing: float = 0.0
    slack_penalty: float = 100.0
    l1_penalty: float = 10.0
    margin: float = 0.01


@dataclass(frozen=True)
class CartTree:
    """scikit-learn's greedy tree of splits on single features."""


@dataclass(frozen=True)
class GreedySvmTree:
    """The greedy tree of 1-norm SVMs.

    Parameters
    ----------
    C : float
        Price of the hinge loss beside the 1-norm.
    """

    C: float = 10.0


Candidate: TypeAlias = SoftTree | Svm1Tree | CartTree | GreedySvmTree

DEFAULT_CANDIDATES: tuple[Candidate, ...] = (
    SoftTree(0.4, l1=3e-3),
    SoftTree(0.0, l1=2e-3),
    SoftTree(0.0, l2=1e-3),
    SoftTree(0.7, l2=3e-3),
    SoftTree(0.8, l1=3e-3),
    SoftTree(0.8, l1=1e-2),
    SoftTree(0.0, l1=5e-4),
    SoftTree(0.0, l1=1e-2),
    Svm1Tree(0.0),
    Svm1Tree(0.4),
    Svm1Tree(0.4, l1_penalty=30.0),
    Svm1Tree(0.8, l1_penalty=30.0),
    Svm1Tree(0.4, slack_penalty=20.0, margin=0.05),
    GreedySvmTree(1.0),
    GreedySvmTree(10.0),
    CartTree(),
)
"""From trusting the labels to smoothing them, sparse and dense."""

_L1_OF_STARTS = 3e-3
"""Penalty of the soft trees that a search begins from."""


def describe(candidate: Candidate) -> dict[str, Any]:
    """The candidate as parameters, for tables."""
    return {"kind": type(candidate).__name__, **asdict(candidate)}


@dataclass(frozen=True)
class Effort:
    """How much work goes into each part.

    Attributes
    ----------
    restarts : int
        Soft trees of each candidate.
    bag : int
        Trees that vote about labels.
    polished : int
        Soft trees of each labelling from which (1a) is lowered.
    rounds : int
        Times that the LPs of all their nodes are solved.
    max_iter : int
        Iterations of the search from the best of them.
    """

    restarts: int
    bag: int
    polished: int
    rounds: int
    max_iter: int


def grow(
    part: Part,
    candidates: Sequence[Candidate],
    depth: int,
    effort: Effort,
    seed: int,
    share: float = 1.0,
) -> list[tuple[Problem, list[HeapTree]]]:
    """Train every candidate on a part.

    Parameters
    ----------
    part : Part
    candidates : sequence
    depth : int
    effort : Effort
    seed : int
    share : float
        Part of all rows that these are.

    Returns
    -------
    list of (Problem, list of HeapTree)
        For each candidate the problem with its labels, and its trees, best first.
        There is none where a candidate cannot be trained.
    """
    rng = np.random.default_rng(seed)
    soft = _soft_candidates(candidates)
    votes = None
    if any(_smoothing(candidate) > 0 for candidate in candidates):
        votes = _votes(part, depth, effort.bag, rng)
    found = _soft_trees(part, soft, votes, depth, effort.restarts, rng)
    starts = [tree for trees in found.values() for tree in trees[: effort.polished]]
    grown = []
    for candidate in candidates:
        problem = part.smoothed(votes, _smoothing(candidate))
        trees: list[HeapTree] = []
        if isinstance(candidate, SoftTree):
            trees = found[candidate]
        elif isinstance(candidate, CartTree):
            trees = [cart_tree(problem, depth)]
        elif isinstance(candidate, Svm1Tree):
            trees = _search(problem, candidate, depth, effort, seed, share, starts)
            starts.append(trees[0])  # the next one on the path may begin here
        elif problem.n_open:
            trees = [greedy_svm_tree(problem, depth, candidate.C)]
        grown.append((problem, trees))
    return grown


def _smoothing(candidate: Candidate) -> float:
    return getattr(candidate, "smoothing", 0.0)


def _soft_candidates(candidates: Sequence[Candidate]) -> list[SoftTree]:
    """The soft trees among the candidates, and those that searches begin from."""
    starts = [
        SoftTree(candidate.smoothing, l1=_L1_OF_STARTS)
        for candidate in candidates
        if isinstance(candidate, Svm1Tree)
    ]
    given = [candidate for candidate in candidates if isinstance(candidate, SoftTree)]
    return list(dict.fromkeys([*given, *starts]))


def _votes(
    part: Part, depth: int, n_trees: int, rng: np.random.Generator
) -> FloatArray | None:
    problem = part.problem
    if problem.n_open == 0:
        return None
    votes = out_of_bag_votes(
        part.points, problem.y, problem.weight, problem.n_classes, depth, n_trees, rng
    )
    return votes.astype(np.float64)


def _soft_trees(
    part: Part,
    candidates: Sequence[SoftTree],
    votes: FloatArray | None,
    depth: int,
    restarts: int,
    rng: np.random.Generator,
) -> dict[SoftTree, list[HeapTree]]:
    """Train the soft trees of all candidates together."""
    problem = part.problem
    if not candidates or problem.n_open == 0:
        return {candidate: [] for candidate in candidates}
    reward = np.stack(
        [part.rewards(part.smoothed(votes, c.smoothing)) for c in candidates]
    )
    weight = np.broadcast_to(problem.weight, (len(candidates), problem.n_rows))
    batch = SoftBatch(
        part.points,
        problem.y,
        np.repeat(reward, restarts, axis=0),
        np.repeat(weight, restarts, axis=0),
        np.repeat([c.l1 for c in candidates], restarts),
        np.repeat([c.l2 for c in candidates], restarts),
    )
    limit = problem.max_features if problem.is_limited else None
    found = train_soft(batch, depth, rng, limit)
    trees = {}
    for place, candidate in enumerate(candidates):
        own = slice(place * restarts, (place + 1) * restarts)
        trees[candidate] = [
            part.heap(found.planes[r], found.theta[r].argmax(axis=1))
            for r in found.best_first(own)
        ]
    return trees


def _search(
    problem: Problem,
    candidate: Svm1Tree,
    depth: int,
    effort: Effort,
    seed: int,
    share: float,
    starts: Sequence[HeapTree],
) -> list[HeapTree]:
    """Trees of low (1a), best first.

    The node LPs make the best of the routing of each start; the best one is searched
    from.
    """
    dearest = float((problem.dearest / problem.weight).max())
    objective = Svm1Objective(
        max(candidate.slack_penalty, dearest / candidate.margin),
        share * candidate.l1_penalty,
        candidate.margin,
    )
    labelled = [relabel(problem, problem.into_box(tree)) for tree in starts]
    labelled = _ranked(problem, objective, labelled or start_trees(problem, depth))
    good = [
        polish(problem, objective, tree, max_rounds=effort.rounds)
        for tree in labelled[: effort.polished]
    ]
    if effort.max_iter:
        best = _ranked(problem, objective, good)[0]
        compile_kernels()
        budget = SearchBudget(max_iter=effort.max_iter)
        found, _ = improve(problem, objective, depth, best, seed, budget=budget)
        good.append(polish(problem, objective, found, max_rounds=effort.rounds))
    return _ranked(problem, objective, good)


def _ranked(
    problem: Problem, objective: Svm1Objective, trees: Sequence[HeapTree]
) -> list[HeapTree]:
    return sorted(trees, key=lambda tree: tree_value(problem, objective, tree))
