"""Step 2 of the pipeline: near-optimal trees in seconds, without a proof."""

from __future__ import annotations

from miptree.search.api import SearchResult, improve, search, tree_value
from miptree.search.budget import SearchBudget
from miptree.search.compiling import compile_kernels, compile_kernels_within

__all__ = [
    "SearchBudget",
    "SearchResult",
    "compile_kernels",
    "compile_kernels_within",
    "improve",
    "search",
    "tree_value",
]
