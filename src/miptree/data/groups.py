"""The groups that rows belong to, and the weights by which rates of groups count them.

They are kept beside a problem, not in it as features: a tree need not see the group of
a row for its rates to be counted by group.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np

from miptree.data.cells import Value, read_cells
from miptree.utils.arrays import AnyArray, FloatArray, IntArray
from miptree.utils.decimals import written_digits

MOST_GROUPS = 100
"""Different groups that a fit accepts: a column of more is a number, not a group."""
MOST_DIGITS = 200
"""Digits of all weights together: floats have 308, and products of them are made."""
MISSING = "(missing)"
"""Name of the group of the rows whose value is missing."""


class Grouping(NamedTuple):
    """The groups of the rows by one or more columns."""

    code: IntArray
    """(n,): number of each row's group."""
    names: tuple[str, ...]
    """Names of the groups, in the order of the alphabet; no two have the same."""
    columns: tuple[str, ...]
    """Names of the columns, empty where they have none."""

    @property
    def of_columns(self) -> str:
        """The columns in words, such as " of 'sex'", nothing without names."""
        names = " and ".join(map(repr, self.columns))
        return f" of {names}" if names else ""


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Groups and weights of rows.

    Attributes
    ----------
    sensitive, control : Grouping or None
        Groups by ``sensitive_features``, whose rates are compared, and by
        ``control_features``, within which they are; None where not given.
    weight : array of shape (n,)
        The user's sample weights as whole multiples of ``unit``, without the weights
        of classes: rates count these.
    unit : Fraction
        A weight of 1 is ``1 / unit`` here.
    """

    sensitive: Grouping | None
    control: Grouping | None
    weight: AnyArray
    unit: Fraction

    @classmethod
    def of(cls, sensitive: Any, control: Any, sample_weight: FloatArray) -> RowGroups:
        """Read groups as the user gives them, and weights >= 0."""
        n_rows = len(sample_weight)
        whole, unit = whole_weights(sample_weight)
        refuse_wide(whole)
        return cls(
            read_groups(sensitive, n_rows, "sensitive_features"),
            read_groups(control, n_rows, "control_features"),
            whole,
            unit,
        )

    @property
    def code(self) -> IntArray:
        """(n,): one number for each combination of sensitive and control group."""
        total = np.zeros(len(self.weight), dtype=np.intp)
        for grouping in (self.sensitive, self.control):
            if grouping is not None:
                total = total * len(grouping.names) + grouping.code
        return total

    def take(self, rows: AnyArray) -> RowGroups:
        """Return the groups of some rows."""
        return replace(
            self,
            sensitive=_taken(self.sensitive, rows),
            control=_taken(self.control, rows),
            weight=self.weight[rows],
        )

    def merged(self, first: IntArray, group: IntArray) -> RowGroups:
        """Return the groups of merged rows; their weights are added exactly."""
        total = np.zeros(len(first), dtype=self.weight.dtype)
        np.add.at(total, group, self.weight)
        return replace(self.take(first), weight=total)


def joined_groups(parts: Sequence[RowGroups]) -> RowGroups:
    """Return the groups of the rows of several tables, one after the other."""
    unit = Fraction(1, lcm(*(part.unit.denominator for part in parts)))
    weight = [part.weight.astype(object) * int(part.unit / unit) for part in parts]
    whole = np.concatenate(weight)
    refuse_wide(whole)
    if sum(whole.tolist()) < 2**62:
        whole = whole.astype(np.int64)
    sensitive = _joined([part.sensitive for part in parts])
    return RowGroups(sensitive, _joined([part.control for part in parts]), whole, unit)


def _joined(parts: Sequence[Grouping | None]) -> Grouping | None:
    some = [part for part in parts if part is not None]
    if not some:
        return None
    names = tuple(sorted({name for part in some for name in part.names}))
    code = [
        np.array([names.index(name) for name in part.names], dtype=np.intp)[part.code]
        for part in some
    ]
    return Grouping(np.concatenate(code), names, some[0].columns)


def whole_weights(weight: FloatArray) -> tuple[AnyArray, Fraction]:
    """Return weights as whole multiples of a unit, exactly.

    They are the decimals that the user writes, as bounds are: ten rows of 0.7 weigh 7.
    The numbers are int64 where no sum of them overflows, else Python's integers.
    """
    if np.array_equal(weight, np.rint(weight)) and weight.sum() < 2**53:
        return weight.astype(np.int64), Fraction(1)
    values, place = np.unique(weight, return_inverse=True)
    # There may be millions of them: fractions would take seconds.
    written = list(map(written_digits, values.tolist()))
    powers = {power for _, power in written}
    tens = {power: 10 ** (power - min(powers)) for power in powers}
    counts = [digits * tens[power] for digits, power in written]
    divisor = gcd(*counts) or 1
    whole = np.array([count // divisor for count in counts], dtype=object)[place]
    if sum(whole.tolist()) < 2**62:
        whole = whole.astype(np.int64)
    return whole, divisor * Fraction(10) ** min(powers)


def refuse_wide(whole: AnyArray) -> None:
    """Refuse weights whose sum in the unit of the smallest one is too large."""
    if whole.dtype == object and sum(whole.ravel().tolist()) > 10**MOST_DIGITS:
        raise ValueError(
            "sample_weight has weights so far apart that rules cannot count them "
            f"exactly: their sum has more than {MOST_DIGITS} digits in the last digit "
            "of the smallest. Leave rows of tiny weights out."
        )


def read_groups(given: Any, n_rows: int, parameter: str) -> Grouping | None:
    """Read a column or several, one value for each row; combinations are groups.

    A missing value makes a group of its own. A text with a comma is named in quotes.
    """
    if given is None:
        return None
    if isinstance(given, str):
        raise ValueError(
            f"{parameter} must have one value for each row, got {given!r}: give the "
            f"column itself, such as X[{given!r}], not its name."
        )
    table, names = _as_table(given)
    if isinstance(table, np.ndarray) and table.ndim != 2:
        raise ValueError(
            f"{parameter} must be a column or a table of columns with one value for "
            f"each row, got an array of {table.ndim} dimensions."
        )
    if len(table) != n_rows:
        raise ValueError(
            f"{parameter} has {len(table)} values, but X has {n_rows} rows. Give one "
            "for each row: the column itself, not its name."
        )
    try:
        read = read_cells(table)
    except ValueError as error:
        raise ValueError(f"{parameter}: {error}") from None
    columns = [map(_text, cells.as_values()) for cells in read]
    of_row = list(map(", ".join, zip(*columns, strict=True)))
    found = sorted(set(of_row))
    if len(found) > MOST_GROUPS:
        raise ValueError(
            f"{parameter} has {len(found)} different groups, such as {found[0]!r} and "
            f"{found[1]!r}; at most {MOST_GROUPS} are accepted. Put values together, "
            "for example ages into ranges."
        )
    number = {name: k for k, name in enumerate(found)}
    code = np.array([number[name] for name in of_row], dtype=np.intp)
    return Grouping(code, tuple(found), names)


def _as_table(given: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a data frame or a table of values, and the names of its columns."""
    if hasattr(given, "to_frame") and not hasattr(given, "columns"):
        names = () if given.name in (None, "") else (str(given.name),)
        return given.to_frame(), names
    if hasattr(given, "columns"):
        return given, tuple(map(str, given.columns))
    values = np.asarray(given)
    if values.dtype.kind in "US":
        values = values.astype(object)
    return (values[:, None] if values.ndim == 1 else values), ()


def _text(value: Value) -> str:
    """Write a value so that different ones, joined by commas, make different names.

    Tables that do not know each other, such as partitions, tell groups by their names.
    """
    if value is None:
        return MISSING
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    text = str(value)
    is_clear = text != MISSING and ", " not in text and not text.startswith('"')
    return text if is_clear else json.dumps(text, ensure_ascii=False)


def _taken(grouping: Grouping | None, rows: AnyArray) -> Grouping | None:
    return None if grouping is None else grouping._replace(code=grouping.code[rows])
