"""Plain values of a proof file, each checked: nothing in a file is trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

MAX_DIGITS, MAX_EXPONENT = 40, 400
"""Digits of a number, and powers of ten before or behind its point."""
MAX_ITEMS = 4_000_000
"""Values in a line: each of them takes some 100 bytes of memory."""
MAX_TEXT = 10_000
"""Longest name or label."""
SAME_DATA = (
    "Are these the data of the fit, unchanged and with their rows in the same order?"
)
"""What to ask where data and proof do not go together."""

T = TypeVar("T")


class Refused(ValueError):
    """A file is not what it must be, for a reason that is one plain sentence."""


class TooMuch(Refused):
    """A check would need more time or memory than allowed, so nothing is known."""


class BadCall(Refused):
    """What was given is no file or no table, so nothing is known of any proof."""


def parsed(line: bytes) -> Any:
    """Return the value of a line of JSON, without JSON's traps."""
    check_size(line)
    try:
        return json.loads(
            line.decode("utf-8"),
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_int=_whole,
            parse_float=_decimal,
        )
    except Refused:
        raise
    except RecursionError:
        raise Refused("The proof file nests its values too deeply.") from None
    except ValueError:
        text = "The proof file is damaged: it holds a line that is not JSON."
        raise Refused(text) from None


def check_size(line: bytes) -> None:
    """Give up on a line that would take too much memory."""
    if sum(line.count(mark) for mark in (b"[", b"{", b",")) > MAX_ITEMS:
        raise TooMuch(f"A line of the proof file holds more than {MAX_ITEMS} values.")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refused("The proof file has an entry twice.")
    return found


def _no_constant(text: str) -> NoReturn:
    raise Refused(f"The proof file holds {text}, which is no finite number.")


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise Refused(f"The proof file holds a number of {len(text)} digits.")
    return int(text)


def _decimal(text: str) -> Decimal:
    try:
        found = Decimal(text)
        if len(text) <= MAX_DIGITS and abs(found.adjusted()) <= MAX_EXPONENT:
            return found
    except ArithmeticError:
        pass  # an exponent of 20 digits
    raise Refused(f"The proof file holds the number {text[:50]}: too long.")


# ------------------------------------------------------------------- checked values


def an_object(given: Any, name: str, keys: str) -> dict[str, Any]:
    """Return an object that has exactly these entries."""
    wanted = set(keys.split())
    if not isinstance(given, dict) or set(given) != wanted:
        listed = ", ".join(sorted(wanted))
        raise Refused(f"{name!r} of the proof file must have the entries {listed}.")
    return given


def a_list(given: Any, name: str, least: int, most: int) -> list[Any]:
    """Return a list whose length lies between two numbers."""
    if not isinstance(given, list) or not least <= len(given) <= most:
        size = f"{least}" if least == most else f"{least} to {most}"
        raise Refused(f"{name!r} of the proof file must be a list of {size} entries.")
    return given


def a_whole(given: Any, name: str, low: int, high: int) -> int:
    """Return a whole number between two others."""
    is_whole = isinstance(given, int) and not isinstance(given, bool)
    if not is_whole or not low <= given <= high:
        text = f"{name!r} of the proof file must be a whole number {low} to {high}"
        raise Refused(f"{text}, got {given!r:.50}.")
    return int(given)


def a_number(given: Any, name: str) -> Fraction:
    """Return a number exactly as it is written."""
    if isinstance(given, bool) or not isinstance(given, (int, Decimal)):
        raise Refused(
            f"{name!r} of the proof file must be a number, got {given!r:.50}."
        )
    return Fraction(given)


def a_cost(given: Any, name: str) -> Fraction:
    """Return a number that is not negative."""
    found = a_number(given, name)
    if found < 0:
        raise Refused(f"{name!r} of the proof file holds a negative number.")
    return found


def a_float(given: Any, name: str) -> float:
    """Return the float64 next to a number."""
    try:
        return float(a_number(given, name))
    except OverflowError:
        text = f"{name!r} of the proof file holds a number that is too large."
        raise Refused(text) from None


def a_bool(given: Any, name: str) -> bool:
    """Return a truth value."""
    if not isinstance(given, bool):
        raise Refused(f"{name!r} of the proof file must be true or false.")
    return given


def a_text(given: Any, name: str) -> str:
    """Return a text that is not too long."""
    if not isinstance(given, str) or len(given) > MAX_TEXT:
        raise Refused(f"{name!r} of the proof file must be a text.")
    return given


def optional(read: Callable[[Any, str], T], given: Any, name: str) -> T | None:
    """Return what a function reads, or None for null."""
    return None if given is None else read(given, name)
