"""Names and values of the user's columns, as they are shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from miptree.data.columns import show_value
from miptree.export.readable import Atom, Member, Missing, ReadableTree, Steps


def value_names(rules: ReadableTree, member: Member) -> list[str]:
    """Name the values, the pooled rare ones as one."""
    rare = set(getattr(rules.columns[member.column], "rare", ()))
    names = [printable(show_value(v)) for v in member.values if v not in rare]
    return names + (["any rare value"] if len(names) < len(member.values) else [])


def printable(text: object) -> str:
    """Put text on one line and escape control characters, which steer terminals."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text)
    )


def with_printable_names(rules: ReadableTree) -> ReadableTree:
    """Return rules whose names of columns and classes are printable, for people.

    A name that holds the end of a line could else forge a rule of its own.
    """
    columns = (replace(c, name=printable(c.name)) for c in rules.columns)
    classes = [printable(c) if isinstance(c, str) else c for c in rules.classes]
    return replace(rules, columns=tuple(columns), classes=classes)


def number_text(number: float, digits: int) -> str:
    """Write a number with so many significant digits, fewer where they are exact."""
    text = f"{number:.{min(digits, 15)}g}"
    exact = digits <= 15 or float(text) == number
    text = text if exact else f"{number:.{digits}g}"
    is_long = "e" in text and 1e-6 <= abs(number) < 1e15
    return np.format_float_positional(float(text), trim="-") if is_long else text


def atom_text(rules: ReadableTree, atom: Atom) -> str:
    """Name what an atom reads."""
    name = rules.name(atom.column)
    if isinstance(atom, Missing):
        return f"{name} missing"
    if isinstance(atom, Steps):
        return f"(steps of {name})"
    if isinstance(atom, Member):
        return f"{name}={'|'.join(value_names(rules, atom))}"
    return name
