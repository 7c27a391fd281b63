"""Bytes or lines of a file, unpacked where it is gzipped, up to a size."""

from __future__ import annotations

import contextlib
import gzip
import os
import zlib
from collections.abc import Iterator
from typing import IO, cast

from .values import BadCall, Refused, TooMuch


def content_of(path: str | os.PathLike[str], what: str, most: int) -> bytes:
    """Return the bytes of a table, or raise :class:`Refused` if they are too many."""
    with _opened(path, what, BadCall) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise TooMuch(f"{what} {os.fspath(path)!r} has more than {most} bytes.")
    return content


def lines_of(
    path: str | os.PathLike[str], what: str, most: int, longest: int
) -> Iterator[bytes]:
    """Give the lines of a file of so many bytes at most, none of them too long."""
    read = 0
    with _opened(path, what, Refused) as file:
        while line := file.readline(longest + 1):
            read += len(line)
            if read > most or len(line) > longest:
                text = f"more than {most} bytes, or a line of more than {longest}"
                raise TooMuch(f"{what} {os.fspath(path)!r} has {text}.")
            yield line


@contextlib.contextmanager
def _opened(
    path: str | os.PathLike[str], what: str, damaged: type[Refused]
) -> Iterator[IO[bytes]]:
    """Open a file, gzipped or not; raise ``damaged`` where it cannot be unpacked."""
    name = f"{what} {os.fspath(path)!r}"
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
    except (Refused, GeneratorExit):
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile):
        text = "is damaged or cut off: what is packed in it cannot be unpacked"
        raise damaged(f"{name} {text}.") from None
    except (OSError, ValueError) as error:  # a path with NUL
        why = getattr(error, "strerror", None) or error
        raise BadCall(f"{name} cannot be read: {why}.") from None
