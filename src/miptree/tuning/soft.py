"""Soft trees with a penalty, whose labels, weights and penalties differ by tree.

The soft trees of the search end steep, to count errors; these stay smooth, as it is
their likelihood that generalises. Trees of all candidates train as one batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from miptree._typing import AnyArray, BoolArray, IntArray
from miptree.search.soft import (
    FULL_BATCH_UP_TO,
    MINIBATCH,
    Adam,
    SoftRows,
    gradients,
    initial_planes,
)

_STEPS = 150
_LAST_SLOPE, _LAST_SHARPNESS = 4.0, 4.0
_LEARNING_RATE = 0.08
_SMALLEST = 1e-3
"""Added to a likelihood, so that no row can cost more than about 7."""
_CHUNK = 96
"""Trees that train at once; more would leave the processor's cache."""


@dataclass(frozen=True, eq=False)
class SoftBatch:
    """What R soft trees are to learn.

    Attributes
    ----------
    points : float array of shape (n, d)
    y : int array of shape (n,)
        Classes, for the bisectors that half of the trees start from.
    reward : float array of shape (R, Y, n)
        What predicting each class is worth, by tree.
    weight : float array of shape (R, n)
        Weights of the rows, by tree; those of weight 0 are not seen.
    l1, l2 : float array of shape (R,)
        Penalties.
    """

    points: AnyArray
    y: IntArray
    reward: AnyArray
    weight: AnyArray
    l1: AnyArray
    l2: AnyArray

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, trees: slice) -> SoftBatch:
        """Some of the trees."""
        own = (self.reward, self.weight, self.l1, self.l2)
        return SoftBatch(self.points, self.y, *(array[trees] for array in own))


@dataclass(frozen=True, eq=False)
class SoftTrees:
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
        """Numbers of some of the trees by their loss."""
        order = np.argsort(self.loss[trees], kind="stable")
        return np.arange(len(self.loss))[trees][order]

    def probabilities(self, points: AnyArray) -> AnyArray:
        """(R, n, Y): class probabilities."""
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
    batch: SoftBatch,
    depth: int,
    rng: np.random.Generator,
    max_features: int | None = None,
) -> SoftTrees:
    """Train soft trees by Adam.

    With ``max_features`` the largest coefficients of every split are trained on alone,
    from half of the steps on.
    """
    chunks = range(0, len(batch), _CHUNK)
    parts = [
        _train(batch.take(slice(start, start + _CHUNK)), depth, rng, max_features)
        for start in chunks
    ]
    return SoftTrees(
        np.concatenate([part.planes for part in parts]),
        np.concatenate([part.theta for part in parts]),
        np.concatenate([part.loss for part in parts]),
    )


def _train(
    batch: SoftBatch, depth: int, rng: np.random.Generator, max_features: int | None
) -> SoftTrees:
    planes = _starts(batch, 2**depth - 1, rng)
    n_classes = batch.reward.shape[1]
    theta = 0.1 * rng.standard_normal((len(batch), 2**depth, n_classes))
    theta = theta.astype(np.float32)
    l1, l2 = (p.astype(np.float32)[:, None, None] for p in (batch.l1, batch.l2))
    plane_step, theta_step = Adam(planes), Adam(theta)
    whole = _normalised(batch)
    closed: BoolArray | None = None
    for step in range(_STEPS):
        done = step / (_STEPS - 1)
        rows = _step_rows(whole, rng)
        _, planes_grad, theta_grad = gradients(
            rows, planes, theta, _LAST_SLOPE**done,
            1.0 + (_LAST_SHARPNESS - 1.0) * done, _log_loss(rows),
        )  # fmt: skip
        coef = planes[:, :, :-1]
        planes_grad[:, :, :-1] += l2 * coef + l1 * np.sign(coef)
        rate = _LEARNING_RATE * (1.0 - 0.9 * done)
        plane_step(planes_grad, rate)
        theta_step(theta_grad, 2.0 * rate)
        if max_features is not None and step >= _STEPS // 2:
            closed = _smallest(coef, max_features) if closed is None else closed
            coef[closed] = 0.0
    return SoftTrees(planes, theta, _loss(whole, planes, theta, l1, l2))


