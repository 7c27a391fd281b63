"""How unequally predictions treat protected groups."""

from __future__ import annotations

import numpy as np

from miptree.utils.arrays import FloatArray, IntArray


def disparate_impact(
    predicted: IntArray, group: IntArray, n_classes: int, weight: FloatArray
) -> float:
    """Return the disparate impact discrimination index of predicted classes.

    The sum over protected groups g and classes k of abs(P(k | g) - P(k)), Definition 1
    of Aghaei, Azizi & Vayanos for classification; 0 when the predictions do not
    depend on the group.
    """
    y_hat = np.eye(n_classes)[predicted]
    return float(np.abs(group_shares(group, weight) @ y_hat).sum())


def group_shares(group: IntArray, weight: FloatArray) -> FloatArray:
    """Return (G, n): what a prediction adds to P(k | g) - P(k)."""
    members = (group[None, :] == np.unique(group)[:, None]) * weight
    share: FloatArray = members / members.sum(axis=1, keepdims=True)
    return share - weight / weight.sum()
