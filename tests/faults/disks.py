"""Real disks that are full, and real folders that nobody may write into."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PAGE = 4096
"""Bytes that a file system in memory hands out at a time."""


@contextmanager
def small_disk(folder: Path, n_pages: int) -> Iterator[Path]:
    """Mount a file system with room for so many pages, or skip the test."""
    folder.mkdir(exist_ok=True)
    # The folder itself takes a page.
    options = f"size={(n_pages + 1) * PAGE}"
    _mount("-t", "tmpfs", "-o", options, "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def make_read_only(folder: Path) -> None:
    """Let nobody write on a mounted disk any more, root included."""
    _mount("-o", "remount,ro", str(folder))


def _mount(*arguments: str) -> None:
    try:
        done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no program mount")
    if done.returncode:
        pytest.skip(f"this user may not mount: {done.stderr.strip()}")


def fill(folder: Path) -> None:
    """Take all the room that is left."""
    with open(folder / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(PAGE))
        except OSError:
            return