def _starts(batch: SoftBatch, n_branch: int, rng: np.random.Generator) -> AnyArray:
    """Planes of every tree from the rows it sees."""
    planes = []
    for r in range(len(batch)):
        seen = np.flatnonzero(batch.weight[r] > 0)
        points, y = batch.points[seen], batch.y[seen]
        bisect = np.array([r % 2 == 0])
        planes.append(initial_planes(points, y, n_branch, bisect, rng))
    return np.concatenate(planes)


def _with_constant(points: AnyArray) -> AnyArray:
    ones = np.ones((len(points), 1), dtype=np.float32)
    return np.concatenate([points, ones], axis=1)


def _normalised(batch: SoftBatch) -> SoftRows:
    total = batch.weight.sum(axis=1, keepdims=True)
    weight = (batch.weight / total).astype(np.float32)
    return SoftRows(_with_constant(batch.points), batch.reward, weight)


def _step_rows(whole: SoftRows, rng: np.random.Generator) -> SoftRows:
    """All rows, or of many a random part."""
    n_rows = len(whole.X)
    if n_rows <= FULL_BATCH_UP_TO:
        return whole
    rows = rng.integers(0, n_rows, MINIBATCH)
    factor = np.float32(n_rows / MINIBATCH)
    return SoftRows(
        whole.X[rows], whole.reward[:, :, rows], factor * whole.weight[:, rows]
    )


def _log_loss(rows: SoftRows):  # type: ignore[no-untyped-def]
    return lambda reward: -rows.weight / (reward + np.float32(_SMALLEST))


def _smallest(coef: AnyArray, n_kept: int) -> BoolArray:
    """All but the largest coefficients of every split."""
    rank = np.argsort(np.argsort(-np.abs(coef), axis=2), axis=2)
    return rank >= n_kept


def _loss(
    whole: SoftRows, planes: AnyArray, theta: AnyArray, l1: AnyArray, l2: AnyArray
) -> AnyArray:
    reward, _, _ = gradients(
        whole, planes, theta, _LAST_SLOPE, _LAST_SHARPNESS, _log_loss(whole)
    )
    fit = -(whole.weight * np.log(reward + _SMALLEST)).sum(axis=1)
    coef = planes[:, :, :-1]
    penalty = l1 * np.abs(coef) + 0.5 * l2 * coef**2
    loss: AnyArray = fit + penalty.sum(axis=(1, 2))
    return loss


def out_of_bag_votes(
    points: AnyArray,
    y: IntArray,
    weight: AnyArray,
    n_classes: int,
    depth: int,
    n_trees: int,
    rng: np.random.Generator,
    l2: float = 3e-3,
) -> AnyArray:
    """(n, Y): class probabilities of each row by soft trees that did not see it.

    Every tree learns from a bootstrap sample of the rows. Half a vote for the class
    frequencies is added.
    """
    n_rows = len(y)
    drawn = rng.integers(0, n_rows, (n_trees, n_rows))
    times = np.stack([np.bincount(rows, minlength=n_rows) for rows in drawn])
    onehot = np.zeros((n_classes, n_rows), dtype=np.float32)
    onehot[y, np.arange(n_rows)] = 1.0
    trees = train_soft(
        SoftBatch(
            points,
            y,
            np.broadcast_to(onehot, (n_trees, n_classes, n_rows)),
            times * weight,
            np.zeros(n_trees),
            np.full(n_trees, l2),
        ),
        depth,
        rng,
    )
    unseen = (times == 0)[:, :, None]
    prior = onehot @ weight / weight.sum()
    votes = (trees.probabilities(points) * unseen).sum(axis=0) + 0.5 * prior
    result: AnyArray = votes / (unseen.sum(axis=0) + 0.5)
    return result
