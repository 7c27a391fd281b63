"""Append-only JSON lines that survive whatever comes next."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class JournalLockedError(RuntimeError, ValueError):
    """Another process writes the journal."""


class Journal:
    """One JSON line per finished run; a run that has a line is not run again.

    A line is on the disk when :meth:`append` returns. A process that dies while it
    writes leaves a torn last line, which readers skip and the next writer removes.

    Parameters
    ----------
    path : Path
        The file.
    key : tuple of str
        Fields that name a run.
    """

    def __init__(self, path: Path, key: tuple[str, ...]) -> None:
        self.path, self.key = Path(path), key

    def lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Line numbers, from 1, and records."""
        if not self.path.exists():
            return
        for number, line in enumerate(self.path.read_bytes().split(b"\n"), start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                if number == self._last_line_number():
                    return  # torn: its writer died
                raise ValueError(
                    f"Line {number} of {self.path} is no JSON ({error}). Repair or "
                    "delete that line."
                ) from None
            yield number, record

    def records(self) -> list[dict[str, Any]]:
        """All finished runs."""
        return [record for _, record in self.lines()]

    def done(self) -> set[tuple[Hashable, ...]]:
        """Keys of the finished runs."""
        return {self.key_of(record) for record in self.records()}

    def key_of(self, record: dict[str, Any]) -> tuple[Hashable, ...]:
        """What names a run."""
        return tuple(record[field] for field in self.key)

    def append(self, record: dict[str, Any]) -> None:
        """Write a finished run."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._mend()
        with self.path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Context in which no other process may write.

        The lock ends with its process, however that ends; the file beside the journal
        stays and says whose it was last.

        Raises
        ------
        JournalLockedError
            If another process has it.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        path = self.path.with_name(f".{self.path.name}.lock")
        with path.open("a+", encoding="utf-8") as file:
            if not _take(file):
                file.seek(0)
                raise JournalLockedError(
                    f"Another runner ({file.read().strip()}) writes {self.path}. Wait "
                    "for it, stop it, or choose another folder for the results."
                )
            file.seek(0)
            file.truncate()
            file.write(f"pid {os.getpid()} on {socket.gethostname()}\n")
            file.flush()
            yield

    def _mend(self) -> None:
        """Remove a torn last line, or end a whole one that lacks its line break."""
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        if not content or content.endswith(b"\n"):
            return
        begin = content.rfind(b"\n") + 1
        try:
            json.loads(content[begin:])
        except ValueError:
            os.truncate(self.path, begin)
        else:
            with self.path.open("ab") as file:
                file.write(b"\n")

    def _last_line_number(self) -> int:
        """Number of a last line without line break, 0 if there is none."""
        content = self.path.read_bytes()
        return 0 if content.endswith(b"\n") else content.count(b"\n") + 1


def _take(file: IO[str]) -> bool:
    """Take the lock of an open file, if it is free."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:  # pragma: no cover
            _take_on_windows(file)
    except OSError:
        return False
    return True


def _take_on_windows(file: IO[str]) -> None:  # pragma: no cover
    from importlib import import_module

    msvcrt = import_module("msvcrt")
    file.seek(1 << 20)  # far behind the text, which others may read
    msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
