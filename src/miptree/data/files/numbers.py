"""Numbers as people write them: 1.234,50 €, $1,234.50, 12 %, (3), 1'000.-, and gaps."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import NamedTuple

MISSING_SIGNS = frozenset(
    """? ?? - -- --- . .. / n/a na n.a. n.a #n/a #na #nv #n/v #div/0! #value! #wert!
    #ref! #bezug! #null! #num! #zahl! #name? nan null (null) <null> <na> none nil nul
    missing unknown k.a. k.a k/a unbekannt empty leer void \\n""".split()
) | {"", "n. a.", "k. a.", "not available", "keine angabe", "not known"}
MISSING_SIGNS |= {"\u2013", "\u2014"}  # long dashes
"""What stands for a missing value among numbers, in small letters."""

_SPACES = " \u00a0\u202f\u2009"
_DASHES = "-\u2013\u2014"
_MINUS = "-\u2212"
_LOOSE_SPACES = re.compile(f"(?<![0-9])[{_SPACES}]+|[{_SPACES}]+(?![0-9{_SPACES}])")
"""Spaces that are not between two digits."""
_CURRENCY = (
    r"(?:[€£¥₹₽₺₩₪₫₴₦฿]|(?:US|AU|CA|NZ|HK|S|R|A|C)?\$|zł|Kč|Fr\.?|Rs\.?|kr\.?|"
    "EUR|Euro|USD|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|"
    "BGN|TRY|RUB|UAH|ILS|BRL|MXN|ARS|CLP|COP|ZAR|NGN|KES|EGP|AED|SAR|KRW|TWD|THB|SGD|"
    "HKD|MYR|IDR|PHP|VND|DM|DEM)"
)


_INDIAN = r"|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
"""Lakhs and crores: 12,34,567."""


_LONGEST = 100
"""Characters of a number; longer texts are not even looked at."""


class WrittenNumber(NamedTuple):
    """A number and how it was written."""

    value: float
    unit: str
    """Currency or percent sign, empty where there is none."""
    is_plain: bool
    """Whether it has nothing that a programming language would not read."""


class NumberColumn(NamedTuple):
    """The texts of a column of numbers, and what they are."""

    values: dict[str, float]
    """NaN for signs of a missing value."""
    missing: frozenset[str]
    """Texts that are such signs."""
    example: str | None
    """A text with a sign of currency or thousands, where there is one."""


class MixedUnitsError(ValueError):
    """Numbers of one column are of different currencies."""


def is_missing_sign(text: str) -> bool:
    """Tell whether a text stands for a missing value where numbers are expected."""
    return text.strip().casefold() in MISSING_SIGNS


def read_number(text: str, decimal: str) -> WrittenNumber | None:
    """Read one number; None if the text is none with this decimal sign."""
    if len(text) > _LONGEST:
        return None
    found = _pattern(decimal).fullmatch(_LOOSE_SPACES.sub("", text.strip()))
    if found is None:
        return None
    whole, fraction = found["whole"] or "", found["fraction"] or ""
    if not (whole or fraction.strip(_DASHES)):
        return None
    signs = [found[name] for name in ("sign", "inner", "after_sign") if found[name]]
    if len(signs) + bool(found["open"]) > 1 or bool(found["open"]) != bool(
        found["end"]
    ):
        return None
    if found["before"] and found["after"]:
        return None
    digits = re.sub("[^0-9]", "", whole) or "0"
    # As in a spreadsheet 12 % is 0.12, to the nearest float64.
    power = int((found["power"] or "e0")[1:]) - 2 * (found["after"] == "%")
    value = float(f"{digits}.{fraction.strip(_DASHES) or '0'}e{power}")
    is_negative = bool(found["open"]) or (bool(signs) and signs[0] != "+")
    unit = found["before"] or found["after"] or ""
    is_plain = (whole.isdigit() or not whole) and "\u2212" not in signs
    return WrittenNumber(
        -value if is_negative else value,
        unit.strip(),
        is_plain and not (unit or found["open"] or found["after_sign"]),
    )


@cache
def _pattern(decimal: str) -> re.Pattern[str]:
    """Return the form of a number; thousands may be apart by the other sign."""
    group = re.escape("," if decimal == "." else ".") + "'\u2019" + _SPACES
    return re.compile(
        rf"(?P<open>\()?(?P<sign>[{_MINUS}+])?(?P<before>{_CURRENCY})?"
        rf"(?P<inner>[{_MINUS}+])?"
        rf"(?P<whole>[1-9][0-9]{{0,2}}(?P<g>[{group}])[0-9]{{3}}(?:(?P=g)[0-9]{{3}})*"
        rf"{_INDIAN if decimal == '.' else ''}|[0-9]+)?"
        rf"(?:{re.escape(decimal)}(?P<fraction>[0-9]+|[{_DASHES}]{{1,2}})?)?"
        rf"(?P<power>[eE][-+]?[0-9]{{1,3}})?(?P<after>{_CURRENCY}|%)?"
        rf"(?P<after_sign>[{_MINUS}])?(?P<end>\))?",
        re.IGNORECASE,
    )


def read_number_column(texts: Collection[str], decimal: str) -> NumberColumn | None:
    """Read the different texts of a column; None if one is neither number nor gap.

    Parameters
    ----------
    texts : collection of str
    decimal : {".", ","}
        Decimal sign of the file. A column that is none with it may have the other.

    Raises
    ------
    MixedUnitsError
        If all are numbers, but of different currencies.
    """
    missing = {text for text in texts if is_missing_sign(text)}
    written = [text for text in texts if text not in missing]
    for sign in (decimal, "," if decimal == "." else "."):
        found = _read_all(written, sign)
        if found is not None:
            _check_units(found)
            values = {text: number.value for text, number in found.items()}
            odd = (text for text, number in found.items() if not number.is_plain)
            example = next(odd, None)
            if example is None and sign != decimal:
                example = next((text for text in values if sign in text), None)
            gaps = dict.fromkeys(missing, float("nan"))
            return NumberColumn(values | gaps, frozenset(missing), example)
    return None


def _read_all(texts: list[str], decimal: str) -> dict[str, WrittenNumber] | None:
    found = {}
    for text in texts:
        number = read_number(text, decimal)
        if number is None:
            return None
        found[text] = number
    return found


def _check_units(found: dict[str, WrittenNumber]) -> None:
    units: dict[str, str] = {}
    for text, number in found.items():
        units.setdefault(number.unit.casefold(), text)
    # Nothing costs 0 of any currency, but 5 is not 5 %.
    named = {unit: text for unit, text in units.items() if unit}
    mixed = units if "%" in units else named
    if len(mixed) > 1:
        first, second = list(mixed.values())[:2]
        raise MixedUnitsError(f"{first!r} beside {second!r}")
