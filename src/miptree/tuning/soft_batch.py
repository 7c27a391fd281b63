"""Soft trees with a penalty, whose labels, weights and penalties differ by tree.

The soft trees of the search end steep, to count errors; these stay smooth, as it is
their likelihood that generalises. Trees of all candidates train as one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from miptree.control.clock import Clock
from miptree.search.soft_trees import (
    FULL_BATCH_UP_TO,
    MINIBATCH,
    Adam,
    LossSlope,
    SoftRows,
    gradients,
    initial_planes,
)
from miptree.utils.arrays import AnyArray, BoolArray, IntArray

_STEPS = 150
_LAST_SLOPE, _LAST_SHARPNESS = 4.0, 4.0
_LEARNING_RATE = 0.08
_SMALLEST = 1e-3
"""Added to a likelihood, so that no row can cost more than about 7."""
_CHUNK, _LARGEST = 96, 2e7
"""Trees that train at once, more would leave the processor's cache; and the numbers
that each of their arrays may hold."""


class SoftBatch(NamedTuple):
    """What R soft trees are to learn, and where they begin.

    Attributes
    ----------
    reward : float array of shape (R, Y, n)
        What predicting each class gains, by tree.
    weight : float array of shape (R, n)
        Weights of the rows, by tree; those of weight 0 are not seen.
    l1, l2 : float array of shape (R,)
        Penalties.
    planes : float array of shape (R, B, d + 1)
    theta : float array of shape (R, L, Y)
        Coefficients with minus the threshold, and logits of the leaves.
    """

    reward: AnyArray
    weight: AnyArray
    l1: AnyArray
    l2: AnyArray
    planes: AnyArray
    theta: AnyArray

    @classmethod
    def begin(
        cls,
        points: AnyArray,
        y: IntArray,
        reward: AnyArray,
        weight: AnyArray,
        penalties: tuple[float, float],
        depth: int,
        rng: np.random.Generator,
    ) -> SoftBatch:
        """Begin trees with the same reward (Y, n) and penalties (l1, l2).

        Every other one begins with bisectors of two points of different classes ``y``,
        the others with random hyperplanes; of points that the tree sees.
        """
        n_trees, (n_classes, n_rows) = len(weight), reward.shape
        planes = []
        for r in range(n_trees):
            seen = np.flatnonzero(weight[r] > 0)
            bisect = np.array([r % 2 == 0])
            start = initial_planes(points[seen], y[seen], 2**depth - 1, bisect, rng)
            planes.append(start)
        theta = 0.1 * rng.standard_normal((n_trees, 2**depth, n_classes))
        return cls(
            np.broadcast_to(reward, (n_trees, n_classes, n_rows)),
            weight,
            np.full(n_trees, penalties[0], dtype=np.float32),
            np.full(n_trees, penalties[1], dtype=np.float32),
            np.concatenate(planes),
            theta.astype(np.float32),
        )

    def take(self, trees: slice) -> SoftBatch:
        """Take some of the trees."""
        return SoftBatch(*(array[trees] for array in self))


def joined(batches: Sequence[SoftBatch]) -> SoftBatch:
    """Join several batches to one."""
    return SoftBatch(*map(np.concatenate, zip(*batches, strict=True)))


class SoftTrees(NamedTuple):
    """R trained soft trees.

    Attributes
    ----------
    planes : float array of shape (R, B, d + 1)
        Coefficients and minus the threshold of every split.
    theta : float array of shape (R, L, Y)
        Logits of the leaves.
    loss : float array of shape (R,)
        Penalised loss.
    """

    planes: AnyArray
    theta: AnyArray
    loss: AnyArray

    def best_first(self, trees: slice) -> IntArray:
        """Sort the numbers of some of the trees by their loss."""
        order = np.argsort(self.loss[trees], kind="stable")
        return np.arange(len(self.loss))[trees][order]

    def probabilities(self, points: AnyArray) -> AnyArray:
        """Predict class probabilities (R, n, Y)."""
        n_trees, n_branch, width = self.planes.shape
        score = self.planes.reshape(-1, width) @ _with_constant(points).T
        score = np.clip(_LAST_SLOPE * score, -15, 15).reshape(n_trees, n_branch, -1)
        right = 1.0 / (1.0 + np.exp(-score))
        reach = [np.ones_like(right[:, 0])]
        for b in range(n_branch):
            reach += [reach[b] * (1.0 - right[:, b]), reach[b] * right[:, b]]
        share = np.exp(
            _LAST_SHARPNESS * (self.theta - self.theta.max(axis=2, keepdims=True))
        )
        share /= share.sum(axis=2, keepdims=True)
        result: AnyArray = np.stack(reach[n_branch:], axis=2) @ share
        return result


def train_soft(
    points: AnyArray,
    batch: SoftBatch,
    seed: int,
    max_features: int | None = None,
    clock: Clock | None = None,
) -> SoftTrees:
    """Train soft trees by Adam.

    Parameters
    ----------
    seed : int
        Draws the rows of each step, where there are many.
    max_features : int, optional
        After half of the steps only so many coefficients of every split, the largest,
        are trained on.
    clock : Clock, optional
        Looked at now and then; ends the training early.
    """
    size = batch.theta.shape[1] * min(len(points), FULL_BATCH_UP_TO)
    at_once = int(np.clip(_LARGEST // size, 1, _CHUNK))
    parts = [
        _train(
            _with_constant(points),
            batch.take(slice(start, start + at_once)),
            np.random.default_rng(seed),
            max_features,
            clock or Clock(),
        )
        for start in range(0, len(batch.weight), at_once)
    ]
    return SoftTrees(*map(np.concatenate, zip(*parts, strict=True)))


def _train(
    X: AnyArray,
    batch: SoftBatch,
    rng: np.random.Generator,
    max_features: int | None,
    clock: Clock,
) -> SoftTrees:
    planes, theta = batch.planes.copy(), batch.theta.copy()
    l1, l2 = batch.l1[:, None, None], batch.l2[:, None, None]
    plane_step, theta_step = Adam(planes), Adam(theta)
    total = batch.weight.sum(axis=1, keepdims=True)
    whole = SoftRows(X, batch.reward, (batch.weight / total).astype(np.float32))
    closed: BoolArray | None = None
    coef = planes[:, :, :-1]
    for step in range(_STEPS):
        if step % 16 == 15 and clock.is_over:
            break
        done = step / (_STEPS - 1)
        rows = _step_rows(whole, rng)
        _, planes_grad, theta_grad = gradients(
            rows, planes, theta, _LAST_SLOPE**done,
            1.0 + (_LAST_SHARPNESS - 1.0) * done, _log_loss(rows),
        )  # fmt: skip
        planes_grad[:, :, :-1] += l2 * coef + l1 * np.sign(coef)
        rate = _LEARNING_RATE * (1.0 - 0.9 * done)
        plane_step(planes_grad, rate)
        theta_step(theta_grad, 2.0 * rate)
        if max_features is not None and step >= _STEPS // 2:
            closed = _smallest(coef, max_features) if closed is None else closed
            coef[closed] = 0.0
    if max_features is not None:
        coef[_smallest(coef, max_features)] = 0.0  # where it was over before
    penalty = l1 * np.abs(coef) + 0.5 * l2 * coef**2
    loss = _log_losses(whole, planes, theta) + penalty.sum(axis=(1, 2))
    return SoftTrees(planes, theta, loss)


def _with_constant(points: AnyArray) -> AnyArray:
    ones = np.ones((len(points), 1), dtype=np.float32)
    return np.concatenate([points, ones], axis=1)


def _step_rows(whole: SoftRows, rng: np.random.Generator) -> SoftRows:
    """Take all rows, or of many a random part."""
    n_rows = len(whole.X)
    if n_rows <= FULL_BATCH_UP_TO:
        return whole
    rows = rng.integers(0, n_rows, MINIBATCH)
    some = _some_rows(whole, rows)
    return some._replace(weight=np.float32(n_rows / MINIBATCH) * some.weight)


def _some_rows(whole: SoftRows, rows: slice | IntArray) -> SoftRows:
    return SoftRows(whole.X[rows], whole.reward[:, :, rows], whole.weight[:, rows])


def _log_loss(rows: SoftRows) -> LossSlope:
    """Make the function that gives the derivative of the log-loss by the reward."""
    return lambda reward: -rows.weight / (reward + np.float32(_SMALLEST))


def _smallest(coef: AnyArray, n_kept: int) -> BoolArray:
    """Mark all but the largest coefficients of every split."""
    rank = np.argsort(np.argsort(-np.abs(coef), axis=2), axis=2)
    return rank >= n_kept


def _log_losses(whole: SoftRows, planes: AnyArray, theta: AnyArray) -> AnyArray:
    """Compute the log-loss of each tree on all rows."""
    loss = np.zeros(len(planes))
    for start in range(0, len(whole.X), FULL_BATCH_UP_TO):
        rows = _some_rows(whole, slice(start, start + FULL_BATCH_UP_TO))
        reward, _, _ = gradients(
            rows, planes, theta, _LAST_SLOPE, _LAST_SHARPNESS, _log_loss(rows)
        )
        loss -= (rows.weight * np.log(reward + _SMALLEST)).sum(axis=1)
    return loss
