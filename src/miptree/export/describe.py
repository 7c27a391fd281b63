"""From a split of a points tree to the plainest condition that says the same.

A split adds up points: ``weight`` for each level that a feature reaches. Levels and
features that cannot change its outcome are dropped first. What is left is a single
condition, a mixture of 'and' and 'or', two of three, a number whose limit depends on
something else, or a card on which points are added up.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from miptree.data import CategoricalColumn
from miptree.data.grid import GridColumn
from miptree.export.conditions import (
    Card,
    Condition,
    Depending,
    Either,
    Every,
    Part,
    TwoOfThree,
    Within,
    opposite,
    refusals,
)
from miptree.export.readable import Branch, Leaf, Member, ReadableTree, Steps


def is_points_tree(rules: ReadableTree) -> bool:
    """Tell whether all splits add up whole points of grid columns and categories."""
    columns = rules.columns
    has_grid = any(isinstance(column, GridColumn) for column in columns)
    are_values = all(
        isinstance(column, CategoricalColumn) and not column.as_subsets
        for column in columns
    )
    return (has_grid or are_values) and all(
        branch.threshold.is_integer()
        and all(
            coef.is_integer() and isinstance(atom, (Steps, Member))
            for coef, atom in branch.terms
        )
        for branch in rules.branches
    )


def readable(rules: ReadableTree) -> ReadableTree:
    """Turn splits of a points tree round where the other side is easier to say.

    Sums are whole numbers, so that 'at most 3' is the same as 'not at least 4'.
    """

    def turn(node: Branch | Leaf) -> Branch | Leaf:
        if isinstance(node, Leaf):
            return node
        same = replace(node, left=turn(node.left), right=turn(node.right))
        other = Branch(
            node.node,
            tuple((-coef, atom) for coef, atom in node.terms),
            -node.threshold - 1.0,
            same.right,
            same.left,
        )
        is_easier = refusals(condition_of(other)) < refusals(condition_of(same))
        return other if is_easier else same

    return replace(rules, root=turn(rules.root))


def condition_of(branch: Branch) -> Condition:
    """Describe when rows go left at a split of a points tree."""
    parts = _parts(branch)
    below = sum(part.most_points for part in parts if part.falls)
    return _condition(parts, int(branch.threshold) + below)


def _parts(branch: Branch) -> list[Part]:
    """List what each feature adds; points are never negative."""
    weight: dict[tuple[int, float], Member] = {}
    parts = []
    for coef, atom in branch.terms:
        if isinstance(atom, Steps):
            parts.append(Part(atom, abs(int(coef)), atom.cuts, coef < 0))
        elif isinstance(atom, Member):
            # At most one indicator of a column is 1: those of equal points are one.
            same = weight.get((atom.column, coef), Member(atom.column, ()))
            weight[atom.column, coef] = replace(same, values=same.values + atom.values)
    for (_, coef), member in weight.items():
        parts.append(Part(member, abs(int(coef)), (), coef < 0))
    return parts


def _condition(parts: list[Part], most: int) -> Condition:
    """Describe when parts have at most so many points in all."""
    parts, most = _plainest(parts, most)
    if most < 0 or not parts:
        return Either(()) if most < 0 else Every(())
    if len(parts) == 1:
        return parts[0].at_most(most)
    total = sum(part.most_points for part in parts)
    for k, part in enumerate(parts):
        others = parts[:k] + parts[k + 1 :]
        decides = part.weight > most, total - part.weight <= most
        if part.n_levels == 1 and any(decides):
            rest = _condition(others, most - part.weight * (not decides[0]))
            if not isinstance(rest, Card):
                return _joined(Every if decides[0] else Either, part.at_most(0), rest)
    levels = sorted(part.n_levels for part in parts)
    if levels == [1, 1, 1]:  # the only such sum in which nothing decides alone
        return TwoOfThree(tuple(part.at_most(0) for part in parts))
    if len(levels) == 2 and levels[0] == 1:
        switch, number = sorted(parts, key=lambda part: part.n_levels)
        return _depending(switch, number, most)
    return Card(tuple(parts), most, True)


def _joined(
    kind: type[Every] | type[Either], first: Condition, rest: Condition
) -> Condition:
    """Join conditions, in one row with those that are joined the same way."""
    more = rest.parts if isinstance(rest, kind) else (rest,)
    return kind((first, *more))


def _depending(switch: Part, number: Part, most: int) -> Condition:
    """Describe a number beside something that is there or not."""
    off = switch.at_most(0)
    without = number.range_of(most // number.weight)
    beside = number.range_of((most - switch.weight) // number.weight)
    # Say 'when it is rent', 'when it is 35 or more', not 'when it is not'.
    if off.low is not None if isinstance(off, Within) else off.holds:
        return Depending(off, without, beside)
    return Depending(opposite(off), beside, without)


# ----------------------------------------------------------------- what does not matter


def _plainest(parts: list[Part], most: int) -> tuple[list[Part], int]:
    """Drop the features and levels that cannot change whether points are at most so."""
    before: tuple[list[Part], int] = [], 0
    while (parts, most) != before:
        before = parts, most
        total = sum(part.most_points for part in parts)
        if most < 0 or total <= most:
            return [], min(most, 0)
        parts = _relevant(parts, most)
        parts, most = _focused(parts, most)
        common = gcd(*(part.weight for part in parts))
        parts = [replace(part, weight=part.weight // common) for part in parts]
        most //= common
    return parts, most


def _relevant(parts: list[Part], most: int) -> list[Part]:
    """Keep the features without which some outcome would be another."""
    kept = list(parts)
    for part in parts:
        others = [other for other in kept if other is not part]
        # Bit s of the mask: others can have s points. Does it decide for one of them?
        near = _reachable(others) & ((1 << (most + 1)) - 1)
        if not near >> max(0, most + 1 - part.most_points):
            kept = others
    return kept


def _reachable(parts: list[Part]) -> int:
    """Return the sums of points that parts can have, as the bits of a number."""
    sums = 1
    for part in parts:
        once = sums
        for level in range(1, part.n_levels + 1):
            sums |= once << (part.weight * level)
    return sums


def _focused(parts: list[Part], most: int) -> tuple[list[Part], int]:
    """Merge the levels of each feature that decide alone, whatever the others are."""
    for k, part in enumerate(parts):
        rest = sum(other.most_points for other in parts) - part.most_points
        high = min(part.n_levels, most // part.weight + 1)
        low = max(0, (most - rest) // part.weight)
        parts = [*parts[:k], part.only(low, high), *parts[k + 1 :]]
        most -= part.weight * low
    return parts, most
