"""Commands as the tests run them."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner

from miptree.commands import app

RUNNER = CliRunner()


def run(*arguments: Any) -> Any:
    """Run a command; a crash is not an answer."""
    result = RUNNER.invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def refused(*arguments: Any) -> str:
    """The one line that a bad call ends with; notes may be before it."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    shown = result.stderr.splitlines()
    lines = [line for line in shown if line and not line.startswith("Note: ")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    return lines[0]
