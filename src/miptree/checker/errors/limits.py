"""How large the coefficients of a split can be whose scores lie in [-1, 1].

In what follows x is scaled to [0, 1], feature by feature. Say that v_i are whole
numbers with sum 0, and a_k = sum of v_i x_ik. Then a.h = sum of v_i (h.x_i - g), so

    abs(a.h) <= sum of abs(v_i),
    abs(h_j) <= (sum of abs(v_i) + sum of abs(a_k) abs(h_k) over the others) / a_j.

With s_j and r_j for the two sums divided by a_j, the second without abs(h_k), the
largest coefficient M is at most max s + max r * M. So it is max s / (1 - max r) at
most, and every abs(h_j) is s_j + r_j M at most.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from fractions import Fraction
from itertools import pairwise

from ..values import Refused
from .points import Labelled

BITS = 64
"""Binary places of coordinates times limits."""


class Limits:
    """What the lines of a file show of the coefficients of splits.

    Parameters
    ----------
    points : Labelled
    """

    def __init__(self, points: Labelled) -> None:
        self.points = points
        self.name = {place: k for k, place in enumerate(points.place)}
        self.span = [max(column) for column in points.numbers]
        self.left_out: dict[int, set[int]] = {}
        self.multipliers: dict[int, dict[int, int]] = {}

    def leave_out(self, column: int, terms: Sequence[int]) -> None:
        """Note that a column and multiples of others add up to a constant.

        ``terms`` are column, whole number, column, whole number, ...
        """
        factors = _pairs(terms, range(len(self.span)), "column")
        if column not in factors or column in self.left_out:
            raise Refused("The proof file leaves out a column without a reason.")
        powers = [self.points.powers[j] for j in factors]
        largest = max(powers)
        columns = [
            (factor * (largest // self.points.powers[j]), self.points.numbers[j])
            for j, factor in factors.items()
        ]
        n = len(self.points.numbers[column])
        sums = [sum(factor * own[i] for factor, own in columns) for i in range(n)]
        if any(a != b for a, b in pairwise(sums)):
            raise Refused(
                "A column that the proof file leaves out is no sum of other columns."
            )
        self.left_out[column] = {j for j in factors if j != column}

    def limit(self, column: int, terms: Sequence[int]) -> None:
        """Take multipliers of points that limit the coefficient of a column.

        ``terms`` are point, whole number, point, whole number, ...
        """
        if not 0 <= column < len(self.span) or column in self.multipliers:
            raise Refused("The proof file limits a column that is none, or twice.")
        named = _pairs(terms, self.name, "point")
        if sum(named.values()) != 0:
            raise Refused("Multipliers of a column in the proof file do not add to 0.")
        self.multipliers[column] = {self.name[i]: v for i, v in named.items()}

    def coordinates(self) -> list[list[int]]:
        """Return for each point x times H, in units of 2 ** -BITS, rounded down.

        Columns that are constant or left out have none.
        """
        for others in self.left_out.values():
            if any(j in self.left_out for j in others):
                raise Refused("The proof file leaves out columns by each other.")
        used = [
            j for j, span in enumerate(self.span) if span and j not in self.left_out
        ]
        found: list[list[int]] = [[] for _ in self.points.place]
        for j, largest in zip(used, self._largest(used), strict=True):
            scaled = largest * 2**BITS / self.span[j]
            above, below = scaled.numerator, scaled.denominator
            own = [number * above // below for number in self.points.numbers[j]]
            for row, at in zip(found, self.points.at, strict=True):
                row.append(own[at])
        return found

    def _largest(self, used: list[int]) -> list[Fraction]:
        """Return the largest coefficients of columns, as the module says."""
        sizes, rests = [], []
        for j in used:
            if j not in self.multipliers:
                raise Refused("The proof file does not limit every column.")
            size, rest = self._equation(j, used)
            sizes.append(size)
            rests.append(rest)
        worst = max(rests, default=Fraction(0))
        if worst >= 1:
            raise Refused("The proof file limits columns by each other.")
        largest = max(sizes, default=Fraction(0)) / (1 - worst)
        return [s + r * largest for s, r in zip(sizes, rests, strict=True)]

    def _equation(self, column: int, used: list[int]) -> tuple[Fraction, Fraction]:
        """Return s and r of a column."""
        multipliers, at = self.multipliers[column], self.points.at
        sums = {}
        for k in used:
            own = self.points.numbers[k]
            total = sum(v * own[at[i]] for i, v in multipliers.items())
            sums[k] = Fraction(total, self.span[k])
        own_sum = sums.pop(column)
        if own_sum <= 0:
            raise Refused("Multipliers of a column in the proof file do not limit it.")
        size = Fraction(sum(abs(v) for v in multipliers.values()))
        rest = sum((abs(a) for a in sums.values()), start=Fraction(0))
        return size / own_sum, rest / own_sum


def _pairs(terms: Sequence[int], known: Container[int], what: str) -> dict[int, int]:
    """Read pairs of a name and a whole number; each name once."""
    names, numbers = terms[::2], terms[1::2]
    found = dict(zip(names, numbers, strict=False))
    if len(terms) % 2 or len(found) < len(names):
        raise Refused(f"The proof file names a {what} twice, or without a number.")
    if any(name not in known for name in names):
        raise Refused(f"The proof file names a {what} that is none.")
    return {name: number for name, number in found.items() if number}
