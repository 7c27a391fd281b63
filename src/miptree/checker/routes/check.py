"""Check the proof of an oblique tree: all parts, all structures, the tree itself."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

from ..data import Rows
from ..deadline import check_time
from ..outcome import CLOSE, Outcome
from ..values import SAME_DATA, Refused, a_float, a_list, a_whole, check_size, parsed
from .by_root import ByRoot
from .file import RoutesProof
from .numbers import Points, merged, numbers_of
from .recount import misfit, objective_of
from .scopes import Scope
from .sentence import Held, routes_sentence
from .walk import Walk

LITTLE = 10 * CLOSE
"""Part of a claimed bound by which rounding may make the computed one smaller."""
MOST_PARTS = 100_000
_NUMBERS = rb"([-0-9, ]*)"
_TWO_LISTS = rb"\[" + _NUMBERS + rb"\], ?\[" + _NUMBERS + rb"\]"
_SHIFT = rb"(?:, ?([0-9]{1,2}))?"
_EVENT = {
    b"b": re.compile(rb'\["b", ?' + _NUMBERS + rb"\]\s*"),
    b"c": re.compile(rb'\["c", ?' + _TWO_LISTS + _SHIFT + rb"\]\s*"),
    b"k": re.compile(rb'\["k", ?' + _TWO_LISTS + _SHIFT + rb"\]\s*"),
    b"l": re.compile(rb'\["l", ?\[' + _NUMBERS + rb"\]" + _SHIFT + rb"\]\s*"),
    b"f": re.compile(rb'\["f", ?' + _NUMBERS + rb"\]\s*"),
    b"d": re.compile(rb'\["d", ?' + _NUMBERS + rb"\]\s*"),
    b"v": re.compile(rb'\["v", ?' + _NUMBERS + rb"\]\s*"),
    b"u": re.compile(rb'\["u", ?' + _NUMBERS + rb"\]\s*"),
    b"r": re.compile(rb'\["r", ?' + _TWO_LISTS + _SHIFT + rb"\]\s*"),
}
_PLACES = {b"c": (3, 2), b"k": (3, 2), b"l": (3,), b"r": (None, 3)}
"""Where, from 0, the multiplier of an entry is in each list, None if it has none."""
_LONG = re.compile(rb"\d{18}")


def routes_outcome(proof: RoutesProof, rows: Rows, deadline: float) -> Outcome:
    """Recount the tree, bound all others, and say what holds."""
    family = proof.objective
    wrong = misfit(proof.tree, family.depth, family.max_features)
    if wrong is not None:
        return Outcome(f"Does not hold: {wrong}", 1)
    points = merged(rows)
    cost = objective_of(proof, points)
    check = RoutesCheck(proof, points, deadline)
    bound = check.bound()
    if bound > cost:
        text = (
            "the tree costs less than the proof says of all trees: this program errs."
        )
        return Outcome(f"Does not hold: {text}", 1)
    cost_is_right = abs(cost - proof.claimed_cost) <= CLOSE * cost
    excess = proof.claimed_bound - bound
    is_right = cost_is_right, excess <= LITTLE * bound
    held = Held(cost, bound, *is_right, check.is_limited)
    text = routes_sentence(proof, rows, points, held)
    return Outcome(text, 0 if held.all else 1, cost, bound)


class RoutesCheck:
    """The bound that the lines of a section prove.

    Parameters
    ----------
    proof : RoutesProof
    points : Points
    deadline : float
        When to give up, by ``time.monotonic``.

    Attributes
    ----------
    is_limited : bool
        Whether the lines that were read hold only for splits of few features.
    """

    def __init__(self, proof: RoutesProof, points: Points, deadline: float) -> None:
        self.proof, self.points, self.deadline = proof, points, deadline
        self.total, self.shares = Fraction(0), Fraction(0)
        self.free = dict(zip(points.place, range(len(points.place)), strict=True))
        self.part: Scope | None = None
        self.by_root: ByRoot | None = None
        self.scope: Scope | None = None
        self.walk: Walk | None = None
        self.n_parts = 0
        self.is_limited = False

    def bound(self) -> Fraction:
        """Return what every tree costs at least: the sum of what the parts show."""
        for line in self.proof.events():
            check_time(self.deadline)  # a few bytes may stand for a long closing
            kind = line[2:3]
            pattern = _EVENT.get(kind)
            if line.startswith(b'["part"'):
                self._part(parsed(line))
            elif line.startswith(b'["s"'):
                self._structure(parsed(line))
            elif line.startswith(b'["lemma"'):
                self._lemma(parsed(line))
            elif line.startswith(b'["roots"'):
                self._sides(parsed(line))
            elif pattern is None or self.walk is None:
                raise Refused(
                    f"The proof file has a line {line[:40]!r} that is not known."
                )
            else:
                self._event(kind, pattern.fullmatch(line), line)
        self._end_part()
        return self.total

    def _event(self, kind: bytes, found: re.Match[bytes] | None, line: bytes) -> None:
        """Read a line of whole numbers: a branch of any kind, a closing or a lemma."""
        walk = self.walk
        if found is None or walk is None or _LONG.search(line):
            raise Refused(f"The proof file has a line {line[:40]!r} that is not known.")
        check_size(line)
        try:
            values = [json.loads(b"[" + text + b"]") for text in found.groups(b"0")]
        except ValueError:
            text = f"{line[:40]!r} that is not JSON"
            raise Refused(f"The proof file has a line {text}.") from None
        if kind in _PLACES:
            *values, (shift,) = values
            for flat, place in zip(values, _PLACES[kind], strict=True):
                if shift and place is not None:
                    flat[place::4] = [q << shift for q in flat[place::4]]
        by_root = self.by_root
        in_sides = by_root is not None and by_root.sides is walk
        if in_sides != (kind == b"r") and not (in_sides and kind in (b"f", b"b")):
            text = f"{line[:40]!r} that belongs in a proof tree of another kind"
            raise Refused(f"The proof file has a line {text}.")
        if by_root is not None and kind == b"r":
            by_root.close(*values)
        elif kind == b"c":
            walk.close(*values)
        elif kind == b"k":
            walk.change(*values)
        elif kind == b"l":
            walk.lemmas_of(*values)
        elif kind == b"d":
            walk.decide(*a_list(values[0], "a feature", 1, 1))
        elif kind == b"v":
            walk.part_value(*a_list(values[0], "a value", 2, 2))
        elif kind == b"u":
            walk.decide_use(*a_list(values[0], "a feature", 2, 2))
            self.is_limited = True
        else:
            point, *sets = a_list(values[0], "a branch", 1 + (kind == b"b"), 20)
            if kind == b"b":
                walk.branch(point, sets)
            elif sets:
                raise Refused("The proof file fixes several points at once.")
            else:
                walk.fix(point)

    # ------------------------------------------------------------ parts, structures

    def _part(self, given: Any) -> None:
        """Begin a part: some points, a share of the norms' price, a threshold."""
        self._end_part()
        check_time(self.deadline)
        _, chosen, share, threshold = a_list(given, "part", 4, 4)
        self.n_parts += 1
        above, below = (
            a_whole(n, "part", 1, 1 << 40) for n in a_list(share, "part", 2, 2)
        )
        share = Fraction(above, below)
        self.shares += share
        if self.shares > 1 or self.n_parts > MOST_PARTS:
            raise Refused("The parts of the proof file have more than the whole.")
        limit = a_float(threshold, "part")
        if not limit > 0:
            raise Refused("A threshold of the proof file is not above 0.")
        if chosen is None:
            chosen = list(self.free)
        places = []
        for name in a_list(chosen, "part", 1, len(self.points.place)):
            if type(name) is not int or name not in self.free:
                text = f"{name!r:.50}, which is none or in another part, too"
                raise Refused(
                    f"A part of the proof file names a point {text}. {SAME_DATA}"
                )
            places.append(self.free.pop(name))
        name = {self.points.place[i]: k for k, i in enumerate(places)}
        objective = self.proof.objective
        numbers = numbers_of(self.points, places, objective, share, limit)
        self.part = self.scope = Scope(self.proof, numbers, name, objective.depth)
        self.by_root = ByRoot(self.part)

    def _structure(self, given: Any) -> None:
        """Begin the proof of a structure, of a part or of its last lemma."""
        check_time(self.deadline)
        if self.scope is None:
            text = "outside of all parts, or after the tree of a root's sides"
            raise Refused(f"The proof file has a structure {text}.")
        self.walk = self.scope.begin(given)

    def _lemma(self, given: Any) -> None:
        """Begin a lemma: some points of the part, and a threshold."""
        check_time(self.deadline)
        self.walk, self.scope = None, self._by_root().begin_lemma(given)

    def _sides(self, given: Any) -> None:
        """Begin the tree of the sides of the root."""
        check_time(self.deadline)
        self.walk, self.scope = self._by_root().begin_sides(given), None

    def _by_root(self) -> ByRoot:
        if self.part is None or self.by_root is None:
            raise Refused("The proof file has a proof by root outside of all parts.")
        self.part.end_structure()
        return self.by_root

    def _end_part(self) -> None:
        """Add what all trees cost on the points of a part, whatever their structure."""
        if self.part is not None and self.by_root is not None:
            self.total += Fraction(self.part.bound(self.by_root.bound()))
        self.part = self.by_root = self.scope = self.walk = None
