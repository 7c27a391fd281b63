"""The compact formulation with rows for constraints: trees that keep them, and no more.

Its optimum is a lower bound on (1a) of every tree that keeps the constraints, and it is
met where all of them have exact rows: limits on labels, sizes of leaves, columns of
splits, fixed splits and orders of leaves have, ``Signs`` at the root only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from miptree.constraints.features import AllowFeatures
from miptree.constraints.limit import Spread
from miptree.constraints.monotone import Monotone, listed_directions, used_directions
from miptree.constraints.placed import with_exact
from miptree.constraints.rules import Rules
from miptree.constraints.signs import Signs
from miptree.mip.formulations import rule_rows
from miptree.mip.formulations.categorical import SubsetSplits
from miptree.mip.formulations.compact import CompactFormulation
from miptree.mip.formulations.sparsity import LEAST_LIMIT, largest_by_rank
from miptree.mip.formulations.tree_variables import Hyperplanes, Placement
from miptree.mip.model import ModelBuilder
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

_ROOM = 1 + 1e-6
"""Factor of the largest coefficient: rounding must not cut off the best tree."""


@dataclass(frozen=True)
class RuledFormulation(CompactFormulation):
    """The compact model, without symmetry breaking, with rows for constraints.

    Parameters
    ----------
    problem, objective, depth
        As for every formulation of SVM1-ODT; rows of different groups are not merged.
    rules : Rules
        The constraints, made ready for the rows of the problem.
    best_value : float
        (1a) of a tree that keeps them, infinity where none is known. Trees that cost
        more may be cut off: ``min(bound, best_value)`` is what is proved.
    """

    break_symmetry: bool = field(default=False, init=False)
    rules: Rules = field(kw_only=True)
    best_value: float = field(default=np.inf, kw_only=True)

    @property
    def without_rows(self) -> list[str]:
        """What has no exact rows here, in words; a bound holds for more trees then."""
        found = []
        for constraint in self.rules.constraints:
            if isinstance(constraint, (Monotone, Signs)) and not self._has_directions:
                found.append(constraint.name)
            elif isinstance(constraint, Signs) and self.depth > 1:
                found.append(f"{constraint.name} below the root")
        return found

    # ------------------------------------------------------------------- building

    def _add_errors(
        self, b: ModelBuilder, e: IntArray, c: IntArray, u: IntArray
    ) -> None:
        """Add what links leaves, classes and errors; p_ilk: i is in l, of class k."""
        if not self.rules.limits:
            super()._add_errors(b, e, c, u)
            return
        p = b.variables("p", (*e.shape, u.shape[1]), upper=1)
        share = np.broadcast_to(self.problem.costs.share[:, None, :], p.shape)
        of_row = (p.reshape(len(c), -1), -share.reshape(len(c), -1))
        b.rows("in a class", e.shape, (p, 1.0), (e, -1.0), equals=0)
        b.rows("class of the leaf", p.shape, (p, 1.0), (u[None, :, :], -1.0), upper=0)
        self._add_wrong(b, e, c, of_row)
        rule_rows.add_limits(b, self.rules.limits, self.rules.population, p)

    def _add_rules(
        self,
        b: ModelBuilder,
        e: IntArray,
        u: IntArray,
        h: Hyperplanes,
        subsets: SubsetSplits,
    ) -> None:
        """Add the rows of the constraints on leaves and splits."""
        if self.rules.leaf_sizes:
            rule_rows.add_full_leaves(b, self.rules.leaf_sizes, e)
        if self._tells_places_apart:
            splits = rule_rows.add_real_splits(b, e, self.routes)
            given = b, self.rules.fixed, self._fixed_sides, e, h, splits, self.routes
            rule_rows.add_fixed_splits(*given)
        self._add_allowed(b, h, subsets)
        for name, constraint, signs in self._directed():
            self._add_directed(b, name, constraint, signs, e, u, h)

    def _add_allowed(
        self, b: ModelBuilder, h: Hyperplanes, subsets: SubsetSplits
    ) -> None:
        """Add: coefficients of columns that a split may not use are 0."""
        n_open = self.problem.n_open
        for node, allowed in enumerate(self._allowed):
            out = np.flatnonzero(~allowed[:n_open])
            if len(out):
                size = (h.positive[node, out], 1.0), (h.negative[node, out], 1.0)
                b.rows("allowed columns", out.shape, *size, upper=0)
            values = np.unique(self.problem.value_feature[~allowed[n_open:]])
            if len(values):
                chosen = (subsets.chosen[node, values], 1.0)
                b.rows("allowed columns", values.shape, chosen, upper=0)

    def _add_directed(
        self,
        b: ModelBuilder,
        name: str,
        constraint: Monotone | Signs,
        signs: dict[int, int],
        e: IntArray,
        u: IntArray,
        h: Hyperplanes,
    ) -> None:
        population, routes = self.rules.population, self.routes
        label = population.label_index(constraint.label, constraint.name)
        is_order = isinstance(constraint, Monotone)
        nodes = np.arange(routes.n_branch if is_order else 1)
        most = _ROOM * self._largest
        towards = rule_rows.add_directions(b, name, h, nodes, signs, most)
        if is_order:
            rule_rows.add_orders(b, name, towards, u, label, routes)
            return
        weight, is_label = population.groups.weight, population.y == label
        rule_rows.add_root_shares(b, name, towards, e, weight, is_label, routes)

    # ------------------------------------------------------------------ questions

    @property
    def _tells_places_apart(self) -> bool:
        return bool(self.rules.fixed) or any(
            isinstance(constraint, AllowFeatures) and not constraint.is_about_all
            for constraint in self.rules.constraints
        )

    @property
    def _fixed_sides(self) -> BoolArray:
        """(n, fixed): whether rows go right at fixed splits, in the user's units."""
        whole = HeapTree(
            np.zeros((self.routes.n_branch, self.problem.n_features)),
            np.ones(self.routes.n_branch),
            np.zeros(self.routes.n_leaves, dtype=np.intp),
        )
        tree = with_exact(ObliqueTree.from_heap(whole), self.rules.fixed)
        right = tree.goes_right(self.problem.X)
        return right[:, [split.node for split in self.rules.fixed]]

    @property
    def _allowed(self) -> BoolArray:
        """(B, d): which columns each split may use."""
        allowed = np.ones((self.routes.n_branch, self.problem.n_features), dtype=bool)
        for constraint in self.rules.constraints:
            if isinstance(constraint, AllowFeatures):
                may_use = constraint.allowed(self.rules.columns)
                for node in range(len(allowed)):
                    allowed[node] &= may_use | (not constraint.is_about(node))
        return allowed

    def _directed(self) -> Iterator[tuple[str, Monotone | Signs, dict[int, int]]]:
        """Give the constraints on directions, with names and the signs of columns."""
        if not self._has_directions:
            return
        for number, constraint in enumerate(self.rules.constraints):
            if isinstance(constraint, (Monotone, Signs)):
                sign = dict(listed_directions(constraint))
                names = self.rules.numbers[: self.problem.n_open]
                signs = {j: sign[name] for j, name in enumerate(names) if name in sign}
                yield f"direction {number}", constraint, signs

    @property
    def _has_directions(self) -> bool:
        """Whether a bound on coefficients is known, which those rows need."""
        return np.isfinite(self._largest)

    @property
    def _largest(self) -> float:
        """A bound on abs(h_bj) in trees of at most the best value known."""
        by_value, price = np.inf, self.objective.l1_penalty
        if price > 0:
            by_value = self.best_value / price
        return max(min(by_value, largest_by_rank(self.problem)), LEAST_LIMIT)

    def _largest_coefficient(self, l1_penalty: float) -> float:
        return _ROOM * self._largest

    # ---------------------------------------------------------- trees and vectors

    def encode(self, heap: HeapTree) -> FloatArray:
        """Return the solution vector of a tree in scaled units and inside the box."""
        x = super().encode(heap)
        index, leaf = self.model.variables, heap.leaf_of(self.problem.scaled)
        in_leaf = self.routes.in_leaf(leaf)
        if "filled" in index:
            x[index["filled"]] = in_leaf.any(axis=0)
        if "splits" in index:
            goes = [in_leaf @ side.T for side in (self.routes.left, self.routes.right)]
            x[index["splits"]] = (goes[0].any(axis=0)) & (goes[1].any(axis=0))
        if "factor" in index:
            x[index["factor"]] = [
                heap.coef[split.node]
                @ split.scaled_coef
                / (split.scaled_coef @ split.scaled_coef)
                for split in self.rules.fixed
            ]
        for number, limit in enumerate(self.rules.limits):
            if isinstance(limit, Spread):
                tally = self.rules.population.tally(leaf, len(heap.label))
                rates = [float(one.value(tally, heap.label)) for one in limit.sums]
                x[index[rule_rows.middle_name(number)]] = (max(rates) + min(rates)) / 2
        for name, constraint, _ in self._directed():
            for node in range(len(index[name])):
                used = used_directions(constraint, heap.coef[node], self.rules.numbers)
                x[index[name][node]] = [1 in used, -1 in used]
        return x

    def decode(self, x: FloatArray) -> HeapTree:
        """Return the tree of a solution vector, without coefficients that are noise."""
        heap = super().decode(x)
        heap.coef[~self._allowed] = 0.0
        for name, _, signs in self._directed():
            towards = x[self.model.variables[name]] > 0.5
            for column, sign in signs.items():
                coef = heap.coef[: len(towards), column]
                leads_right = sign * coef > 0
                side = np.where(leads_right, towards[:, 0], towards[:, 1])
                coef[~side] = 0.0
        return heap

    def _write_points(self, x: FloatArray, at: Placement) -> None:
        """Put the values of the points' variables into a solution vector."""
        index = self.model.variables
        if "p" not in index:
            super()._write_points(x, at)
            return
        label = np.eye(self.problem.n_classes)[at.heap.label[at.leaf]]
        x[index["e"]] = at.in_leaf
        x[index["p"]] = at.in_leaf[:, :, None] * label[:, None, :]
        x[index["c"]] = at.paid
        x[index["m"]] = at.slack
