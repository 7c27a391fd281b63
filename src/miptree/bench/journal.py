"""A file of finished runs, to which lines are only ever added."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from miptree.utils.locks import take_lock


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
        """Yield line numbers, from 1, and records."""
        if not self.path.exists():
            return
        lines = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                if number == len(lines):
                    return  # torn: its writer died
                raise ValueError(
                    f"Line {number} of {self.path} is no JSON ({error}). Repair or "
                    "delete that line."
                ) from None
            yield number, record

    def records(self) -> list[dict[str, Any]]:
        """Return all lines."""
        return [record for _, record in self.lines()]

    def last(self) -> dict[tuple[Hashable, ...], dict[str, Any]]:
        """Return the last record of each run, which counts if there are several."""
        return {self.key_of(record): record for record in self.records()}

    def done(self) -> set[tuple[Hashable, ...]]:
        """Return the keys of the finished runs."""
        return set(self.last())

    def key_of(self, record: dict[str, Any]) -> tuple[Hashable, ...]:
        """Return the values that name the run of a record."""
        return tuple(record[field] for field in self.key)

    def append(self, record: dict[str, Any]) -> None:
        """Write a finished run."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        missing_end = self._mend()
        with self.path.open("ab") as file:
            file.write(missing_end + json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing inside this context.

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
            try:
                take_lock(file)
            except OSError:
                file.seek(0)
                raise JournalLockedError(
                    f"Another runner ({file.read().strip()}) writes {self.path}. Wait "
                    "for it, stop it, or choose another folder for the results."
                ) from None
            file.seek(0)
            file.truncate()
            file.write(f"pid {os.getpid()} on {socket.gethostname()}\n")
            file.flush()
            yield

    def _mend(self) -> bytes:
        """Remove a torn last line; return the line break that a whole one lacks."""
        content = self.path.read_bytes() if self.path.exists() else b""
        last = content.rpartition(b"\n")[2]
        try:
            json.loads(last or b"0")
        except ValueError:
            os.truncate(self.path, len(content) - len(last))
            return b""
        return b"\n" if last else b""
