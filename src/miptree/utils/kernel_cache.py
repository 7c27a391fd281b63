"""What numba's cache on disk holds, and whether there is one."""

from __future__ import annotations

from typing import Any

COMPILE_ONCE = (
    "Run `miptree compile`, or miptree.compile_kernels(), once, and fit again"
)
"""What to do where kernels were late."""


def can_keep_kernels() -> bool:
    """Tell whether what one process compiles can be loaded by others."""
    from miptree.utils.jit import IS_CACHED  # imports numba, which takes a while

    return IS_CACHED


def is_on_disk(kernel: Any, types: str = "") -> bool:
    """Tell whether numba's cache has a kernel; there is no public way to ask.

    Where ``types`` are given, it must be there for arguments whose types contain them.
    """
    try:
        return any(
            types in str(key[0]) for key in kernel._cache._cache_file._load_index()
        )
    except (AttributeError, OSError):
        return False
