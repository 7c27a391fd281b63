"""A record of as much as can be kept, where that of the whole became too long."""

from __future__ import annotations

from miptree.proof.routes.budget import Budget
from miptree.proof.routes.part import Sweeps
from miptree.proof.routes.result import Part

_ATTEMPTS = 3
_PART_OF_TIME = 0.15
"""Part of the time used so far, or of the nodes left, for an attempt."""
_LEAST_GAIN = 0.01
"""Part of what is proved that must be missing in the record."""


def record_more(
    part: Part, depth: int, recorded: float, budget: Budget, n_jobs: int | None
) -> Part | None:
    """Prove thresholds between what is recorded and what is proved once more.

    The search of structures is used for it, which takes longer than the one by root
    but has shorter proofs. An attempt ends as soon as its record becomes too long.

    Parameters
    ----------
    part : Part
        All rows, with the threshold that is proved.
    depth : int
    recorded : float
        What the record shows.
    budget : Budget
        What is left.
    n_jobs : int or None

    Returns
    -------
    Part or None
        The part with the highest threshold that was recorded, if any was.
    """
    low, high, best = recorded, part.threshold, None
    for _ in range(_ATTEMPTS):
        if budget.is_over or high - low < _LEAST_GAIN * high:
            break
        own = budget.share(_share(budget))
        sweeps = Sweeps(part.problem, depth, own, True, n_jobs, only_recorded=True)
        middle = 0.5 * (low + high)
        found = sweeps.by_structure(low, middle)
        budget.used += own.used
        if found.bound is not None and found.bound > low and found.proofs is not None:
            low = found.bound
            best = part._replace(threshold=low, structures=found.proofs, roots=None)
        if found.bound is None or found.bound < middle:
            high = middle
    return best


def _share(budget: Budget) -> float:
    """Return the part of the budget that an attempt may use."""
    remaining = budget.clock.remaining
    if remaining is None:
        return _PART_OF_TIME
    return min(1.0, _PART_OF_TIME * budget.clock.elapsed / max(remaining, 1e-9))
