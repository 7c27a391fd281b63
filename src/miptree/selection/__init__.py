"""Which rows the MIP sees.

The paper's selections (Algorithm 1, balanced) and corrected ones, all with one
contract, :class:`Selector`: a problem and a tree in, rows and weights out.
"""

from __future__ import annotations

from miptree.selection.algorithm1 import HullSelection
from miptree.selection.auto import AutoSelection
from miptree.selection.balanced import BalancedSelection, balanced_selection
from miptree.selection.base import (
    Selection,
    SelectionContext,
    Selector,
    adapted,
    select_rows,
)
from miptree.selection.clusters import Cluster, leaf_clusters
from miptree.selection.cover import CoverSelection, greedy_cover
from miptree.selection.hull import HullMembership, hull_membership
from miptree.selection.selection_mip import ExactSelection, solve_selection
from miptree.selection.stratified import StratifiedSelection, UniformSelection
from miptree.selection.transform import transform_weights

__all__ = [
    "SELECTORS",
    "AutoSelection",
    "BalancedSelection",
    "Cluster",
    "CoverSelection",
    "ExactSelection",
    "HullMembership",
    "HullSelection",
    "Selection",
    "SelectionContext",
    "Selector",
    "StratifiedSelection",
    "UniformSelection",
    "adapted",
    "balanced_selection",
    "get_selector",
    "greedy_cover",
    "hull_membership",
    "leaf_clusters",
    "select_rows",
    "solve_selection",
    "transform_weights",
]

SELECTORS = ("auto", "hull", "balanced", "cover", "stratified")


def get_selector(selection: str | Selector, seed: int = 0, n_jobs: int = 1) -> Selector:
    """Return the selector of a name, with its usual parameters; or the one given."""
    made: dict[str, Selector] = {
        "auto": AutoSelection(seed=seed, n_jobs=n_jobs),
        "hull": HullSelection(n_jobs=n_jobs),
        "balanced": BalancedSelection(seed=seed, n_jobs=n_jobs),
        "cover": CoverSelection(share=0.1, n_jobs=n_jobs),
        "stratified": StratifiedSelection(seed=seed),
    }
    if not isinstance(selection, str) and hasattr(selection, "select"):
        return selection
    if selection not in made:
        known = ", ".join(map(repr, SELECTORS))
        raise ValueError(
            f"selection must be one of {known} or a selector, got {selection!r}."
        )
    return made[selection]
