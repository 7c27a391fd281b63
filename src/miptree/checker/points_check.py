"""Check the proof of a points tree: recount the tree, and bound all others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .bounds import least_cost
from .costs import WholeCosts, whole_costs
from .data import Rows
from .family import Family
from .outcome import CLOSE, Outcome
from .points_file import PointsProof
from .sentence import Found, sentence
from .space import Space
from .splits import all_splits

DEEPEST = 3
"""Depth of trees up to which more than the trivial bound is computed."""


def points_outcome(proof: PointsProof, rows: Rows, deadline: float) -> Outcome:
    """Recount a points tree, bound all others of its family, and say what holds."""
    family = Family(proof.columns, proof.limits)
    wrong = _misfit(proof, family)
    if wrong is not None:
        return Outcome(f"Does not hold: {wrong}", 1)
    leaf = _leaves(proof, rows.numbers)
    least = proof.limits.min_leaf
    reached = np.bincount(leaf, minlength=len(proof.tree))
    is_leaf = [node.columns is None for node in proof.tree]
    if least > 1 and reached[is_leaf].min() < least:
        text = f"a leaf of the tree has fewer than {least} rows."
        return Outcome(f"Does not hold: {text}", 1)
    cost = _tree_cost(proof, rows, leaf)
    n_splits = 2 ** min(proof.limits.depth, DEEPEST + 1) - 1
    costs = whole_costs(rows.numbers, rows.price, proof.limits.penalties, n_splits)
    bound = min(cost, _bound(proof, family, costs, deadline, cost))
    n_rows = len(proof.labels), len(rows.price)
    cost_is_right = abs(cost - proof.claimed_cost) <= CLOSE * abs(cost)
    excess = proof.claimed_bound - bound - CLOSE * abs(bound)
    is_right = cost_is_right and excess <= 2 * costs.rounding
    found = Found(cost, bound, *n_rows, rows.labels_are_of_data, excess > 0)
    text = sentence(proof, family, found, is_right)
    return Outcome(text, 0 if is_right else 1, cost, bound)


# ------------------------------------------------------------------------- the tree


def _misfit(proof: PointsProof, family: Family) -> str | None:
    """Say why the tree is not one of the family, None if it is."""
    depth = [0] * len(proof.tree)
    for number, node in enumerate(proof.tree):
        if node.columns is None:
            continue
        for child in (node.left, node.right):
            depth[child] = depth[number] + 1
        if not family.has(node.columns, node.points):
            return f"the split of node {number} of the tree is not of the family."
    if max(depth) > proof.limits.depth:
        return f"the tree is deeper than {proof.limits.depth}."
    return None


def _leaves(proof: PointsProof, grid: np.ndarray) -> np.ndarray:
    """Return (n,): the leaf that each row comes to."""
    at = np.zeros(len(grid), dtype=np.int64)
    for number, node in enumerate(proof.tree):
        if node.columns is not None:
            here = np.flatnonzero(at == number)
            points = np.array(node.points, dtype=np.int64)
            sums = grid[here][:, list(node.columns)] @ points
            at[here] = np.where(sums <= node.threshold, node.left, node.right)
    return at


def _tree_cost(proof: PointsProof, rows: Rows, leaf: np.ndarray) -> Fraction:
    """Add up what the rows and the splits of the tree cost."""
    labels = [node.label for node in proof.tree]
    pairs = zip(rows.price, leaf.tolist(), strict=True)
    total = sum((price[labels[at]] for price, at in pairs), start=Fraction(0))
    for node in proof.tree:
        for column in node.columns or ():
            total += proof.limits.penalties[column]
    return total


# -------------------------------------------------------------------- all other trees


def _bound(
    proof: PointsProof,
    family: Family,
    costs: WholeCosts,
    deadline: float,
    cost: Fraction,
) -> Fraction:
    """Return what every tree of the family costs at least."""
    limits = proof.limits
    few_classes = costs.of_few_classes(2**limits.depth)
    if limits.depth > DEEPEST:
        return costs.true_bound(few_classes)
    splits = all_splits(costs.grid, family.cards(), costs.penalty, deadline)
    grid, cost_of = costs.grid, costs.cost
    space = Space(grid, cost_of, costs.count, splits, limits.min_leaf, deadline)
    enough = -(-(cost + costs.slip) // costs.unit) - costs.base
    found = least_cost(space, limits.depth, proof.anchors, int(enough))
    return costs.true_bound(max(found.strict, few_classes))
