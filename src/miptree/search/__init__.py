"""Near-optimal trees in seconds, without a proof."""

from miptree.search.api import SearchResult, improve, search
from miptree.search.compiling import (
    compile_kernels,
    compile_kernels_within,
    kernels_are_ready_in_time,
)

__all__ = [
    "SearchResult",
    "compile_kernels",
    "compile_kernels_within",
    "improve",
    "kernels_are_ready_in_time",
    "search",
]
