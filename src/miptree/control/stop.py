"""The one way to stop long work, and who may ask for it.

A :class:`Stop` is made once per fit and goes with its clock to every step. Ctrl-C
(:func:`stop_on_interrupt`), a callback (``stop.request()``), a condition of the caller
(``Stop(condition)``) and another process (:func:`stop_file`) all end in it. Work that
cannot look at it has a thread that does (:func:`when`).
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

_SECONDS_BETWEEN_LOOKS = 0.02


class Stop:
    """A request to stop, made from any thread and heard by all who hold it.

    Parameters
    ----------
    *sources : callables
        Further conditions; the work should stop as soon as one of them is true.
    """

    def __init__(self, *sources: Callable[[], bool]) -> None:
        self._sources = sources
        self._asked = False

    def request(self) -> None:
        """Ask the work to stop."""
        self._asked = True

    @property
    def requested(self) -> bool:
        """Whether the work should stop."""
        return self._asked or any(source() for source in self._sources)

    def or_when(self, *conditions: Callable[[], bool]) -> Stop:
        """Return a new stop that this one and the conditions request as well."""
        return Stop(lambda: self.requested, *conditions)


@contextmanager
def stop_on_interrupt() -> Iterator[Stop]:
    """Turn the first Ctrl-C inside the block into a request to stop.

    The second one raises KeyboardInterrupt, at the latest at the end of the block, as
    a library may swallow an exception. Python delivers signals to the main
    thread only: in other threads the stop is never requested.
    """
    stop, heard = Stop(), 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal heard
        heard += 1
        stop.request()
        if heard > 1:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield stop
    finally:
        # None stands for a handler that was not installed from Python.
        signal.signal(signal.SIGINT, previous or signal.SIG_DFL)
    if heard > 1:
        raise KeyboardInterrupt


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Let the first Ctrl-C inside the block wait until its end.

    For work that cannot be cut in two, such as the import of a compiled package, which
    may fail ever after.
    """
    with stop_on_interrupt() as stop:
        yield
    if stop.requested:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def when(is_true: Callable[[], bool], act: Callable[[], object]) -> Iterator[None]:
    """Call ``act`` from a thread once ``is_true`` says so, while the block lasts."""
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


@dataclass(frozen=True)
class StopFile:
    """A file that exists as soon as work in other processes should stop.

    It can be pickled for them. On another machine the file never exists.

    Attributes
    ----------
    path : Path or None
        The file; None where no folder can be written to.
    maker : int
        Number of the process that made it.
    own : Stop or None
        The stop itself, for work in that process.
    """

    path: Path | None
    maker: int
    own: Stop | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it without the stop, which other processes do not have."""
        return StopFile, (self.path, self.maker)

    def exists(self) -> bool:
        """Tell whether work in other processes should stop."""
        return self.path is not None and self.path.exists()

    @contextmanager
    def heard(self) -> Iterator[Stop]:
        """Give the stop that the file requests.

        In other processes than the one that made the file, the first Ctrl-C requests
        it as well: a terminal sends Ctrl-C to all processes.
        """
        if os.getpid() == self.maker:
            yield self.own or Stop(self.exists)
            return
        with stop_on_interrupt() as stop:
            yield stop.or_when(self.exists)

    def make(self) -> None:
        """Request the stop; on a full disk the processes have to hear Ctrl-C."""
        if self.path is not None:
            with suppress(OSError):
                self.path.touch()


@contextmanager
def stop_file(stop: Stop) -> Iterator[StopFile]:
    """Make a file that appears when a stop is requested, while the block lasts.

    Where there is no folder for temporary files, such as in a container that may only
    read, other processes hear nothing of the stop.
    """
    with ExitStack() as stack:
        path = None
        with suppress(OSError):
            folder = tempfile.TemporaryDirectory(prefix="miptree-")
            path = Path(stack.enter_context(folder)) / "stop"
        file = StopFile(path, os.getpid(), stop)
        with when(lambda: stop.requested, file.make):
            yield file
