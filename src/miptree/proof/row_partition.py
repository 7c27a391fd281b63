"""Bounds that add up: errors proved on disjoint subsets are errors on all rows.

The rows are halved again and again at random, class by class, so that every part is as
noisy as the whole. From the smallest parts up each is searched for the fewest errors;
what its two halves have is where it starts, and prunes its search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from joblib import delayed, effective_n_jobs

from miptree.control.clock import Clock
from miptree.control.threads import on_threads
from miptree.data.problem import Problem
from miptree.objective.bounds import Bound, Subset
from miptree.proof.fewest_errors import ErrorBound, fewest_errors
from miptree.proof.space import Space
from miptree.tree import HeapTree
from miptree.utils.arrays import IntArray

T = TypeVar("T")


class Proof(NamedTuple):
    """What was proved.

    Attributes
    ----------
    bound : Bound
        Errors of every tree at the margin.
    subsets : list of Subset
        Disjoint subsets of the rows whose errors add up to the bound.
    tree : HeapTree or None
        Tree that makes about so many errors, if the search of all rows ended with one.
    """

    bound: Bound
    subsets: list[Subset]
    tree: HeapTree | None


def row_partition_bound(
    problem: Problem,
    space: Space,
    depth: int,
    enough: float,
    *,
    clock: Clock,
    max_nodes: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Proof:
    """Prove that every tree makes so many errors, subset by subset.

    Parameters
    ----------
    problem, depth, enough, max_nodes, n_jobs
        As in :func:`miptree.proof.prove_errors`.
    space : Space
        That of the margin.
    clock : Clock
        Its remaining time is dealt out to the levels of the halving.
    seed : int
        Of the halving.
    """
    smallest = (2**depth - 1) * (space.X.shape[1] + 1)
    levels = partition_rows(problem, smallest, np.random.default_rng(seed))
    known: list[Subset] = []
    proved: list[list[Subset]] = []  # of each part, what its bound is the sum of
    tree = None
    for height, parts in enumerate(levels):
        search = _LevelSearch(
            problem,
            space,
            depth,
            known,
            enough,
            clock.share(1.0 / (len(levels) - height)),
            len(parts),
            effective_n_jobs(n_jobs),
            max_nodes,
        )
        found = on_threads(n_jobs)(
            delayed(search)(number, rows) for number, rows in enumerate(parts)
        )
        made = [Subset(rows, one.bound) for rows, one in zip(parts, found, strict=True)]
        proved = [
            [part] if part.errors > _sum(_halves(known, k)) else _joined(proved, k)
            for k, part in enumerate(made)
        ]
        known, tree = made, found[0].tree
    text, n_subsets = "exhaustive search", len(proved[0])
    if n_subsets > 1:
        text += f" of {n_subsets} disjoint subsets of the rows, whose errors add up"
    return Proof(Bound(known[0].errors, text), proved[0], tree)


@dataclass(frozen=True)
class _LevelSearch:
    """Searches the parts of one level, some side by side."""

    problem: Problem
    space: Space
    depth: int
    below: list[Subset]
    enough: float
    clock: Clock
    n_parts: int
    n_jobs: int
    max_nodes: int | None

    def __call__(self, number: int, rows: IntArray) -> ErrorBound:
        # What the earlier parts left of their time goes to the later ones.
        rounds_left = -(-(self.n_parts - number) // self.n_jobs)
        return fewest_errors(
            self.problem,
            self.space,
            self.depth,
            rows,
            _halves(self.below, number),
            self.enough,
            clock=self.clock.share(1.0 / rounds_left),
            max_nodes=self.max_nodes,
        )


def partition_rows(
    problem: Problem, smallest: int, rng: np.random.Generator
) -> list[list[IntArray]]:
    """Parts of the rows, level by level from the smallest.

    The halves of part k of a level are the parts 2k and 2k + 1 of the one before.
    """
    levels = [[np.arange(problem.n_rows)]]
    while min(map(len, levels[-1])) >= 2 * smallest:
        halves = []
        for rows in levels[-1]:
            order = rows[np.lexsort((rng.random(len(rows)), problem.y[rows]))]
            halves += [np.sort(order[0::2]), np.sort(order[1::2])]
        levels.append(halves)
    return levels[::-1]


def _halves(below: list[T], number: int) -> list[T]:
    """What belongs to the two halves of a part, from the level below."""
    return below[2 * number : 2 * number + 2]


def _joined(below: list[list[Subset]], number: int) -> list[Subset]:
    return [subset for half in _halves(below, number) for subset in half]


def _sum(subsets: list[Subset]) -> float:
    return sum(subset.errors for subset in subsets)
