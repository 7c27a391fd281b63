"""Clusters of rows within which a selection is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from joblib import delayed

from miptree.control.threads import on_threads
from miptree.data.problem import Problem
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

Answer = TypeVar("Answer")

_LARGE = 5000
"""Rows above which a cluster's points, not the clusters, are shared out to the jobs."""
_PRODUCTS_PER_SECOND = 1e9
"""Speed of the hull kernel, whose worst case is a product for each pair of rows."""
_SMALLEST_PART = 50


class Cluster(NamedTuple):
    """Rows of one class in one leaf of a tree."""

    rows: IntArray
    leaf: int


def leaf_clusters(
    problem: Problem, tree: ObliqueTree, correct_only: bool = False
) -> list[Cluster]:
    """Return the rows of each class in each leaf of a tree in the user's units.

    With ``correct_only`` it leaves out the rows that the tree gets wrong, as in the
    iterative algorithm.
    """
    leaf = tree.apply(problem.X)
    key = leaf * problem.n_classes + problem.y
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    clusters = [
        Cluster(rows, int(leaf[rows[0]])) for rows in np.split(order, starts[1:])
    ]
    if correct_only:
        return [c for c in clusters if problem.y[c.rows[0]] == tree.label[c.leaf]]
    return clusters


def deal_out(clusters: Sequence[Cluster], largest: int, seed: int) -> list[Cluster]:
    """Split clusters of more rows than ``largest`` into parts at random.

    An extreme point of the whole is extreme in its part. So a selection of extreme
    points, made part by part, loses none.
    """
    rng = np.random.default_rng(seed)
    dealt = []
    for cluster in clusters:
        n_parts = -(-len(cluster.rows) // largest)
        order = rng.permutation(cluster.rows) if n_parts > 1 else cluster.rows
        dealt += [Cluster(p, cluster.leaf) for p in np.array_split(order, n_parts)]
    return dealt


def deal_out_in_time(
    problem: Problem, clusters: Sequence[Cluster], seconds: float, seed: int
) -> list[Cluster]:
    """Split clusters into parts whose hulls take at most about so many seconds."""
    size = problem.n_rows * problem.n_features
    largest = int(seconds * _PRODUCTS_PER_SECOND / size)
    return deal_out(clusters, max(largest, _SMALLEST_PART), seed)


def for_each_cluster(
    answer: Callable[[Cluster, int], Answer], clusters: Sequence[Cluster], n_jobs: int
) -> list[Answer]:
    """Return the answers for all clusters, in their order.

    Jobs take clusters, or points of one: ``answer`` is called with a cluster and the
    number of jobs that it may use itself.
    """
    large = {i for i, c in enumerate(clusters) if len(c.rows) > _LARGE}
    small = [i for i in range(len(clusters)) if i not in large]
    found = dict(
        zip(
            small,
            on_threads(n_jobs)(delayed(answer)(clusters[i], 1) for i in small),
            strict=True,
        )
    )
    found |= {i: answer(clusters[i], n_jobs) for i in large}
    return [found[i] for i in range(len(clusters))]


def distance_to_splits(
    problem: Problem, tree: ObliqueTree, cluster: Cluster
) -> FloatArray:
    """Return the distance of a cluster's rows to the nearest split above their leaf.

    The distances are in scaled units, and zero for a tree without splits.
    """
    above = np.flatnonzero(tree.ancestors[cluster.leaf] & ~tree.is_leaf)
    if not len(above):
        return np.zeros(len(cluster.rows))
    coef = tree.coef[above] * problem.scale
    threshold = tree.threshold[above] - tree.coef[above] @ problem.offset
    norm = np.maximum(np.linalg.norm(coef, axis=1), 1e-300)
    score = problem.scaled[cluster.rows] @ coef.T - threshold
    nearest: FloatArray = (np.abs(score) / norm).min(axis=1)
    return nearest
