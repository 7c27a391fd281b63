"""Why a row gets its class, and what would change that."""

from __future__ import annotations

from miptree.explain.explanation import Explanation, Explanations
from miptree.explain.rows import explain
from miptree.explain.splits import leaf_reasons

__all__ = ["Explanation", "Explanations", "explain", "leaf_reasons"]
