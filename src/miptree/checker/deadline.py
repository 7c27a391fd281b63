"""The end of the time that a check may take."""

from __future__ import annotations

import time

from .values import TooMuch


def check_time(deadline: float) -> None:
    """Give up where it takes too long; the deadline is one of ``time.monotonic``."""
    if time.monotonic() > deadline:
        raise TooMuch("The check takes longer than allowed: allow more minutes.")
