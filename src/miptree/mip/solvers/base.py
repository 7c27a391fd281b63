"""What goes into a solve and what comes out of it: limits, progress and result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from miptree.control.clock import End
from miptree.mip.model import Model
from miptree.utils.arrays import FloatArray

LARGEST_SEED = 2_000_000_000
"""Largest seed that Gurobi and CPLEX take; numpy's go higher."""


@dataclass(frozen=True)
class Limits:
    """When a solver must stop, and what it may use.

    Parameters
    ----------
    seconds : float or None
        Wall-clock seconds.
    nodes : int or None
        Branch-and-bound nodes: the deterministic budget.
    gap : float
        Relative gap (objective - bound) / abs(objective) that is good enough.
    threads : int
        Threads the solver may use.
    seed : int
        Seed of the solver's own random choices.
    """

    seconds: float | None = None
    nodes: int | None = None
    gap: float = 0.0
    threads: int = 1
    seed: int = 0


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Progress:
    """A solver's state during a solve.

    Attributes
    ----------
    seconds : float
        Since the solve began.
    objective, bound : float
        Best solution (inf without one) and best lower bound (-inf without one).
    nodes : int
        Branch-and-bound nodes done.
    """

    seconds: float
    objective: float
    bound: float
    nodes: int


OnProgress = Callable[[Progress], bool | None]
"""Called now and then from the solve; a true answer stops it."""

OnIncumbent = Callable[[FloatArray], FloatArray | None]
"""Called with each better solution; may answer with a still better one."""


@dataclass(frozen=True, eq=False)
class Result:
    """Outcome of a solve.

    Attributes
    ----------
    status : str
        Why it ended. "optimal" and "gap_tol" are the solver's own words about its own
        numbers; whether a *tree* is optimal is for ``certify`` to say.
    x : float array or None
        Best solution found.
    objective, bound : float
        Value of x, and a lower bound on every solution.
    nodes : int
        Branch-and-bound nodes.
    seconds : float
        Wall-clock time of the solve.
    solver : str
        Name and version.
    """

    status: End
    x: FloatArray | None
    objective: float
    bound: float
    nodes: int
    seconds: float
    solver: str


class SolverLicenceError(ValueError):
    """The licence found does not allow the solve."""

    @classmethod
    def of(cls, solver: str, model: Model, reason: object) -> SolverLicenceError:
        """Return the error for a model, with what to do about it."""
        return cls(
            f"{solver} refused a model of {model.n_rows} rows x {model.n_variables} "
            f"columns ({reason}). Its free licence is limited in size: install a full "
            'licence, or use solver="highs", which has no limit.'
        )


START_TOLERANCE = 1e-6
"""A start that violates no row by more than this is feasible to every solver."""

TIGHTEST_TOLERANCE = 1e-9
"""Smallest feasibility tolerance that every solver takes."""

LOOSEST_TOLERANCE = 1e-7
"""Largest tolerance of reduced costs that a solver of MIPs is called with: what it can
hide is taken off every bound."""


def is_feasible(model: Model, x: FloatArray | None) -> bool:
    """Return whether x satisfies the model to the solvers' tolerance."""
    return x is not None and max(model.violation(x).values()) <= START_TOLERANCE


def keep_better(model: Model, result: Result, start: FloatArray | None) -> Result:
    """Return the result, or the start in its place where the solver lost it."""
    if start is None or not is_feasible(model, start):
        return result
    value = model.objective(start)
    if result.x is not None and result.objective <= value:
        return result
    bound = believed_bound(result.bound, value)
    status = result.status
    if bound == -np.inf and status in ("optimal", "infeasible"):
        status = "gap_tol"
    return replace(result, status=status, x=start, objective=value, bound=bound)


def believed_bound(bound: float, value: float) -> float:
    """Return the bound as far as the value of a known solution lets us believe it.

    Within its tolerance a solution may lie below the bound of a stricter solver; the
    bound is then lowered to the value. A solution that lies further below refutes the
    bound: nothing is known, and -inf is returned.
    """
    if bound - value > START_TOLERANCE * max(1.0, abs(value)):
        return -np.inf
    return min(bound, value)


INFINITY = 1e20
"""From here on a number stands for an infinite one, for every solver."""


def clip_infinite(value: float, unknown: float) -> float:
    """Return the value, or inf with its sign where the solver calls it infinite.

    ``unknown`` takes the place of NaN, which says nothing.
    """
    if np.isnan(value):
        return unknown
    return value if abs(value) < INFINITY else float(np.copysign(np.inf, value))


def is_vector(model: Model, x: FloatArray) -> bool:
    """Return whether x has a number for each variable, be it a solution or not."""
    has_all = np.shape(x) == (model.n_variables,)
    return has_all and bool((np.abs(x) < INFINITY).all())
