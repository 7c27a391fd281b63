"""The end of a distributed fit: the fitted tree, counted on all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from miptree.certificate.certificate import PARTITIONED, Certificate, certify
from miptree.data import (
    CategoricalColumn,
    categorical_mask,
    learn_table,
    read_cells,
)
from miptree.data.problem import Problem
from miptree.data.schema import Schema
from miptree.distributed import _partition
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.fit.progress import listeners_of
from miptree.objective import Score
from miptree.objective.bounds import Bound
from miptree.objective.leaf_probabilities import smoothed
from miptree.objective.proved import Bounds
from miptree.tree import ObliqueTree
from miptree.tree.rounding import ALL_DIGITS
from miptree.utils.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from miptree.distributed._client import Fitting


def finished(fitting: Fitting) -> tuple[Schema, FittedTree]:
    """Return how rows are read, and the tree with its certificate for all rows."""
    clf, clock, loop = fitting.classifier, fitting.clock, fitting.best
    tree, weight, counts, score = _recount(fitting)
    best = Incumbent(
        tree, score, _bounds(fitting), clock, listeners_of(clf.verbose, clf.callback)
    )
    best.ended, best.n_iter = loop.ended, loop.n_iter
    best.enter("done")
    certificate = _certificate(fitting, best)
    fitted = FittedTree(
        tree,
        smoothed(weight, fitting.weight / fitting.n_rows),
        counts,
        # How far numbers may be rounded nobody has looked at, on so many rows.
        np.full((tree.n_nodes, 2), ALL_DIGITS),
        certificate,
        best.status(certificate),
        best.n_iter,
        best.trace,
        clock.elapsed,
    )
    return _schema(fitting), fitted


def _recount(fitting: Fitting) -> tuple[ObliqueTree, FloatArray, IntArray, Score]:
    """Return the tree without idle splits and inside the box, counted on all rows."""
    frame, penalties = fitting.frame, fitting.plan.objective
    tree = fitting.best.tree.prune_to(fitting.counts.sum(axis=1))
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
    spare = fitting.frame.unavoidable(fitting.class_weight, 2**fitting.plan.depth)
    bound = Bound(0.0, "errors are not negative")
    if spare > 0:
        bound = Bound(spare, "Proposition 1 (3)")
    return Bounds(bound, bound, bound)


def _certificate(fitting: Fitting, best: Incumbent) -> Certificate:
    """Certify the tree for all rows; the digest of the data stands for no table."""
    plan = fitting.plan
    none = Problem.from_data(np.zeros((1, 1)), np.zeros(1, dtype=np.intp), 2)
    found = certify(
        none,
        plan.objective,
        plan.depth,
        best.tree,
        best.score,
        best.bounds,
        fitting.clock.elapsed,
    )
    return replace(
        found,
        n_rows=fitting.n_rows,
        data_digest=PARTITIONED,
        max_features=fitting.frame.max_features,
        has_costs=fitting.has_costs,
        n_unweighted=fitting.n_unweighted,
    ).signed()


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
    columns = tuple(
        known if isinstance(known, CategoricalColumn) else learnt
        for known, learnt in zip(frame.table.columns, table.columns, strict=True)
    )
    names = np.array(fitting.columns.features, dtype=object)
    return Schema(replace(frame.table, columns=columns), frame.classes, names)
