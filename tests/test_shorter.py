"""Coefficients of indicators in their cheapest form: nothing moves, the norm falls."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from miptree import OptimalTreeClassifier
from miptree.classifiers.table_classifier import TableClassifier
from miptree.control.clock import Clock
from miptree.data.rows import TrainingRows
from miptree.fit.incumbent import Incumbent
from miptree.fit.plan import Plan
from miptree.fit.shorter import offer_shorter, with_shorter_blocks
from miptree.objective import Svm1Objective
from miptree.objective.proved import Bounds
from miptree.tree import HeapTree, ObliqueTree

OBJECTIVE = Svm1Objective(100, 1, 0.01)


def problem_of(frame, y):
    """A problem of one-hot columns, and its table."""
    clf = OptimalTreeClassifier(categorical_encoding="onehot")
    rows, _ = TableClassifier._rows(clf, frame, y, None)
    assert isinstance(rows, TrainingRows)
    table = rows.learn_table("onehot", "fill", "majority")
    return rows.problem(table), table


def rows_of(n=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "job": rng.choice(["a", "b", "c", "d"], n),
            "x": rng.integers(0, 5, n).astype(float),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["u", "v", "w"], n),
        }
    )
    return frame, np.arange(n) % 2


def split(table, coef, threshold):
    """A tree with one split over open columns."""
    row = np.zeros((1, len(table.open_names)))
    for name, value in coef.items():
        row[0, table.open_names.index(name)] = value
    heap = HeapTree(row, np.array([threshold]), np.array([0, 1]))
    return ObliqueTree.from_heap(heap)


def test_blocks_are_all_indicators_of_a_column():
    problem, table = problem_of(*rows_of())
    names = [[table.open_names[j] for j in block] for block in problem.blocks]
    assert names == [
        ["job=a", "job=b", "job=c", "job=d"],
        ["town=u", "town=v", "town=w"],  # of two sexes one indicator says all
    ]


@pytest.mark.parametrize(
    ("coef", "threshold", "wanted", "moved"),
    [
        # Unknown jobs have 0 <= -0.25 before and 0 <= -0.75 after: they go right.
        (
            {"job=a": 0.5, "job=b": 0.5, "job=c": 0.5, "job=d": -0.4},
            -0.25,
            {"job=d": -0.9},
            -0.5,
        ),
        # With 0 <= 0.25 and then 0 <= -0.25 an unknown job would change its side.
        (
            {"job=a": 0.5, "job=b": 0.5, "job=c": 0.5, "job=d": -0.4},
            0.25,
            None,
            0.0,
        ),
        # A cheaper form of more terms is not taken.
        ({"job=b": -0.2, "job=c": -0.1, "job=d": 0.0}, -0.15, None, 0.0),
        # Both blocks, one after the other.
        (
            {"job=a": 0.3, "job=b": 0.3, "job=c": 0.3, "town=u": 0.2, "town=v": 0.2},
            -0.05,
            {"job=d": -0.3, "town=w": -0.2},
            -0.5,
        ),
    ],
)
def test_the_cheapest_form(coef, threshold, wanted, moved):
    problem, table = problem_of(*rows_of())
    tree = split(table, coef, threshold)
    found = with_shorter_blocks(problem, tree)
    if wanted is None:
        assert found is tree
        return
    assert np.allclose(found.coef, split(table, wanted, 0).coef)
    assert found.threshold[0] == pytest.approx(threshold + moved)
    assert np.array_equal(found.apply(problem.X), tree.apply(problem.X))
    before, after = (OBJECTIVE.evaluate(problem, t) for t in (tree, found))
    assert after.errors == before.errors
    assert after.objective < before.objective - 0.1


@pytest.mark.parametrize("seed", range(30))
def test_no_row_moves_and_no_term_is_added(seed):
    rng = np.random.default_rng(seed)
    frame, y = rows_of(seed=seed)
    problem, table = problem_of(frame, y)
    n = len(table.open_names)
    coef = rng.choice([-0.4, 0.1, 0.1, 0.3, 0.0], (3, n)) * (rng.random((3, 1)) < 0.9)
    x = table.open_names.index("x")
    coef[:, x] *= rng.random() < 0.3
    heap = HeapTree(coef, rng.choice([-0.15, 0.15, 0.3], 3), np.array([0, 1, 1, 0]))
    tree = ObliqueTree.from_heap(heap)
    found = with_shorter_blocks(problem, tree)
    X = problem.X
    unknown = X.copy()
    unknown[:, problem.blocks[seed % 2]] = 0.0
    assert np.array_equal(found.apply(X), tree.apply(X))
    size = [np.abs(t.coef).sum() for t in (tree, found)]
    terms = [np.count_nonzero(t.coef, axis=1) for t in (tree, found)]
    assert size[1] <= size[0]
    assert (terms[1] <= terms[0]).all()
    assert (found is tree) == (size[1] == size[0])
    here = ~tree.is_leaf
    passed = tree.ancestors[tree.apply(X)][:, here]
    sides = [t.goes_right(unknown)[passed] for t in (tree, found)]
    assert np.array_equal(*sides)


def test_columns_that_are_not_one_hot_are_left_alone():
    problem, table = problem_of(*rows_of())
    X = problem.X.copy()
    X[0, problem.blocks[0]] = 0.0  # a row of no known job
    odd = replace(problem, X=X)
    tree = split(table, {"job=a": 0.5, "job=b": 0.5, "job=c": 0.5}, -0.25)
    assert with_shorter_blocks(problem, tree) is not tree
    assert with_shorter_blocks(odd, tree) is tree


def test_the_shorter_tree_is_kept_with_its_recounted_score():
    problem, table = problem_of(*rows_of())
    coef = {"job=a": 0.5, "job=b": 0.5, "job=c": 0.5, "job=d": -0.4}
    tree, plan = split(table, coef, -0.25), Plan(OBJECTIVE, 1)
    score = OBJECTIVE.evaluate(problem, tree)
    best = Incumbent(tree, score, Bounds.without_solver(problem, 1), Clock())
    offer_shorter(best, problem, plan)
    assert np.count_nonzero(best.tree.coef) == 1
    assert best.score == OBJECTIVE.evaluate(problem, best.tree)
    assert best.score.l1 == pytest.approx(score.l1 - 1.0)
    assert best.score.objective == pytest.approx(score.objective - 1.0)
