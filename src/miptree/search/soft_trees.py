"""Starts: batches of soft oblique trees, annealed to hard ones.

In a soft tree a point goes right with probability ``sigmoid(slope * score)`` and every
leaf holds a probability for each class. Many restarts train at once as one matrix
product; the slope grows and the loss turns from the log-loss into the expected cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from miptree.control.clock import Clock
from miptree.search.data import SearchData
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, BoolArray, IntArray

BATCH = 32
"""Restarts that train together."""

MINIBATCH, FULL_BATCH_UP_TO = 2048, 4000
"""Rows per step, for data of more rows than the second number."""

_STEPS = 300
_FIRST_SLOPE, _LAST_SLOPE = 2.0, 40.0
_LEARNING_RATE = 0.05


def soft_trees(
    data: SearchData,
    depth: int,
    rng: np.random.Generator,
    *,
    n_trees: int = BATCH,
    n_steps: int = _STEPS,
    clock: Clock | None = None,
) -> list[HeapTree]:
    """Train a batch of soft trees and harden them.

    Half of them start from bisectors of two points of different classes, the others
    from random hyperplanes. The labels are those of the soft trees: relabel before use.
    """
    X, every_other = data.X[:, : data.n_open], np.arange(n_trees) % 2 == 0
    planes = initial_planes(X, data.y, 2**depth - 1, every_other, rng)
    theta = 0.1 * rng.standard_normal((n_trees, 2**depth, data.n_classes))
    return anneal(data, planes, theta.astype(np.float32), rng, n_steps, clock)


def anneal(
    data: SearchData,
    planes: AnyArray,
    theta: AnyArray,
    rng: np.random.Generator,
    n_steps: int,
    clock: Clock | None,
    first_slope: float = _FIRST_SLOPE,
) -> list[HeapTree]:
    """Train soft trees by Adam from given planes (R, B, n_open + 1) and leaf logits.

    The last entry of a plane is minus the threshold. Both arrays are changed in place.
    """
    whole = None
    if data.n_rows <= FULL_BATCH_UP_TO:
        whole = _rows(data, np.arange(data.n_rows))
    plane_step, theta_step = Adam(planes), Adam(theta)
    for step in range(n_steps):
        if step % 16 == 15 and clock is not None and clock.is_over:
            break
        done = step / max(1, n_steps - 1)
        slope = first_slope * (_LAST_SLOPE / first_slope) ** done
        rows = whole or _rows(data, rng.integers(0, data.n_rows, MINIBATCH))
        _, planes_grad, theta_grad = gradients(
            rows, planes, theta, slope, 1.0 + 3.0 * done, _annealed_loss(rows, done)
        )
        rate = _LEARNING_RATE * (1.0 - 0.9 * done)
        plane_step(planes_grad, rate)
        theta_step(theta_grad, 2.0 * rate)
    label = theta.argmax(axis=2)
    coef = np.zeros((*planes.shape[:2], data.n_features))
    coef[:, :, : data.n_open] = planes[:, :, :-1]
    threshold = -planes[:, :, -1].astype(float)
    return [HeapTree(*tree) for tree in zip(coef, threshold, label, strict=True)]


def initial_planes(
    X: AnyArray, y: IntArray, n_branch: int, bisect: BoolArray, rng: np.random.Generator
) -> AnyArray:
    """Draw random hyperplanes, (R, B, d + 1), for a batch of R trees.

    Those of the trees in ``bisect`` (R,) are bisectors of two points.
    """
    (n_rows, n_features), shape = X.shape, (len(bisect), n_branch)
    one = rng.integers(0, n_rows, shape)
    two = rng.integers(0, n_rows, shape)
    for _ in range(5):
        same = y[one] == y[two]
        two[same] = rng.integers(0, n_rows, int(same.sum()))
    coef = rng.standard_normal((*shape, n_features)) / np.sqrt(n_features)
    through = X[one]
    difference = X[one] - X[two]
    length = np.linalg.norm(difference, axis=2, keepdims=True)
    bisected = (length > 1e-6) & bisect[:, None, None]
    coef = np.where(bisected, difference / np.maximum(length, 1e-6), coef)
    through = np.where(bisected, through - 0.5 * difference, through)
    threshold = (coef * through).sum(axis=2, keepdims=True)
    return np.concatenate([coef, -threshold], axis=2).astype(np.float32)


class SoftRows(NamedTuple):
    """Rows of one step, the same for all trees or with a first axis for the trees."""

    X: AnyArray
    """(n, d + 1): points with a constant column."""
    reward: AnyArray
    """(Y, n) or (R, Y, n): reward for predicting each class, from 0 to 1."""
    weight: AnyArray
    """(n,) or (R, n): weights, of sum 1."""


def _rows(data: SearchData, rows: IntArray) -> SoftRows:
    """Take rows of the data.

    The reward of class k at point i is 1 - cost_ik / max_k cost_ik, which is 1 for the
    true class and 0 for the others in the plain case.
    """
    X = np.ones((len(rows), data.n_open + 1), dtype=np.float32)
    X[:, :-1] = data.X[rows, : data.n_open]
    if len(data.cost):
        costs = data.cost[rows]
        weight = costs.max(axis=1)
        reward = (1 - costs.T / np.maximum(weight, 1e-300)).astype(np.float32)
    else:
        weight = data.weight[rows]
        reward = np.zeros((data.n_classes, len(rows)), dtype=np.float32)
        reward[data.y[rows], np.arange(len(rows))] = 1.0
    return SoftRows(X, reward, (weight / max(weight.sum(), 1e-300)).astype(np.float32))


LossSlope = Callable[[AnyArray], AnyArray]
"""Derivative of the loss of each row by its expected reward."""


def _annealed_loss(rows: SoftRows, done: float) -> LossSlope:
    """Return the slope of the loss: log-loss at first, expected cost in the end."""
    return lambda reward: -rows.weight * ((1.0 - done) / (reward + 1e-2) + done)


def gradients(
    rows: SoftRows,
    planes: AnyArray,
    theta: AnyArray,
    slope: float,
    sharpness: float,
    loss_slope: LossSlope,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Compute the expected reward (R, n) and the gradients of the loss.

    Parameters
    ----------
    rows : SoftRows
    planes : float array of shape (R, B, d + 1)
    theta : float array of shape (R, L, Y)
        Leaf logits.
    slope, sharpness : float
        Factors of the scores and of the logits.
    loss_slope : LossSlope

    Returns
    -------
    reward, planes_grad, theta_grad : float array
    """
    n_trees, n_branch, width = planes.shape
    right = (planes.reshape(-1, width) @ rows.X.T).reshape(n_trees, n_branch, -1)
    right *= -slope
    np.clip(right, -15.0, 15.0, out=right)
    np.exp(right, out=right)
    right += 1.0
    np.reciprocal(right, out=right)
    share = np.exp(sharpness * (theta - theta.max(axis=2, keepdims=True)))
    share /= share.sum(axis=2, keepdims=True)

    # value[node]: expected reward below a node, from the leaves up.
    leaf_value = _times(share, rows.reward)
    value: list[AnyArray] = [np.empty(0)] * n_branch
    value += [leaf_value[:, l] for l in range(n_branch + 1)]
    for b in range(n_branch - 1, -1, -1):
        value[b] = value[2 * b + 1] + right[:, b] * (
            value[2 * b + 2] - value[2 * b + 1]
        )

    # reach[node]: derivative of the loss by value[node], from the root down.
    reach: list[AnyArray] = [loss_slope(value[0])] + [np.empty(0)] * (2 * n_branch)
    by_right = np.empty_like(right)
    for b in range(n_branch):
        np.multiply(reach[b], value[2 * b + 2] - value[2 * b + 1], out=by_right[:, b])
        reach[2 * b + 2] = reach[b] * right[:, b]
        reach[2 * b + 1] = reach[b] - reach[2 * b + 2]
    by_right *= right
    by_right *= 1.0 - right
    planes_grad = slope * (by_right.reshape(-1, rows.X.shape[0]) @ rows.X)

    by_share = np.stack(reach[n_branch:], axis=1) @ rows.reward.swapaxes(-1, -2)
    theta_grad = share * (by_share - (share * by_share).sum(axis=2, keepdims=True))
    return value[0], planes_grad.reshape(planes.shape), sharpness * theta_grad


def _times(share: AnyArray, reward: AnyArray) -> AnyArray:
    """Multiply the shares of each tree by the rewards: (R, L, n)."""
    if reward.ndim == 3:
        return share @ reward
    flat = share.reshape(-1, share.shape[2]) @ reward
    return flat.reshape(*share.shape[:2], -1)


class Adam:
    """The optimiser Adam for one array, which it changes in place."""

    def __init__(self, x: AnyArray) -> None:
        self.x, self.n_steps = x, 0
        self.mean, self.square = np.zeros_like(x), np.zeros_like(x)

    def __call__(self, gradient: AnyArray, rate: float) -> None:
        """Take one step against a gradient."""
        self.n_steps += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.01 * (gradient * gradient - self.square)
        mean = self.mean / (1 - 0.9**self.n_steps)
        square = self.square / (1 - 0.99**self.n_steps)
        self.x -= rate * mean / (np.sqrt(square) + 1e-8)
