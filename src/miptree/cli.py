"""The command line. Everything it needs beyond the library is the ``cli`` extra."""

from __future__ import annotations

import io
import sys
from typing import Any


def main() -> None:
    """Run ``miptree``."""
    try:
        from miptree.commands import app
    except ImportError as error:
        sys.stderr.write(
            f"The command line needs more packages ({error}).\n"
            "Run: pip install 'miptree[cli]'\n"
        )
        raise SystemExit(2) from None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show must not end a command.
            stream.reconfigure(errors="backslashreplace")
    run: Any = app
    run()
