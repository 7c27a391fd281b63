"""Download of data sets from UCI's archive and OpenML."""

from __future__ import annotations

import io
import json
import os
import urllib.error
import urllib.request
import zipfile

from miptree.datasets._registry import Entry

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
OPENML = "https://www.openml.org"
TIMEOUT = 60.0
LARGEST = 100_000_000
"""Bytes above which an answer is not one of the data sets."""


class DatasetError(OSError):
    """A data set cannot be loaded, or its content is not the expected one."""


def download(entry: Entry) -> str:
    """Download a part of a data set and return its text.

    ``$MIPTREE_UCI_URL`` and ``$MIPTREE_OPENML_URL`` name mirrors.

    Raises
    ------
    DatasetError
        Without internet, or if the file is not there; says what to do.
    """
    try:
        content = _get(_address(entry))
    except (OSError, ValueError) as error:
        raise DatasetError(_advice(entry, error)) from error
    if entry.source.member:
        content = _member(content, entry)
    return content.decode("utf-8", errors="replace")


def _address(entry: Entry) -> str:
    kind, _, number = entry.source.path.partition(":")
    if kind != "openml":
        return f"{os.environ.get('MIPTREE_UCI_URL', UCI)}/{entry.source.path}"
    base = os.environ.get("MIPTREE_OPENML_URL", OPENML)
    about = json.loads(_get(f"{base}/api/v1/json/data/{number}"))
    try:
        return str(about["data_set_description"]["url"])
    except (KeyError, TypeError):
        raise ValueError(f"OpenML's answer names no file: {about!r:.200}") from None


def _get(address: str) -> bytes:
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"{address!r} is no web address.")
    request = urllib.request.Request(address, headers={"User-Agent": "miptree"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        content: bytes = answer.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"{address} is larger than {LARGEST} bytes.")
    return content


def _member(content: bytes, entry: Entry) -> bytes:
    """Return the one file of an archive whose name ends in the member's name."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = [n for n in archive.namelist() if n.endswith(entry.source.member)]
            if len(found) == 1:
                return archive.read(found[0])
    except zipfile.BadZipFile as error:
        raise DatasetError(_advice(entry, error)) from error
    raise DatasetError(_advice(entry, f"no {entry.source.member} in the archive"))


def _advice(entry: Entry, error: object) -> str:
    return (
        f"The data set {entry.name!r} is not on this machine and could not be "
        f"downloaded from {entry.source.path} ({error}). On a machine with internet "
        f"try again; elsewhere set MIPTREE_DATA to a folder that holds "
        f"{entry.part}/{entry.file}. iris and wine need neither."
    )
