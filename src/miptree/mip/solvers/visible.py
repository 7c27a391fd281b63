"""The model as a solver is shown it: no cost so small that its tolerances hide it.

Solvers compare with absolute tolerances. Next to costs of 1 a cost of 1e-8 is nothing
to them: they call any solution optimal that differs in such costs alone, and report its
value as the bound. So a model is changed before it is solved, such that what is proved
of the changed one holds for the given one:

* **Light costs become 0**: those below ``1 / WIDEST`` of the heaviest, each times the
  range of its column. All columns that cost anything are >= 0, so that no solution
  costs more than it did, and a lower bound remains one. What is lost is at most what
  the light costs of an optimal solution add up to. So do those of hyperplanes below
  ``LIGHTEST_PLANE`` of the highest.
* **The rest is multiplied** by a power of two, so that the least cost of a column of
  finite range is ``LEAST`` where their spread allows it, and 1 at least. No cost is
  above ``HIGHEST`` then: it is lowered to that.
* **Rows whose coefficients are weights** are divided by the largest. Entries that are
  next to nothing beside it go, and the row is loosened by the most that they can add:
  no solution is lost.

Where a cost is below 0 nothing is lowered, and costs are multiplied only if nothing
would have to be.

Then a bound is too high by little. Let y be the dual solution of a node and r its
reduced costs, whose signs may be wrong by the tolerance t. Of a feasible x we know
``cost @ x = y @ (A x) + r @ x``, which is at least the bound of the node less t times
the distance of each column from the side on which the solver has it, in all at most
t times the sum of the ranges. Columns have ranges of 1 or less, except for those of
hyperplanes, which the box keeps of that order. Hence ``discount``: t for each column,
which is taken off every bound. At the usual costs shown that is 2e-11 of the least cost
for each column. Slack that a solver allows in rows and integers makes bounds lower, not
higher. The entries of the rows are rounded as
well, so that the best tree may need a little slack where it needs none in truth: some
1e-12 have been seen. ``ROUNDED_SLACK`` of it, at the highest price, is taken off, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from miptree.mip.model import Model
from miptree.mip.solvers.base import LOOSEST_TOLERANCE, Progress, Result
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

WIDEST = 1e4
"""Largest ratio of two costs that a solver is shown. At 1e5 HiGHS 1.15 has claimed
bounds above the optimum, about once in 15,000 tiny problems."""
LEAST, MOST = 2.0**12, 1e7
"""What the least cost becomes, unless the heaviest would be above the second."""
LIGHTEST_PLANE = 1e-6
"""Least cost, as a part of the highest, of a column of infinite range. With a part of
4e-8 to 2e-7 HiGHS 1.15 lost solutions in 8 of 3,700 tiny problems, with 4e-7 and more
in none of 3,600."""
HIGHEST = 1e6
"""Largest cost of a whole unit of any column: what a tolerance allows of it must be
little beside the least cost. A lower price gives a bound all the same."""
ROUNDED_SLACK = 1e-11
"""How much slack the best solution may need as entries of rows are rounded."""
LEAST_ENTRY = 1e-4
"""Least entry of a row of weights, in parts of the largest: at one of 2e-6 HiGHS 1.15
has lost solutions."""
LOWERED = "costs that its tolerances would hide count as less"
"""What certificates say where not all costs were shown as they are."""
ORDINARY = (0.1, 100.0)
"""Largest entries of rows that need no scaling."""


@dataclass(frozen=True)
class VisibleModel:
    """A model as a solver is shown it, and the way back.

    Attributes
    ----------
    given, model : Model
        The one to be solved, and the one that the solver is shown.
    factor : float
        By which the costs shown are multiplied.
    n_lowered : int
        Columns of which less than the cost is shown.
    """

    given: Model
    model: Model
    factor: float
    n_lowered: int

    @classmethod
    def of(cls, model: Model) -> VisibleModel:
        """Return what is shown of a model; of one without integers all, as it is."""
        if not model.integer.any():
            return cls(model, model, 1.0, 0)
        cost, factor = _visible_costs(model)
        is_less = (model.upper > model.lower) & (cost < factor * model.cost)
        shown = replace(
            _with_visible_rows(model), cost=cost, constant=factor * model.constant
        )
        return cls(model, shown, factor, int(np.count_nonzero(is_less)))

    @property
    def discount(self) -> float:
        """By how much a bound of the model shown may be too high."""
        if not self.model.integer.any():
            return 0.0
        hidden = LOOSEST_TOLERANCE * self.model.n_variables
        return hidden + ROUNDED_SLACK * float(np.abs(self.model.cost).max(initial=0.0))

    def bound(self, bound: float) -> float:
        """Return the bound on the given model that follows from one on that shown."""
        if self.model is self.given:
            return bound
        return (bound - self.discount) / self.factor

    def progress(self, progress: Progress) -> Progress:
        """Return a solver's state in the costs of the given model."""
        if self.model is self.given:
            return progress
        objective = progress.objective / self.factor
        return replace(progress, objective=objective, bound=self.bound(progress.bound))

    def result(self, result: Result) -> Result:
        """Return a result in the costs of the given model."""
        if self.model is self.given:
            return result
        objective = np.inf if result.x is None else self.given.objective(result.x)
        bound = min(self.bound(result.bound), objective)
        status, solver = result.status, result.solver
        if self.n_lowered:
            status = "gap_tol" if status == "optimal" else status
            solver = f"{solver} ({LOWERED})"
        return replace(
            result, status=status, objective=objective, bound=bound, solver=solver
        )


