"""The bytes of a file, unpacked, and what kind of table they hold."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

STANDARD_INPUT = Path("-")
"""The name by which standard input is asked for."""
_PACKED = (
    (b"\x1f\x8b", gzip.decompress),
    (b"BZh", bz2.decompress),
    (b"\xfd7zXZ\x00", lzma.decompress),
)
_KINDS = ((b"PAR1", "parquet"), (b"ARROW1", "feather"), (b"FEA1", "feather"))
_REFUSED = (
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls) or a locked one: save it as .xlsx"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd: unpack it first"),
    (b"7z\xbc\xaf", "packed by 7-Zip: unpack it first"),
    (b"%PDF", "a PDF file: export the table as CSV or .xlsx"),
    (b"SQLite format 3", "a database: export the table as CSV"),
    (b'{"', "JSON: export the table as CSV"),
    (b"[{", "JSON: export the table as CSV"),
    (b"<", "a page or an XML file: open it in Excel and save it as .xlsx"),
)
_OF_SUFFIX = {".parquet": "parquet", ".feather": "feather", ".arrow": "feather"}
_OF_SUFFIX |= {".xlsx": "excel", ".xlsm": "excel"}


class Content(NamedTuple):
    """An unpacked file."""

    name: str
    """How messages call it."""
    kind: str
    """"text", "excel", "parquet" or "feather"."""
    data: bytes


def read_content(path: Path) -> Content:
    """Read a file, or standard input for "-", and unpack it.

    What it is, is told by its first bytes and not by its name: files are often
    renamed, and standard input has no name.
    """
    name = "standard input" if path == STANDARD_INPUT else str(path)
    data = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    if not data.strip():
        raise ValueError(f"{name} is not a CSV table: it is empty.")
    kind = "text"
    for magic, unpack in _PACKED:
        if data.startswith(magic):
            try:
                data = unpack(data)
            except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
                raise ValueError(f"{name} cannot be unpacked: {error}.") from None
            break
    if data.startswith(b"PK\x03\x04"):
        kind, data = _unzip(name, data)
    for magic, what in _REFUSED:
        if data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(magic):
            raise ValueError(f"{name} is {what}.")
    kind = next((k for magic, k in _KINDS if data.startswith(magic)), kind)
    wanted = _OF_SUFFIX.get(path.suffix.lower(), kind)
    if wanted != kind and wanted != "excel":  # people do name CSV files .xlsx
        raise ValueError(f"{name} is not a {wanted.capitalize()} file.")
    return Content(name, kind, data)


def _unzip(name: str, data: bytes) -> tuple[str, bytes]:
    """Return the one file of an archive; an Excel file is an archive itself."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [
                member
                for member in archive.namelist()
                if not member.endswith("/")
                and not member.startswith("__MACOSX/")
                and not Path(member).name.startswith(".")
            ]
            if "xl/workbook.xml" in members:
                return "excel", data
            if "content.xml" in members and "mimetype" in members:
                raise ValueError(f"{name} is an OpenDocument file: save it as .xlsx.")
            if len(members) != 1:
                listed = ", ".join(map(repr, members[:5])) or "none"
                raise ValueError(
                    f"{name} must hold one file, but holds {len(members)}: {listed}. "
                    "Unpack it and give the file with the rows."
                )
            inner = archive.read(members[0])
            if inner.startswith(b"PK\x03\x04"):
                return _unzip(f"{name}: {members[0]}", inner)
            return "text", inner
    except (zipfile.BadZipFile, RuntimeError, zlib.error, NotImplementedError) as error:
        raise ValueError(f"{name} cannot be unpacked: {error}.") from None
