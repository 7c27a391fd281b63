"""How the kernels of routes are compiled: dividing by zero is checked by hand."""

from __future__ import annotations

from typing import Any

from miptree.utils import jit

INNER: dict[str, Any] = {**jit.INNER, "error_model": "numpy"}
KERNEL: dict[str, Any] = {**jit.KERNEL, "error_model": "numpy"}
SMALL: dict[str, Any] = {**INNER, "forceinline": True}
"""Options of a function so small that counting references to its arrays is dear."""
