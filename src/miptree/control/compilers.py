"""Other processes that compile kernels into numba's cache, beside the work of a fit.

Numba holds Python's lock while it compiles: a thread that compiles would stop the fit,
its clock and Ctrl-C.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Literal

from miptree.control.clock import Clock

_SECONDS_BETWEEN_LOOKS = 0.02
_NOT_THE_WORKING_FOLDER = "import sys; sys.path[:] = filter(None, sys.path)"
_QUIET = "from miptree.control.background import begin"
_WINDOWS_FLAGS = ("CREATE_NO_WINDOW", "BELOW_NORMAL_PRIORITY_CLASS")

Outcome = Literal["done", "late", "failed"]
"""What came of compiling: all is on disk, time was over first, or it went wrong."""


class Compilers:
    """Processes that compile, started once and awaited by any number of fits.

    They go on after a fit that could not wait for them, also after the end of the
    program, so that a later fit finds more on disk; see
    :mod:`~miptree.control.background`.

    Parameters
    ----------
    sources : sequence of str
        Python programs that compile, one for each process.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        self.sources = tuple(sources)
        self._processes: list[subprocess.Popen[bytes]] | None = None
        self._lock = Lock()
        _known.add(self)

    def start(self) -> None:
        """Begin to compile, unless that was begun before.

        Nothing is started inside of another program, which should not run again.
        """
        with self._lock:
            if self._processes is not None:
                return
            self._processes = []
            atexit.register(self._leave)
            if sys.executable and not getattr(sys, "frozen", False):
                with suppress(OSError):
                    self._processes += map(_started, self.sources)

    def wait(self, clock: Clock) -> Outcome:
        """Wait until all have ended, or the clock is over."""
        processes = self._processes or []
        while any(process.poll() is None for process in processes):
            if clock.is_over:
                return "late"
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        codes = [process.returncode for process in processes]
        return "done" if codes == [0] * len(self.sources) else "failed"

    def are_done_in_time(self, clock: Clock, seconds_to_load: float) -> bool:
        """Compile, and tell whether time is left to load what was compiled.

        Where it is not, the clock ends.
        """
        self.start()
        is_late = self.wait(clock) == "late"
        if is_late or not clock.has_time_for(seconds_to_load):
            clock.end("time_limit")
            return False
        return True

    def kill(self) -> None:
        """End the processes that are still at work; they may be started again."""
        with self._lock:
            for process in self._processes or []:
                process.kill()
                process.communicate()
            self._processes = None
            atexit.unregister(self._leave)

    def _leave(self) -> None:
        """Let them go on by themselves, at the end of this program."""
        for process in self._processes or []:
            if process.stdin is not None:
                process.stdin.close()  # they wait for that
            process.returncode = process.poll() or 0  # Python warns of the others

    def forget(self) -> None:
        """Know of no processes, in a fork of the program that started them.

        They are no children of the fork, which so cannot wait for them, and they hear
        the end of the program only if nobody else holds their input open.
        """
        for process in self._processes or []:
            if process.stdin is not None:
                process.stdin.close()
            process.returncode = 0
        self._processes, self._lock = None, Lock()  # a thread may have held the lock


_known: weakref.WeakSet[Compilers] = weakref.WeakSet()


def _forget_in_fork() -> None:
    for compilers in list(_known):
        compilers.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_fork)


def _started(source: str) -> subprocess.Popen[bytes]:
    """Start a silent Python that imports what this one can import, and nothing else.

    With ``-c`` it would look in the working folder first, where a file beside the
    user's table may have the name of a module. Its input ends when this process does.
    """
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    name = hashlib.sha256(source.encode()).hexdigest()[:16]
    silent = subprocess.DEVNULL
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"{_NOT_THE_WORKING_FOLDER}; {_QUIET}; begin({name!r}); {source}",
        ],
        stdin=subprocess.PIPE,
        stdout=silent,
        stderr=silent,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C and the end of a terminal are not for it
        creationflags=sum(getattr(subprocess, flag, 0) for flag in _WINDOWS_FLAGS),
    )
