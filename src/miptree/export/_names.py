"""Names and values of the user's columns, as they are shown."""

from __future__ import annotations

from miptree.data.columns import show_value
from miptree.export._rules import Member, Rules


def value_names(rules: Rules, member: Member) -> list[str]:
    """Name the values, the pooled rare ones as one."""
    rare = set(getattr(rules.columns[member.column], "rare", ()))
    names = [show_value(value) for value in member.values if value not in rare]
    return names + (["any rare value"] if len(names) < len(member.values) else [])


def printable(text: object) -> str:
    """Put text on one line and escape control characters, which steer terminals."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text)
    )
