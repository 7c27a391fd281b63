"""The constraints of a model file: each a kind and its plain arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from miptree import constraints
from miptree.constraints.constraint import Constraint
from miptree.export._json_parameters import plain_value
from miptree.export._json_values import (
    MalformedError,
    a_float,
    a_list,
    a_text,
    an_object,
    exact_keys,
)

KINDS: dict[str, type[Constraint]] = {
    name: kind
    for name in constraints.__all__
    if isinstance(kind := getattr(constraints, name), type)
    and issubclass(kind, Constraint)
    and kind is not Constraint
}
"""The classes that a file may name, and no others."""


def plain_constraints(given: Sequence[Constraint]) -> list[dict[str, Any]]:
    """Return constraints as objects of plain values."""
    return [
        {
            "kind": constraint.name,
            **{f.name: _plain(getattr(constraint, f.name)) for f in fields(constraint)},  # type: ignore[arg-type]
        }
        for constraint in given
    ]


def read_constraints(given: object) -> tuple[Constraint, ...]:
    """Return the constraints of a file, every value checked."""
    return tuple(map(_read, a_list(given, "constraints", 0)))


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return plain_value(value)


def _read(given: object) -> Constraint:
    given = an_object(given, "a constraint")
    kind = KINDS.get(a_text(given.get("kind"), "kind"))
    if kind is None:
        raise MalformedError('"kind" is no constraint of miptree')
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    exact_keys(given, {"kind", *names}, '"constraints"')
    values = {name: _value(given[name], name) for name in sorted(names)}
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise MalformedError(str(error).rstrip(".")) from None


def _value(given: object, name: str) -> Any:
    """Return a plain value or lists of them."""
    if isinstance(given, list):
        return [_value(entry, name) for entry in given]
    if given is None or isinstance(given, bool):
        return given
    if isinstance(given, (int, float)):
        a_float(given, name)
        return given
    return a_text(given, name)