def _visible_costs(model: Model) -> tuple[FloatArray, float]:
    """Return costs that are no larger, times a factor, and the factor."""
    span, price = model.upper - model.lower, np.abs(model.cost)
    is_plane = ~np.isfinite(span)
    if not ((price > 0) & (span > 0) & ~is_plane).any():
        is_plane[:] = False  # nothing else costs anything, so they set the scale
    size = price * np.where(np.isfinite(span), span, np.where(is_plane, 0.0, 1.0))
    if not size.any():
        return model.cost, 1.0
    heaviest = size.max()
    light = size < heaviest / WIDEST
    least = size[~light].min()
    aim = min(LEAST, MOST * least / heaviest, HIGHEST * least / price.max())
    # Rounded down, so that usual prices are not lowered by the rounding alone.
    factor = 2.0 ** np.floor(np.log2(max(1.0, aim) / least))
    cost = factor * model.cost
    highest = min(factor * price.max(), HIGHEST)
    hidden = np.where(is_plane, factor * price < LIGHTEST_PLANE * highest, light)
    shown = np.where(hidden, 0.0, np.minimum(cost, HIGHEST))
    may_change = (model.cost >= 0).all() and (model.lower[model.cost > 0] >= 0).all()
    if not may_change and (shown != cost).any():
        return model.cost, 1.0
    return shown, float(factor)


def _with_visible_rows(model: Model) -> Model:
    """Return the model with rows of weights in parts of the largest of each."""
    matrix = sparse.csr_matrix(model.matrix, copy=True)
    largest = abs(matrix).max(axis=1).toarray().ravel()
    row = np.repeat(np.arange(model.n_rows, dtype=np.intp), np.diff(matrix.indptr))
    span = model.upper - model.lower
    is_finite = np.ones(model.n_rows, dtype=bool)
    np.logical_and.at(is_finite, row, np.isfinite(span)[matrix.indices])
    light = np.abs(matrix.data) < LEAST_ENTRY * largest[row]
    is_odd = (largest > 0) & ((largest < ORDINARY[0]) | (largest > ORDINARY[1]))
    np.logical_or.at(is_odd, row, light)
    is_odd &= is_finite
    if not is_odd.any():
        return model
    light &= is_odd[row]
    lower, upper = _loosened(model, matrix, row, light)
    part = np.where(is_odd, 1 / np.where(largest > 0, largest, 1.0), 1.0)
    matrix.data = np.where(light, 0.0, matrix.data * part[row])
    matrix.eliminate_zeros()
    return replace(model, matrix=matrix, row_lower=lower * part, row_upper=upper * part)


def _loosened(
    model: Model, matrix: sparse.csr_matrix, row: IntArray, light: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the rows that hold without the entries that are too light."""
    value, column = matrix.data[light], matrix.indices[light]
    ends = value * model.lower[column], value * model.upper[column]
    least, most = np.zeros(model.n_rows), np.zeros(model.n_rows)
    np.add.at(least, row[light], np.minimum(*ends))
    np.add.at(most, row[light], np.maximum(*ends))
    return model.row_lower - most, model.row_upper - least
