"""The least change that brings a row to a given leaf, as a small mixed-integer program.

A cell that becomes one of some values has a 0/1 variable for each of them, of which one
is 1; a number has two variables, for moving up and down. The splits on the way to the
leaf are linear in these. Without whole steps and choices it is a linear program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, inf

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from miptree.data import Value
from miptree.explain.cell_values import added, slope_of
from miptree.explain.moves import Move, Options, Slide, is_free
from miptree.export.readable import Branch

PASSED = 4e-6
"""Share of what a score can vary by, by which a split is passed: HiGHS takes a row as
kept that is off by up to a quarter of this."""
_MOST_NODES = 5_000
"""Nodes of a branch and bound."""
_SLACK = 1e-9
"""What counts as a whole step, and as a lower cost."""

Way = Sequence[tuple[Branch, bool]]
"""The splits above a leaf, and whether it lies to their left."""
Row = Sequence[Value]


@dataclass(frozen=True)
class Found:
    """What a program found.

    Attributes
    ----------
    values : dict from int to Value
        New value of each column that may change; numbers that move freely have all
        their digits.
    is_least : bool
        Whether nothing is cheaper.
    """

    values: dict[int, Value]
    is_least: bool


@dataclass
class _Program:
    """A program in the making: its variables, and rows of {variable: coefficient}."""

    cost: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[Mapping[int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def variable(self, cost: float, upper: float, whole: bool) -> int:
        """Add a variable from 0 up to a number and return its place."""
        self.cost.append(cost)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.cost) - 1

    def keep(self, row: Mapping[int, float], low: float, high: float) -> None:
        """Ask that a sum is from low to high."""
        self.rows.append(row)
        self.low.append(low)
        self.high.append(high)

    def solve(self) -> tuple[list[float] | None, bool]:
        """Return the variables of the best solution, if any, and whether it is that."""
        matrix = np.zeros((len(self.rows), len(self.cost)))
        for k, row in enumerate(self.rows):
            matrix[k, list(row)] = list(row.values())
        solved = milp(
            np.array(self.cost),
            integrality=np.array(self.whole, dtype=int),
            bounds=Bounds(0.0, np.array(self.upper)),
            constraints=LinearConstraint(matrix, self.low, self.high),
            options={"mip_rel_gap": 0.0, "node_limit": _MOST_NODES},
        )
        found = None if solved.x is None else solved.x.tolist()
        return found, solved.status in (0, 2)  # optimal, or nothing is feasible


@dataclass(frozen=True)
class _Place:
    """Where the variables of a move are in a program."""

    move: Move
    first: int

    @property
    def choices(self) -> range:
        """Variables that say which value it is, or of a number whether it moves."""
        if isinstance(self.move, Options):
            return range(self.first, self.first + len(self.move.values))
        return range(self.first + 2, self.first + 2 + self.move.is_switched)


def least_change(
    way: Way,
    moves: Sequence[Move],
    row: Row,
    passing: tuple[float, float],
    excluded: Sequence[Mapping[int, Value]] = (),
) -> Found | None:
    """Find the least change of a row that brings it to the end of a way.

    Parameters
    ----------
    way : list of (Branch, bool)
    moves : sequence of Move
        What may change.
    row : sequence of Value
    passing : tuple of float
        By what share of its possible variation a score has to be below the threshold
        where the way goes left, and above it where the way goes right. If the shares
        are negative, splits that read numbers which move freely are still passed.
    excluded : sequence of dict from int to Value, optional
        Solutions that are not wanted, by the values of the columns that may change,
        whatever numbers become that move freely.

    Returns
    -------
    Found or None
        None if there is no such change, as far as the search went.
    """
    read = {atom.column for branch, _ in way for _, atom in branch.terms}
    program, places = _Program(), list[_Place]()
    for move in moves:
        if move.column in read:
            places.append(_add_move(program, _distinct(move, way)))
    free = {move.column for move in moves if is_free(move)}
    for branch, goes_left in way:
        shares = passing
        if any(atom.column in free for _, atom in branch.terms):
            shares = max(0.0, passing[0]), abs(passing[1])
        if not _add_split(program, places, row, branch, goes_left, shares):
            return None
    if not places:
        return Found({}, True)
    for values in excluded:
        _exclude(program, places, values)
    solution, is_least = program.solve()
    if solution is None:
        return None if is_least else Found({}, False)
    return Found({p.move.column: _value(p, solution) for p in places}, is_least)


def _distinct(move: Move, way: Way) -> Move:
    """Keep the cheapest, else the first, of the values that splits read alike."""
    if not isinstance(move, Options):
        return move
    best: dict[tuple[float, ...], tuple[float, Value]] = {}
    for cost, value in zip(move.costs, move.values, strict=True):
        read = tuple(added(branch, move.column, value) for branch, _ in way)
        if read not in best or cost < best[read][0]:
            best[read] = cost, value
    costs, values = zip(*best.values(), strict=True)
    return Options(move.column, values, costs)


def _add_move(program: _Program, move: Move) -> _Place:
    if isinstance(move, Options):
        chosen = [program.variable(cost, 1.0, True) for cost in move.costs]
        program.keep(dict.fromkeys(chosen, 1.0), 1.0, 1.0)
        return _Place(move, chosen[0])
    ends, whole = move.limits.inside(), move.is_whole
    price = move.weight * move.unit / move.limits.width
    ways = (ends.high - move.start, move.start - ends.low)  # up and down
    reach = [_whole(amount / move.unit, whole) for amount in ways]
    first = len(program.cost)
    for most in reach:
        program.variable(price, max(0.0, most), whole)
    if move.is_switched:
        switch = program.variable(move.fixed_cost, 1.0, True)
        for k, most in enumerate(reach):
            program.keep({first + k: 1.0, switch: -max(0.0, most)}, -inf, 0.0)
    return _Place(move, first)


def _whole(amount: float, whole: bool) -> float:
    return float(floor(amount + _SLACK)) if whole else amount


def _add_split(
    program: _Program,
    places: Sequence[_Place],
    row: Row,
    branch: Branch,
    goes_left: bool,
    passing: tuple[float, float],
) -> bool:
    """Ask that a row goes to one side; return False if it never can."""
    free = {place.move.column for place in places}
    read = {atom.column for _, atom in branch.terms}
    score = sum(added(branch, j, row[j]) for j in sorted(read - free))
    terms: dict[int, float] = {}
    swing = least = most = 0.0
    for place in places:
        move = place.move
        if isinstance(move, Options):
            amounts = [added(branch, move.column, value) for value in move.values]
            if max(amounts) == min(amounts):  # whatever it becomes
                score += amounts[0]
                continue
            terms |= dict(zip(place.choices, amounts, strict=True))
            swing += max(amounts) - min(amounts)
            least, most = least + min(amounts), most + max(amounts)
            continue
        slope = move.unit * slope_of(branch, move.column)
        stays = added(branch, move.column, move.cell)
        jump = added(branch, move.column, move.start) - stays
        score += stays
        terms |= {place.first: slope, place.first + 1: -slope}
        terms |= dict.fromkeys(place.choices, jump)
        moved = abs(slope) * move.limits.width / move.unit + abs(jump)
        swing, least, most = swing + moved, least - moved, most + moved
    # What is left of a number beside one that is far from its range is no digits.
    is_within = score + least <= branch.threshold + swing
    is_within &= score + most >= branch.threshold - swing
    if swing == 0.0 or not is_within:
        return (score <= branch.threshold) == goes_left
    rest = (branch.threshold - score) / swing
    row_of = {k: amount / swing for k, amount in terms.items()}
    if goes_left:
        program.keep(row_of, -inf, rest - passing[0])
    else:
        program.keep(row_of, rest + passing[1], inf)
    return True


def _exclude(
    program: _Program, places: Sequence[_Place], values: Mapping[int, Value]
) -> None:
    """Ask that one cell at least gets another value."""
    signs: dict[int, float] = {}  # of variables that differ from this solution
    n_ones = 0
    for place in places:
        if is_free(place.move):
            continue
        value = values[place.move.column]
        chosen = zip(place.choices, _chosen(place, value), strict=True)
        ones = [k for k, is_one in chosen if is_one]
        signs |= {k: -1.0 if k in ones else 1.0 for k in place.choices}
        n_ones += len(ones)
        if isinstance(place.move, Slide):
            signs |= dict.fromkeys(_other_steps(program, place, value), 1.0)
    program.keep(signs, 1.0 - n_ones, inf)


def _chosen(place: _Place, value: Value) -> list[bool]:
    """Tell which of the choices of a cell are 1 where it gets a value."""
    if isinstance(place.move, Options):
        return [value == other for other in place.move.values]
    return [value != place.move.cell] * len(place.choices)


def _other_steps(program: _Program, place: _Place, value: Value) -> list[int]:
    """Add a 0/1 variable each for a number that is higher, and lower, than a value."""
    assert isinstance(place.move, Slide)
    up, down = place.first, place.first + 1
    most, least = program.upper[up], -program.upper[down]
    moved, found = 0, list[int]()
    if value is not None and value != place.move.cell:
        moved = round((float(value) - place.move.start) / place.move.unit)
    if moved < most:
        found.append(program.variable(0.0, 1.0, True))
        rise = moved + 1 - least
        program.keep({up: 1.0, down: -1.0, found[-1]: -rise}, least, inf)
    if moved > least:
        found.append(program.variable(0.0, 1.0, True))
        fall = most - (moved - 1)
        program.keep({up: 1.0, down: -1.0, found[-1]: fall}, -inf, most)
    return found


def _value(place: _Place, solution: Sequence[float]) -> Value:
    """Read off what a cell becomes."""
    move = place.move
    if isinstance(move, Options):
        return max(
            zip((solution[k] for k in place.choices), move.values, strict=True),
            key=lambda pair: pair[0],
        )[1]
    up, down = solution[place.first : place.first + 2]
    amount = float(round(up - down)) if move.is_whole else up - down
    moves = any(solution[k] > 0.5 for k in place.choices)
    if abs(amount) < _SLACK and not moves:
        return move.cell
    found = move.start + amount * move.unit
    return move.limits.round(found) if move.is_whole else found
