"""The nearest change after which ``predict`` returns another class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf

import numpy as np

from miptree.data import Value
from miptree.explain.cell_values import atom_value
from miptree.explain.clear import is_clear
from miptree.explain.cost_bound import cost_at_least
from miptree.explain.moves import Move, Slide, is_free
from miptree.explain.program import PASSED, Found, Row, Way, least_change
from miptree.export.readable import Atom, Leaf
from miptree.tree import ObliqueTree
from miptree.utils.arrays import IntArray

_MOST_ROUNDED = 4
"""Numbers that are tried with several roundings; further ones get the nearest."""
_STEPS = range(-1, 3)
"""Steps from the one below a number at which it is tried."""
_MORE_STEPS, _FEW = range(-5, 7), 2
"""Those for up to two numbers, whose steps may be so small that passing a split by a
little means to pass it by several of them."""

_MOST_TRIED = 8
"""Changes tried that end where rounding decides on the side of a split."""
_SAME_COST = 1e-9
"""Part of a cost by which another one has to be lower to be that."""


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
        # Asking the program for less than the best cost is no help: with a row that is
        # parallel to its objective, HiGHS has returned solutions that were not optimal.
        flip = _flip_to(router, leaf, way, moves, row)
        is_sure &= flip.is_sure
        best = min(best, flip, key=lambda found: found.cost)
    for k in np.argsort(least, kind="stable"):
        if least[k] >= best.cost:
            break
        leaf, way = ways[k]
        best = _on_the_split(router, leaf, way, moves, row, best)
        is_sure &= best.is_sure
    return replace(_pulled_back(router, best, moves, row), is_sure=is_sure)


def _pulled_back(router: Router, flip: Flip, moves: Sequence[Move], row: Row) -> Flip:
    """Take back of the free numbers of a change what its class does not need.

    To pass a split by a few millionths of what its score can vary by may take many
    steps of one number.
    """
    if flip.row is None:
        return flip
    changed = list(flip.row)
    for move in moves:
        value = changed[move.column]
        if isinstance(move, Slide) and _is_rounded(move, value, row[move.column]):
            changed[move.column] = _least_moved(router, move, changed)
    cost = sum(move.cost(changed[move.column]) for move in moves)
    return replace(flip, row=changed, cost=cost) if cost < flip.cost else flip


def _least_moved(router: Router, move: Slide, row: Row) -> Value:
    """Return a number between a row's and the start at which the class ends."""
    (label,), value = router.labels([row]), row[move.column]
    assert value is not None
    number, limits = float(value), move.limits
    step = limits.step if number > move.start else -limits.step

    def taken_back(steps: int) -> list[Value]:
        changed = list(row)
        changed[move.column] = limits.round(number - steps * step)
        return changed

    most, too_many = 0, int(abs(number - move.start) / limits.step) + 1
    while too_many - most > 1:
        middle = (most + too_many) // 2
        if router.labels([taken_back(middle)])[0] == label:
            most = middle
        else:
            too_many = middle
    return taken_back(most)[move.column]


def _flip_to(
    router: Router,
    leaf: Leaf,
    way: Way,
    moves: Sequence[Move],
    row: Row,
) -> Flip:
    """Find the cheapest change that leads to a leaf."""
    # A row on a split goes left. Where rounding has it go right all the same, splits
    # are passed by a little; where numbers get few digits, by what rounding takes.
    rounding = _rounding_share(way, moves)
    for passing in ((0.0, PASSED), (PASSED, PASSED), (rounding, rounding)):
        is_sure = passing[1] == PASSED
        found = least_change(way, moves, row, passing)
        if found is None or not found.values:
            return Flip(None, inf, is_sure and (found is None or found.is_least))
        tried = _rounded(found, moves, row)
        leads = router.labels([changed for _, changed in tried]) == leaf.label
        if leads.any():
            cost, changed = tried[int(leads.argmax())]
            return Flip(changed, cost, is_sure and found.is_least)
    return Flip(None, inf, False)


def _on_the_split(
    router: Router, leaf: Leaf, way: Way, moves: Sequence[Move], row: Row, best: Flip
) -> Flip:
    """Look for a cheaper change that ends so near to a split that rounding decides.

    A program without these ends is wrong by a step of a number at most, but they are
    common where coefficients have few digits. Each is tried by prediction. Splits that
    read numbers which move freely are exact but for their rounding.
    """
    free = {move.column for move in moves if is_free(move)}
    if all(
        any(atom.column in free for _, atom in branch.terms)
        or is_clear(branch, moves, row)
        for branch, _ in way
    ):
        return best
    tried: list[dict[int, Value]] = []
    while len(tried) < _MOST_TRIED:
        found = least_change(way, moves, row, (-PASSED, -PASSED), tried)
        if found is None:
            return best
        if not found.values:
            break
        cheap = best.cost * (1 - _SAME_COST)
        flips = [pair for pair in _rounded(found, moves, row) if pair[0] < cheap]
        if not flips:
            return replace(best, is_sure=best.is_sure and found.is_least)
        leads = router.labels([changed for _, changed in flips]) == leaf.label
        if leads.any():
            cost, changed = flips[int(leads.argmax())]
            return Flip(changed, cost, found.is_least)
        tried.append(found.values)
    return replace(best, is_sure=False)


def _rounding_share(way: Way, moves: Sequence[Move]) -> float:
    """Return by what share of a score's variation rounding can move it, at most."""
    free = [move for move in moves if isinstance(move, Slide) and is_free(move)]
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
    free = {c: v for c, v in found.values.items() if _is_rounded(known[c], v, row[c])}
    steps = _MORE_STEPS if len(free) <= _FEW else _STEPS
    tried_ones = list(free)[:_MOST_ROUNDED]
    choices = [
        _near(known[c], v, steps if c in tried_ones else range(1)) if c in free else [v]
        for c, v in found.values.items()
    ]
    tried = []
    for values in product(*choices):
        changed = list(row)
        for column, value in zip(found.values, values, strict=True):
            changed[column] = value
        cost = sum(known[c].cost(changed[c]) for c in found.values)
        tried.append((cost, changed))
    return sorted(tried, key=lambda pair: pair[0])


def _is_rounded(move: Move, value: Value, cell: Value) -> bool:
    """Tell whether a value has all its digits still."""
    return is_free(move) and value != cell


def _near(move: Move, value: Value, steps: range) -> list[Value]:
    """List numbers of a column's digits near to another, by steps from one below it."""
    assert isinstance(move, Slide)
    assert value is not None
    limits, ends, number = move.limits, move.limits.inside(), float(value)
    nearest = limits.round(number)
    if len(steps) > 1 and nearest > number:
        nearest = limits.round(nearest - limits.step)
    near = (limits.round(nearest + k * limits.step) for k in steps)
    inside = (min(max(found, ends.low), ends.high) for found in near)
    return list(dict.fromkeys(inside))
