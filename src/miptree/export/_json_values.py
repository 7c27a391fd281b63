"""Plain values of a JSON text, each checked: nothing in a file is trusted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from math import inf
from typing import Any, NoReturn

import numpy as np

from miptree.data import Value
from miptree.data.limits import FEWEST_PLACES, MOST_PLACES, Limits
from miptree.utils.arrays import AnyArray

MAX_TEXT = 10_000
"""Longest class label or column name."""
MAX_DIGITS = 20
"""Digits of an integer: enough for 64 bits."""


class MalformedError(ValueError):
    """Something in a file is not as it should be."""


# ----------------------------------------------------------------- reading the text


def parsed(text: str) -> dict[str, Any]:
    """Plain values of a JSON text, without its traps."""
    try:
        plain = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_int=_short_int,
        )
    except MalformedError:
        raise
    except RecursionError:
        raise MalformedError("its values are nested too deeply") from None
    except ValueError as error:
        raise MalformedError(f"it is not JSON ({error})") from None
    return an_object(plain, "the file")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise MalformedError("a key occurs twice in one object")
    return found


def _no_constant(text: str) -> NoReturn:
    raise MalformedError(f"{text} is not a finite number")


def _short_int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise MalformedError(f"an integer has {len(text)} digits")
    return int(text)


# ------------------------------------------------------------------- checked values


def record(cls: type[Any], given: object, name: str) -> Any:
    """A dataclass of numbers and strings, each of the type it is declared with."""
    given = an_object(given, name)
    wanted = {field.name: field for field in fields(cls)}
    exact_keys(given, set(wanted), f'"{name}"')
    return cls(**{n: _SCALARS[str(wanted[n].type)](v, n) for n, v in given.items()})


def exact_keys(
    given: Mapping[str, Any],
    wanted: set[str],
    where: str,
    optional: set[str] | frozenset[str] = frozenset(),
) -> None:
    missing, unknown = (
        sorted(wanted - optional - set(given)),
        sorted(set(given) - wanted),
    )
    if missing:
        raise MalformedError(f'{where} has no "{missing[0]}"')
    if unknown:
        raise MalformedError(f'{where} has an unknown entry "{unknown[0][:60]}"')


def an_object(given: object, name: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise MalformedError(f"{name} is not an object")
    return given


def a_list(
    given: object, name: str, shortest: int, longest: int | None = None
) -> list[Any]:
    if not isinstance(given, list):
        raise MalformedError(f'"{name}" is not a list')
    if len(given) < shortest or (longest is not None and len(given) > longest):
        raise MalformedError(f'"{name}" has {len(given)} entries')
    return given


def a_text(given: object, name: str) -> str:
    if not isinstance(given, str):
        raise MalformedError(f'"{name}" is not a string')
    if len(given) > MAX_TEXT:
        raise MalformedError(f'"{name}" has a string of {len(given)} characters')
    if any("\ud800" <= character <= "\udfff" for character in given):
        raise MalformedError(f'"{name}" has a string with half a character')
    return given


def an_int(given: object, name: str, low: int | None = None) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise MalformedError(f'"{name}" is not an integer')
    if low is not None and given < low:
        raise MalformedError(f'"{name}" is {given}')
    return given


def a_float(given: object, name: str) -> float:
    if not isinstance(given, (int, float)) or isinstance(given, bool):
        raise MalformedError(f'"{name}" is not a number')
    if not np.isfinite(float(given)):
        raise MalformedError(f'"{name}" is not a finite number')
    return float(given)


def a_bool(given: object, name: str) -> bool:
    if not isinstance(given, bool):
        raise MalformedError(f'"{name}" is not true or false')
    return given


def category_values(given: object, name: str) -> tuple[Value, ...]:
    """Values of a category: text, numbers, truth values, or null for missing."""
    found: list[Value] = []
    for value in a_list(given, name, 0):
        if isinstance(value, str):
            value = a_text(value, name)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            a_float(value, name)
        elif value is not None and not isinstance(value, bool):
            raise MalformedError(f'"{name}" has an entry that is no value')
        found.append(value)
    return tuple(found)


def a_float_tuple(given: object, name: str) -> tuple[float, ...]:
    return tuple(a_float(value, name) for value in a_list(given, name, 0))


def an_int_or_none(given: object, name: str) -> int | None:
    return None if given is None else an_int(given, name)


def a_float_or_none(given: object, name: str) -> float | None:
    return None if given is None else a_float(given, name)


def texts_or_none(given: object, name: str) -> tuple[str, ...] | None:
    if given is None:
        return None
    return tuple(a_text(value, name) for value in a_list(given, name, 0))


def limits_or_none(given: object, name: str) -> Limits | None:
    """Return the range and digits of a column, which must make sense."""
    if given is None:
        return None
    found: Limits = record(Limits, given, name)
    if not found.low <= found.high:
        raise MalformedError(f'"{name}" has a "low" above its "high"')
    if not FEWEST_PLACES <= found.places <= MOST_PLACES:
        raise MalformedError(f'"{name}" has {found.places} decimal places')
    # A range may be narrower than all digits that float64 has.
    is_narrow = not found.is_range and 0.0 < found.width < inf
    if is_narrow and found.places < MOST_PLACES:
        raise MalformedError(f'"{name}" has digits that are wider than its range')
    return found


_SCALARS: dict[str, Callable[[object, str], Any]] = {
    "int": an_int,
    "int | None": an_int_or_none,
    "float | None": a_float_or_none,
    "float": a_float,
    "str": a_text,
    "bool": a_bool,
    "Limits | None": limits_or_none,
    "tuple[Value, ...]": category_values,
    "tuple[float, ...]": a_float_tuple,
    "tuple[str, ...] | None": texts_or_none,
}


def texts(given: object, name: str, n: int) -> list[str]:
    return [a_text(value, name) for value in a_list(given, name, n, n)]


def ints(given: object, name: str, n: int, low: int, high: int) -> AnyArray:
    values = [an_int(value, name) for value in a_list(given, name, n, n)]
    if any(not low <= value <= high for value in values):
        raise MalformedError(f'"{name}" has an integer outside {low} to {high}')
    return np.array(values, dtype=np.intp)


def floats(given: object, name: str, shape: tuple[int, ...]) -> AnyArray:
    rows = a_list(given, name, shape[0], shape[0])
    if len(shape) == 1:
        return np.array([a_float(value, name) for value in rows])
    return np.array([floats(row, name, shape[1:]) for row in rows])
