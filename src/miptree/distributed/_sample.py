"""How a stratified sample of all rows is shared out among the partitions."""

from __future__ import annotations

import numpy as np

from miptree.utils.arrays import IntArray


def allot(class_count: IntArray, max_rows: int, seed: int) -> IntArray:
    """Return (n_partitions, Y): how many rows of each class each partition draws.

    Every row of a class has the same chance. All classes have their shares of the
    rows, to a row, and at least one of it.

    Parameters
    ----------
    class_count : int array of shape (n_partitions, Y)
        Rows of each class in each partition; each class has some.
    max_rows : int
        Rows of the sample; a few more where classes are rare.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> allot(np.array([[50, 0], [30, 1], [20, 0]]), 10, seed=0).sum(axis=0)
    array([10,  1])
    """
    total = class_count.sum(axis=0)
    share = min(1.0, max_rows / total.sum())
    size = np.maximum(1, np.rint(share * total)).astype(np.int64)
    # A ruler with a mark for each row to draw is laid along the rows of a class; where
    # it begins is left to chance. In whole numbers nothing is lost by rounding.
    start = np.random.default_rng(seed).integers(total)
    rows_before = np.vstack([np.zeros_like(total), np.cumsum(class_count, axis=0)])
    allotted: IntArray = np.diff((rows_before * size + start) // total, axis=0)
    return allotted


def scaled_penalty(penalty: float, share: float) -> float:
    """Return a feature penalty for a sample that is such a part of the rows.

    It has three digits: costs are counted in whole numbers of a unit, and one that
    divides numbers of many digits would be very small.

    Examples
    --------
    >>> scaled_penalty(5.0, 1 / 3), scaled_penalty(1.2345, 1.0)
    (1.67, 1.2345)
    """
    return penalty if share == 1.0 else float(f"{share * penalty:.3g}")
