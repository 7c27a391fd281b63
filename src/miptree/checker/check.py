"""Check a proof: recount the tree, bound all others, and say what holds."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .bounds import least_cost
from .costs import WholeCosts, whole_costs
from .data import Rows, read_rows
from .family import Family
from .proof_file import Proof, read_proof
from .sentence import Found, sentence
from .space import Space
from .splits import all_splits
from .values import Refused

CLOSE = Fraction(1, 10**9)
"""Part of a claimed cost or bound by which the float64 in a file may be off."""
DEEPEST = 3
"""Depth of trees up to which more than the trivial bound is computed."""


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes
    ----------
    sentence : str
        What holds, or why nothing can be said.
    exit_code : int
        0 if what the file claims holds, 1 if not, 2 if that cannot be told.
    cost, bound : Fraction or None
        What the tree costs, and what every tree of the family costs at least, both
        computed here; None where they were not.
    """

    sentence: str
    exit_code: int
    cost: Fraction | None = None
    bound: Fraction | None = None


def check_proof(
    proof: str | os.PathLike[str],
    data: str | os.PathLike[str],
    target: str | None = None,
    minutes: float = 10.0,
) -> Outcome:
    """Check a proof file against the data that it is about.

    Parameters
    ----------
    proof : path
        Proof file, for example of ``fit(X, y, proof_log=path)``.
    data : path
        CSV file of the training rows in their order, may be gzipped.
    target : str, optional
        Column of the labels, by default the one that the proof file names; without
        one the labels of the proof file are taken, and that is said.
    minutes : float
        When to give up.

    Returns
    -------
    Outcome
        One sentence, and an exit code.
    """
    try:
        given = read_proof(proof)
        rows = read_rows(data, given, target)
        return _outcome(given, rows, time.monotonic() + 60 * minutes)
    except Refused as error:
        return Outcome(f"Not checked: {error}", 2)
    except MemoryError:
        return Outcome("Not checked: the proof needs more memory than there is.", 2)


def _outcome(proof: Proof, rows: Rows, deadline: float) -> Outcome:
    family = Family(proof.columns, proof.limits)
    wrong = _misfit(proof, family)
    if wrong is not None:
        return Outcome(f"Does not hold: {wrong}", 1)
    leaf = _leaves(proof, rows.grid)
    least = proof.limits.min_leaf
    reached = np.bincount(leaf, minlength=len(proof.tree))
    is_leaf = [node.columns is None for node in proof.tree]
    if least > 1 and reached[is_leaf].min() < least:
        text = f"a leaf of the tree has fewer than {least} rows."
        return Outcome(f"Does not hold: {text}", 1)
    cost = _tree_cost(proof, rows, leaf)
    n_splits = 2 ** min(proof.limits.depth, DEEPEST + 1) - 1
    costs = whole_costs(rows.grid, rows.price, proof.limits.penalties, n_splits)
    bound = min(cost, _bound(proof, family, costs, deadline, cost))
    n_rows = len(proof.labels), len(rows.price)
    found = Found(cost, bound, *n_rows, rows.labels_are_of_data)
    cost_is_right = abs(cost - proof.claimed_cost) <= CLOSE * abs(cost)
    bound_is_right = proof.claimed_bound - bound <= CLOSE * abs(bound)
    is_right = cost_is_right and bound_is_right
    text = sentence(proof, family, found, is_right)
    return Outcome(text, 0 if is_right else 1, cost, bound)


# ------------------------------------------------------------------------- the tree


def _misfit(proof: Proof, family: Family) -> str | None:
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


def _leaves(proof: Proof, grid: np.ndarray) -> np.ndarray:
    """Return (n,): the leaf that each row comes to."""
    at = np.zeros(len(grid), dtype=np.int64)
    for number, node in enumerate(proof.tree):
        if node.columns is not None:
            here = np.flatnonzero(at == number)
            points = np.array(node.points, dtype=np.int64)
            sums = grid[here][:, list(node.columns)] @ points
            at[here] = np.where(sums <= node.threshold, node.left, node.right)
    return at


def _tree_cost(proof: Proof, rows: Rows, leaf: np.ndarray) -> Fraction:
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
    proof: Proof, family: Family, costs: WholeCosts, deadline: float, cost: Fraction
) -> Fraction:
    """Return what every tree of the family costs at least."""
    limits = proof.limits
    if limits.depth > DEEPEST:
        return costs.true_bound(0)
    splits = all_splits(costs.grid, family.cards(), costs.penalty, deadline)
    grid, cost_of = costs.grid, costs.cost
    space = Space(grid, cost_of, costs.count, splits, limits.min_leaf, deadline)
    enough = -(-(cost + costs.slip) // costs.unit) - costs.base
    found = least_cost(space, limits.depth, proof.anchors, int(enough))
    return costs.true_bound(found.strict)
