"""How much the splits of a tree use each column that it reads."""

from __future__ import annotations

import numpy as np

from miptree.tree.oblique import ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray


def column_use(tree: ObliqueTree, spread: FloatArray, n_rows: IntArray) -> FloatArray:
    """Add up the shares of columns in splits, each by the rows that reach the split.

    A column's share of a split is its abs(coefficient) times its spread, divided by the
    sum of these over all columns. Where no column of a split varies, the coefficients
    alone count.

    Parameters
    ----------
    tree : ObliqueTree
    spread : float array of shape (n_features,)
        Standard deviation of each column.
    n_rows : int array of shape (n_nodes,)
        Rows that reach each node.

    Returns
    -------
    float array of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from miptree.tree import HeapTree
    >>> heap = HeapTree(np.array([[1.0, -3.0]]), np.array([3.0]), np.array([0, 1]))
    >>> tree = ObliqueTree.from_heap(heap)
    >>> column_use(tree, np.array([1.0, 1.0]), np.array([8, 5, 3])).tolist()
    [2.0, 6.0]
    """
    size = np.abs(tree.coef) * spread
    does_vary = size.any(axis=1, keepdims=True)
    size = np.where(does_vary, size, np.abs(tree.coef))
    total = np.maximum(size.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    use: FloatArray = (n_rows[:, None] * (size / total)).sum(axis=0)
    return use
