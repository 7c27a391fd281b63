"""Points made ready for the hull kernel: merged, scaled, of full rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from miptree.data.merging import identical_rows
from miptree.selection._hull_columns import TOLERANCE
from miptree.utils.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class DistinctPoints:
    """Distinct points of a table in units where every feature spans [-1, 1].

    Attributes
    ----------
    first : int array of shape (n_distinct,)
        A row of each distinct point, the first one.
    group : int array of shape (n_rows,)
        Number of each row's distinct point.
    Z : float array of shape (n_distinct, d)
        The points; constant features are left out.
    half_span : float array of shape (d,)
        What 1 is in the units of the table.
    varies : bool array of shape (n_features,)
        The features that are in Z.
    """

    first: IntArray
    group: IntArray
    Z: FloatArray
    half_span: FloatArray
    varies: BoolArray

    @classmethod
    def of(cls, X: FloatArray) -> DistinctPoints:
        """Merge and scale the rows of a table."""
        some, group = identical_rows(X)
        first = np.full(len(some), len(X), dtype=np.intp)
        np.minimum.at(first, group, np.arange(len(X)))
        X = X[first]
        low, high = X.min(axis=0), X.max(axis=0)
        # Halves first: the span of finite numbers may be infinite.
        middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
        varies = high > low
        Z = (X[:, varies] - middle[varies]) / half[varies]
        return cls(first, group, Z, half[varies], varies)

    def full_rank(self) -> FloatArray:
        """Return Z, or its coordinates in the flat it lies in (to rounding)."""
        Z = self.Z - self.Z.mean(axis=0)
        size, axes = np.linalg.eigh(Z.T @ Z)
        rank = int((size > 1e-14 * size[-1]).sum())
        if rank == Z.shape[1]:
            return self.Z
        axes = axes[:, -rank:]
        flat = Z @ axes
        if np.abs(Z - flat @ axes.T).max() > 0.1 * TOLERANCE:
            return self.Z
        flat /= np.abs(flat).max(axis=0)
        return np.ascontiguousarray(flat)

    def weights_of_rows(
        self, weight_on: IntArray, weight: FloatArray
    ) -> sparse.csr_array:
        """Give weights between distinct points (-1: none) to all rows of a point."""
        point, slot = np.nonzero(weight_on >= 0)
        on = self.first[weight_on[point, slot]]
        shape = (len(self.first), len(self.group))
        table = sparse.csr_array((weight[point, slot], (point, on)), shape=shape)
        total = np.asarray(table.sum(axis=1)).ravel()
        # They add up to one already, but for rounding.
        table = sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)) @ table
        return sparse.csr_array(table[self.group])


def checked_points(X: ArrayLike) -> FloatArray:
    """Return a finite table of at least one row and column, or raise a clear error."""
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or 0 in points.shape:
        raise ValueError(
            "X must be a table with at least one row and one column, got shape "
            f"{points.shape}."
        )
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        raise ValueError(
            f"X must be finite, but {int(bad.sum())} rows hold NaN or infinity, the "
            f"first is row {int(bad.argmax())}. Fill them in or leave them out."
        )
    return points + 0.0  # -0.0 becomes 0.0


def checked_eps(eps: ArrayLike, n_features: int) -> FloatArray:
    """Return the box eps' for every feature, or raise a clear error."""
    box = np.asarray(eps, dtype=np.float64)
    if box.ndim > 1 or (box.ndim == 1 and len(box) != n_features):
        raise ValueError(
            f"eps must be one number or one for each of the {n_features} features, "
            f"got shape {box.shape}."
        )
    if not (np.isfinite(box).all() and (box >= 0).all()):
        raise ValueError(f"eps must be finite and >= 0, got {eps!r}.")
    return np.broadcast_to(box, (n_features,))
