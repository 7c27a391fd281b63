"""What a split of a points tree asks, in parts that have words of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from miptree.export.readable import Member, Steps


@dataclass(frozen=True)
class Within:
    """A number that is at least ``low`` and below ``high``; None: there is no end.

    ``missing`` tells whether a missing number is within, None where training had none.
    """

    column: int
    low: float | None
    high: float | None
    missing: bool | None


@dataclass(frozen=True)
class OneOf:
    """A category that is one of some values or, unless ``holds``, none of them."""

    member: Member
    holds: bool


@dataclass(frozen=True)
class Every:
    """All of the conditions."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Either:
    """At least one of the conditions."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class TwoOfThree:
    """At least two of three conditions."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Depending:
    """A number within one range, or another one ``when`` something holds."""

    when: Within | OneOf
    then: Within
    otherwise: Within


@dataclass(frozen=True)
class Part:
    """What one feature adds to a split: ``weight`` points for each of its levels.

    Attributes
    ----------
    atom : Steps or Member
        What is read.
    weight : int
        Above 0.
    cuts : tuple of float
        Those of its cut points that matter; none for a category, which has one level.
    falls : bool
        Whether a lower number has the higher level: levels then count the cuts above
        it, else those not above it. For a category: its values have no points.
    """

    atom: Steps | Member
    weight: int
    cuts: tuple[float, ...]
    falls: bool

    @property
    def n_levels(self) -> int:
        """Highest level."""
        return 1 if isinstance(self.atom, Member) else len(self.cuts)

    @property
    def most_points(self) -> int:
        """Points of the highest level."""
        return self.weight * self.n_levels

    @property
    def missing_level(self) -> int | None:
        """Level of a missing number, None where training had none."""
        if isinstance(self.atom, Member) or self.atom.missing_as is None:
            return None
        return self.n_levels if (self.atom.missing_as == 0) == self.falls else 0

    def at_most(self, level: int) -> Within | OneOf:
        """Say when the level is at most this one, which is not the highest."""
        if isinstance(self.atom, Member):
            return OneOf(self.atom, self.falls)
        return self.range_of(level)

    def range_of(self, level: int) -> Within:
        """Say for which numbers the level is at most this one."""
        column, gap = self.atom.column, self.missing_level
        missing = None if gap is None else gap <= level
        if self.falls:
            return Within(column, self.cuts[-1 - level], None, missing)
        return Within(column, None, self.cuts[level], missing)

    def only(self, low: int, high: int) -> Part:
        """Keep the levels from one to another; both become ends."""
        if isinstance(self.atom, Member):
            return self
        n = len(self.cuts)
        kept = slice(n - high, n - low) if self.falls else slice(low, high)
        return replace(self, cuts=self.cuts[kept])


@dataclass(frozen=True)
class Card:
    """At most so many points in all or, unless ``holds``, more than that."""

    parts: tuple[Part, ...]
    most: int
    holds: bool

    @property
    def total(self) -> int:
        """Points of one who has all of them."""
        return sum(part.most_points for part in self.parts)


Condition: TypeAlias = Within | OneOf | Every | Either | TwoOfThree | Depending | Card


def negated(found: Condition) -> Condition:
    """Return the condition that holds where another does not."""
    if isinstance(found, (Within, OneOf)):
        return opposite(found)
    if isinstance(found, Depending):
        return Depending(found.when, _outside(found.then), _outside(found.otherwise))
    if isinstance(found, Card):
        return replace(found, holds=not found.holds)
    parts = tuple(negated(part) for part in found.parts)
    if isinstance(found, TwoOfThree):
        return TwoOfThree(parts)
    return Either(parts) if isinstance(found, Every) else Every(parts)


def opposite(found: Within | OneOf) -> Within | OneOf:
    """Return the condition on one feature that holds where another does not."""
    if isinstance(found, Within):
        return _outside(found)
    return replace(found, holds=not found.holds)


def _outside(found: Within) -> Within:
    """Return the other side of a range with one end."""
    missing = None if found.missing is None else not found.missing
    return Within(found.column, found.high, found.low, missing)


def refusals(found: Condition) -> int:
    """Count what makes a condition hard to read: what must not be, what falls."""
    if isinstance(found, OneOf):
        return int(not found.holds)
    if isinstance(found, Card):
        return sum(part.falls for part in found.parts)
    if isinstance(found, (Within, Depending)):
        return 0
    return sum(refusals(part) for part in found.parts)
