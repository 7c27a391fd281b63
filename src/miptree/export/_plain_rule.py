"""Splits of 0/1 indicators that are plain rules, such as 'a = x and b != y'.

A split adds up coefficients of what a row has: values of categories, gaps in numbers.
All combinations of these are tried. Where those that go left are just the ones that
have a property in each of some columns, or in one of them, or in one column and then
likewise in the others, the rule says the same as the sum, for every row that can ever
come.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from miptree.export.names import printable, value_names
from miptree.export.readable import Branch, Member, Missing, ReadableTree

_MOST_COMBINATIONS = 4096

State = Member | Missing | None
"""What a row has of the indicators of a column; None: nothing of them."""
Combinations = set[tuple[State, ...]]
"""What rows have, column by column."""


@dataclass(frozen=True)
class Has:
    """A column with one of some values, or a gap; unless ``holds``, without."""

    atom: Member | Missing
    holds: bool

    def negated(self) -> Has:
        """Return the opposite."""
        return replace(self, holds=not self.holds)

    def words(self, rules: ReadableTree) -> str:
        """Say it as people write it."""
        name = rules.name(self.atom.column)
        if isinstance(self.atom, Missing) or self.atom.values == (None,):
            return f"{name} {'is' if self.holds else 'is not'} missing"
        values = value_names(rules, self.atom)
        if len(values) == 1:
            return f"{name} {'=' if self.holds else '!='} {values[0]}"
        return f"{name} {'in' if self.holds else 'not in'} {{{', '.join(values)}}}"


@dataclass(frozen=True)
class PlainRule:
    """When a row goes left: all of the parts hold or, unless ``is_every``, one does."""

    parts: tuple[Has | PlainRule, ...]
    is_every: bool

    def negated(self) -> PlainRule:
        """Return the rule for the rows that go right."""
        return PlainRule(
            tuple(part.negated() for part in self.parts), not self.is_every
        )

    def words(self, rules: ReadableTree, is_alone: bool = True) -> str:
        """Say the rule; beside others an 'or' is put in brackets."""
        word = " and " if self.is_every else " or "
        text = printable(word.join(_part_words(rules, part) for part in self.parts))
        is_clear = is_alone or self.is_every or len(self.parts) == 1
        return text if is_clear else f"({text})"


def _part_words(rules: ReadableTree, part: Has | PlainRule) -> str:
    if isinstance(part, Has):
        return part.words(rules)
    return f"({part.words(rules)})"


def plain_rule(branch: Branch) -> PlainRule | None:
    """Return the rule that a split of indicators is, None if it is no such."""
    states: dict[int, list[State]] = {}
    for _, atom in branch.terms:
        if not isinstance(atom, (Member, Missing)):
            return None
        states.setdefault(atom.column, [None]).append(atom)
    if prod(map(len, states.values())) > _MOST_COMBINATIONS:
        return None
    sides: tuple[Combinations, Combinations] = set(), set()
    for row in product(*states.values()):
        # In the order of the terms, as the tree adds them up.
        score = sum(coef for coef, atom in branch.terms if atom in row)
        sides[score > branch.threshold].add(row)
    return _rule(*sides, list(states.values()))


def _rule(
    left: Combinations, right: Combinations, states: list[list[State]]
) -> PlainRule | None:
    """Return the rule that holds on the left only, None if there is none so plain."""
    for find in (_all_of, _one_and_others):
        if (found := find(left, states)) is not None:
            return found
        if (found := find(right, states)) is not None:
            return found.negated()
    return None


def _one_and_others(rows: Combinations, states: list[list[State]]) -> PlainRule | None:
    """Return a property of one column, and with it a rule for the others."""
    for k, column in enumerate(states):
        seen = {row[k] for row in rows}
        rest = {row[:k] + row[k + 1 :] for row in rows}
        if not seen or len(seen) == len(column) or len(seen) * len(rest) != len(rows):
            continue
        others = states[:k] + states[k + 1 :]
        inner = _rule(rest, set(product(*others)) - rest, others)
        if inner is not None:
            more = inner.parts if inner.is_every else (inner,)
            return PlainRule((_property(column, seen), *more), True)
    return None


def _all_of(rows: Combinations, states: list[list[State]]) -> PlainRule | None:
    """Return the properties of single columns that just these rows have all of."""
    if not rows:
        return None
    seen = [set(column) for column in zip(*rows, strict=True)]
    if prod(map(len, seen)) != len(rows):
        return None
    parts = [
        _property(column, mine)
        for column, mine in zip(states, seen, strict=True)
        if len(mine) < len(column)
    ]
    return PlainRule(tuple(parts), True) if parts else None


def _property(states: list[State], seen: set[State]) -> Has:
    """Say which states of a column rows have; having nothing cannot be named."""
    holds = None not in seen
    named = [s for s in states if s is not None and (s in seen) == holds]
    return Has(_union(named), holds)


def _union(atoms: Iterable[Member | Missing]) -> Member | Missing:
    first, *rest = atoms
    values = tuple(v for atom in (first, *rest) for v in getattr(atom, "values", ()))
    return replace(first, values=values) if isinstance(first, Member) else first
