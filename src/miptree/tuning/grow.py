"""The training of candidates on a part of the rows, similar ones together."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.mip.node_lp import polish
from miptree.objective import Svm1Objective
from miptree.objective.leaf_labels import relabel, tree_value
from miptree.objective.penalties import suited_objective
from miptree.search import improve
from miptree.search.greedy_planes import Greedy
from miptree.search.starts import (
    cart_tree,
    constant_tree,
    greedy_svm_tree,
    start_trees,
    targets,
)
from miptree.tree import HeapTree
from miptree.tuning.candidates import (
    CartTree,
    ConstantTree,
    GreedySvmTree,
    LogisticTree,
    ObliqueCandidate,
    SoftTree,
    Svm1Tree,
)
from miptree.tuning.soft_batch import SoftBatch, joined, train_soft
from miptree.tuning.training_part import TrainingPart
from miptree.tuning.votes import out_of_bag_votes
from miptree.utils.arrays import FloatArray, IntArray

_L1_OF_STARTS = 3e-3
"""Penalty of the soft trees that searches begin from."""


@dataclass(frozen=True)
class TrainingEffort:
    """How much work goes into each candidate.

    Attributes
    ----------
    restarts : int
        Soft trees.
    bag : int
        Trees that vote about labels.
    polished : int
        Soft trees that the node LPs start from.
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


