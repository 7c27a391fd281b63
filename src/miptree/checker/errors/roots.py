"""Check a proof by all splits of the root, for trees of depth 2.

**The classes.** A tree has two leaves left of the root and two right of it. Any of
their classes may be the same, or that of no point; with two classes that differ a tree
can be right about as many points, as a split may have all of them on one side, scored
1 or -1. Mirroring a split below the root, or the root, changes nothing. So there is a
choice of two classes for each side, the sides in any order. All of them are listed
here: of a choice without a proof in the file it is known what points count that have
no leaf of their class on either side.

**The sides.** For each choice the file goes through the sides that points may have at
the root (``choice.py``), once its threshold is away from all points (``pairs.py``).
What counts on a side is at least what counts among some of its points, for which there
are lemmas (``cases.py``). Points right and left of the root are other points, so that
what counts there adds up.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

from ..deadline import check_time
from ..values import Refused, TooMuch, a_list, a_number, a_whole, parsed
from .cases import Cases, Lemma
from .choice import Choice, Classes
from .file import ErrorsProof
from .limits import Limits
from .lines import COLUMN_LINES, read_column, unknown
from .pairs import MOST_BITS, Pairs
from .points import Labelled

DEPTH = 2
MOST_CLASSES = 30
"""With more of them there are too many choices."""
MOST_KNOWN = 1000
"""Lemmas that a lemma may build on."""


class RootsCheck:
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
        self._pairs: Pairs | None = None
        self.lemmas: dict[int, Lemma] = {}
        self.choice: Choice | None = None
        self.shown: dict[tuple[Classes, Classes], int] = {}

    def bound(self) -> Fraction:
        """Return what the rows weigh at least that count, whatever the tree."""
        if self.proof.trees.depth != DEPTH:
            raise Refused("The proof file tries all roots of trees of another depth.")
        readers = {
            "near": self._near,
            "lemma": self._lemma,
            "choice": self._choice,
            "p": self._divide,
            "x": self._part,
            "e": self._count,
            "t": self._count_all,
        }
        for number, line in enumerate(self.proof.events()):
            if number % 100 == 0:
                check_time(self.deadline)
            if line.startswith(COLUMN_LINES):
                self._column(line)
                continue
            given = parsed(line)
            kind = given[0] if isinstance(given, list) and given else None
            if not isinstance(kind, str) or kind not in readers:
                raise unknown(line)
            readers[kind](given)
        self._end_choice()
        return Fraction(self._least(), self.points.unit)

    @property
    def pairs(self) -> Pairs:
        """The pairs; from the first one on the columns are known."""
        if self._pairs is None:
            limits = self.limits
            trees, points = self.proof.trees, self.points
            self._pairs = Pairs(trees, points, limits.coordinates(), limits.name)
        return self._pairs

    def _column(self, line: bytes) -> None:
        if self._pairs is not None:
            raise Refused("The proof file limits a column after its first pair.")
        read_column(line, self.limits)

    def _near(self, given: Any) -> None:
        self.pairs.read(given)

    def _lemma(self, given: Any) -> None:
        """Take a lemma: a name, what is allowed, lemmas to build on, and its cases."""
        _, name, most, numbers, cases = a_list(given, "lemma", 5, 5)
        name = a_whole(name, "lemma", 0, 1 << 60)
        if name in self.lemmas:
            raise Refused("The proof file has two lemmas of one name.")
        if (len(self.lemmas) + 1) * len(self.points.label) > MOST_BITS:
            raise TooMuch("The proof file has too many lemmas for so many points.")
        known = [self._known(k) for k in a_list(numbers, "lemma", 0, MOST_KNOWN)]
        classes = self._classes_of(cases, known)
        check = Cases(
            self.pairs,
            self.points.weight,
            lambda pair: pair.classes == classes,
            known,
            self.deadline,
        )
        allowed = self._units(most)
        check.check(cases, allowed)
        points = sum(1 << i for i in check.named)
        for lemma in known:
            points |= lemma.points
        self.lemmas[name] = Lemma(classes, points, max(0, allowed + 1))

    def _classes_of(self, cases: Any, known: list[Lemma]) -> Classes:
        """Return the two classes of the first pair, of which all of a lemma are."""
        first = cases[0] if isinstance(cases, list) and cases else None
        classes = self.pairs.get(first).classes
        if classes is None or any(lemma.classes != classes for lemma in known):
            raise Refused("A lemma of the proof file is not about two classes.")
        return classes

    def _known(self, name: Any) -> Lemma:
        if type(name) is not int or name not in self.lemmas:
            raise Refused(f"The proof file names a lemma {name!r:.50} that is none.")
        return self.lemmas[name]

    def _units(self, most: Any) -> int:
        return math.floor(a_number(most, "most") * self.points.unit)

    # --------------------------------------------------------- the sides of the root

    def _choice(self, given: Any) -> None:
        """Begin a choice of classes: those left and right, and what is allowed."""
        self._end_choice()
        _, left, right, most = a_list(given, "choice", 4, 4)
        self.choice = Choice(
            (self._classes(left), self._classes(right)),
            self.points.label,
            self.points.weight,
            self._units(most),
        )

    def _classes(self, given: Any) -> Classes:
        last = len(self.proof.classes) - 1
        a, b = (a_whole(k, "choice", 0, last) for k in a_list(given, "choice", 2, 2))
        if a >= b:
            raise Refused("The proof file names classes of a choice not in order.")
        return a, b

    def _end_choice(self) -> None:
        if self.choice is None:
            return
        if not self.choice.is_done:
            raise Refused("A search in the proof file is not complete.")
        left, right = sorted(self.choice.classes)
        before = self.shown.get((left, right), 0)
        self.shown[left, right] = max(before, self.choice.allowed + 1)
        self.choice = None

    def _begun(self) -> Choice:
        if self.choice is None:
            raise Refused("The proof file has a case outside of all choices.")
        return self.choice

    def _divide(self, given: Any) -> None:
        _, point = a_list(given, "p", 2, 2)
        self._begun().divide(self.pairs.point(point))

    def _part(self, given: Any) -> None:
        _, name = a_list(given, "x", 2, 2)
        self._begun().part(self.pairs.get(name))

    def _count(self, given: Any) -> None:
        _, *names = a_list(given, "e", 3, 3)
        self._begun().count([None if k is None else self._known(k) for k in names])

    def _count_all(self, given: Any) -> None:
        _, most, cases = a_list(given, "t", 3, 3)
        choice, allowed = self._begun(), self._units(most)
        check = Cases(
            self.pairs, self.points.weight, choice.is_conflict, (), self.deadline
        )
        check.check(cases, allowed)
        choice.count_more(max(0, allowed + 1))

    def _least(self) -> int:
        """Return the least that is shown of a choice of classes."""
        of_class: dict[int, int] = {}
        for label, weight in zip(self.points.label, self.points.weight, strict=True):
            of_class[label] = of_class.get(label, 0) + weight
        if len(of_class) > MOST_CLASSES:
            raise TooMuch(f"The proof file is about more than {MOST_CLASSES} classes.")
        if len(of_class) < 2:
            return 0
        total = sum(of_class.values())
        pairs = list(combinations(sorted(of_class), 2))
        return min(
            max(
                total - sum(of_class[k] for k in {*left, *right}),
                self.shown.get((left, right), 0),
            )
            for left, right in combinations_with_replacement(pairs, 2)
        )
