"""How the kernels are compiled."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numba import njit


def _probe() -> None:
    """Do nothing: numba is only asked whether it could keep this on disk."""


def _folder() -> str | None:
    """Return the folder in which numba keeps what this file compiles, if it has one.

    It looks for ``NUMBA_CACHE_DIR``, beside the files of this package, and in the
    user's own cache. Where all are read-only, it raises.
    """
    try:
        return str(njit(cache=True)(_probe).stats.cache_path)
    except RuntimeError:
        return None


def _counting(is_counted: bool) -> dict[str, Any]:
    """Return the option that says whether references to arrays are counted.

    It is not documented: where numba does not know it, all are counted, which is only
    slower.
    """
    option: dict[str, Any] = {"_nrt": is_counted}
    try:
        njit(**option)(_probe)
    except (KeyError, TypeError):
        return {}
    return option


MINUS_ONE, ZERO, ONE = (cast(int, np.int64(number)) for number in (-1, 0, 1))
"""Whole numbers to begin with, or to call a kernel with, in a kernel. A literal 0 has a
type of its own, for which numba would compile the kernel that is called once more."""
CACHE_FOLDER = _folder()
"""A folder of numba's cache, which is there, and may be written to."""
IS_CACHED = CACHE_FOLDER is not None
"""Whether compiled kernels are kept on disk; otherwise every process compiles."""
KERNEL: dict[str, Any] = {"nogil": True, "cache": IS_CACHED, **_counting(True)}
"""Options of a kernel that Python calls."""

INNER: dict[str, Any] = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    **_counting(True),
}
"""Options of one that only kernels call: its code is in theirs, and in their cache."""
UNCOUNTED: dict[str, Any] = {**INNER, **_counting(False)}
"""Options of one that neither makes arrays nor gets any from what it calls: its caller
holds them all meanwhile. Counting references took half of the time of some proofs."""
UNCOUNTED_KERNEL: dict[str, Any] = {**KERNEL, **_counting(False)}
