"""Files written whole or not at all, and never over another one unasked."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_atomic(path: str | os.PathLike[str], content: bytes, force: bool) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    Raises
    ------
    FileExistsError
        If there is a file already, without ``force``.
    OSError
        If there is something else than a file, such as a pipe or a device; or if the
        disk is full. It names the file.
    """
    with atomic_file(path, force) as file:
        file.write(content)


@contextmanager
def atomic_file(path: str | os.PathLike[str], force: bool) -> Iterator[BinaryIO]:
    """Open a file for bytes that takes its place only when all was written.

    What is raised before that leaves everything as it was; see :func:`write_atomic`.
    """
    target = Path(os.path.realpath(path))
    refuse_overwriting(target, force)
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        _put_in_place(draft, target, force)
    except OSError as error:
        # Nobody knows the draft, and a full disk does not even name that.
        if error.errno is not None and error.filename in (None, str(draft)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
    _sync_folder(target.parent)


def refuse_overwriting(path: str | os.PathLike[str], force: bool) -> None:
    """Raise early where :func:`write_atomic` would in the end."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"There is no folder {str(target.parent)!r} to write {target.name!r} into."
        )
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder. Give the name of a file.")
    if target.exists() and not target.is_file():
        raise OSError(
            f"{str(path)!r} is a pipe or a device, which is never replaced. Give the "
            "name of a file."
        )
    if target.exists() and not force:
        raise FileExistsError(
            f"{str(path)!r} exists already and is kept. Choose another name, or "
            "overwrite it with force=True (--force on the command line)."
        )
    folder = os.path.dirname(os.path.realpath(path))
    if not os.access(folder, os.W_OK):
        raise PermissionError(
            f"Nothing can be written into the folder {folder!r}, which {str(path)!r} "
            "is to be in. Choose another folder, or ask for the right to write there."
        )


def _put_in_place(draft: Path, target: Path, force: bool) -> None:
    if force:
        os.replace(draft, target)
        return
    try:
        os.link(draft, target)  # unlike a rename, fails where a file came meanwhile
    except FileExistsError:
        refuse_overwriting(target, force)
        raise
    except OSError:  # a file system without hard links
        refuse_overwriting(target, force)
        os.replace(draft, target)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where the system offers that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
