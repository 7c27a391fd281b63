"""How a text file of rows is written: encoding, separator, decimal sign and header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from miptree.data.files.header import header_place
from miptree.data.files.numbers import read_number
from miptree.data.files.options import FileOptions

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 1_000_000
"""Characters at the beginning of a file from which its dialect is found out."""
_MOST_ROWS = 2_000
_LONGEST_NUMBER = 100
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_DECIMAL_SIGN = re.compile("[^0-9]*[0-9][0-9.,'\u2019 \u00a0\u202f]*[^0-9]*")
_NAMES = {"\t": "tab", " ": "space"}


class Dialect(NamedTuple):
    """How a text file is written."""

    sep: str
    decimal: str
    titles: int
    """Lines above the header, which are skipped."""
    unclear: str | None = None
    """A number that may be read in two ways, where no other one tells."""

    @property
    def sep_name(self) -> str:
        """How the separator is shown."""
        return _NAMES.get(self.sep, self.sep)


def decode(content: bytes, encoding: str | None) -> tuple[str, str]:
    """Return the text of a file and the encoding that it has.

    Without a mark and a given encoding it is UTF-8 if that is possible, and otherwise
    Windows-1252, in which spreadsheets of western Europe are saved.
    """
    if encoding is not None:
        try:
            return content.decode(encoding).removeprefix("\ufeff"), encoding
        except UnicodeDecodeError as error:
            raise ValueError(
                f"It is not in the encoding {encoding}: byte {error.start + 1} is "
                f"{content[error.start]:#04x}. Leave out --encoding, or give another."
            ) from None
    marked = [name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)]
    for name in (*marked[:1], *_wide(content), "utf-8", "cp1252"):
        try:
            return content.decode(name), name
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1"), "latin-1"


def _wide(content: bytes) -> list[str]:
    """Name UTF-16 without a mark, where every second byte is mostly zero."""
    even, odd = content[:2000:2].count(0), content[1:2000:2].count(0)
    most = 0.4 * min(len(content), 2000) / 2
    if len(content) % 2 == 0 and max(even, odd) > most and min(even, odd) < most / 4:
        return ["utf-16-le" if odd > even else "utf-16-be"]
    return []


def find_dialect(text: str, given: FileOptions) -> Dialect:
    """Find out what the options do not say."""
    sample, titles = text[:_SAMPLE], 0
    is_whole = len(text) <= _SAMPLE
    sep = given.sep
    told = re.match(r"sep=(.)\r?\n", sample, re.IGNORECASE)
    if told:  # a line by which Excel is told the separator
        sample, titles, sep = sample[told.end() :], 1, sep or told[1]
    if sep is None:
        sep = _find_separator(sample, is_whole)
    rows = _rows(sample, sep, is_whole)
    above = header_place(rows)
    below = rows[above + 1 :]
    decimal = given.decimal or find_decimal(cell for row in below for cell in row)
    unclear = None
    if sep != "," and given.decimal is None and decimal == ".":
        # Commas are common where fields do not end in one: look twice.
        unclear, are_thousands = _unclear_numbers(below)
        has_comma = unclear is not None and "," in unclear
        # Beside tabs and bars they are about thousands, as in English.
        is_comma = has_comma and sep == ";"
        if are_thousands and (has_comma or sep == ";"):
            is_comma, unclear = not has_comma, None
        decimal = "," if is_comma else "."
    return Dialect(sep, decimal, titles + above, unclear)


def _rows(sample: str, sep: str, is_whole: bool) -> list[list[str]]:
    """Split the beginning of a file into rows of fields; blank lines are none."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=sep)
    try:
        rows = list(islice(reader, _MOST_ROWS))
    except csv.Error:
        return []
    if not is_whole and len(rows) < _MOST_ROWS:
        rows = rows[:-1]  # it may be cut off
    return rows


def _find_separator(sample: str, is_whole: bool) -> str:
    """Choose the character that cuts most rows into as many fields as the header has.

    A comma that is in the numbers and not in the header is none.
    """
    best, choice = (0.0, 0), None
    for sep in _SEPARATORS:
        rows = _rows(sample, sep, is_whole)
        above = header_place(rows)
        width = len(rows[above]) if rows else 0
        filled = [row for row in rows if any(row)]
        if width < 2 or not filled:
            continue
        fit = sum(len(row) == width for row in filled) / len(filled)
        if (round(fit, 2), width) > best:
            best, choice = (round(fit, 2), width), sep
    if choice is not None:
        return choice
    cells = [line.strip().strip('"') for line in islice(sample.splitlines(), 1, 50)]
    is_one_column = any("," in cell for cell in cells) and all(
        read_number(cell, ",") is not None for cell in cells if cell
    )
    return ";" if is_one_column else ","


def find_decimal(cells: Iterable[str]) -> str:
    """Count which sign is before a fraction, where the digits leave no doubt.

    1.234 may be a thousand and more, 1.2 and 0.123 may not.
    """
    votes = Counter(_sign_of(cell) for cell in cells)
    return "," if votes[","] > votes["."] else "."


def _unclear_numbers(rows: Sequence[Sequence[str]]) -> tuple[str | None, bool]:
    """Return a number such as 1.234 if no other tells how it is read, or a guess.

    Beside 950, and without a 1500 in its column, it is a thousand and more, be it 1.234
    or 1,234: thousandths would be there in most cells. So it is beside a currency.
    """
    example, are_thousands = None, False
    for column in zip_longest(*rows, fillvalue=""):
        signs = {_sign_of(cell) for cell in column}
        if signs & {".", ","}:
            return None, False
        if "either" in signs:
            first = next(c for c in column if _sign_of(c) == "either")
            example, found = example or first, read_number(first, ".")
            are_thousands |= found is not None and found.unit not in ("", "%")
            whole = [len(cell.strip()) for cell in column if cell.strip().isdigit()]
            are_thousands |= bool(whole) and max(whole) <= 3
    return example, are_thousands


def _sign_of(cell: str) -> str:
    """Return the decimal sign of a number, "either" or, for other texts, nothing."""
    if len(cell) > _LONGEST_NUMBER or not ("," in cell or "." in cell):
        return ""
    if not _DECIMAL_SIGN.fullmatch(cell):
        return ""
    possible = [sign for sign in ".," if read_number(cell, sign) is not None]
    return "either" if len(possible) == 2 else "".join(possible)
