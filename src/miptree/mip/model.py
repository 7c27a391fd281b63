"""A mixed-integer program as arrays, and the builder that fills them.

Variables and rows are added in blocks of NumPy index arrays, never one at a time.
Every row block carries the tag of its equation, so a reader can find (1g) in the
model and a solver can name it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from miptree.utils.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Model:
    """Minimise ``cost @ x + constant`` over rows, bounds and integrality.

    Attributes
    ----------
    cost, lower, upper : float array of shape (n_variables,)
        Objective coefficients and bounds.
    integer : bool array of shape (n_variables,)
        Which variables must be integral.
    priority : int array of shape (n_variables,)
        Branching priority, higher first; a hint that a solver may ignore.
    matrix : csr_matrix of shape (n_rows, n_variables)
        Rows of ``row_lower <= matrix @ x <= row_upper``.
    variables : dict of str to int array
        Column numbers of each block of variables, in the block's shape.
    blocks : dict of str to slice
        Rows of each equation.
    constant : float
        Added to the objective.
    """

    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    integer: BoolArray
    priority: IntArray
    matrix: sparse.csr_matrix
    row_lower: FloatArray
    row_upper: FloatArray
    variables: dict[str, IntArray]
    blocks: dict[str, slice]
    constant: float = 0.0

    @property
    def n_variables(self) -> int:
        """Number of columns."""
        return len(self.cost)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.row_lower)

    def objective(self, x: FloatArray) -> float:
        """Return the objective value of a point."""
        return float(self.cost @ x + self.constant)

    def violation(self, x: FloatArray) -> dict[str, float]:
        """Return the largest violation of each equation, the bounds and integrality."""
        activity = self.matrix @ x
        excess = np.maximum(self.row_lower - activity, activity - self.row_upper)
        found = {
            tag: max(0.0, float(excess[rows].max(initial=0.0)))
            for tag, rows in self.blocks.items()
        }
        outside = np.maximum(self.lower - x, x - self.upper)
        fraction = np.abs(x - np.rint(x))[self.integer]
        found["bounds"] = max(0.0, float(outside.max(initial=0.0)))
        found["integrality"] = float(fraction.max(initial=0.0))
        return found


@dataclass
class ModelBuilder:
    """Collector of blocks of variables and rows; :meth:`finish` gives the Model."""

    _columns: list[tuple[FloatArray, ...]] = field(default_factory=list)
    _row_bounds: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    _entries: list[tuple[IntArray, IntArray, FloatArray]] = field(default_factory=list)
    _variables: dict[str, IntArray] = field(default_factory=dict)
    _blocks: dict[str, slice] = field(default_factory=dict)
    _n_variables: int = 0
    _n_rows: int = 0

    def variables(
        self,
        name: str,
        shape: tuple[int, ...],
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        cost: ArrayLike = 0.0,
        integer: bool = False,
        priority: int = 0,
    ) -> IntArray:
        """Add a block of variables and return its column numbers in its shape."""
        size = int(np.prod(shape))
        columns = (lower, upper, cost, float(integer), float(priority))
        self._columns.append(tuple(_flat(values, shape) for values in columns))
        index = np.arange(self._n_variables, self._n_variables + size).reshape(shape)
        self._variables[name] = index
        self._n_variables += size
        return index

    def rows(
        self,
        tag: str,
        shape: tuple[int, ...],
        *terms: tuple[IntArray, ArrayLike],
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        equals: ArrayLike | None = None,
    ) -> None:
        """Add a block of rows ``lower <= sum of terms <= upper``.

        Parameters
        ----------
        tag : str
            Equation number. Blocks of one tag must be added one after the other.
        shape : tuple of int
            Shape of the block; one row per element.
        *terms : pairs (columns, coefficients)
            Column numbers broadcast to the shape, or to the shape with one more axis
            that is summed over; coefficients broadcast alike.
        lower, upper : array-like, optional
            Broadcast to the shape; by default without a bound.
        equals : array-like, optional
            Both bounds of an equation.
        """
        if equals is not None:
            lower = upper = equals
        size = int(np.prod(shape))
        row = self._n_rows + np.arange(size).reshape(shape)
        for columns, coefficients in terms:
            full = np.broadcast_shapes(np.shape(columns), np.shape(coefficients))
            summed = len(full) > len(shape)
            target = (*shape, full[-1]) if summed else shape
            rows = np.broadcast_to(row[..., None] if summed else row, target).ravel()
            column = np.broadcast_to(columns, target).ravel()
            self._entries.append((rows, column, _flat(coefficients, target)))
        self._close_block(tag, size, _flat(lower, shape), _flat(upper, shape))

    def ragged_rows(
        self,
        tag: str,
        row: IntArray,
        columns: IntArray,
        coefficients: ArrayLike,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> None:
        """Add rows of unequal length: entry k stands in row ``row[k]`` of the block."""
        size = int(row.max(initial=-1)) + 1
        values = _flat(coefficients, columns.shape)
        self._entries.append((self._n_rows + row, columns, values))
        self._close_block(tag, size, _flat(lower, (size,)), _flat(upper, (size,)))

    def _close_block(
        self, tag: str, size: int, lower: FloatArray, upper: FloatArray
    ) -> None:
        self._row_bounds.append((lower, upper))
        known = self._blocks.get(tag, slice(self._n_rows, self._n_rows))
        if known.stop != self._n_rows:
            raise ValueError(f"Rows of block {tag!r} must be added in one go.")
        self._n_rows += size
        self._blocks[tag] = slice(known.start, self._n_rows)

    def finish(self, constant: float = 0.0) -> Model:
        """Return the model; zero coefficients vanish and repeated ones add up."""
        lower, upper, cost, integer, priority = map(
            np.concatenate, zip(*self._columns, strict=True)
        )
        row, column, value = map(np.concatenate, zip(*self._entries, strict=True))
        kept = value != 0
        matrix = sparse.csr_matrix(
            (value[kept], (row[kept], column[kept])),
            shape=(self._n_rows, self._n_variables),
        )
        row_lower, row_upper = map(np.concatenate, zip(*self._row_bounds, strict=True))
        return Model(
            cost,
            lower,
            upper,
            integer.astype(bool),
            priority.astype(np.intp),
            matrix,
            row_lower,
            row_upper,
            self._variables,
            self._blocks,
            constant,
        )


def _flat(values: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    return np.broadcast_to(np.asarray(values, dtype=np.float64), shape).ravel()
