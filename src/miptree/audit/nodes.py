"""What a model says of its nodes: rows, probabilities, and digits to show."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from miptree.certificate.check import Check
from miptree.data.problem import Problem
from miptree.fit.fitted import FittedTree, column_spread, row_counts
from miptree.objective.blurred import suited_blur
from miptree.objective.leaf_labels import leaf_weight
from miptree.objective.leaf_probabilities import smoothed, smoothed_frequencies
from miptree.tree.rounding import ALL_DIGITS, digits_that_matter, units_of
from miptree.utils.arrays import FloatArray

PROBABILITY_TOLERANCE = 1e-9
"""Difference of a probability that rounding explains."""


def check_nodes(
    fitted: FittedTree, problem: Problem, in_partitions: bool
) -> Iterator[Check]:
    """Count the rows of every node again, and what follows from them."""
    tree, count = fitted.tree, row_counts(problem, fitted.tree)
    wrong = (fitted.node_count != count).any(axis=1)
    found = "the rows of each class that pass each node are as in the model."
    if wrong.any():
        node = int(wrong.argmax())
        found = f"{_shown(fitted.node_count[node])} rows of the classes pass node "
        found += f"{node}, recomputed {_shown(count[node])}."
    yield Check("counts", not wrong.any(), found)
    proba = _probabilities(fitted, problem, in_partitions)
    far = np.abs(fitted.node_proba - proba)
    found = f"those of all {tree.n_leaves} leaves are as in the model."
    ok = bool((far <= PROBABILITY_TOLERANCE).all())
    if not ok:
        node = int(far.max(axis=1).argmax())
        found = f"those of node {node} are {_shown(fitted.node_proba[node])}, "
        found += f"recomputed {_shown(proba[node])}."
    yield Check("probabilities", ok, found)
    yield _check_blur(fitted, problem, proba, in_partitions)
    digits = np.full((tree.n_nodes, 2), ALL_DIGITS)
    if not in_partitions:
        unit = units_of(tree, fitted.spread)
        digits = digits_that_matter(tree, problem.X, unit)
    ok = np.array_equal(digits, fitted.digits)
    found = "with the digits that rules show, every row keeps its side."
    if not ok:
        node = int((digits != fitted.digits).any(axis=1).argmax())
        found = f"{_shown(fitted.digits[node])} digits of node {node} are shown, "
        found += f"recomputed {_shown(digits[node])}."
    yield Check("digits", ok, found)
    yield _check_spread(fitted, problem, in_partitions)


def _check_blur(
    fitted: FittedTree, problem: Problem, proba: FloatArray, in_partitions: bool
) -> Check:
    tree = fitted.tree
    blur = np.zeros(tree.n_nodes)
    if not in_partitions and not fitted.certificate.method:
        blur = suited_blur(problem, tree, proba)
    wrong = np.abs(fitted.blur - blur) > PROBABILITY_TOLERANCE * blur
    found = "the widths of the zones where a row counts to both sides of a split are "
    found += "as in the model."
    if wrong.any():
        node = int(wrong.argmax())
        found = f"the zone at node {node} is {fitted.blur[node]:.6g} wide, "
        found += f"recomputed {blur[node]:.6g}."
    return Check("blur", not wrong.any(), found)


def _check_spread(fitted: FittedTree, problem: Problem, in_partitions: bool) -> Check:
    if fitted.spread is None:
        return Check("spread", True, "the model does not tell that of its columns.")
    if in_partitions:
        return Check("spread", True, "that of a sample of the rows, not recomputed.")
    spread = column_spread(problem)
    for j, (told, found) in enumerate(zip(fitted.spread, spread, strict=True)):
        if abs(told - found) > PROBABILITY_TOLERANCE * found:
            wrong = f"that of column {j} of the tree is {told:.6g}, "
            return Check("spread", False, f"{wrong}recomputed {found:.6g}.")
    return Check("spread", True, "standard deviations of columns are as in the model.")


def _probabilities(
    fitted: FittedTree, problem: Problem, in_partitions: bool
) -> FloatArray:
    if not in_partitions:
        return smoothed_frequencies(problem, fitted.tree)
    # There the mean weight is of all rows: nobody knows which of them are alike.
    tree = fitted.tree
    weight = leaf_weight(problem, tree.apply(problem.X), tree.n_nodes)
    return smoothed(
        weight, tree.label, float(problem.weight.sum() / problem.count.sum())
    )


def _shown(numbers: np.ndarray) -> str:
    return ", ".join(f"{number:.6g}" for number in numbers.tolist())
