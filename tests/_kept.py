"""Whether a fitted tree keeps a constraint, counted as anybody would.

Nothing here uses the package's own counting.
"""

from __future__ import annotations

import numpy as np

from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FalsePositiveRateParity,
    FixedSplit,
    ForbidFeatures,
    MaxCost,
    MaxRate,
    MinLeaf,
    MinRate,
    Monotone,
    Signs,
    TruePositiveRateParity,
)


def rate(predicted, label, rows):
    return (predicted[rows] == label).mean()


def difference(groups, rows, hits, versus="overall"):
    """The largest difference of rates, counted as anybody would."""
    rates = [
        hits[rows & (groups == g)].mean()
        for g in np.unique(groups)
        if (rows & (groups == g)).any()
    ]
    if not rates:
        return 0.0
    if versus == "pairs":
        return max(rates) - min(rates)
    return max(abs(r - hits[rows].mean()) for r in rates)


def is_kept(constraint, clf, X, y, groups):
    """Whether predictions keep a constraint, without the package's own counting."""
    predicted, slip = clf.predict(X), 1e-12
    if isinstance(constraint, MinLeaf):
        return np.unique(clf.apply(X), return_counts=True)[1].min() >= constraint.rows
    if isinstance(constraint, ForbidFeatures):
        changed = X.copy()
        changed[:, list(constraint.features)] = 0.0
        return np.array_equal(clf.predict(changed), predicted)
    if isinstance(constraint, FixedSplit):
        return has_split(clf, X, constraint)
    if isinstance(constraint, AllowFeatures):
        at = clf.tree_.node_depth == constraint.depth
        rows = at | (constraint.depth is None)
        if constraint.node is not None:
            node = way(clf.tree_, constraint.node)
            rows = np.arange(clf.tree_.n_nodes) == node
        used = np.flatnonzero(clf.tree_.coef[rows].any(axis=0))
        names = [clf.table_.open_names[j] for j in used]
        return set(names) <= {f"x[{j}]" for j in constraint.features}
    if isinstance(constraint, Monotone):
        return all(
            follows(clf, X, column, sign) for column, sign in constraint.directions
        )
    if isinstance(constraint, Signs):
        return has_signs(clf, X, y, dict(constraint.directions))
    if isinstance(constraint, MaxCost):
        return (predicted != y).sum() <= constraint.bound
    if isinstance(constraint, (MaxRate, MinRate)):
        label = constraint.label
        on = {"all": y == y, "positives": y == label, "negatives": y != label}
        found = rate(predicted, label, on[constraint.on])
        if isinstance(constraint, MaxRate):
            return found <= constraint.bound + slip
        return found >= constraint.bound - slip
    events = {
        DemographicParity: [y == y],
        TruePositiveRateParity: [y == 1],
        FalsePositiveRateParity: [y != 1],
        EqualizedOdds: [y == 1, y != 1],
        ErrorRateParity: [y == y],
    }[type(constraint)]
    hits = predicted != y if isinstance(constraint, ErrorRateParity) else predicted == 1
    return all(
        difference(groups, rows, hits, constraint.versus)
        <= constraint.difference_bound + slip
        for rows in events
    )


def follows(clf, X, column, sign):
    """Whether rows that get the label 1 keep it as a feature rises or falls."""
    was = clf.predict(X) == 1
    for step in (0.1, 1.0, 10.0):
        moved = X.copy()
        moved[:, column] += sign * step
        if (was & (clf.predict(moved) != 1)).any():
            return False
    return True


def way(tree, place):
    """The node that a place leads to from the root, -1 where the way ends before it."""
    turns = []
    while place:
        turns.append(place % 2 == 1)
        place = (place - 1) // 2
    node = 0
    for is_left in reversed(turns):
        if tree.is_leaf[node]:
            return -1
        node = (tree.children_left if is_left else tree.children_right)[node]
    return -1 if tree.is_leaf[node] else int(node)


def has_split(clf, X, constraint):
    """Whether the rows that come to a place part as the user's split says."""
    tree = clf.tree_
    node = way(tree, constraint.node)
    if node < 0:
        return False
    passes = clf.decision_path(X).toarray().astype(bool)
    terms = [coef * X[:, column] for column, coef in constraint.coefficients]
    goes_left = np.sum(terms, axis=0) <= constraint.threshold
    left = passes[:, tree.children_left[node]]
    return np.array_equal(left, passes[:, node] & goes_left)


def has_signs(clf, X, y, directions):
    """Whether raising a feature leads to the side with at least as much of label 1."""
    tree, names = clf.tree_, clf.table_.open_names
    passes = clf.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(~tree.is_leaf):
        left = y[passes[:, tree.children_left[node]]].mean()
        right = y[passes[:, tree.children_right[node]]].mean()
        for column, sign in directions.items():
            if f"x[{column}]" not in names:
                continue
            coef = tree.coef[node, names.index(f"x[{column}]")]
            if sign * coef * (right - left) < -1e-12:
                return False
    return True
