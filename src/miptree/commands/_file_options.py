"""Options about how a table is written, the same for every command that reads one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from miptree.data.files import FileOptions

_OPTIONS = {
    "sep": "Character between fields of a text file, such as ';' or tab.",
    "decimal": "Decimal sign of a text file, point or comma.",
    "encoding": "Encoding of a text file, such as cp1252.",
    "sheet": "Sheet of an Excel file.",
}
"""Options that are found out where they are not given."""


def reads_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options about a file, as its argument ``file``."""
    asked = inspect.signature(command, eval_str=True)
    kept = [p for p in asked.parameters.values() if p.name != "file"]
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                str | None,
                typer.Option(
                    help=f"{text} By default found out.", rich_help_panel="Table"
                ),
            ],
        )
        for name, text in _OPTIONS.items()
    ]

    @functools.wraps(command)
    def reading(**given: Any) -> None:
        options = {name: given.pop(name) for name in _OPTIONS}
        command(**given, file=FileOptions(**options))

    signature = asked.replace(parameters=[*kept, *added])
    # Typer asks for the signature; functions do not declare that they may have one.
    reading.__signature__ = signature  # type: ignore[attr-defined]
    reading.__annotations__ = {p.name: p.annotation for p in (*kept, *added)}
    return reading
