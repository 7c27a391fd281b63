"""The work on one partition, where it lies: pure functions of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from miptree.data.groups import RowGroups
from miptree.data.limits import NumbersSeen
from miptree.data.problem import Problem
from miptree.distributed._frame import Columns, Frame, Summary
from miptree.fit.fitted import row_counts
from miptree.objective import Score, Svm1Objective
from miptree.selection import Selector, leaf_clusters, select_rows
from miptree.selection.base import TimedSelector
from miptree.selection.clusters import deal_out
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

LARGEST_CLUSTER = 2000
"""Rows of a cluster within which a hull is sought; larger ones are dealt into parts."""


def summarise(table: Any, number: int, columns: Columns) -> Summary | str:
    """Return ranges and class weights, or a message about what is wrong."""
    wanted = [*columns.features, columns.target]
    wanted += [columns.weights] if columns.weights else []
    wanted += [*columns.sensitive, *columns.control]
    there = [str(name) for name in table.columns]
    lost = [name for name in wanted if name not in there]
    new = [name for name in there if name not in wanted]
    if lost or new:
        kind, name = ("lacks", lost[0]) if lost else ("has another", new[0])
        return (
            f"Partition {number} {kind} column {name!r}; all partitions must have the "
            "same columns. Leave columns out with drop=[...] (--drop)."
        )
    if table[columns.target].isna().any():
        return f"Partition {number} has missing labels in column {columns.target!r}."
    try:
        X, y, weight = _arrays(table, columns)
    except (TypeError, ValueError) as error:
        return (
            f"Partition {number} holds what is no number: {error}. Encode text columns "
            "as numbers, or leave them out with drop=[...] (--drop)."
        )
    bad = ~np.isfinite(X).all(axis=0)
    if bad.any():
        name = columns.features[int(bad.argmax())]
        return (
            f"Partition {number} has missing or infinite values in column {name!r}. "
            "Fill them in or leave the rows out."
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        return (
            f"Partition {number} has weights in column {columns.weights!r} that are "
            "negative or not finite."
        )
    kept = weight > 0
    X, y, weight = X[kept], y[kept], weight[kept]
    classes, codes = np.unique(y, return_inverse=True)
    totals = np.zeros(len(classes))
    np.add.at(totals, codes.ravel(), weight)
    counts = np.bincount(codes.ravel(), minlength=len(classes))
    infinite = np.full(X.shape[1], np.inf)
    return Summary(
        len(y),
        X.min(axis=0) if len(X) else infinite,
        X.max(axis=0) if len(X) else -infinite,
        classes,
        totals,
        counts,
        tuple(_seen(X[codes.ravel() == k]) for k in range(len(classes))),
        int((~kept).sum()),
        bool((weight != 1).any()),
    )


def _seen(X: FloatArray) -> tuple[NumbersSeen, ...]:
    """Look at the range and digits of each column."""
    return tuple(NumbersSeen.of(column) for column in X.T)


def sample(
    table: Any, number: int, frame: Frame, share: float, seed: int
) -> Problem | None:
    """Draw a random share of the rows of each class, at least one."""
    X, codes, weight = rows_of(table, frame)
    if not len(X):
        return None
    rng = np.random.default_rng([seed, number])
    rows = []
    for k in np.unique(codes):
        of_class = np.flatnonzero(codes == k)
        size = max(1, round(share * len(of_class)))
        rows.append(rng.permutation(of_class)[:size])
    drawn = np.sort(np.concatenate(rows))
    groups = groups_of(table, frame).take(drawn) if frame.columns.has_rules else None
    return frame.problem(frame.numbers(X[drawn]), codes[drawn], weight[drawn], groups)


def select(
    table: Any, number: int, frame: Frame, selector: Selector, tree: ObliqueTree
) -> Problem | None:
    """Return the rows that a selector chooses."""
    problem = problem_of(table, frame)
    if problem is None:
        return None
    if isinstance(selector, TimedSelector):
        selector = selector.begun_now()  # each partition has its own time
    clusters = deal_out(leaf_clusters(problem, tree), LARGEST_CLUSTER, number)
    chosen = select_rows(selector, problem, tree, clusters)
    return problem.subset(chosen.rows, chosen.weight)


def wrong_rows(
    table: Any, number: int, frame: Frame, tree: ObliqueTree, share: float, seed: int
) -> Problem | None:
    """Draw a random share of the rows that a tree gets wrong."""
    problem = problem_of(table, frame)
    if problem is None:
        return None
    wrong = np.flatnonzero(tree.predict(problem.X) != problem.y)
    copies = np.repeat(wrong, problem.count[wrong])
    rng = np.random.default_rng([seed, number])
    kept, times = np.unique(copies[rng.random(len(copies)) < share], return_counts=True)
    weight = problem.weight[kept] * (times / problem.count[kept])
    return problem.subset(kept, weight) if len(kept) else None


def count_classes(
    table: Any, number: int, frame: Frame, trees: Sequence[ObliqueTree]
) -> list[FloatArray]:
    """Return (n_nodes, Y) for each tree: the weight of each class in each leaf."""
    problem = problem_of(table, frame)
    return [_counts(problem, frame, tree) for tree in trees]


def _counts(problem: Problem | None, frame: Frame, tree: ObliqueTree) -> FloatArray:
    total = np.zeros((tree.n_nodes, len(frame.classes)))
    if problem is not None:
        np.add.at(total, (tree.apply(problem.X), problem.y), problem.weight)
    return total


def largest_scores(
    table: Any, number: int, frame: Frame, tree: ObliqueTree
) -> FloatArray:
    """Return (n_branch,): the largest abs(score) at every split, over all rows."""
    problem = problem_of(table, frame)
    branch = np.flatnonzero(~tree.is_leaf)
    if problem is None:
        return np.zeros(len(branch))
    size = np.abs(problem.X @ tree.coef[branch].T - tree.threshold[branch])
    return size.max(axis=0, initial=0.0)


def recount(
    table: Any,
    number: int,
    frame: Frame,
    tree: ObliqueTree,
    objective: Svm1Objective,
    largest: FloatArray,
) -> tuple[Score | None, FloatArray, IntArray]:
    """Recount (1a) in the box of all rows.

    Return it, the weight of each class in each leaf, and the rows of each at each node.
    """
    problem = problem_of(table, frame)
    weight = _counts(problem, frame, tree)
    if problem is None:
        return None, weight, np.zeros(weight.shape, dtype=np.intp)
    score = objective.evaluate(problem, tree, largest)
    return score, weight, row_counts(problem, tree)


def problem_of(table: Any, frame: Frame) -> Problem | None:
    """Return the rows of a partition, scaled as all rows are; None without any."""
    X, codes, weight = rows_of(table, frame)
    return frame.problem(frame.numbers(X), codes, weight) if len(X) else None


def rows_of(table: Any, frame: Frame) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return features, class indices and weights of the rows of positive weight."""
    X, y, weight = _arrays(table, frame.columns)
    codes = np.searchsorted(frame.classes, y).astype(np.intp)
    if frame.class_factor is not None:
        weight = weight * frame.class_factor[codes]
    kept = weight > 0
    return (X, codes, weight) if kept.all() else (X[kept], codes[kept], weight[kept])


def groups_of(table: Any, frame: Frame) -> RowGroups:
    """Return the groups of the rows of positive weight, with their weights."""
    columns, weight = frame.columns, np.ones(len(table))
    if columns.weights is not None:
        weight = table[columns.weights].to_numpy(dtype=np.float64)
    kept = weight > 0
    sensitive, control = (
        table[list(names)][kept] if names else None
        for names in (columns.sensitive, columns.control)
    )
    return RowGroups.of(sensitive, control, weight[kept])


def _arrays(table: Any, columns: Columns) -> tuple[FloatArray, AnyArray, FloatArray]:
    X = table[list(columns.features)].to_numpy(dtype=np.float64)
    y = table[columns.target]
    if hasattr(y, "cat"):
        y = y.astype(y.cat.categories.dtype)
    if y.dtype.kind not in "biuf":  # pandas has many types of text
        y = y.astype(object)
    labels = y.to_numpy()
    weight = np.ones(len(X))
    if columns.weights is not None:
        weight = table[columns.weights].to_numpy(dtype=np.float64)
    if labels.dtype == object:
        labels = np.array(labels.tolist())
    if labels.dtype == object:
        labels = labels.astype(str)
    return X, labels, weight
