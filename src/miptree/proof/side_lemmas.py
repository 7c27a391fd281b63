"""What few splits of a side can get right, in words that a stranger can check.

A *near pair* are two sets of points with convex combinations too near to each other to
be split. A *lemma* are errors that every split makes among some points of two classes.
It is shown by near pairs, one of whose points is an error: each of them in turn, until
the errors are too many. Lemmas on fewer points help: beside their errors only so many
more are allowed among the other points. The errors of a whole tree are shown likewise.

The journal of a search (``journal.py``) says which near pairs it found. What is read
from it is counted anew here, so that the file shows it by the rules of the checker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from miptree.proof.journal import EXPANDED, FOUND
from miptree.proof.near_pairs import NearPairs, NotShown, Words

_SAME = 5e-10
"""Part of a unit by which errors allowed are below those proved."""


class Lemma(NamedTuple):
    """Errors of every split among some points, as bits.

    ``pairs`` and ``lemmas`` are the numbers of those that its line refers to.
    """

    errors: int
    points: int
    pairs: frozenset[int]
    lemmas: frozenset[int]
    line: str


class Shown(NamedTuple):
    """What a question showed, and the numbers of the pairs that it takes.

    ``known`` are numbers of the lemmas, in their list, on which it rests.
    """

    words: str
    pairs: frozenset[int]
    known: frozenset[int]


class Record:
    """What all choices of classes share.

    Parameters
    ----------
    names : sequence of int
        Names of the rows in the file.
    units : sequence of int
        Their weights.
    unit : float
    allowed : int
        Errors of a tree, of which too many are to be shown.

    Attributes
    ----------
    pairs : NearPairs
    lemmas : list of Lemma
    """

    def __init__(
        self, names: Sequence[int], units: Sequence[int], unit: float, allowed: int
    ) -> None:
        self.names, self.units, self.unit = names, units, unit
        self.allowed = allowed
        self.pairs = NearPairs(names)
        self.lemmas: list[Lemma] = []
        self._n_bytes = 0

    @property
    def n_bytes(self) -> int:
        """Size of all lines."""
        return self._n_bytes + self.pairs.n_bytes

    def most(self, allowed: int) -> str:
        """Say in the file how many errors are allowed."""
        if self.unit == 1.0:
            return str(allowed)
        return repr((allowed + 1) * self.unit * (1 - _SAME))

    def lemma(self, words: Words, known: Sequence[int]) -> int:
        """Read how a question about a side was answered; return the lemma's number.

        ``known`` are numbers of lemmas about the side.
        """
        lemmas, errors = [self.lemmas[k] for k in known], words.answer()
        shown = Question(words, self.units, lemmas, errors - 1).shown()
        used = [known[k] for k in sorted(shown.known)]
        points = 0
        for number in shown.pairs:
            pair = self.pairs.all[number]
            points |= pair.left | pair.right
        for k in used:
            points |= self.lemmas[k].points
        number = len(self.lemmas)
        line = f'["lemma",{number},{self.most(errors - 1)},{used},{shown.words}]\n'
        made = Lemma(errors, points, shown.pairs, frozenset(used), line)
        self.lemmas.append(made)
        self._n_bytes += len(line)
        return number


class Question:
    """Shows by the checker's rules why the errors are too many, as a search found it.

    Parameters
    ----------
    words : Words
        At the first conflict.
    units : sequence of int
        Weight of each row.
    known : sequence of Lemma
        Lemmas that may be used, of points in question.
    allowed : int
        Errors allowed.
    """

    def __init__(
        self,
        words: Words,
        units: Sequence[int],
        known: Sequence[Lemma],
        allowed: int,
    ) -> None:
        self.words, self.units = words, units
        self.known = [0, *(lemma.points for lemma in known)]
        self.room = [allowed, *(allowed - lemma.errors for lemma in known)]
        self.kept = 0
        self.used: set[int] = set()
        self.pairs: set[int] = set()

    def shown(self) -> Shown:
        """Read all of it."""
        words = self._read(self.room, is_wanted=True)
        known = frozenset(k - 1 for k in self.used if k > 0)
        return Shown(words, frozenset(self.pairs), known)

    def _read(self, room: list[int], is_wanted: bool) -> str:
        """Read a case, in which ``room`` is left beside each of the lemmas."""
        found = []
        while self.words.next_is(FOUND):
            self.words.at += 2
            found.append(self.words.pair())
        if not found or self.words.take() != EXPANDED:
            raise NotShown
        chosen, n_options = self.words.take(), self.words.take()
        options = [self.words.point() for _ in range(n_options)]
        if options:
            return self._divided(found[chosen], options, room, is_wanted)
        return self._closed(found, room) if is_wanted else ""

    def _divided(
        self, number: int, options: list[int], room: list[int], is_wanted: bool
    ) -> str:
        """Read a case in which points of a pair are errors, one after the other."""
        free, why = self._free(number, room)
        if is_wanted:
            self._use([number], why)
        words, kept = f"[{number}", self.kept
        for i in options:
            is_free = i in free
            inside = self._read(self._without(room, i), is_wanted and is_free)
            self.kept |= 1 << i
            if is_free:
                words += f",[{self.words.pairs.names[i]},{inside}]"
        self.kept = kept
        if is_wanted and not set(free) <= set(options):
            raise NotShown
        return words + "]"

    def _without(self, room: list[int], i: int) -> list[int]:
        """Return the room that is left where a point is an error."""
        unit = self.units[i]
        return [
            left if points >> i & 1 else left - unit
            for left, points in zip(room, self.known, strict=True)
        ]

    def _closed(self, found: list[int], room: list[int]) -> str:
        """Show that a case has too many errors, by some of the pairs found."""
        looked = [(number, *self._free(number, room)) for number in found]
        for number, free, why in looked:
            if not free:
                self._use([number], why)
                return f"[{number}]"
        for k in sorted(range(len(room)), key=lambda k: k not in self.used):
            packed, outside = 0, []
            for number, free, why in looked:
                if packed <= room[k] and not any(self.known[k] >> i & 1 for i in free):
                    packed += min(self.units[i] for i in free)
                    outside.append((number, why))
            if packed > room[k]:
                for number, why in outside:
                    self._use([number], {k} | why)
                return "[" + ",".join(str(number) for number, _ in outside) + "]"
        raise NotShown

    def _free(self, number: int, room: list[int]) -> tuple[list[int], set[int]]:
        """Return the points of a pair that may be errors, and what lemmas keep others.

        Lemmas that are used anyway come first.
        """
        free, why = [], set[int]()
        for i in self.words.pairs.all[number].points:
            if self.kept >> i & 1:
                continue
            unit, best = self.units[i], None
            for k, points in enumerate(self.known):
                if unit > room[k] and not points >> i & 1:
                    best = k if best is None or k in self.used else best
            if best is None:
                free.append(i)
            else:
                why.add(best)
        return free, why

    def _use(self, numbers: Iterable[int], reasons: Iterable[int]) -> None:
        self.pairs.update(numbers)
        self.used.update(reasons)
