"""Check a proof of the errors by parts of the rows, whose errors add up."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from ..deadline import check_time
from ..values import SAME_DATA, Refused, a_list, a_number, a_whole, parsed
from .file import ErrorsProof
from .limits import Limits
from .lines import COLUMN_LINES, read_column, unknown, whole_numbers
from .points import Labelled
from .walk import Group, Known, Walk

MOST_PARTS = 100_000
_BRANCH = re.compile(rb'\["b", ?(\d+(?:, ?\[[0-9, ]*\])*)\]\s*')


class PartsCheck:
    """The bound that the lines of a section prove.

    Parameters
    ----------
    proof : ErrorsProof
    points : Labelled
    deadline : float
        When to give up, by ``time.monotonic``.
    """

    def __init__(self, proof: ErrorsProof, points: Labelled, deadline: float) -> None:
        self.proof, self.points, self.deadline = proof, points, deadline
        self.limits = Limits(points)
        self.known: Known | None = None
        self.parts: list[Group | None] = []
        self.part: frozenset[int] = frozenset()
        self.walk: Walk | None = None

    def bound(self) -> Fraction:
        """Return what the rows weigh at least that count, whatever the tree."""
        for number, line in enumerate(self.proof.events()):
            if number % 100 == 0:
                check_time(self.deadline)
            if line.startswith(b'["b"'):
                self._branch(line)
            elif line.startswith(COLUMN_LINES):
                self._column(line)
            elif line.startswith(b'["part"'):
                self._part(parsed(line))
            else:
                raise unknown(line)
        self._end_part()
        shown = [part for part in self.parts if part is not None]
        if sum(len(part.points) for part in shown) > len(
            frozenset().union(*(part.points for part in shown))
        ):
            raise Refused("Parts of the proof file that add up have points in common.")
        return Fraction(sum(part.least for part in shown), self.points.unit)

    def _column(self, line: bytes) -> None:
        """Leave a column out, or limit its coefficient."""
        if self.known is not None:
            raise Refused("The proof file limits a column after its first part.")
        read_column(line, self.limits)

    def _branch(self, line: bytes) -> None:
        if self.walk is None:
            raise Refused("The proof file has a branch outside of all parts.")
        (point, *reasons) = whole_numbers(_BRANCH.fullmatch(line), line)
        self.walk.branch(point, reasons)

    def _part(self, given: Any) -> None:
        """Begin a part: its points, what may count, the parts that it is made of."""
        self._end_part()
        if len(self.parts) >= MOST_PARTS:
            raise Refused("The proof file has too many parts.")
        _, chosen, most, numbers = a_list(given, "part", 4, 4)
        if self.known is None:
            coordinates = self.limits.coordinates()
            points = self.points
            self.known = Known(coordinates, points.label, points.weight)
        known = self.limits.name
        name = known if chosen is None else self._named(chosen)
        self.part = frozenset(name.values())
        made_of = [
            self._taken(a_whole(k, "part", 0, len(self.parts) - 1))
            for k in a_list(numbers, "part", 0, len(self.parts))
        ]
        n_points = sum(len(group.points) for group in made_of)
        union: frozenset[int] = frozenset().union(*(group.points for group in made_of))
        if n_points > len(union) or not union <= self.part:
            raise Refused("A part of the proof file is not made of the parts it names.")
        limit = math.floor(a_number(most, "part") * self.points.unit)
        self.walk = Walk(self.known, self.proof.trees, name, made_of, limit)

    def _named(self, chosen: Any) -> dict[int, int]:
        """Return the points of a part by their names."""
        known, found = self.limits.name, {}
        for name in a_list(chosen, "part", 1, len(known)):
            if type(name) is not int or name not in known or name in found:
                text = f"{name!r:.50}, which is none or is named twice"
                raise Refused(
                    f"A part of the proof file names a point {text}. {SAME_DATA}"
                )
            found[name] = known[name]
        return found

    def _taken(self, number: int) -> Group:
        """Return what is shown of a part, which no other part may count again."""
        group = self.parts[number]
        if group is None:
            raise Refused("A part of the proof file is counted twice.")
        self.parts[number] = None
        return group

    def _end_part(self) -> None:
        if self.walk is None:
            return
        if not self.walk.is_done or self.walk.least is None:
            raise Refused("A search in the proof file is not complete.")
        self.parts.append(Group(self.part, self.walk.least))
        self.walk = None
