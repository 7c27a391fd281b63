"""How the kernels are compiled."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

MINUS_ONE, ZERO, ONE = (cast(int, np.int64(number)) for number in (-1, 0, 1))
"""Whole numbers to begin with, or to call a kernel with, in a kernel. A literal 0 has a
type of its own, for which numba would compile the kernel that is called once more."""
KERNEL: dict[str, Any] = {"nogil": True, "cache": True}
"""Options of a kernel that Python calls."""

INNER: dict[str, Any] = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Options of one that only kernels call: its code is in theirs, and in their cache."""


def is_on_disk(kernel: Any) -> bool:
    """Tell whether numba's cache has a kernel; there is no public way to ask."""
    try:
        return bool(kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):
        return False
