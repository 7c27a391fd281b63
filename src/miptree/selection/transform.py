"""T(lambda): weights on selected points only, from weights on any points."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from miptree.utils.arrays import BoolArray


def transform_weights(weights: sparse.csr_array, inside: BoolArray) -> sparse.csr_array:
    """Express every inside point by points that are not inside themselves.

    As long as an inside point i is used
    to express j, it is replaced by its own expression,
    ``lambda_j' = (lambda_jk + lambda_ji lambda_ik) / (1 - lambda_ji lambda_ij)``.
    Exact for eps' = 0; for eps' > 0 the differences add up, and may exceed eps'.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        lambda, a row for each inside point.
    inside : bool array of shape (n,)
        b.

    Raises
    ------
    ValueError
        If two points express each other alone, as duplicates do: then neither can be
        dropped for the other, and the paper's formula divides by zero.
    """
    table = weights.tocsr()
    rows = {
        int(j): dict(
            zip(
                table.indices[table.indptr[j] : table.indptr[j + 1]].tolist(),
                table.data[table.indptr[j] : table.indptr[j + 1]].tolist(),
                strict=True,
            )
        )
        for j in np.flatnonzero(inside)
    }
    for i, expression in rows.items():
        for j, row in rows.items():
            if j != i and i in row:
                _substitute(j, row, i, expression)
    value = [w for row in rows.values() for w in row.values()]
    row_of = [j for j, row in rows.items() for _ in row]
    column = [k for row in rows.values() for k in row]
    return sparse.csr_array((value, (row_of, column)), shape=table.shape)


def _substitute(
    j: int, row: dict[int, float], i: int, expression: dict[int, float]
) -> None:
    """Replace point i in the expression of j by the expression of i."""
    used = row.pop(i)
    for k, w in expression.items():
        row[k] = row.get(k, 0.0) + used * w
    left = 1.0 - row.pop(j, 0.0)
    if left < 1e-12:
        raise ValueError(
            f"Points {i} and {j} express each other alone, so that nothing else "
            "can. Merge duplicates first; for eps' > 0 use CoverSelection."
        )
    for k in row:
        row[k] /= left
