"""What was found out about a table and what its reader should know, said at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from miptree.utils.warn import warn

_MOST_LISTED = 5
"""Columns, or signs in one, that a sentence names."""


class TableNote(UserWarning):
    """How a table was understood: worth a line, and nothing to worry about."""


@dataclass
class Notes:
    """Facts about the columns of one file, gathered while they are read.

    A table that turns out to be no table is refused without all this.

    Attributes
    ----------
    file : list of str
        How the file is written, where that is not plain.
    missing : dict of str to Counter
        Signs such as "?" that were read as missing, by column.
    written : dict of str to tuple of str and float
        Example of numbers with currency or thousands signs, and how it was read.
    dates : dict of str to tuple of str and float
        Example of dates, and how it was read.
    spaced : dict of str to int
        How many texts had spaces around them, by column.
    odd : list of str
        Further sentences about columns.
    """

    file: list[str] = field(default_factory=list)
    missing: dict[str, Counter[str]] = field(default_factory=dict)
    written: dict[str, tuple[str, float]] = field(default_factory=dict)
    dates: dict[str, tuple[str, float]] = field(default_factory=dict)
    spaced: dict[str, int] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)

    @property
    def are_none(self) -> bool:
        """Whether there is nothing to say."""
        return not any(vars(self).values())

    def tell(self, name: str) -> None:
        """Warn of all this, in few sentences."""
        if self.file:
            _note(f"{name}: {'; '.join(self.file)}.")
        if self.missing:
            found = [_signs(column, signs) for column, signs in self.missing.items()]
            total = sum(sum(signs.values()) for signs in self.missing.values())
            warn(
                f"{total:,} cell{'s are' if total != 1 else ' is'} read as missing: "
                f"{_listed(found)}."
            )
        if self.written:
            warn(
                "Signs of currency, percent or thousands are left out of numbers: "
                f"{_listed(_examples(self.written))}."
            )
        if self.dates:
            _note(
                "Dates are read as years with a fraction: "
                f"{_listed(_examples(self.dates))}."
            )
        if self.spaced:
            found = [f"{n:,} in column {name!r}" for name, n in self.spaced.items()]
            _note(f"Spaces around texts are left out: {_listed(found)}.")
        for sentence in self.odd:
            warn(sentence)


def _signs(column: str, signs: Counter[str]) -> str:
    named = [f"{text!r} {number:,}x" for text, number in signs.most_common()]
    return f"{_listed(named)} in column {column!r}"


def _examples(found: dict[str, tuple[str, float]]) -> list[str]:
    return [
        f"{text!r} in column {column!r} is {number:.15g}"
        for column, (text, number) in found.items()
    ]


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_LISTED
    shown = ", ".join(texts[:_MOST_LISTED])
    return f"{shown} and {more} more" if more > 0 else shown


def _note(sentence: str) -> None:
    warn(sentence, TableNote)
