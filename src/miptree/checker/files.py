"""Bytes of a file, unpacked where it is gzipped, up to a size."""

from __future__ import annotations

import gzip
import os
import zlib

from .values import Refused


def content_of(path: str | os.PathLike[str], what: str, most: int) -> bytes:
    """Return the bytes of a file, or raise :class:`Refused` if they are too many."""
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file = gzip.GzipFile(fileobj=raw) if packed else raw
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise Refused(f"{what} {os.fspath(path)!r} cannot be read: {why}.") from None
    if len(content) > most:
        raise Refused(f"{what} {os.fspath(path)!r} has more than {most} bytes.")
    return content
