"""The nearest change after which ``predict`` returns another class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf

import numpy as np

from miptree.data import Value
from miptree.explain.cell_values import atom_value
from miptree.explain.cost_bound import cost_at_least
from miptree.explain.moves import Move, Slide
from miptree.explain.program import PASSED, Found, Row, Way, least_change
from miptree.export._rules import Atom, Leaf
from miptree.tree import ObliqueTree
from miptree.utils.arrays import IntArray

_MOST_ROUNDED = 4
"""Numbers that are tried with several roundings; further ones get the nearest."""
_STEPS = (-1, 0, 1, 2)
"""Steps from the one below a number at which it is tried."""


@dataclass(frozen=True)
class Router:
    """A tree, and how it reads cells.

    Attributes
    ----------
    tree : ObliqueTree
    atoms : list of Atom
        What stands behind each column that the tree reads.
    """

    tree: ObliqueTree
    atoms: list[Atom]

    def labels(self, rows: Sequence[Row]) -> IntArray:
        """Return the class index of each row of cells."""
        read = [
            [atom_value(atom, row[atom.column]) for atom in self.atoms] for row in rows
        ]
        found: IntArray = self.tree.label[self.tree.apply(np.array(read))]
        return found


@dataclass(frozen=True)
class Flip:
    """A changed row and what that costs.

    Attributes
    ----------
    row : list of Value or None
        None where no change was found.
    cost : float
        Infinite where none was found.
    is_sure : bool
        Whether the search was finished: nothing is cheaper.
    """

    row: list[Value] | None
    cost: float
    is_sure: bool


def nearest_flip(
    router: Router, ways: Sequence[tuple[Leaf, Way]], moves: Sequence[Move], row: Row
) -> Flip:
    """Find the cheapest change of a row that leads to one of some leaves.

    Parameters
    ----------
    router : Router
    ways : sequence of (Leaf, Way)
        The leaves, and the splits that lead there.
    moves : sequence of Move
    row : sequence of Value
    """
    best, is_sure = Flip(None, inf, True), True
    least = [cost_at_least(way, moves, row) for _, way in ways]
    for k in np.argsort(least, kind="stable"):
        if least[k] >= best.cost:
            break
        leaf, way = ways[k]
        flip = _flip_to(router, leaf, way, moves, row, best.cost)
        is_sure &= flip.is_sure
        best = min(best, flip, key=lambda found: found.cost)
    return replace(best, is_sure=is_sure)


def _flip_to(
    router: Router,
    leaf: Leaf,
    way: Way,
    moves: Sequence[Move],
    row: Row,
    most: float,
) -> Flip:
    """Find the cheapest change that leads to a leaf and costs less than others."""
    # A row on a split goes left. Where rounding has it go right all the same, splits
    # are passed by a little; where numbers get few digits, by what rounding takes.
    rounding = _rounding_share(way, moves)
    for passing in ((0.0, PASSED), (PASSED, PASSED), (rounding, rounding)):
        is_sure = passing[1] == PASSED
        found = least_change(way, moves, row, passing, most)
        if found is None or not found.values:
            return Flip(None, inf, is_sure and (found is None or found.is_least))
        tried = _rounded(found, moves, row)
        leads = router.labels([changed for _, changed in tried]) == leaf.label
        if leads.any():
            cost, changed = tried[int(leads.argmax())]
            return Flip(changed, cost, is_sure and found.is_least)
    return Flip(None, inf, False)


def _rounding_share(way: Way, moves: Sequence[Move]) -> float:
    """Return by what share of a score's variation rounding can move it, at most."""
    free = [move for move in moves if isinstance(move, Slide) and not move.is_whole]
    # Each number moves by less than a step, and its slope times its width is a part of
    # the variation: so the sum of step / width bounds the share.
    read = {atom.column for branch, _ in way for _, atom in branch.terms}
    steps = [m.limits.step / m.limits.width for m in free if m.column in read]
    return sum(steps) + PASSED


def _rounded(
    found: Found, moves: Sequence[Move], row: Row
) -> list[tuple[float, list[Value]]]:
    """List changed rows with the digits of the columns, the cheapest first."""
    known = {move.column: move for move in moves}
    choices: list[list[Value]] = []
    n_rounded = 0
    for column, value in found.values.items():
        move = known[column]
        is_free = isinstance(move, Slide) and not move.is_whole and value != row[column]
        if not is_free:
            choices.append([value])
            continue
        assert isinstance(move, Slide) and value is not None  # noqa: PT018
        n_rounded += 1
        choices.append(_near(move, float(value), n_rounded <= _MOST_ROUNDED))
    tried = []
    for values in product(*choices):
        changed = list(row)
        for column, value in zip(found.values, values, strict=True):
            changed[column] = value
        cost = sum(known[c].cost(changed[c]) for c in found.values)
        tried.append((cost, changed))
    return sorted(tried, key=lambda pair: pair[0])


def _near(move: Slide, number: float, is_tried: bool) -> list[Value]:
    """List numbers of a column's digits near to another."""
    ends, step = move.limits.inside(), move.limits.step
    nearest = min(max(move.limits.round(number), ends.low), ends.high)
    if not is_tried:
        return [nearest]
    start = nearest if nearest <= number else move.limits.round(nearest - step)
    near = (move.limits.round(start + k * step) for k in _STEPS)
    inside = [value for value in near if ends.low <= value <= ends.high]
    return list(dict.fromkeys(inside))
