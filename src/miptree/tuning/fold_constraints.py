"""Constraints in the folds: kept on training rows, counted on the rows held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from miptree.constraints.constraint import Constraint
from miptree.constraints.errors import NotOnTheseRowsError
from miptree.constraints.fixed_split import FixedSplit
from miptree.constraints.places import depth_of
from miptree.constraints.population import Population
from miptree.constraints.proportion import in_proportion
from miptree.constraints.rules import Rules, number_names, rules_of, source_names
from miptree.data import Table
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, FloatArray


class RuleHeldOut(NamedTuple):
    """How a constraint fares on rows that the trees were not trained on.

    Attributes
    ----------
    rule : Constraint
        What is asked.
    kept : float
        Share of the folds in which the rows held out keep it, NaN without a fold.
    excess : float
        How far they are from keeping it, in the mean over the folds; 0 where kept.
    n_folds : int
        Folds whose rows it could be counted on: those of one group cannot be compared.
    """

    rule: Constraint
    kept: float
    excess: float
    n_folds: int


@dataclass(frozen=True, eq=False)
class FoldConstraints:
    """The constraints of a fit, for any part of its rows.

    Attributes
    ----------
    constraints : tuple of Constraint
        Those that take effect.
    classes : array
        The labels, in the order of the class indices.
    """

    constraints: tuple[Constraint, ...]
    classes: AnyArray

    def __len__(self) -> int:
        return len(self.constraints)

    @property
    def least_depth(self) -> int:
        """Depth that trees must have at least to hold all fixed splits."""
        return 1 + max((depth_of(split.node) for split in self._fixed), default=0)

    @property
    def most_terms(self) -> int:
        """Number of columns of the fixed split that has most of them."""
        return max((len(split.listed) for split in self._fixed), default=0)

    @property
    def _fixed(self) -> list[FixedSplit]:
        return [c for c in self.constraints if isinstance(c, FixedSplit)]

    def on_training(
        self, rows: TrainingRows, problem: Problem, table: Table, share: float
    ) -> Rules | None:
        """Make the constraints ready for training rows, None where that cannot be.

        They are a ``share`` of all rows, with which sizes of leaves and budgets shrink:
        a fold is the fit in small. It may lack a group or a column that all rows have.
        """
        given = [in_proportion(c, share) for c in self.constraints]
        try:
            return rules_of(given, problem, Schema(table, self.classes), rows.costs)
        except NotOnTheseRowsError:
            return None

    def on_held_out(
        self,
        rows: TrainingRows,
        table: Table,
        tree: ObliqueTree,
        X: FloatArray,
        share: float,
    ) -> FloatArray:
        """Return (constraints, 2): 1 if each is kept and 0 if not, and the excess.

        NaN where it cannot be counted. The rows are a ``share`` of all rows.
        """
        assert rows.groups is not None
        there = np.flatnonzero(rows.weight > 0)
        population = Population(
            rows.y[there],
            np.ones(len(there), dtype=np.intp),
            rows.groups.take(there),
            tuple(self.classes.tolist()),
            rows.costs,
        )
        names = source_names(table), number_names(table)
        leaf, found = tree.apply(X[there]), np.full((len(self), 2), np.nan)
        for place, constraint in enumerate(self.constraints):
            rules = Rules((in_proportion(constraint, share),), population, *names)
            try:
                finding = rules.ready().findings(tree, leaf)[0]
            except NotOnTheseRowsError:
                continue
            found[place] = float(finding.kept), finding.excess
        return found


def held_out_summary(
    constraints: FoldConstraints, found: FloatArray
) -> list[RuleHeldOut]:
    """Sum up what (folds, constraints, 2) tell, constraint by constraint."""
    summary, found = [], found.reshape(-1, len(constraints), 2)  # without folds, too
    for place, constraint in enumerate(constraints.constraints):
        told = found[np.isfinite(found[:, place, 0]), place]
        kept, excess = told.mean(axis=0) if len(told) else (np.nan, np.nan)
        summary.append(RuleHeldOut(constraint, float(kept), float(excess), len(told)))
    return summary
