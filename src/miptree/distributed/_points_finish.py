"""The end of a distributed fit of a points tree: counted, and nothing claimed.

What is proved for a sample does not hold for all rows: the certificate gives no bound
but the one that needs no search, and says in words what was proved for the sample.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from miptree.certificate.certificate import cheapest_in_partitions
from miptree.classifiers.points_parameters import given_penalty
from miptree.control.clock import End
from miptree.distributed import _points_partition
from miptree.distributed._finish import (
    class_bound,
    fitted_tree,
    partitioned_certificate,
)
from miptree.distributed._frame import Frame
from miptree.distributed._points_partition import Counted
from miptree.distributed._sample import scaled_penalty
from miptree.fit.fitted import FittedTree, passing
from miptree.fit.incumbent import Incumbent
from miptree.fit.points import PointsResult
from miptree.objective import Score
from miptree.objective.points import PointsObjective
from miptree.objective.proved import Bounds
from miptree.tree import ObliqueTree

if TYPE_CHECKING:
    from miptree.distributed._points import PointsFitting


def finished(fitting: PointsFitting, result: PointsResult) -> FittedTree:
    """Return the tree with a certificate that is about all rows."""
    depth, seen, sampled = result.data.rules.depth, fitting.seen, result.fitted
    frame = replace(fitting.frame, table=result.data.table)
    tree, counted = _labelled(fitting, frame, sampled.tree)
    has_costs = counted.has_weights or frame.costs is not None
    objective = replace(_objective(fitting, result), is_plain=not has_costs)
    score = _score(objective, frame, tree, counted)
    bound = class_bound(frame, counted.weight.sum(axis=0), depth)
    bound = bound._replace(value=min(bound.value, score.cost))  # but for rounding
    bounds = Bounds(bound, bound, bound, cheapest_in_partitions(has_costs))
    best = Incumbent(tree, score, bounds, fitting.clock, fitting.listeners)
    best.n_iter = sampled.n_iter
    best.enter("done")
    n_rows, found = int(counted.rows.sum()), sampled.certificate
    certificate = partitioned_certificate(
        best,
        objective,
        depth,
        n_rows=n_rows,
        has_costs=has_costs,
        n_unweighted=seen.n_rows + seen.n_unweighted - n_rows,
        n_sampled=len(fitting.sample),
        # In rounded costs the best is not told from the nearly best.
        best_of_sample=found.objective_optimal and found.cost_rounding == 0,
    )
    status: End = "unproved" if sampled.status == "optimal" else sampled.status
    counts = passing(tree, counted.rows)
    spread = sampled.spread
    return fitted_tree(best, counted.weight, counts, certificate, status, spread)


def _labelled(
    fitting: PointsFitting, frame: Frame, tree: ObliqueTree
) -> tuple[ObliqueTree, Counted]:
    """Give the leaves their cheapest classes on all rows, and count the rows.

    A class stays where no other is cheaper. A split whose leaves have got the same
    class does nothing any more, and is dropped.
    """
    counted = _count(fitting, frame, tree)
    costs = frame.label_costs(counted.weight)
    own = costs[np.arange(tree.n_nodes), tree.label]
    label = np.where(costs.min(axis=1) < own, costs.argmin(axis=1), tree.label)
    labelled = replace(tree, label=label)
    pruned = labelled.prune_to(counted.rows.sum(axis=1))
    if pruned.n_nodes == tree.n_nodes:
        return labelled, counted
    return pruned, _count(fitting, frame, pruned)


def _count(fitting: PointsFitting, frame: Frame, tree: ObliqueTree) -> Counted:
    parts = fitting.partitions.map(_points_partition.count, frame, tree)
    return Counted(
        np.sum([part.weight for part in parts], axis=0),
        np.sum([part.rows for part in parts], axis=0),
        any(part.has_weights for part in parts),
    )


def _objective(fitting: PointsFitting, result: PointsResult) -> PointsObjective:
    """Return what trees are compared by on all rows, in errors of all rows."""
    data, given = result.data, given_penalty(fitting.classifier, fitting.sample)
    of_sample = np.array(result.fitted.certificate.feature_penalties)
    if given is None:
        back = 1 / fitting.share
        penalty = [scaled_penalty(p, back) for p in of_sample.tolist()]
    else:
        penalty = data.column_penalty(given).tolist()
    objective = data.objective(result.points, of_sample)
    return replace(objective, column_penalty=tuple(penalty), unit=1.0, rounding=0.0)


def _score(
    objective: PointsObjective, frame: Frame, tree: ObliqueTree, counted: Counted
) -> Score:
    each = np.arange(tree.n_nodes)
    costs = frame.label_costs(counted.weight)[each, tree.label]
    errors = int(counted.rows.sum() - counted.rows[each, tree.label].sum())
    return objective.score(tree, errors, costs.tolist())
