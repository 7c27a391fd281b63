"""What no input may lead to: code of its own, files elsewhere, a connection, no end.

Python tells an audit hook of it. Code is expected from files of Python, of packages and
of this repository alone, and text is expected to become code only where libraries make
theirs of it.
"""

from __future__ import annotations

import dis
import importlib
import os
import signal
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import miptree

SECONDS = 60
"""After so long an input hangs."""
_NEVER = {
    "ctypes.call_function", "os.fork", "os.forkpty", "os.kill", "os.killpg",
    "os.startfile", "os.system", "pickle.find_class", "pty.spawn", "sqlite3.connect",
    "subprocess.Popen", "webbrowser.open",
}  # fmt: skip
_NEVER_ANY = ("os.exec", "os.posix_spawn", "os.spawn", "socket.", "syslog.")
_CHANGES = {
    "os.chmod": (0,), "os.chown": (0,), "os.link": (1,), "os.mkdir": (0,),
    "os.remove": (0,), "os.rename": (0, 1), "os.rmdir": (0,), "os.setxattr": (0,),
    "os.symlink": (1,), "os.truncate": (0,), "os.utime": (0,),
}  # fmt: skip
"""Which arguments are paths that are changed."""
_IMPORTLIB = ("<frozen importlib", "<frozen zipimport")
_paths = sysconfig.get_paths()
_STANDARD = Path(os.path.realpath(_paths["stdlib"]))
_PACKAGE = Path(miptree.__file__).resolve().parent
_IMPORTING = (*_IMPORTLIB, str(Path(importlib.__file__).parent))
_ROOTS = (
    _STANDARD,
    *(Path(os.path.realpath(_paths[name])) for name in ("purelib", "platlib")),
    _PACKAGE,
    Path(__file__).resolve().parents[1],
)
"""Whose code may run; compiled modules and kernels are kept beside it."""
_MAKERS = {
    _STANDARD / name for name in
    ("collections/__init__.py", "dataclasses.py", "inspect.py", "typing.py")
}  # fmt: skip
"""Files of Python that make code of the text of annotations and names."""
_watched: list[Path] = []
"""The folder of the input that is being read, if one is."""


class FoundError(BaseException):
    """An input did what it must not; not caught by the code that is tested."""


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watched:
        return
    folder = _watched.pop()  # what is done here is not watched
    try:
        if event in _NEVER or event.startswith(_NEVER_ANY):
            raise FoundError(f"{event} {arguments!r:.200}")
        if event in _CHECKS and not _CHECKS[event](arguments, sys._getframe(1)):
            raise FoundError(f"runs code: {event} {arguments!r:.200}")
        for path in _changed(event, arguments):
            if not _is_allowed(path, folder):
                raise FoundError(f"{event} changes {path!r:.200}")
    finally:
        _watched.append(folder)


# ------------------------------------------------------------------------- code


def _may_execute(arguments: tuple[Any, ...], frame: FrameType) -> bool:
    """Tell whether code is that of a module which is imported, or is a library's."""
    if frame.f_code.co_filename.startswith(_IMPORTLIB):
        file = arguments[0].co_filename
        return _is_trusted(file) and _is_expected(file, frame)
    return _is_maker(frame)


def _may_compile(arguments: tuple[Any, ...], frame: FrameType) -> bool:
    if frame.f_code.co_filename.startswith(_IMPORTLIB):
        return arguments[1] is not None and _is_trusted(os.fsdecode(arguments[1]))
    return _is_maker(frame)


def _is_maker(frame: FrameType) -> bool:
    return Path(os.path.realpath(frame.f_code.co_filename)) in _MAKERS or _is_importing(
        frame
    )


def _is_importing(frame: FrameType | None) -> bool:
    """Tell whether a module is being imported, which knows nothing of the input."""
    while frame is not None:
        importer = frame.f_back
        if frame.f_code.co_name == "<module>" and importer is not None:
            if importer.f_code.co_filename.startswith(_IMPORTLIB):
                return True
        frame = importer
    return False


def _may_import(arguments: tuple[Any, ...], frame: FrameType) -> bool:
    return _is_expected(str(arguments[0]).replace(".", os.sep), frame)


def _is_expected(module: str, frame: FrameType) -> bool:
    """Tell whether a statement of trusted code imports, or Python wants an encoding.

    A name that a file gives would go through a function, such as ``__import__``. Of
    those only a package that looks for its own modules may make use.
    """
    if _is_importing(frame):
        return True
    while frame.f_code.co_filename.startswith(_IMPORTING) and frame.f_back:
        frame = frame.f_back
    package = Path(frame.f_code.co_filename).parent
    is_own = package.name in Path(module).parts and package != _PACKAGE
    operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    is_expected = is_own or operation == "IMPORT_NAME"
    return is_expected and _is_trusted(frame.f_code.co_filename)


def _is_trusted(file: str) -> bool:
    return file.startswith("<frozen ") or _is_in(_ROOTS, Path(os.path.realpath(file)))


_CHECKS: dict[str, Callable[[tuple[Any, ...], FrameType], bool]] = {
    "exec": _may_execute,
    "compile": _may_compile,
    "import": _may_import,
    "code.__new__": lambda _, frame: _is_importing(frame),
    "ctypes.dlopen": lambda _, frame: _is_importing(frame),
}


# ------------------------------------------------------------------------ files


def _changed(event: str, arguments: tuple[Any, ...]) -> list[Any]:
    """Return the paths that an event changes, without what is open already."""
    if event == "open":
        flags = arguments[2] if isinstance(arguments[2], int) else 0
        is_write = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        paths = [arguments[0]] if is_write else []
    else:
        paths = [arguments[k] for k in _CHANGES.get(event, ())]
    return [path for path in paths if not isinstance(path, int)]


def _is_allowed(path: Any, folder: Path) -> bool:
    name = os.path.abspath(os.fsdecode(path))
    if name == os.devnull:
        return True
    # A link in the folder may lead out of it.
    where = Path(os.path.realpath(os.path.dirname(name))) / os.path.basename(name)
    where = Path(os.path.realpath(where)) if where.is_symlink() else where
    if _is_in((Path(os.path.realpath(folder)),), where):
        return True
    return _is_in(_ROOTS, where) and "__pycache__" in where.parts


def _is_in(folders: tuple[Path, ...], path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


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
        _watched.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
