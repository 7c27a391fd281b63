"""Soft trees in batches: their gradients, and what they learn."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_wine

from miptree.search.soft_trees import SoftRows, gradients
from miptree.tuning.soft_batch import SoftBatch, train_soft


def test_gradients_by_tree_agree_with_differences() -> None:
    rng = np.random.default_rng(2)
    n_trees, n_rows, depth, n_classes = 3, 11, 2, 3
    X = np.column_stack([rng.normal(size=(n_rows, 2)), np.ones(n_rows)])
    reward = rng.random((n_trees, n_classes, n_rows))
    weight = rng.random((n_trees, n_rows))
    rows = SoftRows(X, reward, weight)
    planes = rng.normal(size=(n_trees, 3, 3))
    theta = rng.normal(size=(n_trees, 2**depth, n_classes))

    def loss(planes: np.ndarray, theta: np.ndarray) -> float:
        value, _, _ = gradients(rows, planes, theta, 2.0, 1.5, lambda v: v)
        return float(-(weight * np.log(value + 0.1)).sum())

    _, by_planes, by_theta = gradients(
        rows, planes, theta, 2.0, 1.5, lambda value: -weight / (value + 0.1)
    )
    step = 1e-6
    for array, gradient in ((planes, by_planes), (theta, by_theta)):
        for index in np.ndindex(array.shape):
            moved = array[index]
            array[index] = moved + step
            up = loss(planes, theta)
            array[index] = moved - step
            down = loss(planes, theta)
            array[index] = moved
            assert np.isclose(gradient[index], (up - down) / (2 * step), atol=1e-6)


def test_a_batch_of_soft_trees_separates_an_exclusive_or() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, size=(200, 2)).astype(np.float32)
    y = (points[:, 0] * points[:, 1] > 0).astype(np.intp)
    reward = np.stack([y == 0, y == 1]).astype(np.float32)
    weight = np.ones((10, 200))
    batch = SoftBatch.begin(points, y, reward, weight, (0.0, 1e-3), 2, rng)
    trees = train_soft(points, batch, seed=0)
    best = trees.best_first(slice(None))[0]
    found = trees.probabilities(points)[best].argmax(axis=1)
    assert (found == y).mean() > 0.93


def test_a_limit_of_features_holds_for_soft_trees() -> None:
    X, y = load_wine(return_X_y=True)
    points = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    reward = (np.arange(3)[:, None] == y).astype(np.float32)
    rng, weight = np.random.default_rng(0), np.ones((4, len(y)))
    batch = SoftBatch.begin(points, y, reward, weight, (0.0, 0.0), 2, rng)
    trees = train_soft(points, batch, seed=0, max_features=2)
    assert np.count_nonzero(trees.planes[:, :, :-1], axis=2).max() <= 2