@dataclass
class Grower:
    """Trains candidates on a part.

    The trees of a candidate do not depend on which others take part: each candidate
    has a seed of its own.

    Parameters
    ----------
    share : float
        Part of all rows that these are.
    clock : Clock
        What is not done when it is over is left out.
    weight : float, optional
        Weight of all rows, by default that of these over their share.
    """

    part: TrainingPart
    depth: int
    effort: TrainingEffort
    seed: int
    share: float = 1.0
    clock: Clock = field(default_factory=Clock)
    weight: float | None = None
    _anchors: dict[float, list[HeapTree]] = field(default_factory=dict)

    def grow(self, candidates: Sequence[ObliqueCandidate]) -> list[list[HeapTree]]:
        """Train each candidate; return its trees, best first, or none."""
        soft = [c for c in candidates if isinstance(c, SoftTree)]
        starts = [_start_of(c) for c in candidates if isinstance(c, Svm1Tree)]
        found = self._soft_trees(list(dict.fromkeys([*soft, *starts])))
        grown: list[list[HeapTree]] = []
        for candidate in candidates:
            if isinstance(candidate, SoftTree):
                grown.append(found[candidate])
            elif isinstance(candidate, Svm1Tree):
                grown.append(self._lowered(candidate, found[_start_of(candidate)]))
            else:
                grown.append(self._greedy(candidate))
        return grown

    def on_side(self, rows: IntArray) -> Grower:
        """Return a grower of the trees on a side of a root, to which some rows come.

        A split there costs what it costs anywhere in a tree of all rows.
        """
        part = replace(self.part, problem=self.part.problem.subset(rows))
        weight, given = self._all_weight, (self.effort, self.seed, self.share)
        return Grower(part, self.depth - 1, *given, self.clock, weight)

    @property
    def _all_weight(self) -> float:
        if self.weight is not None:
            return self.weight
        return float(self.part.problem.weight.sum()) / self.share

    def _greedy(
        self, candidate: CartTree | GreedySvmTree | LogisticTree | ConstantTree
    ) -> list[HeapTree]:
        """Grow a tree from the root, in a moment."""
        problem, depth = self.part.problem, self.depth
        if isinstance(candidate, ConstantTree):
            return [constant_tree(problem, depth)]
        if isinstance(candidate, CartTree):
            return [cart_tree(problem, depth)]
        if not problem.n_open:
            return []
        if isinstance(candidate, GreedySvmTree):
            return [greedy_svm_tree(problem, depth, candidate.C)]
        return [self._logistic(candidate)]

    def _logistic(self, candidate: LogisticTree) -> HeapTree:
        """Grow a tree of logistic regressions on the standardised features."""
        from sklearn.linear_model import LogisticRegression

        part, problem = self.part, self.part.problem
        model = LogisticRegression(C=candidate.C, max_iter=300)
        X = part.points.astype(np.float64)
        greedy = Greedy(
            X, *targets(problem), model, problem.max_features, largest_fit=len(X)
        )
        n_branch = 2**self.depth - 1
        planes = np.zeros((n_branch, problem.n_open + 1))
        planes[:, -1] = -1.0
        levels = min(candidate.n_levels or self.depth, self.depth)
        for b, (coef, threshold) in greedy.planes(levels).items():
            planes[b, :-1], planes[b, -1] = coef, -threshold
        label = np.zeros(n_branch + 1, dtype=np.intp)
        return relabel(problem, problem.into_box(part.heap(planes, label)))

    # --------------------------------------------------------------- soft trees

    def _problem(self, smoothing: float) -> Problem:
        """Return the problem with labels smoothed by the votes about them."""
        return self.part.smoothed(self.votes if smoothing > 0 else None, smoothing)

    @cached_property
    def votes(self) -> FloatArray | None:
        """(n, Y): class probabilities of each row by trees that did not see it."""
        problem = self.part.problem
        if problem.n_open == 0:
            return None
        votes = out_of_bag_votes(
            self.part.points,
            problem.y,
            problem.weight,
            problem.n_classes,
            self.depth,
            self.effort.bag,
            self.seed,
            self.clock,
        )
        return votes.astype(np.float64)

    def _soft_trees(
        self, candidates: Sequence[SoftTree]
    ) -> dict[SoftTree, list[HeapTree]]:
        """Train the soft trees of all candidates as one batch."""
        part, n_trees = self.part, self.effort.restarts
        problem = part.problem
        if not candidates or problem.n_open == 0:
            return {candidate: [] for candidate in candidates}
        weight = np.tile(problem.weight, (n_trees, 1))
        batch = joined(
            [
                SoftBatch.begin(
                    part.points,
                    problem.y,
                    part.rewards(self._problem(candidate.smoothing)),
                    weight,
                    (candidate.l1, candidate.l2),
                    self.depth,
                    np.random.default_rng([self.seed, _number_of(candidate)]),
                )
                for candidate in candidates
            ]
        )
        limit = problem.max_features if problem.is_limited else None
        found = train_soft(part.points, batch, self.seed, limit, self.clock)
        trees = {}
        for place, candidate in enumerate(candidates):
            own = found.best_first(slice(place * n_trees, (place + 1) * n_trees))
            trees[candidate] = [
                part.heap(found.planes[r], found.theta[r].argmax(axis=1)) for r in own
            ]
        return trees

    # -------------------------------------------------------------------- (1a)

    def _lowered(self, candidate: Svm1Tree, soft: list[HeapTree]) -> list[HeapTree]:
        """Find trees of low (1a), best first, on a path that begins at soft trees.

        Node LPs start from the routing of soft trees, with the penalties of
        ``Svm1Tree()``, and go on with those of the candidate; a search follows.
        """
        problem = self._problem(candidate.smoothing)
        base = Svm1Tree(candidate.smoothing)
        if candidate.smoothing not in self._anchors:
            starts = soft or start_trees(problem, self.depth)
            labelled = [relabel(problem, problem.into_box(tree)) for tree in starts]
            self._anchors[candidate.smoothing] = self._polished(
                problem, self._objective(problem, base), labelled
            )
        objective = self._objective(problem, candidate)
        trees = self._anchors[candidate.smoothing]
        if candidate != base:
            trees = self._polished(problem, objective, trees)
        if self.effort.max_iter and not self.clock.is_over:
            found, _ = improve(
                problem,
                objective,
                trees[0],
                self.seed,
                clock=self.clock.counting(self.effort.max_iter),
            )
            trees = _ranked(
                problem, objective, [*trees, self._polish(problem, objective, found)]
            )
        return trees

    def _objective(self, problem: Problem, candidate: Svm1Tree) -> Svm1Objective:
        slack, margin = candidate.slack_penalty, candidate.margin
        if not isinstance(slack, str) and not isinstance(margin, str):
            slack = max(slack, problem.largest_error_cost / margin)
        # On a part of the rows the margin is that of all of them.
        l1_penalty = self.share * candidate.l1_penalty
        return suited_objective(slack, l1_penalty, margin, problem, self._all_weight)

    def _polished(
        self, problem: Problem, objective: Svm1Objective, trees: Sequence[HeapTree]
    ) -> list[HeapTree]:
        best = _ranked(problem, objective, trees)[: self.effort.polished]
        good = [self._polish(problem, objective, tree) for tree in best]
        return _ranked(problem, objective, good)

    def _polish(
        self, problem: Problem, objective: Svm1Objective, tree: HeapTree
    ) -> HeapTree:
        if self.clock.is_over:
            return tree
        return polish(problem, objective, tree, self.clock, self.effort.rounds)


def _start_of(candidate: Svm1Tree) -> SoftTree:
    """Return the candidate whose soft trees a search begins from."""
    return SoftTree(candidate.smoothing, l1=_L1_OF_STARTS)


def _number_of(candidate: SoftTree) -> int:
    """Return a seed for a candidate, the same in every process."""
    return zlib.crc32(repr(candidate).encode())


def _ranked(
    problem: Problem, objective: Svm1Objective, trees: Sequence[HeapTree]
) -> list[HeapTree]:
    return sorted(trees, key=lambda tree: tree_value(problem, objective, tree))
