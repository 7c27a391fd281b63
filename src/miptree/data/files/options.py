"""What a caller knows of a file and of its columns before it is read."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_NAMED = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "space": " ",
    "point": ".",
}
"""Signs that are awkward to type."""


@dataclass(frozen=True)
class FileOptions:
    """How a file is written; what is None is found out.

    Attributes
    ----------
    sep : str or None
        Character between the fields of a text file; "tab" is one, too.
    decimal : {".", ","} or None
        Decimal sign of its numbers.
    encoding : str or None
        Encoding of its text.
    sheet : str or None
        Sheet of an Excel file, by its name; by default the first that has rows.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.sep is not None:
            object.__setattr__(self, "sep", _NAMED.get(self.sep.lower(), self.sep))
        if self.sep is not None and (len(self.sep) != 1 or self.sep in '"\r\n'):
            raise ValueError(
                f"--sep must be one character, such as ';' or tab, got {self.sep!r}."
            )
        if self.decimal is not None:
            sign = _NAMED.get(self.decimal.lower(), self.decimal)
            object.__setattr__(self, "decimal", sign)
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"--decimal must be . or , and not {self.decimal!r}.")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ValueError(
                    f"--encoding {self.encoding!r} is unknown. Give one such as utf-8, "
                    "cp1252, latin-1 or utf-16."
                ) from None


@dataclass(frozen=True)
class Roles:
    """What columns are known to be; names that a table does not have are ignored.

    Attributes
    ----------
    text : frozenset of str
        Their cells stay as they are written, even if all look like numbers.
    numbers : frozenset of str
        Their cells are numbers, or dates, in whatever form they are written.
    labels : frozenset of str
        Their cells are names of classes or categories: plain numbers, or text as it is
        written, and no amounts or dates.
    carried : frozenset of str
        Columns that are wanted as they are written, whatever else they are.
    are_all : bool
        Whether other columns are of no interest. If not, what they are is found out.
    keep_empty : bool
        Whether rows at the end of a text file stay that have not a single cell: one
        who asks for predictions wants as many as there are rows.
    """

    text: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    carried: frozenset[str] = frozenset()
    are_all: bool = False
    keep_empty: bool = False

    def is_of_interest(self, name: str) -> bool:
        """Tell whether a column is to be looked at."""
        return not self.are_all or name in self.text | self.numbers | self.labels
