"""Rules on splits that contradict each other, or the shape of the trees."""

from __future__ import annotations

from collections.abc import Sequence

from miptree.constraints.constraint import Constraint
from miptree.constraints.features import AllowFeatures, ForbidFeatures
from miptree.constraints.fixed_split import FixedSplit
from miptree.constraints.places import depth_of


def refuse_contradictions(
    constraints: Sequence[Constraint], max_depth: int, max_features: int | None
) -> None:
    """Refuse places that are not there, and splits that another rule forbids.

    Parameters
    ----------
    constraints : sequence of Constraint
        As they take effect, with the names of columns.
    max_depth : int
        Depth of the trees.
    max_features : int, optional
        Most columns of a split.
    """
    for constraint in constraints:
        if isinstance(constraint, (AllowFeatures, FixedSplit)):
            _refuse_too_deep(constraint, max_depth)
    seen: set[int] = set()
    for fixed in constraints:
        if not isinstance(fixed, FixedSplit):
            continue
        if fixed.node in seen:
            raise ValueError(
                f"Two FixedSplit are for node {fixed.node}. Leave one out."
            )
        seen.add(fixed.node)
        if max_features is not None and len(fixed.listed) > max_features:
            raise ValueError(
                f"FixedSplit at node {fixed.node} uses {len(fixed.listed)} columns, "
                f"but a split may use {max_features} only (max_features_per_split, or "
                "--max-features on the command line)."
            )
        for other in constraints:
            _refuse_columns(fixed, other)


def _refuse_too_deep(constraint: AllowFeatures | FixedSplit, max_depth: int) -> None:
    node = constraint.node
    depth = constraint.depth if isinstance(constraint, AllowFeatures) else None
    if depth is not None and depth >= max_depth:
        raise ValueError(
            f"{constraint.name} is about depth {depth}, but trees of depth {max_depth} "
            f"have splits of depths 0 to {max_depth - 1} only."
        )
    if node is not None and depth_of(node) >= max_depth:
        raise ValueError(
            f"{constraint.name} is about node {node}, but trees of depth {max_depth} "
            f"have splits at nodes 0 to {2**max_depth - 2} only."
        )


def _refuse_columns(fixed: FixedSplit, other: Constraint) -> None:
    """Refuse a fixed split on columns that another rule keeps out of it."""
    used = {str(name) for name, _ in fixed.listed}
    if isinstance(other, ForbidFeatures):
        wrong = sorted(used & set(map(str, other.listed)))
        why = "no split may use: it is forbidden, or sensitive and not allowed"
    elif isinstance(other, AllowFeatures) and other.is_about(fixed.node):
        wrong = sorted(used - set(map(str, other.listed)))
        why = "AllowFeatures does not allow there"
    else:
        return
    if wrong:
        raise ValueError(
            f"FixedSplit at node {fixed.node} uses {wrong[0]!r}, which {why}. Change "
            "one of the two."
        )
