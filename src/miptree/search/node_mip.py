"""The exact 0-1 problem of one node, by MIP.

With everything else fixed, the best hyperplane of a node is the one that sends the
least cost of care points to the wrong side. HiGHS proves it for some ten features and
a hundred care points in seconds, and often finds a step that no line search does.
"""

from __future__ import annotations

from miptree.control.clock import Clock
from miptree.mip.model import Model, ModelBuilder
from miptree.mip.solvers import Limits, get_solver
from miptree.search.data import SearchData
from miptree.search.routing import care_points, score_tree
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray

MARGIN = 1e-3
"""Least distance from the hyperplane, where scores are at most 1."""
_MOST_POINTS = 400
"""With more care points the MIP is not tried."""


def optimise_node(
    data: SearchData,
    tree: HeapTree,
    b: int,
    *,
    clock: Clock | None = None,
    nodes: int | None = None,
) -> HeapTree | None:
    """Tree with the best hyperplane found for node b, None if none is better.

    The subtrees below the node, and their labels, stay as they are.

    Parameters
    ----------
    data : SearchData
    tree : HeapTree
    b : int
        Branch node.
    clock, nodes : Clock and int, optional
        Limits of the MIP.
    """
    Z = score_tree(data.XT, tree.coef, tree.threshold)
    index, gain = care_points(data.points, tree, Z, b)
    if not 2 <= len(index) <= _MOST_POINTS or data.max_features is not None:
        return None
    X = data.X[index, : data.n_open]
    now = float(gain[Z[b, index] > 0].sum())
    model = _build(X, gain)
    limit = clock or Clock()
    result = get_solver("highs").solve(
        model,
        limits=Limits(seconds=limit.remaining, nodes=nodes),
        on_progress=lambda _: limit.is_over,
    )
    if result.x is None:
        return None
    coef = result.x[model.variables["h"]]
    threshold = float(result.x[model.variables["g"]][0])
    if gain[X @ coef > threshold].sum() >= now - 1e-9:
        return None
    better = tree.copy()
    better.coef[b], better.threshold[b] = 0.0, threshold
    better.coef[b, : data.n_open] = coef
    return better


def _build(X: FloatArray, gain: FloatArray) -> Model:
    """Minimise the sum of gain * r, r = 1 on the right; -1 <= score <= 1.

    ``r = 1`` forces score >= MARGIN and ``r = 0`` forces score <= -MARGIN.
    """
    m, d = X.shape
    b = ModelBuilder()
    h = b.variables("h", (d,), lower=-50.0, upper=50.0)
    g = b.variables("g", (1,), lower=-50.0, upper=50.0)
    r = b.variables("r", (m,), upper=1.0, cost=gain, integer=True)
    score = ((h[None, :], X), (g, -1.0))
    b.rows("right", (m,), *score, (r, -(1.0 + MARGIN)), lower=-1.0)
    b.rows("left", (m,), *score, (r, -(1.0 + MARGIN)), upper=-MARGIN)
    return b.finish()
