"""A thread that waits for something to become true beside work that cannot look."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SECONDS_BETWEEN_LOOKS = 0.02


@contextmanager
def watching(is_true: Callable[[], bool], act: Callable[[], object]) -> Iterator[None]:
    """Call ``act`` once ``is_true`` says so, as long as the block lasts."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(_SECONDS_BETWEEN_LOOKS):
            if is_true():
                act()
                return

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
