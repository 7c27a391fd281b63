"""Rows that lie on a split: no rounding decides where they go."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris

from _models import tied_model
from miptree.data.clear_splits import TIE_BREAK, Split, SplitRows, untied
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.tree import HeapTree, ObliqueTree, rounding_error

OBJECTIVE = Svm1Objective(slack_penalty=100, l1_penalty=1, margin=0.01)
TIED = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 0], [2, 1, 1]], dtype=float)
"""The rows in the middle lie on a split of the first feature at 1."""


def split(coef, threshold, X=TIED, y=(0, 0, 1, 1), **options):
    """A problem, a split in scaled units, and the tree that is made of it."""
    problem = Problem.from_data(np.asarray(X), np.array(y), 2, **options)
    coef = np.array([coef], dtype=float)
    heap = HeapTree(coef, np.array([threshold]), np.array([0, 1]))
    return problem, heap, problem.to_user(heap)


def is_clear(tree, X):
    """Whether all rows are farther from every split than rounding reaches."""
    branch = ~tree.is_leaf
    coef, threshold = tree.coef[branch], tree.threshold[branch]
    error = rounding_error(coef, threshold, np.abs(X).max(axis=0))
    return (np.abs(X @ coef.T - threshold) > error).all()


def exactly(tree, X):
    """Whether rows go right at the root, in exact arithmetic."""
    coef = [Fraction(c) for c in tree.coef[0]]
    sums = [sum(c * Fraction(x) for c, x in zip(coef, r, strict=True)) for r in X]
    return [score > Fraction(tree.threshold[0]) for score in sums]


@pytest.mark.parametrize("noise", [3e-16, 1e-13, 3e-12, 4e-11])
def test_rows_that_noise_told_apart_are_told_apart_by_one_feature(noise):
    problem, heap, tree = split([1.0, noise, -noise], 0.5)
    right = ObliqueTree.from_heap(heap).goes_right(problem.scaled)
    assert right.sum() == 2
    assert (tree.goes_right(problem.X) == right).all()
    assert exactly(tree, problem.X) == right[:, 0].tolist()
    assert is_clear(tree, problem.X)
    assert np.count_nonzero(tree.coef[0]) == 2
    assert np.abs(tree.coef[0, 1:]).max() == TIE_BREAK


def test_no_row_notices_that_a_tie_was_broken():
    problem, _, tree = split([1.0, 1e-13, -1e-13], 0.5)
    score = OBJECTIVE.evaluate(problem, tree)
    assert score.errors == 0
    assert score.cost_at_margin == 2.0
    assert score.objective == pytest.approx(2 * 100 * 0.01 + 1, abs=1e-7)


def test_a_feature_of_the_split_is_taken_first():
    X = [[0, 0, 0], [1, 2, 0], [2, 1, 1], [3, 3, 1]]
    _, _, tree = split([1 / 3, 1 / 3 - 1e-14, 1e-14], 1 / 3, X)
    assert tree.coef[0, 2] == 0
    assert exactly(tree, np.array(X, dtype=float)) == [False, False, True, True]


def test_rows_a_rounding_error_apart_are_on_the_split_as_well():
    X = TIED.copy()
    X[2, 0] += 1e-15
    _, _, tree = split([1.0, 1e-13, -1e-13], 0.5, X)
    assert exactly(tree, X) == [False, False, True, True]
    assert is_clear(tree, X)


def test_noise_vanishes_where_it_decides_nothing():
    _, _, tree = split([1.0, 1e-12, -1e-12], 0.25)
    assert tree.coef[0].tolist() == [0.5, 0, 0]
    assert is_clear(tree, TIED)


def test_a_feature_that_the_split_did_not_have_stays_out():
    _, _, tree = split([1.0, 0.0, -1e-13], 0.5 - 5e-14, max_features=2)
    assert tree.coef[0, 1] == 0
    assert exactly(tree, TIED) == [False, False, True, True]


def test_ties_that_no_feature_breaks_go_by_their_noise():
    X = [[0, 0, 0], [1, 0, 0], [1, 2, 0], [1, 1, 2], [1, 2, 2], [2, 2, 2]]
    y = (0, 0, 1, 1, 1, 1)
    noise = np.array([0.0, 1e-13, 0.6e-13])
    _, _, tree = split([1.0, *noise[1:]], 0.5 + 0.4e-13, X, y)
    assert exactly(tree, np.array(X, dtype=float)) == [bool(k) for k in y]
    assert is_clear(tree, np.array(X, dtype=float))


def test_a_fit_keeps_its_errors_without_the_noise_of_its_start():
    clf, X = tied_model(), load_iris().data
    coef = clf.tree_.coef
    sizes = np.abs(coef[coef != 0])
    assert clf.certificate_.errors == 5
    assert clf.certificate_.objective == pytest.approx(16.956, abs=1e-5)
    assert sizes.min() > 1e-11
    assert np.count_nonzero(coef) == 5
    assert is_clear(clf.tree_, X)


@pytest.mark.parametrize("to_right", [[2], [1, 3, 5], [1, 3], [2, 4, 5]])
def test_rows_that_nothing_tells_apart_go_to_one_side(to_right):
    """Rows of one line, which no feature divides as rounding did."""
    given = np.array([[0, 0], [0, 4], [1, 3], [2, 2], [3, 1], [4, 0], [4, 4]]) * 1.0
    right = np.isin(np.arange(7), [*to_right, 6])
    largest = np.abs(given).max(axis=0)
    on_line = Split(np.array([1.0, 1.0]), 4.0)
    rows = SplitRows(given, right, np.array([4.0, 4.0]), largest)
    found = untied(rows, on_line, on_line.coef)
    score = given @ found.coef - found.threshold
    error = rounding_error(found.coef[None], np.array([found.threshold]), largest)
    assert (np.abs(score) > error).all()
    assert found.coef.tolist() == on_line.coef.tolist()
    assert len({*(score[1:6] > 0).tolist()}) == 1
    n_moved = np.count_nonzero((score > 0) != right)
    assert n_moved == min(right[1:6].sum(), (~right[1:6]).sum())
