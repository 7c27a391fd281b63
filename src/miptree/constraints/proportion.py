"""Constraints for a part of the rows: bounds that count rows shrink with them."""

from __future__ import annotations

from dataclasses import replace

from miptree.constraints.constraint import Constraint
from miptree.constraints.leaves import MinLeaf
from miptree.constraints.rates import MaxCost


def in_proportion(constraint: Constraint, share: float) -> Constraint:
    """Return what a constraint asks of a part of the rows.

    Rates and columns are the same for any number of rows; the size of a leaf and a
    budget are not.

    Parameters
    ----------
    constraint : Constraint
    share : float
        The rows counted over those that the bound was meant for.

    Examples
    --------
    >>> from miptree.constraints import MinLeaf
    >>> in_proportion(MinLeaf(rows=20), 0.25)
    MinLeaf(rows=5, weight=None)
    """
    if share == 1.0:
        return constraint
    if isinstance(constraint, MinLeaf) and constraint.rows is not None:
        return replace(constraint, rows=max(1, round(share * constraint.rows)))
    if isinstance(constraint, MinLeaf) and constraint.weight is not None:
        return replace(constraint, weight=share * constraint.weight)
    if isinstance(constraint, MaxCost):
        return replace(constraint, bound=share * constraint.bound)
    return constraint
