"""Warnings that name the user's line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_BETWEEN = {"miptree", "sklearn", "joblib", "dask", "distributed"}
"""Packages that stand between a user and what warns."""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the line that called this package, or scikit-learn around it.

    A thread or process that the package started has no such line: there it is the one
    that warns.

    Parameters
    ----------
    text : str
    category : class of warnings
    """
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_between(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=2 if frame is None else level)


def _is_between(module: str) -> bool:
    """Tell whether a module is of such a package, or of Python's own."""
    package = module.partition(".")[0]
    return package in _BETWEEN or package in sys.stdlib_module_names
