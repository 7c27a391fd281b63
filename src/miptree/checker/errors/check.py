"""Check the proof of the errors: all parts, and the tree itself."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from fractions import Fraction
from typing import Any

from ..data import Rows
from ..outcome import CLOSE, Outcome
from ..routes.recount import misfit, scores_of
from ..splits import check_time
from ..values import SAME_DATA, Refused, a_list, a_number, a_whole, check_size, parsed
from .file import ErrorsProof
from .limits import Limits
from .points import Labelled, labelled
from .sentence import errors_sentence
from .walk import Group, Known, Walk

MOST_PARTS = 100_000
_BRANCH = re.compile(rb'\["b", ?(\d+(?:, ?\[[0-9, ]*\])*)\]\s*')
_COLUMN = re.compile(rb'\["[wh]", ?(\d+), ?(\[[-0-9, ]*\])\]\s*')
_LONG = re.compile(rb"\d{18}")


def errors_outcome(proof: ErrorsProof, rows: Rows, deadline: float) -> Outcome:
    """Recount the tree, bound all others, and say what holds."""
    wrong = misfit(proof.tree, proof.trees.depth, proof.trees.max_features)
    if wrong is not None:
        return Outcome(f"Does not hold: {wrong}", 1)
    points = labelled(proof, rows)
    cost = errors_of_tree(proof, points)
    bound = max(counted(proof, points), ErrorsCheck(proof, points, deadline).bound())
    if bound > cost:
        text = "the tree has fewer errors than the proof says of all: this program errs"
        return Outcome(f"Does not hold: {text}.", 1)
    cost_is_right = abs(cost - proof.claimed_cost) <= CLOSE * cost
    is_right = cost_is_right and proof.claimed_bound <= bound * (1 + CLOSE)
    text = errors_sentence(proof, rows, points, (cost, bound), is_right)
    return Outcome(text, 0 if is_right else 1, cost, bound)


def errors_of_tree(proof: ErrorsProof, points: Labelled) -> Fraction:
    """Return what the rows weigh about which the tree is not right.

    A split with a score beyond [-1, 1] counts as its multiple that just fits.
    """
    x = points.unlabelled
    place, is_close = [0] * len(x.place), [False] * len(x.place)
    for number, node in enumerate(proof.tree):
        if node.coef is None:
            continue
        here = [i for i, own in enumerate(place) if own == number]
        if node.subset is not None:
            feature, values = node.subset
            for i in here:
                is_left = int(x.values[i, feature]) in values
                place[i] = node.left if is_left else node.right
            continue
        scores, over = scores_of(x.X, node)
        largest = max(over, *map(abs, scores))
        for i in here:
            is_close[i] |= abs(scores[i]) < proof.trees.least_score * largest
            place[i] = node.left if scores[i] <= 0 else node.right
    wrong = sum(
        weight
        for at, label, weight in zip(
            points.at, points.label, points.weight, strict=True
        )
        if is_close[at] or proof.tree[place[at]].label != label
    )
    return Fraction(wrong, points.unit)


def counted(proof: ErrorsProof, points: Labelled) -> Fraction:
    """Return what rows weigh at least of classes without a leaf, or of equal x.

    A tree is right about no row of a class that no leaf predicts, and about no two rows
    of equal x and values that differ in class.
    """
    n_leaves = 2**proof.trees.depth
    of_class: Counter[int] = Counter()
    of_x: Counter[int] = Counter()
    heaviest: dict[int, int] = {}
    for at, label, weight in zip(points.at, points.label, points.weight, strict=True):
        of_class[label] += weight
        of_x[at] += weight
        heaviest[at] = max(weight, heaviest.get(at, 0))
    without_leaf = sum(sorted(of_class.values(), reverse=True)[n_leaves:])
    in_conflict = of_x.total() - sum(heaviest.values())
    return Fraction(max(without_leaf, in_conflict), points.unit)


class ErrorsCheck:
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
            elif line.startswith((b'["w"', b'["h"')):
                self._column(line)
            elif line.startswith(b'["part"'):
                self._part(parsed(line))
            else:
                raise _unknown(line)
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
        column, terms = _values(_COLUMN.fullmatch(line), line)
        if line.startswith(b'["w"'):
            self.limits.leave_out(column, terms)
        else:
            self.limits.limit(column, terms)

    def _branch(self, line: bytes) -> None:
        if self.walk is None:
            raise Refused("The proof file has a branch outside of all parts.")
        (point, *reasons) = _values(_BRANCH.fullmatch(line), line)
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


def _values(found: re.Match[bytes] | None, line: bytes) -> list[Any]:
    """Return the whole numbers, and lists of them, of a line."""
    if found is None or _LONG.search(line):
        raise _unknown(line)
    check_size(line)
    try:
        values: list[Any] = json.loads(b"[" + b",".join(found.groups()) + b"]")
    except ValueError:
        raise Refused(
            f"The proof file has a line {line[:40]!r} that is not JSON."
        ) from None
    return values


def _unknown(line: bytes) -> Refused:
    return Refused(f"The proof file has a line {line[:40]!r} that is not known.")
