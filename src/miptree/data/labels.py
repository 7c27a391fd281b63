"""Classes and weights of the rows and costs of the errors, as the user gives them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets

from miptree.data.cells import row_name
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

SMALLEST_WEIGHT = 1e-5
"""A row must have this weight at least: solvers call 1e-7 zero."""


def class_codes(y: AnyArray) -> tuple[AnyArray, IntArray]:
    """Return the classes in order, at least two, and each row's class index."""
    _check_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least 2 classes, got one class: {classes.tolist()[0]!r}."
        )
    return classes, codes


def _check_targets(y: AnyArray) -> None:
    """Refuse labels that are no classes, and say which and what to do."""
    try:
        check_classification_targets(y)
    except ValueError as error:
        if y.dtype.kind != "f" or y.ndim != 1:
            raise
        example = float(y[np.flatnonzero(y != np.round(y))[0]])
        raise ValueError(
            f"Unknown label type: continuous. y holds numbers such as {example:g}, "
            "which are no classes. Put them into a few first, or write them as text."
        ) from error


def row_weights(
    class_weight: dict[Any, float] | str | None,
    classes: AnyArray,
    codes: IntArray,
    sample_weight: ArrayLike | None,
) -> tuple[FloatArray, FloatArray]:
    """Return the weight of each row, times that of its class; and those of the classes.

    "balanced" gives all classes the same total, counted in the rows' own weights, so
    that a row of weight 2 is always the same as the row given twice.
    """
    weight = checked_weight(sample_weight, len(codes))
    if not weight.any():
        raise ValueError("All sample weights are zero: there is nothing to learn.")
    total = np.bincount(codes, weight, minlength=len(classes))
    if class_weight is None:
        return above_tolerance(weight), np.ones(len(classes))
    if isinstance(class_weight, str):
        factor = weight.sum() / (len(classes) * np.where(total > 0, total, 1.0))
    else:
        factor = _by_class(class_weight, classes)
    weight = weight * factor[codes]
    if not weight.any():
        raise ValueError("Every row has weight zero by class_weight: nothing to learn.")
    return above_tolerance(weight), factor


def above_tolerance(weight: FloatArray) -> FloatArray:
    """Return the weights, unless a solver's tolerance would hide every error."""
    if weight.max() < SMALLEST_WEIGHT:
        raise ValueError(
            f"The largest weight of a row is {weight.max():g}, below "
            f"{SMALLEST_WEIGHT:g}: errors would drown in the tolerances of a solver, "
            "and in the penalties, which are meant for rows of weight 1. Multiply all "
            "weights by the same number, so that an ordinary row has weight 1."
        )
    return weight


def _by_class(class_weight: dict[Any, float], classes: AnyArray) -> FloatArray:
    """Return the weight of each class, 1 where the dict names none."""
    labels = classes.tolist()
    # As in scikit-learn: a class too many may be one that a fold lacks.
    is_complete = all(label in class_weight for label in labels)
    for label, weight in class_weight.items():
        if label not in labels and not is_complete:
            raise ValueError(
                f"class_weight names {label!r}, which is not a class; the classes are "
                f"{', '.join(map(repr, labels[:20]))}."
            )
        if not (np.isfinite(weight) and weight >= 0):
            raise ValueError(
                f"class_weight of {label!r} must be a finite number >= 0, got "
                f"{weight!r}."
            )
    return np.array([class_weight.get(label, 1.0) for label in labels], dtype=float)


