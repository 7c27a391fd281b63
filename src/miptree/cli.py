"""The command line. Everything it needs beyond the library is the ``cli`` extra."""

from __future__ import annotations

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
        raise SystemExit(1) from None
    run: Any = app
    run()
