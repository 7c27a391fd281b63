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
from miptree.utils.arrays import FloatArray, IntArray

ALL_DIGITS = 17
"""Significant digits that tell any two float64 apart."""
_TRIED = (2, 3, 4, 5, 6)
"""Digits of coefficients that are tried; one would be off by a third at times."""
_MOST_OF_THRESHOLD = 12
"""Digits of a threshold, beyond which a split is not easier to read for it; rows that
lie on a split are told apart in its tenth digit or so."""
_NOTHING = 1e-9
"""Part of the largest score below which a threshold is shown as 0 if no row moves:
it passes rows whose number is 0 by as little as rounding asks for."""
_MOST_ROWS = 100_000
"""Among more rows some always lie very near to a split; a fit has no time to look."""


def units_of(tree: ObliqueTree, spread: FloatArray | None) -> FloatArray:
    """Return (n_nodes,): the size of each split's weightiest coefficient, or 1.

    In such a unit a split reads ``debt + 56 late - 0.1 savings <= -20``, in units of
    the debt, and not ``0.0003162 debt + 0.01777 late - ...``. The weight of a term is
    its coefficient times the spread of its column; where none is known, units are 1.
    """
    if spread is None:
        return np.ones(tree.n_nodes)
    size = np.abs(tree.coef)
    # Rounded, so that of terms of equal weight the first is taken.
    weight = _to_digits(size * np.where(spread > 0, spread, 1.0), 6)
    unit: FloatArray = size[np.arange(len(size)), weight.argmax(axis=1)]
    unit = np.where(unit > 0, unit, 1.0)
    # A quotient may be too large for a number, or too small for all of its digits.
    with np.errstate(over="ignore"):
        largest = np.maximum(size.max(axis=1), np.abs(tree.threshold)) / unit
    least = np.where(size > 0, size, np.inf).min(axis=1) / unit
    return np.where((largest < 1e150) & (least > 1e-150), unit, 1.0)


def in_units(tree: ObliqueTree, unit: FloatArray) -> ObliqueTree:
    """Return the tree with the numbers of each node divided by a unit."""
    return replace(
        tree, coef=tree.coef / unit[:, None], threshold=tree.threshold / unit
    )


def digits_that_matter(
    tree: ObliqueTree, X: FloatArray, unit: FloatArray | None = None
) -> IntArray:
    """Find to how few digits the numbers of each split can be rounded.

    Parameters
    ----------
    tree : ObliqueTree
    X : float array of shape (n_samples, n_features)
        The rows that must not change sides, as the tree reads them.
    unit : float array of shape (n_nodes,), optional
        What the numbers of each node are divided by before, see :func:`units_of`.

    Returns
    -------
    int array of shape (n_nodes, 2)
        Significant digits of the coefficients and of the threshold, none where it
        is shown as 0, with which :func:`rounded` (in units) sends every row of X to the
        leaf of the tree;
        ``ALL_DIGITS`` where a split has rows so near that few digits do not do, and
        for more than 100,000 rows.
    """
    unrounded = np.full((tree.n_nodes, 2), ALL_DIGITS)
    if len(X) > _MOST_ROWS:
        return unrounded
    digits, leaf = unrounded.copy(), tree.apply(X)
    tree = tree if unit is None else in_units(tree, unit)
    passes = tree.ancestors[leaf]
    largest = np.abs(X).max(axis=0, initial=0.0)
    for node in np.flatnonzero(~tree.is_leaf):
        goes_left = passes[:, tree.children_left[node]]
        goes_right = passes[:, tree.children_right[node]]
        threshold = tree.threshold[node]
        coef = np.stack([_to_digits(tree.coef[node], k) for k in _TRIED])
        error = rounding_error(coef, threshold, largest)
        if np.count_nonzero(tree.coef[node]) == 1:
            error[np.abs(coef).max(axis=1) == 1.0] = 0.0  # nothing is rounded
        score = coef @ X.T
        low = score[:, goes_left].max(axis=1, initial=-np.inf) + error
        high = score[:, goes_right].min(axis=1, initial=np.inf) - error
        for k, of_coef in enumerate(_TRIED):
            least = _NOTHING * float(np.abs(score[k]).max(initial=0.0))
            of_threshold = _fewest_between(low[k], high[k], float(threshold), least)
            if of_threshold is not None:
                digits[node] = of_coef, of_threshold
                break
    is_kept = np.array_equal(rounded(tree, digits).apply(X), leaf)
    return digits if is_kept else unrounded


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
    if digits == 0:
        return np.zeros(numbers.shape)
    shown = [float(f"{number:.{digits - 1}e}") for number in numbers.ravel().tolist()]
    return np.array(shown).reshape(numbers.shape)


def _fewest_between(
    low: float, high: float, threshold: float, least: float
) -> int | None:
    """Find the fewest digits to which the threshold rounds into [low, high).

    It rounds to 0, without any digits, only if it is below ``least``.
    """
    for digits in range(int(abs(threshold) >= least), _MOST_OF_THRESHOLD + 1):
        if low <= float(_to_digits(threshold, digits)) < high:
            return digits
    return None
