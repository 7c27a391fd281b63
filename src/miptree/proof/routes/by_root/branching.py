"""The point that the search by root branches on next."""

from __future__ import annotations

import numpy as np

from miptree.proof.routes.by_root.below import Below
from miptree.proof.routes.by_root.root_lp import BOTH, RootLp
from miptree.proof.routes.look import LEAST_LACK
from miptree.utils.arrays import FloatArray

_TIMES_BELOW, _SHARE_OF_WORSE = 2.0, 0.1
"""What a point costs at a subtree at hand counts twice, and its worse side a tenth
beside its better one."""


def point_to_branch_on(C: FloatArray, root: RootLp, below: Below) -> int:
    """Return an open point that costs much on both sides, -1 if none costs more.

    ``C`` is the price of each point's missing margins.
    """
    points = np.flatnonzero(root.mask == BOTH)
    if len(points) == 0:
        return -1
    rise = np.stack([below.rise(side, points) for side in range(2)], axis=1)
    score = root.score[points]
    at_own_side = rise[np.arange(len(points)), (score > 0.0).astype(int)]
    lack = C[points] * np.maximum(0.0, 1.0 - np.abs(score))
    worth = root.gain[points] + _TIMES_BELOW * rise
    key = worth.min(axis=1) + _SHARE_OF_WORSE * worth.max(axis=1)
    key[lack + at_own_side <= LEAST_LACK] = -1.0
    best = int(key.argmax())
    return int(points[best]) if key[best] >= 0.0 else -1
