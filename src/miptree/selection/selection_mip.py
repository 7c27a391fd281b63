"""The data selection problem (5) as a MIP, with any f and g, for small clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from miptree.control.clock import Clock
from miptree.mip.model import Model, ModelBuilder
from miptree.mip.solvers import Limits, get_solver
from miptree.mip.solvers.base import NO_LIMITS
from miptree.selection._points import checked_eps, checked_points
from miptree.utils.arrays import BoolArray, FloatArray

LARGEST = 300
"""Points above which n**2 variables are too many."""


@dataclass(frozen=True, eq=False)
class ExactSelection:
    """A solution of (5).

    Attributes
    ----------
    selected, covered : bool array of shape (n,)
        a and b.
    weights : csr_array of shape (n, n)
        lambda.
    objective, bound : float
        f @ a - g @ b, and a lower bound on it for every selection.
    """

    selected: BoolArray
    covered: BoolArray
    weights: sparse.csr_array
    objective: float
    bound: float


def solve_selection(
    X: ArrayLike,
    f: ArrayLike = 0.0,
    g: ArrayLike = 1.0,
    eps: ArrayLike = 0.0,
    limits: Limits = NO_LIMITS,
) -> ExactSelection:
    """Solve the data selection problem (5) of a small cluster.

    Parameters
    ----------
    X : array-like of shape (n, d)
        At most 300 points.
    f : float or array-like of shape (n,), default=0
        Cost of selecting each point, >= 0.
    g : float or array-like of shape (n,), default=1
        Gain of covering each point, >= 0.
    eps : float or array-like of shape (d,), default=0
        eps', in the units of X.
    limits : Limits, optional
        Limits of the MIP solver, by default none.
    """
    return read_solution(*solve_01(selection_model(X, f, g, eps), limits))


def solve_01(
    model: Model,
    limits: Limits,
    start: FloatArray | None = None,
    clock: Clock | None = None,
) -> tuple[Model, FloatArray, float]:
    """Solve a model from a start, by default "select and cover nothing".

    Returns the model, its solution and the bound.
    """
    start = np.zeros(model.n_variables) if start is None else start
    clock = clock or Clock(limits.seconds)
    limits = replace(limits, seconds=clock.remaining)
    result = get_solver("highs").solve(
        model, start, limits, on_progress=lambda _: clock.is_over
    )
    x = start if result.x is None else result.x
    return model, x, result.bound


def selection_model(
    X: ArrayLike,
    f: ArrayLike,
    g: ArrayLike,
    eps: ArrayLike = 0.0,
    relaxed: bool = False,
) -> Model:
    """Build (5) as a model; ``relaxed`` gives its LP relaxation (9)."""
    points = checked_points(X)
    n, d = points.shape
    if n > LARGEST:
        raise ValueError(
            f"(5) has {n} * {n - 1} weights for {n} points; at most {LARGEST} points "
            "are solved at once. Use HullSelection, or BalancedSelection, which "
            "divides large clusters."
        )
    price, worth = _prices("f", f, n), _prices("g", g, n)
    # Units in which every feature spans 1, for the solver's tolerances.
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    span = np.where(span > 0, span, 1.0)
    points, box = (points - low) / span, checked_eps(eps, d) / span
    others = np.array([np.delete(np.arange(n), j) for j in range(n)], dtype=np.intp)
    others = others.reshape(n, n - 1)
    m = ModelBuilder()
    a = m.variables("a", (n,), upper=1, cost=price, integer=not relaxed)
    b = m.variables("b", (n,), upper=1, cost=-worth, integer=not relaxed)
    weight = m.variables("lambda", (n, n - 1), upper=1)
    combined = (weight[:, None, :], -points[others].transpose(0, 2, 1))
    m.rows("(5) box", (n, d), (b[:, None], points), combined, lower=-box, upper=box)
    m.rows("(5) sum", (n,), (weight, 1.0), (b, -1.0), lower=0, upper=0)
    m.rows("(5) selected", (n, n - 1), (weight, 1.0), (a[others], -1.0), upper=0)
    m.rows("(5) either", (n,), (a, 1.0), (b, 1.0), upper=1)
    return m.finish()


def read_solution(model: Model, x: FloatArray, bound: float) -> ExactSelection:
    """Turn a 0-1 solution into a selection."""
    n = len(model.variables["a"])
    weight = x[model.variables["lambda"]]
    j, slot = np.nonzero(weight > 1e-9)
    table = (weight[j, slot], (j, slot + (slot >= j)))
    return ExactSelection(
        x[model.variables["a"]] > 0.5,
        x[model.variables["b"]] > 0.5,
        sparse.csr_array(table, shape=(n, n)),
        model.objective(x),
        bound,
    )


def _prices(name: str, given: ArrayLike, n: int) -> FloatArray:
    prices = np.asarray(given, dtype=np.float64)
    if prices.ndim and prices.shape != (n,):
        raise ValueError(
            f"{name} must be one number or one for each of the {n} points, got shape "
            f"{prices.shape}."
        )
    if not (np.isfinite(prices).all() and (prices >= 0).all()):
        raise ValueError(f"{name} must be finite and >= 0.")
    return np.broadcast_to(prices, (n,))
