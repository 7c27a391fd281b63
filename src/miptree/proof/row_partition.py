"""Bounds that add up: errors proved on disjoint parts of the rows.

The rows are halved again and again at random, class by class, so that every part is as
noisy as the whole. From the smallest parts up, each part is searched for the fewest
errors. The sum of the bounds of its two halves is its first bound, and the bounds of
the halves prune its search.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from joblib import delayed, effective_n_jobs

from miptree.control.clock import Clock
from miptree.control.threads import on_threads
from miptree.data.problem import Problem
from miptree.objective.bounds import EXHAUSTIVE, Bound, Subset
from miptree.proof.fewest_errors import ErrorBound, fewest_errors
from miptree.proof.space import Space
from miptree.tree import HeapTree
from miptree.utils.arrays import IntArray

ROOTS = f"{EXHAUSTIVE} of all splits of the root"
"""What a proof is said to be that tries them."""

T = TypeVar("T")


class Part(NamedTuple):
    """Rows, the errors that every tree makes among them, and the parts that they are.

    ``halves`` are their numbers in a list of parts in which they come before.
    """

    rows: IntArray
    errors: float
    halves: tuple[int, ...]


class Proof(NamedTuple):
    """Errors proved for every tree.

    Attributes
    ----------
    bound : Bound
        Lower bound on the errors of every tree at the margin.
    subsets : list of Subset
        Disjoint subsets of the rows whose errors add up to the bound.
    tree : HeapTree or None
        Tree that makes about so many errors, if the search of all rows ended with one.
    parts : tuple of Part
        All parts of a row partition, from the smallest to all rows; empty for other
        proofs.
    """

    bound: Bound
    subsets: list[Subset]
    tree: HeapTree | None
    parts: tuple[Part, ...] = ()


def row_partition_bound(
    problem: Problem,
    space: Space,
    depth: int,
    enough: float,
    *,
    clock: Clock,
    max_nodes: int | None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Proof:
    """Prove that every tree makes so many errors, part by part of the rows.

    Parameters
    ----------
    problem : Problem
        All rows.
    space : Space
        Space of the problem at the margin.
    depth, enough
        As in :func:`miptree.proof.prove_errors`.
    clock : Clock
        Its remaining time is shared among the levels of the partition.
    max_nodes
        As in :func:`miptree.proof.prove_errors`.
    seed : int, default=0
        Seed of the partition.
    n_jobs
        As in :func:`miptree.proof.prove_errors`.
    """
    smallest = (2**depth - 1) * (space.X.shape[1] + 1)
    levels = partition_rows(problem, smallest, np.random.default_rng(seed))

    def search(
        rows: IntArray, halves: list[Subset], clock: Clock, n_left: int
    ) -> ErrorBound:
        # What the earlier parts left of their time goes to the later ones.
        rounds_left = -(-n_left // effective_n_jobs(n_jobs))
        clock = clock.share(1.0 / rounds_left)
        return fewest_errors(
            problem, space, depth, rows, halves, enough,
            clock=clock, max_nodes=max_nodes,
        )  # fmt: skip

    known: list[Subset] = []
    proved: list[list[Subset]] = []  # of each part, what its bound is the sum of
    tree = None
    all_parts: list[Part] = []
    for height, parts in enumerate(levels):
        level_clock = clock.share(1.0 / (len(levels) - height))
        found = on_threads(n_jobs)(
            delayed(search)(rows, _halves(known, k), level_clock, len(parts) - k)
            for k, rows in enumerate(parts)
        )
        made = [Subset(rows, one.bound) for rows, one in zip(parts, found, strict=True)]
        proved = [
            [part]
            if part.errors > sum(half.errors for half in _halves(known, k))
            else [subset for half in _halves(proved, k) for subset in half]
            for k, part in enumerate(made)
        ]
        # The halves of part k are those of numbers 2 k and 2 k + 1 on the level before.
        below = len(all_parts) - len(known)
        all_parts += [
            Part(*part, tuple(range(below, len(all_parts))[2 * k : 2 * k + 2]))
            for k, part in enumerate(made)
        ]
        known, tree = made, found[0].tree
    bound = Bound(known[0].errors, words_of(len(proved[0])))
    return Proof(bound, proved[0], tree, tuple(all_parts))


def words_of(n_subsets: int) -> str:
    """Say that a search of so many parts proved something."""
    if n_subsets <= 1:
        return EXHAUSTIVE
    many = f"{n_subsets} disjoint subsets of the rows"
    return f"{EXHAUSTIVE} of {many}, whose errors add up"


def partition_rows(
    problem: Problem, smallest: int, rng: np.random.Generator
) -> list[list[IntArray]]:
    """Split the rows into parts, level by level; the smallest parts come first.

    The halves of part k of a level are the parts 2k and 2k + 1 of the level before.
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
    """Return the entries of the two halves of a part, from the level below."""
    return below[2 * number : 2 * number + 2]
