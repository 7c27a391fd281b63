"""How the kernels are compiled."""

from __future__ import annotations

from typing import Any

KERNEL: dict[str, Any] = {"nogil": True, "cache": True}
"""Options of a kernel that Python calls."""

INNER: dict[str, Any] = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Options of one that only kernels call: its code is in theirs, and in their cache."""
