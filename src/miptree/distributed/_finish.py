"""The end of a distributed fit: the fitted tree, counted on all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from miptree.certificate.certificate import (
    PARTITIONED,
    Certificate,
    certify,
    cheapest_in_partitions,
)
from miptree.control.clock import End
from miptree.data import categorical_mask, learn_table, read_cells
from miptree.data.problem import Problem
from miptree.data.schema import Schema
from miptree.distributed import _partition
from miptree.distributed._frame import Frame
from miptree.fit.fitted import FittedTree, column_spread
from miptree.fit.incumbent import Incumbent
from miptree.fit.progress import listeners_of
from miptree.objective import Score
from miptree.objective.bounds import COUNTING, NO_ERRORS, TOO_FEW_LEAVES, Bound
from miptree.objective.leaf_probabilities import smoothed
from miptree.objective.proved import Bounds
from miptree.objective.valuation import Valuation
from miptree.tree import ObliqueTree
from miptree.tree.rounding import ALL_DIGITS
from miptree.utils.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from miptree.distributed._client import Fitting


def finished(fitting: Fitting) -> tuple[Schema, FittedTree]:
    """Return how rows are read, and the tree with its certificate for all rows."""
    clf, clock, loop = fitting.classifier, fitting.clock, fitting.best
    tree, weight, counts, score = _recount(fitting, loop.tree, fitting.counts)
    bounds, listeners = _bounds(fitting), listeners_of(clf.verbose, clf.callback)
    best = Incumbent(tree, score, bounds, clock, listeners)
    least, rows = fitting.bound_by_rules(tree)
    best.raise_objective_bound(Bound(least, COUNTING))
    best.ended, best.n_iter = loop.ended, loop.n_iter
    best.enter("done")
    seen = fitting.seen
    certificate = partitioned_certificate(
        best,
        fitting.plan.objective,
        fitting.plan.depth,
        n_rows=seen.n_rows,
        max_features=fitting.frame.max_features,
        has_costs=seen.has_weights or fitting.frame.costs is not None,
        n_unweighted=seen.n_unweighted,
    )
    free = fitting.free_choice
    if free is not None:
        of_free = _recount(fitting, *free)[3], bounds.objective.value
        certificate = fitting.certified(certificate, tree, rows, *of_free)
    status = best.status(certificate)
    spread = column_spread(fitting.sampled)
    fitted = fitted_tree(best, weight, counts, certificate, status, spread)
    return _schema(fitting), fitted


def fitted_tree(
    best: Incumbent,
    weight: FloatArray,
    counts: IntArray,
    certificate: Certificate,
    status: End,
    spread: FloatArray | None,
) -> FittedTree:
    """Return a tree with what was counted of it on all rows.

    Parameters
    ----------
    best : Incumbent
    weight : float array of shape (n_nodes, Y)
        Weight of each class in each leaf.
    counts : int array of shape (n_nodes, Y)
        Rows of each class that pass each node.
    certificate : Certificate
        About all rows.
    status : str
        Why the fit ended.
    spread : float array of shape (n_columns,) or None
        Standard deviations of the columns in the sample.
    """
    return FittedTree(
        best.tree,
        smoothed(weight, best.tree.label, float(weight.sum()) / certificate.n_rows),
        np.zeros(best.tree.n_nodes),  # one probability a leaf: nobody chose a blur
        counts,
        # How far numbers may be rounded nobody has looked at, on so many rows.
        np.full((best.tree.n_nodes, 2), ALL_DIGITS),
        certificate,
        status,
        best.n_iter,
        best.trace,
        best.clock.elapsed,
        spread=spread,
    )


def _recount(
    fitting: Fitting, tree: ObliqueTree, in_leaf: FloatArray
) -> tuple[ObliqueTree, FloatArray, IntArray, Score]:
    """Return a tree without idle splits and inside the box, counted on all rows.

    ``in_leaf`` (n_nodes, Y) is the weight of each class in each leaf.
    """
    frame, penalties = fitting.frame, fitting.plan.objective
    tree = tree.prune_to(in_leaf.sum(axis=1))
    run = fitting.partitions.map
    largest = run(_partition.largest_scores, frame, tree)
    shrink = np.ones(tree.n_nodes)
    shrink[~tree.is_leaf] = np.max(largest, axis=0, initial=1.0)
    tree = replace(
        tree, coef=tree.coef / shrink[:, None], threshold=tree.threshold / shrink
    )
    box = np.ones(int((~tree.is_leaf).sum()))
    found = run(_partition.recount, frame, tree, penalties, box)
    weight: FloatArray = np.sum([weight for _, weight, _ in found], axis=0)
    counts: IntArray = np.sum([counts for _, _, counts in found], axis=0)
    parts = [part for part, _, _ in found if part is not None]
    cost, slack = sum(p.cost for p in parts), sum(p.slack for p in parts)
    l1 = parts[0].l1
    score = Score(
        sum(part.errors for part in parts),
        cost,
        sum(part.cost_at_margin for part in parts),
        slack,
        l1,
        cost + penalties.slack_penalty * slack + penalties.l1_penalty * l1,
    )
    return tree, weight, counts, score


def _bounds(fitting: Fitting) -> Bounds:
    bound = class_bound(fitting.frame, fitting.seen.class_weight, fitting.plan.depth)
    has_costs = fitting.seen.has_weights or fitting.frame.costs is not None
    return Bounds(bound, bound, bound, cheapest_in_partitions(has_costs))


def class_bound(frame: Frame, class_weight: FloatArray, depth: int) -> Bound:
    """Return a bound on the cost of all rows that needs no more than their classes."""
    spare = frame.unavoidable(class_weight, 2**depth)
    if spare > 0:
        return Bound(spare, TOO_FEW_LEAVES)
    return Bound(0.0, NO_ERRORS)


def partitioned_certificate(
    best: Incumbent, valuation: Valuation, depth: int, **counted: Any
) -> Certificate:
    """Certify a tree for all rows; the digest of the data stands for no table.

    ``counted`` are the fields that say something of the rows.
    """
    none = Problem.from_data(np.zeros((1, 1)), np.zeros(1, dtype=np.intp), 2)
    seconds = best.clock.elapsed
    found = certify(none, valuation, depth, best.tree, best.score, best.bounds, seconds)
    return replace(found, data_digest=PARTITIONED, **counted).signed()


def _schema(fitting: Fitting) -> Schema:
    """Learn the columns from the sample, as a fit in memory does from all rows.

    Truth values are known from all rows; the sample may lack one.
    """
    import pandas as pd

    clf, frame, sampled = fitting.classifier, fitting.frame, fitting.sampled
    cells = read_cells(pd.DataFrame(frame.user_columns(sampled.X)))
    table = learn_table(
        cells,
        sampled.weight,
        categorical_mask(cells, clf.categorical_features),
        clf.categorical_encoding,
        clf.missing,
        clf.unknown,
    )
    names = np.array(fitting.columns.features, dtype=object)
    known = table.with_categories_of(frame.table.columns)
    known = known.with_limits(fitting.seen.limits())  # of all rows, too
    return Schema(known, frame.classes, names)
