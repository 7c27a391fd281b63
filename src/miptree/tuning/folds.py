"""The training rows in folds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.utils.arrays import IntArray

_BY_CHANCE = -1
"""In place of the fold of a row: any of them."""


@dataclass(frozen=True)
class Fold:
    """Which rows to train on, and which to hold out."""

    train: IntArray
    test: IntArray
    seed: int


@dataclass(frozen=True, eq=False)
class FoldedRows:
    """Rows in folds.

    Attributes
    ----------
    rows : TrainingRows
        The rows that the folds number.
    folds : list of Fold
        Repetition after repetition.
    n_splits : int
        Folds of one repetition, which are independent of each other.
    """

    rows: TrainingRows
    folds: list[Fold]
    n_splits: int


def stratified_folds(
    rows: TrainingRows,
    problem: Problem,
    n_splits: int,
    n_repeats: int,
    most_rows: int,
    seed: int,
) -> FoldedRows:
    """Split rows into stratified folds, several times; of very many rows a part.

    Rows are split as the problem has merged and sorted them, so that neither their
    order matters nor whether a row is given twice or has weight 2. A row that is there
    more often than there are folds has its share in each of them.
    """
    assert problem.source is not None
    weight = np.array(problem.weight)
    if problem.class_price is not None:  # costs are counted with the errors
        weight = weight / problem.class_price[problem.y]
    distinct = replace(rows.take(problem.source), weight=weight)
    copies = copies_of(distinct, n_splits)
    number = np.concatenate([np.arange(n) for n in copies.tolist()])
    in_all = np.repeat(copies == n_splits, copies)
    distinct = copied(distinct, copies)
    if len(distinct) > most_rows:
        part = stratified_part(distinct.y, most_rows, seed)
        distinct, number, in_all = distinct.take(part), number[part], in_all[part]
    # Without so many rows of any class there are fewer folds.
    n_splits = min(n_splits, int(np.bincount(distinct.y).max()))
    if n_splits < 2:
        return FoldedRows(distinct, [], 1)
    fold_of = np.where(in_all, number % n_splits, _BY_CHANCE)
    pairs = _dealt(distinct.y, fold_of, n_splits, n_repeats, seed)
    return FoldedRows(distinct, _folds(distinct, pairs, seed), n_splits)


def _dealt(
    y: IntArray, fold_of: IntArray, n_splits: int, n_repeats: int, seed: int
) -> list[tuple[IntArray, IntArray]]:
    """Deal rows to folds, several times; those whose fold is left to chance by class.

    Return the rows to train on and the rows to hold out, fold by fold.
    """
    # It is imported only where folds are wanted.
    from sklearn.model_selection import RepeatedStratifiedKFold

    free, rng = np.flatnonzero(fold_of == _BY_CHANCE), np.random.default_rng(seed)
    splitter = RepeatedStratifiedKFold(
        n_splits=n_splits, n_repeats=n_repeats, random_state=seed
    )
    if np.bincount(y[free], minlength=1).max() >= n_splits:
        held_out = [free[test] for _, test in _split(splitter, y[free], y[free])]
    else:  # so few that their classes do not matter
        deals = [rng.permutation(free) for _ in range(n_repeats)]
        held_out = [deal[k::n_splits] for deal in deals for k in range(n_splits)]
    pairs = []
    for place, chosen in enumerate(held_out):
        test = np.union1d(chosen, np.flatnonzero(fold_of == place % n_splits))
        pairs.append((np.setdiff1d(np.arange(len(y)), test), test))
    return pairs


def folded_rows(
    rows: TrainingRows,
    problem: Problem,
    X: Any,
    y: Any,
    cv: Any,
    n_repeats: int,
    most_rows: int,
    seed: int,
) -> FoldedRows:
    """Split the rows as ``cv`` says; a number means that many stratified folds."""
    if cv is None or isinstance(cv, Integral):
        n_splits = 5 if cv is None else int(cv)
        if rows.groups is not None:
            return plain_folds(rows, n_splits, n_repeats, most_rows, seed)
        return stratified_folds(rows, problem, n_splits, n_repeats, most_rows, seed)
    return splitter_folds(rows, X, y, cv, most_rows, seed)


def plain_folds(
    rows: TrainingRows, n_splits: int, n_repeats: int, most_rows: int, seed: int
) -> FoldedRows:
    """Split the rows as they were given into stratified folds, several times.

    Constraints count the user's rows, so none of them is merged, copied or shared.
    """
    from sklearn.model_selection import RepeatedStratifiedKFold

    n_splits = min(n_splits, int(np.bincount(rows.y).max()))
    if n_splits < 2:
        return FoldedRows(rows, [], 1)
    splitter = RepeatedStratifiedKFold(
        n_splits=n_splits, n_repeats=n_repeats, random_state=seed
    )
    pairs = _split(splitter, rows.y, rows.y)
    folds = _drawn(_folds(rows, pairs, seed), most_rows, seed)
    return FoldedRows(rows, folds, n_splits)


def splitter_folds(
    rows: TrainingRows, X: Any, y: Any, splitter: Any, most_rows: int, seed: int
) -> FoldedRows:
    """Split the rows of X by a splitter of scikit-learn or by pairs of indices."""
    from sklearn.model_selection import check_cv

    splitter = check_cv(splitter, y, classifier=True)
    n_repeats = getattr(splitter, "n_repeats", 1)
    folds = _drawn(_folds(rows, _split(splitter, X, y), seed), most_rows, seed)
    return FoldedRows(rows, folds, max(1, len(folds) // n_repeats))


def _drawn(folds: Sequence[Fold], most_rows: int, seed: int) -> list[Fold]:
    """Draw rows to train on where there are too many."""
    rng = np.random.default_rng(seed)
    return [
        replace(fold, train=np.sort(rng.choice(fold.train, most_rows, replace=False)))
        if len(fold.train) > most_rows
        else fold
        for fold in folds
    ]


def copies_of(rows: TrainingRows, n_splits: int) -> IntArray:
    """Return how often each row is copied: its whole weight, once a fold at most.

    Otherwise all of the rows that share x and y would be held out together, and where
    few different points occur often, no fold would be like new rows are. Weights that
    are not whole (class weights aside) are no counts, and the rows stay as they are.
    """
    times = rows.weight / rows.class_factor[rows.y]
    if np.abs(times - np.rint(times)).max(initial=0.0) > 1e-6:
        times = np.ones(len(rows))
    return np.clip(np.rint(times), 1, n_splits).astype(np.intp)


def copied(rows: TrainingRows, copies: IntArray) -> TrainingRows:
    """Copy rows, each so many times; the copies share its weight."""
    taken = rows.take(np.repeat(np.arange(len(rows)), copies))
    return replace(taken, weight=taken.weight / np.repeat(copies, copies))


def stratified_part(y: IntArray, n_rows: int, seed: int) -> IntArray:
    """Draw rows with about the class frequencies of all, one of each class at least."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    first = np.flatnonzero(np.diff(y[order], prepend=-1))
    every = np.linspace(0, len(y) - 1, n_rows).astype(np.intp)
    return np.sort(order[np.union1d(every, first)])


def _split(splitter: Any, X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Split as a splitter of scikit-learn does."""
    with warnings.catch_warnings():
        # A rare class cannot be in every fold.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(X, y))


def _folds(
    rows: TrainingRows, pairs: Sequence[tuple[Any, Any]], seed: int
) -> list[Fold]:
    """Number folds of pairs (train, test); leave out those with a part of no weight."""
    seeds = np.random.SeedSequence(seed).generate_state(len(pairs))
    weight, n_rows = rows.weight, len(rows)
    found = (
        Fold(_places(train, n_rows), _places(test, n_rows), int(number))
        for (train, test), number in zip(pairs, seeds, strict=True)
    )
    return [f for f in found if weight[f.train].any() and weight[f.test].any()]


def _places(given: Any, n_rows: int) -> IntArray:
    """Make indices of indices or of a mask."""
    given = np.asarray(given)
    places = np.flatnonzero(given) if given.dtype == bool else given.astype(np.intp)
    outside = places[(places < 0) | (places >= n_rows)]
    if len(outside):
        raise ValueError(
            f"cv names row {outside[0]} of X, whose rows are 0 to {n_rows - 1}: give "
            "pairs (train, test) of their numbers."
        )
    return places
