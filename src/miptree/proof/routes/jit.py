"""How the kernels of routes are compiled: dividing by zero is checked by hand."""

from __future__ import annotations

from typing import Any

from miptree.utils import jit

_BY_HAND: dict[str, Any] = {"error_model": "numpy"}
INNER: dict[str, Any] = {**jit.INNER, **_BY_HAND}
UNCOUNTED: dict[str, Any] = {**jit.UNCOUNTED, **_BY_HAND}
KERNEL: dict[str, Any] = {**jit.KERNEL, **_BY_HAND}
UNCOUNTED_KERNEL: dict[str, Any] = {**jit.UNCOUNTED_KERNEL, **_BY_HAND}
SMALL: dict[str, Any] = {**UNCOUNTED, "forceinline": True}
"""Options of a function so small that a call takes longer than what it does."""
