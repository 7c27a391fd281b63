"""BinOCT of Verwer & Zhang (2019): thresholds chosen by binary search, (1)-(8)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from miptree.mip.formulations.baselines.base import (
    BaselineFormulation,
    Split,
    move_splits,
)
from miptree.mip.formulations.baselines.binary_search import (
    Rule,
    bits_of,
    place_of,
    rules_of,
)
from miptree.mip.model import Model, ModelBuilder
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class BinOCTFormulation(BaselineFormulation):
    """BinOCT [1]_: minimise the errors e over features f, threshold bits t, leaves l.

    Rows that a feature and bits rule out on one side of a node are ruled out
    together, in one row per step of the binary search: that number does not grow with
    the data's size. l and e are continuous; integral f, t and p determine them.
    Weights stand where the paper counts rows.

    Parameters
    ----------
    problem, depth
        As for every baseline.
    thresholds : {"all", "class_changes"}
        Where thresholds may lie: between any two values of a feature, or, the paper's
        preprocessing, only where the classes of neighbouring values are not one and
        the same. That is smaller but, for depth 2 and more, no longer optimal among
        all trees: rows of one class may have to part because other features treat
        them differently.
    min_weight_fraction_leaf : float
        Smallest part of the weight that a leaf in use may have; an addition, the
        paper's model has 0.

    References
    ----------
    .. [1] Verwer, Zhang: Learning optimal classification trees using a binary linear
       program formulation. AAAI 2019.
    """

    thresholds: str = "all"
    min_weight_fraction_leaf: float = 0.0

    @cached_property
    def places(self) -> list[IntArray]:
        """For each feature, the number of distinct values left of each threshold."""
        found = [np.arange(1, steps + 1) for steps in self.ranks.steps]
        if self.thresholds != "all":
            found = [where[self._changes(j)] for j, where in enumerate(found)]
        if self.min_weight_fraction_leaf > 0:
            # A node that cannot split into large leaves must be able to pass on all.
            steps = self.ranks.steps
            found = [np.append(where, steps[j] + 1) for j, where in enumerate(found)]
        return found

    def _changes(self, feature: int) -> IntArray:
        """Return the steps between two values that are not both of one class."""
        number = self.ranks.number[:, feature]
        has = np.zeros((len(self.ranks.values[feature]), self.problem.n_classes), bool)
        has[number, self.problem.y] = True
        return np.flatnonzero((has[:-1] | has[1:]).sum(axis=1) > 1)

    @cached_property
    def n_bits(self) -> int:
        """Bits that choose a threshold of the feature with the most."""
        most = max((len(where) for where in self.places), default=1)
        return int(np.ceil(np.log2(max(1, most))))

    @property
    def wording(self) -> tuple[str, str]:
        """The class of trees and the objective."""
        where = " with thresholds where the class changes"
        trees = f"univariate tree of depth {self.depth}"
        trees += "" if self.thresholds == "all" else where
        least = self.min_weight_fraction_leaf
        return trees + (f", {100 * least:g} % in every leaf" if least else ""), "errors"

    @property
    def _least_weight(self) -> float:
        return self.part_of_weight(self.min_weight_fraction_leaf)

    @property
    def size(self) -> float:
        """Non-zero coefficients of the model, roughly, without building it."""
        steps = self.problem.n_features * (self.n_bits + 1)
        return float(self.problem.n_rows * self.routes.n_leaves * self.depth * steps)

    # ----------------------------------------------------------------------- building

    def build(self) -> Model:
        """Build (1)-(8)."""
        problem, routes = self.problem, self.routes
        n, n_classes = problem.n_rows, problem.n_classes
        n_branch, n_leaves = routes.n_branch, routes.n_leaves
        usable = np.array([len(where) > 0 for where in self.places], dtype=float)
        b = ModelBuilder()
        f = b.variables("f", (n_branch, len(usable)), upper=usable, integer=True)
        t = b.variables("t", (n_branch, self.n_bits), upper=1, integer=True)
        l = b.variables("l", (n, n_leaves), upper=1)
        p = b.variables("p", (n_leaves, n_classes), upper=1, integer=True)
        e = b.variables("e", (n_leaves, n_classes), cost=1.0)
        b.rows("(2)", (n_branch,), (f, 1.0), equals=1)
        b.rows("(3)", (n,), (l, 1.0), equals=1)
        b.rows("(4)", (n_leaves,), (p, 1.0), equals=1)
        self._add_routing(b, f, t, l)
        is_k = problem.weight[:, None] * (problem.y[:, None] == np.arange(n_classes))
        inside_k = (l.T[:, None, :], is_k.T[None, :, :])
        label = (p, -problem.class_weight[None, :])
        b.rows("(8)", e.shape, inside_k, label, (e, -1.0), upper=0)
        if self.min_weight_fraction_leaf > 0:
            a = b.variables("a", (n_leaves,), upper=1, integer=True)
            b.rows("l <= a", l.shape, (l, 1.0), (a[None, :], -1.0), upper=0)
            inside = (l.T, problem.weight[None, :])
            b.rows("leaf size", a.shape, inside, (a, -self._least_weight), lower=0)
        return b.finish()

    def _add_routing(
        self, b: ModelBuilder, f: IntArray, t: IntArray, l: IntArray
    ) -> None:
        """Add (5)-(7): no row on a side that feature and threshold rule out."""
        rules = [
            rule
            for feature, places in enumerate(self.places)
            if len(places)
            for rule in rules_of(feature, self.ranks.number[:, feature], places)
        ]
        for tag in sorted({rule.equation for rule in rules}):
            found = [rule for rule in rules if rule.equation == tag]
            self._add_rules(b, tag, found, f, t, l)

    def _add_rules(
        self,
        b: ModelBuilder,
        tag: str,
        rules: list[Rule],
        f: IntArray,
        t: IntArray,
        l: IntArray,
    ) -> None:
        """Add one row for each rule and node.

        ``M f + sum of l on ruled-out sides <= M + M * (bits that lift the rule)``.
        """
        columns: list[IntArray] = []
        values: list[FloatArray] = []
        upper: list[float] = []
        for node in range(self.routes.n_branch):
            left = np.flatnonzero(self.routes.left[node])
            right = np.flatnonzero(self.routes.right[node])
            for rule in rules:
                not_left = l[np.ix_(rule.not_left, left)].ravel()
                not_right = l[np.ix_(rule.not_right, right)].ravel()
                ruled_out = np.concatenate([not_left, not_right])
                many = float(len(rule.not_left) + len(rule.not_right))
                bits, sign, constant = rule.lifted_by(t[node])
                columns += [f[node, [rule.feature]], ruled_out, bits]
                sizes = [1, len(ruled_out), len(bits)]
                values.append(np.repeat([many, 1.0, sign * many], sizes))
                upper.append(many * (1 + constant))
        row = np.repeat(np.arange(len(upper)), [len(value) for value in values])
        column, value = np.concatenate(columns), np.concatenate(values)
        b.ragged_rows(tag, row, column, value, upper=np.array(upper))

    # ----------------------------------------------------------------- trees in and out

    def adapt(self, heap: HeapTree) -> HeapTree:
        """Move thresholds to the nearest that the model knows."""

        def choose(split: Split, rows: IntArray) -> Split | None:
            feature, n_left = self.ranks.place(*split)
            where = self.places[feature]
            if not len(where):
                return None
            nearest = int(where[np.abs(where - n_left).argmin()])
            coef = np.eye(self.problem.n_features)[feature]
            return coef, self.ranks.threshold(feature, nearest)

        moved = move_splits(self.problem, heap, choose)
        return self.without_small_leaves(moved, self._least_weight)

    def encode(self, heap: HeapTree) -> FloatArray:
        """Return the solution vector of a tree of the class, in scaled units."""
        heap = self._full(self.canonical(heap))
        leaf = heap.leaf_of(self.problem.scaled)
        index = self.model.variables
        x = np.zeros(self.model.n_variables)
        for node in range(len(heap.threshold)):
            feature, n_left = self.ranks.place(heap.coef[node], heap.threshold[node])
            place = int(np.searchsorted(self.places[feature], n_left))
            x[index["f"][node, feature]] = 1.0
            bits = bits_of(place, len(self.places[feature]))
            x[index["t"][node, : len(bits)]] = bits
        x[index["l"]] = self.routes.in_leaf(leaf)
        x[index["p"][np.arange(len(heap.label)), heap.label]] = 1.0
        of_class = np.zeros(index["e"].shape)
        np.add.at(of_class, (leaf, self.problem.y), self.problem.weight)
        of_class[np.arange(len(heap.label)), heap.label] = 0.0
        x[index["e"]] = of_class
        if "a" in index:
            x[index["a"]] = np.bincount(leaf, minlength=len(heap.label)) > 0
        return x

    def _full(self, heap: HeapTree) -> HeapTree:
        """Return a tree that splits everywhere, below a leaf too: (2) wants it so."""
        feature = int(np.argmax([len(where) for where in self.places]))
        threshold = self.ranks.threshold(feature, int(self.places[feature][-1]))
        idle = ~heap.coef.any(axis=1)
        heap.coef[idle, feature], heap.threshold[idle] = 1.0, threshold
        return heap

    def decode(self, x: FloatArray) -> HeapTree:
        """Return the tree of a solution vector, in scaled units."""
        index = self.model.variables
        feature = x[index["f"]].argmax(axis=1)
        places = [self.places[j] for j in feature]
        bits = x[index["t"]]
        n_left = [at[place_of(b, len(at))] for at, b in zip(places, bits, strict=True)]
        return self.ranks.heap(feature, np.array(n_left), x[index["p"]].argmax(axis=1))
