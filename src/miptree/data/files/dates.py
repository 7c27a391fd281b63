"""Dates as people write them, and as numbers: 17 June 2021 is 2021.457534."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

import numpy as np

from miptree.data.files.numbers import is_missing_sign
from miptree.utils.arrays import AnyArray, FloatArray

_TIME = (
    r"(?:[T ]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
    r"\s*(?P<half>[AP]M)?\s*(?:Z|UTC|[-+]\d{2}:?\d{2})?)?"
)
_FORMS = tuple(
    re.compile(form + _TIME, re.IGNORECASE | re.ASCII)
    for form in (
        r"(?P<year>\d{4})(?P<sep>[-./])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4}|\d{2})",
        r"(?P<first>\d{1,2})(?P<sep>[-/])(?P<second_>\d{1,2})(?P=sep)(?P<year>\d{4}|\d\d)",
        r"(?P<year>\d{4})-(?P<month>\d{2})",
        r"(?P<month>\d{1,2})/(?P<year>\d{4})",
    )
) + tuple(
    re.compile(form + _TIME, re.IGNORECASE)
    for form in (
        r"(?P<day>\d{1,2})\.?[- ]?(?P<name>[^\W\d_]{3,})\.?[-, ]*(?P<year>\d{4}|\d{2})",
        r"(?P<name>[^\W\d_]{3,})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
        r"(?P<name>[^\W\d_]{3,})\.?[- ](?P<year>\d{4})",
    )
)
_MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "mär": 3, "mrz": 3, "apr": 4, "may": 5, "mai": 5,
    "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11,
    "dec": 12, "dez": 12,
}  # fmt: skip
_MONTH_NAMES = frozenset(
    """jan january januar feb february februar mar mär mrz march märz apr april may mai
    jun june juni jul july juli aug august sep sept september oct okt october oktober
    nov november dec dez december dezember""".split()
)
_NO_DATE = frozenset(("0000-00-00", "00.00.0000", "00/00/0000", "0000-00-00 00:00:00"))
"""What databases write for a date that is missing."""


_LONGEST = 50
"""Characters of a date; longer texts are not even looked at."""


class DateColumn(NamedTuple):
    """The texts of a column of dates, and what they are as numbers."""

    values: dict[str, float]
    """Years with a fraction, NaN for signs of a missing value."""
    missing: frozenset[str]


class UnclearDatesError(ValueError):
    """Dates may be read with the day first or with the month first."""


def years_of(dates: AnyArray) -> FloatArray:
    """Return dates as years with a fraction, to 6 digits; NaN where missing.

    The unit is the year and not the day, so that a person can read a split; the
    fraction is the part of the year that has passed.
    """
    moments = np.asarray(dates, dtype="datetime64[us]")
    years = moments.astype("datetime64[Y]")
    start = years.astype("datetime64[us]")
    length = (years + 1).astype("datetime64[us]") - start
    with np.errstate(invalid="ignore"):
        fraction = (moments - start) / length
    number = years.astype(np.float64) + 1970 + fraction
    return np.where(np.isnat(moments), np.nan, np.round(number, 6))


def read_date_column(texts: Collection[str]) -> DateColumn | None:
    """Read the different texts of a column; None if one is neither date nor gap.

    Raises
    ------
    UnclearDatesError
        If every date may have the day or the month first.
    """
    missing = {t for t in texts if is_missing_sign(t) or t.strip() in _NO_DATE}
    written = [text for text in texts if text not in missing]
    parts = {}
    for text in written:
        found = _match(text.strip())
        if found is None:
            return None
        parts[text] = found
    if not parts:
        return None
    orders = _orders(parts)
    moments = [_moment(found, orders[0]) for found in parts.values()] if orders else []
    if not moments or any(moment is None for moment in moments):
        return None
    if len(orders) > 1:
        example = next(text for text, found in parts.items() if "first" in found)
        raise UnclearDatesError(repr(example))
    years = years_of(np.array(moments, dtype="datetime64[us]")).tolist()
    gaps = dict.fromkeys(missing, float("nan"))
    return DateColumn(dict(zip(parts, years, strict=True)) | gaps, frozenset(missing))


def _match(text: str) -> dict[str, str] | None:
    for form in _FORMS if len(text) <= _LONGEST else ():
        found = form.fullmatch(text)
        if found is not None:
            parts = {k: v for k, v in found.groupdict().items() if v is not None}
            if parts.get("name", "may").casefold() in _MONTH_NAMES:
                return parts
    return None


def _orders(parts: dict[str, dict[str, str]]) -> list[str]:
    """Return which of day and month may come first; both where nothing is open."""
    open_ones = [found for found in parts.values() if "first" in found]
    if not open_ones:
        return ["day"]
    first = max(int(found["first"]) for found in open_ones)
    second = max(int(found["second_"]) for found in open_ones)
    fits = {"day": second <= 12, "month": first <= 12}
    if all(found["first"] == found["second_"] for found in open_ones):
        return ["day"]
    return [order for order, is_possible in fits.items() if is_possible]


def _moment(found: dict[str, str], order: str) -> datetime | None:
    day, month = found.get("day", "1"), found.get("month", "1")
    if "first" in found:
        pair = found["first"], found["second_"]
        day, month = pair if order == "day" else pair[::-1]
    if "name" in found:
        month = str(_MONTHS[found["name"].casefold()[:3]])
    year = int(found["year"])
    if len(found["year"]) == 2:
        year += 1900 if year > 68 else 2000  # as POSIX has it
    hour, half = int(found.get("hour", 0)), found.get("half", "").casefold()
    if half:
        hour = hour % 12 + 12 * (half == "pm")
    clock = hour, int(found.get("minute", 0)), int(found.get("second", 0))
    try:
        return datetime(year, int(month), int(day), *clock)
    except ValueError:
        return None
