"""Step 3 of the pipeline: which rows the MIP sees.

The paper's selections (Algorithm 1, balanced) and corrected ones, all with one
contract, :class:`Selector`: a problem and a tree in, rows and weights out.
"""

from __future__ import annotations

from miptree.selection.algorithm1 import HullSelection
from miptree.selection.auto import AutoSelection
from miptree.selection.balanced import BalancedSelection, balanced_selection
from miptree.selection.base import Selection, Selector
from miptree.selection.clusters import Cluster, leaf_clusters
from miptree.selection.cover import CoverSelection, greedy_cover
from miptree.selection.exact import ExactSelection, solve_selection
from miptree.selection.hull import HullMembership, hull_membership
from miptree.selection.stratified import StratifiedSelection
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
    "Selector",
    "StratifiedSelection",
    "balanced_selection",
    "get_selector",
    "greedy_cover",
    "hull_membership",
    "leaf_clusters",
    "solve_selection",
    "transform_weights",
]

SELECTORS = ("auto", "hull", "balanced", "cover", "stratified")


def get_selector(
    name: str,
    depth: int = 2,
    seed: int = 0,
    n_jobs: int = 1,
    seconds: float | None = None,
) -> Selector:
    """Selector of a name, with its usual parameters."""
    made: dict[str, Selector] = {
        "auto": AutoSelection(depth=depth, seconds=seconds, seed=seed, n_jobs=n_jobs),
        "hull": HullSelection(n_jobs=n_jobs),
        "balanced": BalancedSelection(seed=seed, n_jobs=n_jobs),
        "cover": CoverSelection(share=0.1, n_jobs=n_jobs),
        "stratified": StratifiedSelection(seed=seed),
    }
    if name not in made:
        known = ", ".join(map(repr, SELECTORS))
        raise ValueError(f"selection must be one of {known}, got {name!r}.")
    return made[name]
