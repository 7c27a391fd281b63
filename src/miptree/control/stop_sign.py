"""A sign that work in other processes can see: stop."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from miptree.control.interrupt import InterruptGuard
from miptree.control.watcher import watching


@dataclass(frozen=True)
class StopSign:
    """A file that is there once the work should stop.

    It can be sent to other processes; on another machine it is never there.
    """

    path: Path
    maker: int
    """Number of the process that made it."""

    @contextmanager
    def heeded(self) -> Iterator[Callable[[], bool]]:
        """Give a function that says whether to stop.

        Elsewhere than in the process that made the sign, the first Ctrl-C means stop
        too: a terminal sends it to all processes.
        """
        if os.getpid() == self.maker:
            yield self.path.exists
            return
        with InterruptGuard() as guard:
            yield lambda: guard.requested or self.path.exists()


@contextmanager
def stop_sign(should_stop: Callable[[], bool]) -> Iterator[StopSign]:
    """Put up the sign when ``should_stop`` says so, as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="miptree-") as folder:
        sign = StopSign(Path(folder) / "stop", os.getpid())
        with watching(should_stop, sign.path.touch):
            yield sign