def checked_costs(
    cost_matrix: ArrayLike, classes: AnyArray, largest: float
) -> FloatArray:
    """Return (Y, Y): cost of predicting class k for a row of class j, after checks.

    No cost may exceed ``largest``.
    """
    costs = np.asarray(cost_matrix, dtype=np.float64)
    wanted = (len(classes), len(classes))
    if costs.shape != wanted:
        raise ValueError(
            f"cost_matrix must have shape {wanted}, a row for each class of y and a "
            f"column for each class predicted, got {costs.shape}."
        )
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("cost_matrix must hold finite numbers >= 0.")
    if np.diagonal(costs).any():
        k = int(np.flatnonzero(np.diagonal(costs))[0])
        raise ValueError(
            f"cost_matrix[{k}, {k}] is {costs[k, k]:g}, but the diagonal must be 0: a "
            "right prediction costs nothing."
        )
    if not costs.any():
        raise ValueError("cost_matrix is 0 throughout: there is nothing to learn.")
    if costs.max() > largest * (1 + 1e-12):
        raise ValueError(
            f"slack_penalty * margin is {largest:g} and must be at least the largest "
            f"cost of an error, {costs.max():g}: otherwise points on a hyperplane "
            "would be cheaper. Raise slack_penalty, or divide cost_matrix."
        )
    return costs


def price_by_class(costs: FloatArray) -> FloatArray | None:
    """Return (Y,): what an error costs for a row of each class, if that is one number.

    Such costs are weights of the rows: the same as a ``class_weight``. None where it
    matters which class is predicted, or where an error costs nothing.
    """
    n_classes = len(costs)
    errors = costs[~np.eye(n_classes, dtype=bool)].reshape(n_classes, n_classes - 1)
    price = errors[:, 0]
    is_one_number = (errors == price[:, None]).all() and (price > 0).all()
    return price.copy() if is_one_number else None


def checked_weight(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """Return the weights of the rows, 1 each by default, after checks."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. "
            "Give one weight >= 0 for each row."
        )
    if len(weight) != n_rows:
        raise ValueError(
            f"sample_weight has {len(weight)} values, but X has {n_rows} rows. Give "
            "one weight >= 0 for each row."
        )
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"sample_weight must hold finite numbers >= 0, got {weight[row]} in "
            f"{row_name(row)}; negative, NaN and infinite ones are refused."
        )
    return weight


class ErrorCosts(NamedTuple):
    """Costs of predicting each class for each row.

    Row i costs ``base[i] + spread[i] * share[i, k]`` where class k is predicted. In the
    plain case the base is 0, the spread and the least error are the weight, and the
    share is 0 for the row's own class and 1 for the others.
    """

    base: FloatArray
    """(n,): cost of the cheapest class, which no tree avoids."""
    spread: FloatArray
    """(n,): cost of the most costly class beyond that."""
    share: FloatArray
    """(n, Y): part of the spread that each class costs."""
    own: IntArray
    """(n,): the cheapest class; the row's class where that is among them."""
    least_error: FloatArray
    """(n,): what any other class costs at least, beyond the base."""

    @classmethod
    def of(cls, y: IntArray, class_cost: FloatArray) -> ErrorCosts:
        """Split costs of shape (n, Y) into these parts."""
        rows = np.arange(len(y))
        base, most = class_cost.min(axis=1), class_cost.max(axis=1)
        beyond, spread = class_cost - base[:, None], most - base
        own = np.where(beyond[rows, y] == 0, y, beyond.argmin(axis=1))
        share = beyond / np.where(spread > 0, spread, 1.0)[:, None]
        beyond[rows, own] = np.inf
        return cls(base, spread, share, own, beyond.min(axis=1))

    @property
    def is_partial(self) -> np.ndarray:
        """(n,): rows for which some error costs less than another."""
        return np.asarray(((self.share > 0) & (self.share < 1)).any(axis=1))

    @property
    def of_class(self) -> FloatArray:
        """(Y,): least cost of getting all rows of a class wrong."""
        n_classes = self.share.shape[1]
        total = np.bincount(self.own, self.least_error, minlength=n_classes)
        return total.astype(np.float64)


def plain_costs(y: IntArray, weight: FloatArray, n_classes: int) -> FloatArray:
    """Return (n, Y): the weight for every class but the row's own."""
    cost = np.repeat(weight[:, None], n_classes, axis=1)
    cost[np.arange(len(y)), y] = 0.0
    return cost
