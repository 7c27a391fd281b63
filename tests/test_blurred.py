"""Probabilities near a split, against sums over the leaves written out by hand."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from miptree import OptimalTreeClassifier, PointsTreeClassifier
from miptree.data.problem import Problem
from miptree.objective import blurred as module
from miptree.objective.blurred import blurred, suited_blur
from miptree.objective.leaf_probabilities import smoothed_frequencies
from miptree.tree import HeapTree, ObliqueTree


def noisy_rows(n=400, seed=0):
    """Two classes whose share changes slowly along a direction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X @ [1.0, 1.0] + 1.5 * rng.normal(size=n) > 0).astype(np.intp)


def diagonal():
    heap = HeapTree(np.array([[1.0, 1.0]]), np.array([0.0]), np.array([0, 1]))
    return ObliqueTree.from_heap(heap)


def random_tree(rng, n_classes=3):
    heap = HeapTree(
        rng.normal(size=(7, 3)), rng.normal(size=7) / 3, rng.integers(0, n_classes, 8)
    )
    return ObliqueTree.from_heap(heap)


def by_hand(tree, x, proba, blur, node=0):
    if tree.is_leaf[node]:
        return proba[node]
    distance = float(x @ tree.coef[node] - tree.threshold[node])
    if blur[node] > 0:
        part = 0.5 + 0.5 * np.tanh(distance / blur[node] / 2)
    else:
        part = float(distance > 0)
    left, right = tree.children_left[node], tree.children_right[node]
    return (1 - part) * by_hand(tree, x, proba, blur, left) + part * by_hand(
        tree, x, proba, blur, right
    )


def test_a_row_is_a_mean_of_the_leaves_on_both_sides():
    rng = np.random.default_rng(0)
    tree, X = random_tree(rng), rng.normal(size=(50, 3))
    proba = rng.dirichlet(np.ones(3), tree.n_nodes)
    tree.label[:] = (proba.argmax(axis=1) + 1) % 3  # no class to keep ahead
    blur = rng.random(tree.n_nodes) * ~tree.is_leaf
    blur[2] = 0.0
    found = blurred(tree, X, proba, blur)
    expected = [by_hand(tree, x, proba, blur) for x in X]
    assert found == pytest.approx(np.array(expected))


def test_the_class_of_the_leaf_stays_the_most_probable():
    rng = np.random.default_rng(1)
    changed = 0
    for _ in range(50):
        tree, X = random_tree(rng), rng.normal(size=(40, 3))
        proba = rng.dirichlet(np.ones(3), tree.n_nodes)
        tree.label[:] = proba.argmax(axis=1)
        blur = rng.random(tree.n_nodes) * ~tree.is_leaf
        found, label = blurred(tree, X, proba, blur), tree.predict(X)
        assert found.sum(axis=1) == pytest.approx(1)
        assert (found.argmax(axis=1) == label).all()
        assert (found.astype(np.float32).argmax(axis=1) == label).all()
        plain = np.array([by_hand(tree, x, proba, blur) for x in X])
        changed += int((plain.argmax(axis=1) != label).sum())
    assert changed > 50  # otherwise nothing was kept ahead


def test_without_blur_it_is_the_leaf():
    rng = np.random.default_rng(2)
    tree, X = random_tree(rng), rng.normal(size=(40, 3))
    proba = rng.dirichlet(np.ones(3), tree.n_nodes)
    found = blurred(tree, X, proba, np.zeros(tree.n_nodes))
    assert np.array_equal(found, proba[tree.apply(X)])


def test_slow_changes_get_a_blur_and_sharp_ones_none():
    (X, y), tree = noisy_rows(), diagonal()
    noisy = Problem.from_data(X, y, 2)
    assert suited_blur(noisy, tree, smoothed_frequencies(noisy, tree))[0] > 0
    sharp = Problem.from_data(X, tree.predict(X), 2)
    proba = smoothed_frequencies(sharp, tree)
    assert not suited_blur(sharp, tree, proba).any()


def test_blur_makes_new_rows_more_likely():
    (X, y), tree = noisy_rows(), diagonal()
    problem = Problem.from_data(X, y, 2)
    proba = smoothed_frequencies(problem, tree)
    blur = suited_blur(problem, tree, proba)
    X_new, y_new = noisy_rows(4000, seed=1)
    hard = log_loss(y_new, proba[tree.apply(X_new)])
    assert log_loss(y_new, blurred(tree, X_new, proba, blur)) < hard - 0.01


def test_weights_equal_repeated_rows_and_order_does_not_matter():
    (X, y), tree = noisy_rows(), diagonal()
    rng = np.random.default_rng(3)
    weight = rng.integers(1, 4, len(y))
    order = rng.permutation(np.repeat(np.arange(len(y)), weight))
    one = Problem.from_data(X, y, 2, weight.astype(float))
    two = Problem.from_data(X[order], y[order], 2)
    found = [suited_blur(p, tree, smoothed_frequencies(p, tree)) for p in (one, two)]
    assert found[0] == pytest.approx(found[1])


def test_few_of_many_rows_choose_the_same_width(monkeypatch):
    (X, y), tree = noisy_rows(4000), diagonal()
    problem = Problem.from_data(X, y, 2)
    proba = smoothed_frequencies(problem, tree)
    everybody = suited_blur(problem, tree, proba)
    monkeypatch.setattr(module, "_MOST_ROWS", 1000)
    assert suited_blur(problem, tree, proba) == pytest.approx(everybody, rel=0.1)


def test_no_row_is_near_a_split_by_categories():
    X = np.eye(4)[np.tile([0, 1, 2, 3], 20)]
    y = np.tile([0, 1, 0, 1, 1], 16)
    problem = Problem.from_data(X, y, 2, value_feature=np.zeros(4, dtype=np.intp))
    coef = np.array([[1.0, 0.0, 1.0, 0.0]])
    heap = HeapTree(coef, np.array([0.5]), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    assert not suited_blur(problem, tree, smoothed_frequencies(problem, tree)).any()


def test_oblique_trees_have_it_and_points_trees_do_not():
    X, y = noisy_rows(200)
    X_new, y_new = noisy_rows(2000, seed=1)
    clf = OptimalTreeClassifier(
        max_depth=1, solver="search", max_iter=3, time_limit=None, random_state=0
    ).fit(X, y)
    assert clf.fitted_.blur[0] > 0
    proba = clf.predict_proba(X_new)
    assert (clf.classes_[proba.argmax(axis=1)] == clf.predict(X_new)).all()
    alone = clf.fitted_.node_proba[clf.apply(X_new)]
    assert log_loss(y_new, proba) < log_loss(y_new, alone)
    points = PointsTreeClassifier(max_depth=1, time_limit=None).fit(X, y)
    assert not points.fitted_.blur.any()
