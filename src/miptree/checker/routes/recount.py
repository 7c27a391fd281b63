"""The objective of the tree in the file, counted in fractions."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from .file import Objective, RoutesProof, SplitNode
from .numbers import Points


def misfit(tree: tuple[SplitNode, ...], deepest: int, most: int | None) -> str | None:
    """Say why a tree is none of those that are compared, None if it is.

    These are up to so deep, and of up to so many features at a split.
    """
    depth = [0] * len(tree)
    for number, node in enumerate(tree):
        if node.coef is None:
            continue
        depth[node.left] = depth[node.right] = depth[number] + 1
        used = sum(value != 0 for _, value in node.coef)
        if most is not None and used > most:
            return f"a split of the tree weighs {used} features, not {most} or fewer."
    if max(depth) > deepest:
        return f"the tree is deeper than {deepest}."
    return None


def objective_of(proof: RoutesProof, points: Points) -> Fraction:
    """Return the objective of the tree.

    A split with a score beyond [-1, 1] counts as its multiple that just fits: it sends
    all rows the same way. A split by a subset of values costs nothing.
    """
    total = Fraction(0)
    comes_to = [0] * len(points.price)
    for number, node in enumerate(proof.tree):
        if node.coef is None:
            continue
        here = [i for i, place in enumerate(comes_to) if place == number]
        if node.subset is not None:
            feature, goes_left = node.subset
            for i in here:
                is_left = int(points.values[i, feature]) in goes_left
                comes_to[i] = node.left if is_left else node.right
            continue
        scores, over = scores_of(points.X, node)
        total += _split_cost(proof.objective, points, node, (scores, over), here)
        for i in here:
            comes_to[i] = node.left if scores[i] <= 0 else node.right
    for price, place in zip(points.price, comes_to, strict=True):
        total += price[proof.tree[place].label]
    return total


def _split_cost(
    objective: Objective,
    points: Points,
    node: SplitNode,
    scores: tuple[list[int], int],
    here: list[int],
) -> Fraction:
    """Return what missing margins of some points, and the norm of a split, cost."""
    numerators, over = scores
    largest = Fraction(max(map(abs, numerators)), over)
    shrink = max(Fraction(1), largest)
    missing = Fraction(0)
    for i in here:
        distance = Fraction(abs(numerators[i]), over) / shrink
        if distance < objective.margin:
            missing += points.weight[i] * (objective.margin - distance)
    norm = Fraction(0)
    for column, value in node.coef or ():
        x = points.X[:, column]
        norm += abs(Fraction(value)) * (Fraction(x.max()) - Fraction(x.min()))
    return objective.slack_penalty * missing + objective.l1_penalty * norm / shrink


def scores_of(X: np.ndarray, node: SplitNode) -> tuple[list[int], int]:
    """Return the scores x @ coef - threshold of all points: whole numbers over one."""
    columns = []
    for column, value in node.coef or ():
        parts = [x.as_integer_ratio() for x in X[:, column].tolist()]
        under = max(below for _, below in parts)  # powers of two
        whole = [above * (under // below) for above, below in parts]
        columns.append((whole, Fraction(value) / under))
    threshold = Fraction(node.threshold)
    over = lcm(threshold.denominator, *(factor.denominator for _, factor in columns))
    scores = [-int(threshold * over)] * len(X)
    for whole, factor in columns:
        times = int(factor * over)
        scores = [s + times * x for s, x in zip(scores, whole, strict=True)]
    return scores, over
