"""The end of a distributed fit: what fit sets, counted on all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from miptree.certificate.certificate import PARTITIONED, Certificate, certify
from miptree.certificate.digest import certificate_digest
from miptree.data import CategoricalColumn
from miptree.data.problem import Problem
from miptree.distributed import _partition
from miptree.fit.progress import announce
from miptree.fit.train import end_of
from miptree.objective import Score
from miptree.objective.bounds import Bound
from miptree.tree.rounding import ALL_DIGITS

if TYPE_CHECKING:
    from miptree.distributed._client import Fitting


def fill_in(fitting: Fitting) -> None:
    """Give the classifier its tree, its certificate and the rest of what fit sets."""
    clf, clock = fitting.classifier, fitting.clock
    score = _recount(fitting)
    tree = fitting.tree
    _learn_columns(fitting)
    clf.certificate_ = _certificate(fitting, score)
    clf.objective_ = clf.certificate_.objective
    clf.bound_, clf.gap_ = clf.certificate_.objective_bound, clf.certificate_.gap
    clf.status_ = end_of(clock, fitting.plan.max_iter)
    if fitting.guard.requested or fitting.interrupted:
        clf.status_ = "interrupted"
    if clf.certificate_.objective_optimal:
        clf.status_ = "optimal"
    clf.n_iter_ = fitting.n_iter
    clf.fit_time_ = clock.elapsed
    clf.trace_ = []
    announce("done", clf.fit_time_, score, clf.bound_, clf.trace_, clf._listeners())
    proba = fitting.counts + fitting.weight / fitting.n_rows
    clf._node_proba = proba / proba.sum(axis=1, keepdims=True)
    # How far numbers may be rounded nobody has looked at, on so many rows.
    clf._digits = np.full((tree.n_nodes, 2), ALL_DIGITS)
    clf.tree_ = tree


def _recount(fitting: Fitting) -> Score:
    """(1a) on all rows of the tree, less its idle splits and inside the box."""
    frame, penalties = fitting.frame, fitting.plan.objective
    tree = fitting.tree.prune_to(fitting.counts.sum(axis=1))
    run = fitting.partitions.map
    largest = run(_partition.largest_scores, frame, tree)
    shrink = np.ones(tree.n_nodes)
    shrink[~tree.is_leaf] = np.max(largest, axis=0, initial=1.0)
    tree = replace(
        tree, coef=tree.coef / shrink[:, None], threshold=tree.threshold / shrink
    )
    box = np.ones(int((~tree.is_leaf).sum()))
    found = run(_partition.recount, frame, tree, penalties, box)
    fitting.tree, fitting.counts = tree, sum(counts for _, counts in found)
    parts = [part for part, _ in found if part is not None]
    cost, slack = sum(p.cost for p in parts), sum(p.slack for p in parts)
    l1 = parts[0].l1
    return Score(
        sum(part.errors for part in parts),
        cost,
        sum(part.cost_at_margin for part in parts),
        slack,
        l1,
        cost + penalties.slack_penalty * slack + penalties.l1_penalty * l1,
    )


def _certificate(fitting: Fitting, score: Score) -> Certificate:
    """Certificate of all rows; the digest of the data stands for no table."""
    plan, frame = fitting.plan, fitting.frame
    spare = frame.unavoidable(fitting.class_weight, 2**plan.depth)
    bound = Bound(0.0, "errors are not negative")
    if spare > 0:
        bound = Bound(spare, "Proposition 1 (3)")
    none = Problem.from_data(np.zeros((1, 1)), np.zeros(1, dtype=np.intp), 2)
    found = certify(
        none, plan.objective, plan.depth, fitting.tree, score, bound, bound, bound,
        fitting.clock.elapsed,
    )  # fmt: skip
    found = replace(
        found,
        n_rows=fitting.n_rows,
        data_digest=PARTITIONED,
        max_features=frame.max_features,
    )
    return replace(found, digest=certificate_digest(found))


def _learn_columns(fitting: Fitting) -> None:
    """Let the classifier learn columns and classes from the sample, as in fit.

    Truth values are known from all rows; the sample may lack one.
    """
    import pandas as pd

    clf, frame, sampled = fitting.classifier, fitting.frame, fitting.sampled
    rows = pd.DataFrame(frame.user_columns(sampled.X))
    labels, largest = frame.classes[sampled.y], clf._largest_cost()
    clf._problem_of(clf._rows(rows, labels, sampled.weight, largest))
    columns = tuple(
        known if isinstance(known, CategoricalColumn) else learnt
        for known, learnt in zip(frame.table.columns, clf.table_.columns, strict=True)
    )
    clf.table_ = replace(frame.table, columns=columns)
