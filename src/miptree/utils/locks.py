"""Locks on files, which end with the process that has them, however that ends."""

from __future__ import annotations

from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def take_lock(file: IO[Any]) -> None:
    """Take the lock of an open file.

    Raises
    ------
    BlockingIOError
        If another process has it.
    OSError
        If files have no locks where this one is.
    """
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:  # pragma: no cover
        _take_on_windows(file)


def _take_on_windows(file: IO[Any]) -> None:  # pragma: no cover
    from importlib import import_module

    msvcrt = import_module("msvcrt")
    file.seek(1 << 20)  # far behind the text, which others may read
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except PermissionError as error:
        raise BlockingIOError(*error.args) from None
