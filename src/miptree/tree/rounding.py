"""Round a tree's numbers for people, so that no training row changes sides.

People read rules, and ``0.83 width - 2.1 height <= 4.1`` says more than sixteen digits
do. For every split the fewest digits are found with which its training rows still fall
on their sides. Only the numbers of digits are kept, so that what is shown is always a
rounding of the tree itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from miptree.tree import ObliqueTree, rounding_error
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

ALL_DIGITS = 17
"""Significant digits that tell any two float64 apart."""
_TRIED = (2, 3, 4, 5, 6)
"""Digits of coefficients that are tried; one would be off by a third at times."""
_MOST_OF_THRESHOLD = 8
"""Digits of a threshold, beyond which a split is not easier to read for it."""
_MOST_ROWS = 100_000
"""Among more rows some always lie very near to a split; a fit has no time to look."""
_BLOCK_ELEMENTS = 1 << 22
"""Rows x features of a block, which bounds the memory of the scores."""


def digits_that_matter(tree: ObliqueTree, X: FloatArray) -> IntArray:
    """Find to how few digits the numbers of each split can be rounded.

    Parameters
    ----------
    tree : ObliqueTree
    X : float array of shape (n_samples, n_features)
        The rows that must not change sides, as the tree reads them.

    Returns
    -------
    int array of shape (n_nodes, 2)
        Significant digits of the coefficients and of the threshold, with which
        :func:`rounded` sends every row of X to the leaf that the tree sends it to;
        ``ALL_DIGITS`` where a split has rows so near that few digits do not do, and
        for more than 100,000 rows.
    """
    if len(X) > _MOST_ROWS:
        return np.full((tree.n_nodes, 2), ALL_DIGITS)
    branch = np.flatnonzero(~tree.is_leaf)
    tries = np.stack([_to_digits(tree.coef[branch], digits) for digits in _TRIED])
    left, right = _extremes(tree, X, tries)
    error = _error(tree, X, tries)
    digits = np.full((tree.n_nodes, 2), ALL_DIGITS)
    for b, node in enumerate(branch):
        for k, of_coef in enumerate(_TRIED):
            low, high = left[k, b] + error[k, b], right[k, b] - error[k, b]
            of_threshold = _fewest_between(low, high, float(tree.threshold[node]))
            if of_threshold is not None:
                digits[node] = of_coef, of_threshold
                break
    if np.array_equal(rounded(tree, digits).apply(X), tree.apply(X)):
        return digits
    return np.full((tree.n_nodes, 2), ALL_DIGITS)


def rounded(tree: ObliqueTree, digits: IntArray) -> ObliqueTree:
    """Return the tree with the numbers of each node rounded to so many digits."""
    coef = [_to_digits(c, k) for c, k in zip(tree.coef, digits[:, 0], strict=True)]
    pairs = zip(tree.threshold, digits[:, 1], strict=True)
    threshold = [_to_digits(t, k) for t, k in pairs]
    return replace(
        tree,
        coef=np.array(coef).reshape(tree.coef.shape),
        threshold=np.array(threshold).ravel(),
    )


def _to_digits(numbers: FloatArray | float, digits: int) -> FloatArray:
    numbers = np.asarray(numbers)
    shown = [float(f"{number:.{digits - 1}e}") for number in numbers.ravel().tolist()]
    return np.array(shown).reshape(numbers.shape)


def _extremes(
    tree: ObliqueTree, X: FloatArray, tries: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return (K, B): largest score of rows that go left, smallest of those right.

    Only rows that reach the split count.
    """
    shape = tries.shape[:2]
    left, right = np.full(shape, -np.inf), np.full(shape, np.inf)
    columns = tries.reshape(shape[0] * shape[1], tree.n_features).T
    step = max(1, _BLOCK_ELEMENTS // max(1, tree.n_features, columns.shape[1]))
    for start in range(0, len(X), step):
        block = X[start : start + step]
        score = (block @ columns).reshape(len(block), *shape)
        goes_left, goes_right = _sides(tree, block)
        for b in range(shape[1]):
            top = score[goes_left[:, b], :, b].max(axis=0, initial=-np.inf)
            low = score[goes_right[:, b], :, b].min(axis=0, initial=np.inf)
            left[:, b] = np.maximum(left[:, b], top)
            right[:, b] = np.minimum(right[:, b], low)
    return left, right


def _sides(tree: ObliqueTree, X: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return (n, B): rows that reach the left and the right child of each split."""
    branch = np.flatnonzero(~tree.is_leaf)
    passed = tree.ancestors[tree.apply(X)]
    left, right = tree.children_left[branch], tree.children_right[branch]
    return passed[:, left], passed[:, right]


def _error(tree: ObliqueTree, X: FloatArray, tries: FloatArray) -> FloatArray:
    """Return (K, B): how far a product can be from the sum in order."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    n_tries, n_branch, n_features = tries.shape
    threshold = np.tile(tree.threshold[~tree.is_leaf], n_tries)
    flat = tries.reshape(n_tries * n_branch, n_features)
    return rounding_error(flat, threshold, largest).reshape(n_tries, n_branch)


def _fewest_between(low: float, high: float, threshold: float) -> int | None:
    """Find the fewest digits to which the threshold rounds into [low, high)."""
    for digits in range(1, _MOST_OF_THRESHOLD + 1):
        if low <= float(_to_digits(threshold, digits)) < high:
            return digits
    return None
