"""What no input may lead to: code of its own, files elsewhere, or no end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

SECONDS = 60
"""After so long an input hangs."""
_NEVER = {
    "os.system", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "subprocess.Popen",
    "pickle.find_class", "socket.connect", "ctypes.call_function", "webbrowser.open",
}  # fmt: skip
_watched: list[Path] = []
"""The folder of the input that is being read, if one is."""


class FoundError(BaseException):
    """An input did what it must not; not caught by the code that is tested."""


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watched:
        return
    if event in _NEVER:
        raise FoundError(f"{event} {arguments!r:.200}")
    if event == "open" and _is_write(arguments) and not _is_allowed(arguments[0]):
        raise FoundError(f"writes to {arguments[0]!r:.200}")


def _is_write(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if isinstance(arguments[2], int) else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _is_allowed(path: object) -> bool:
    if not isinstance(path, (str, bytes)):
        return True  # a file that is open already
    name = os.path.abspath(os.fsdecode(path))
    # Compiled modules and kernels are kept beside their sources.
    return name.startswith((str(_watched[-1]), os.devnull)) or "__pycache__" in name


def _hang(*_: object) -> None:
    raise FoundError(f"no end after {SECONDS} s")


@cache
def _begin() -> None:
    """Have events told, once in a process: a hook cannot be taken off again."""
    sys.addaudithook(_audit)


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Watch what is done meanwhile; files may be written in one folder only."""
    _begin()
    before = signal.signal(signal.SIGALRM, _hang)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    _watched.append(folder)
    try:
        yield
    finally:
        _watched.pop()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
