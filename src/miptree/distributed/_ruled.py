"""A distributed fit under constraints that need no more than counts.

Trees are trained under them on a sample. Whatever comes of it, the cheapest labels that
keep all constraints on *all* rows are found exactly, from how many rows of each class
and group are in each leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.rules import with_rules
from miptree.constraints.best_labels import best_labels
from miptree.constraints.constraint import Constraint, CountingConstraint
from miptree.constraints.counting import least_cost
from miptree.constraints.errors import ImpossibleConstraintsError, NoTreeFoundError
from miptree.constraints.impossible import why_impossible
from miptree.constraints.leaves import MinLeaf, leaf_sizes
from miptree.constraints.parity import Parity
from miptree.constraints.population import Population
from miptree.constraints.proportion import in_proportion
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data.labels import plain_costs
from miptree.data.problem import Problem
from miptree.distributed._cells import CountedRows, count_cells
from miptree.distributed._client import Fitting
from miptree.fit.constrained import train_under_rules
from miptree.objective import Score
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

BROKEN = 1e300
"""Cost of a tree that keeps the constraints with no labels."""
TIGHTER = (1.0, 0.5)
"""Parts of the bound on differences with which trees are trained on the sample: what
holds on a sample holds on all rows nearly, so some room is left."""

SHIFTS, SMALLER = 4, 2.0
"""Times that thresholds of the best tree are shifted, and how much less each time."""
PARTS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Parts of the rows at a split that it is shifted by at first, to either side."""


def refuse_constraints(constraints: Sequence[Constraint]) -> None:
    """Refuse constraints that need more than counts of rows."""
    for constraint in constraints:
        if not isinstance(constraint, (CountingConstraint, MinLeaf)):
            raise ValueError(
                f"{constraint!r:.80} is not supported out of memory, where rates, "
                "parities, MaxCost and MinLeaf are: these need only counts of rows. "
                "Leave columns out with drop=[...], or fit a sample of the rows in "
                "memory."
            )


@dataclass
class RuledFitting(Fitting):
    """A distributed fit whose tree keeps constraints on all rows.

    Attributes
    ----------
    constraints : tuple of Constraint
        What the tree must keep.
    free_tree : ObliqueTree or None
        The best tree so far that need not keep them.
    free_cost : float
        What its errors cost on all rows.
    free_counts : float array of shape (n_nodes, Y)
        Weight of each class in each of its leaves.
    """

    constraints: tuple[Constraint, ...] = ()
    free_tree: ObliqueTree | None = field(default=None, init=False)
    free_cost: float = field(default=np.inf, init=False)
    free_counts: FloatArray = field(init=False)

    @property
    def _n_rounds(self) -> int:
        """One: rows that a tree gets wrong would be another mixture of groups."""
        return 1

    def _begin(self, start: ObliqueTree) -> tuple[ObliqueTree, Score]:
        """Count a first tree; prove by counting that some tree may keep them."""
        (rows,) = self._counted([start])
        why = why_impossible(self.constraints, self._rules(rows.population).population)
        if why is not None:
            raise ImpossibleConstraintsError.proved(why)
        (self.counts,) = self._count([start])
        return self._offered(start, self.counts, rows)

    def _counted(self, trees: list[ObliqueTree]) -> list[CountedRows]:
        parts = self._map(count_cells, self.frame, trees)
        given = self.columns, tuple(self.frame.classes.tolist()), self.frame.costs
        return [CountedRows.of(parts, number, *given) for number in range(len(trees))]

    def _rules(self, population: Population) -> Rules:
        names = tuple(self.columns.features)
        return Rules(self.constraints, population, names, names).ready()

    def _take_best(self, trees: list[ObliqueTree]) -> bool:
        """Offer trees, then those near the best one with one threshold shifted.

        A sample tells the rates of groups to some points only: on all rows the last
        bit of a limit is met by a threshold that moves past a few rows.
        """
        improved = self._offer_all(trees)
        for number in range(SHIFTS):
            if not self._has_time():
                break
            is_kept = self.best.score.cost < BROKEN
            near = [self.best.tree] if is_kept else []
            near += trees[-len(TIGHTER) :] if number == 0 or not is_kept else []
            parts = [part / SMALLER**number for part in PARTS]
            found = [new for old in near for new in shifted(old, self.sampled, parts)]
            improved |= bool(found) and self._offer_all(found)
        return improved

    def _offer_all(self, trees: list[ObliqueTree]) -> bool:
        """Offer the tree that keeps the constraints at the least cost of errors."""
        given = zip(trees, self._count(trees), self._counted(trees), strict=True)
        improved = False
        for tree, counts, rows in given:
            if self.best.offer(*self._offered(tree, counts, rows)):
                self.counts, improved = counts, True
        return improved

    def _offered(
        self, tree: ObliqueTree, counts: FloatArray, rows: CountedRows
    ) -> tuple[ObliqueTree, Score]:
        """Return a tree with the cheapest labels that keep the constraints."""
        cost = self.frame.label_costs(counts)
        free = float(cost.min(axis=1).sum())
        if free < self.free_cost:
            self.free_tree, self.free_cost = self._labelled(tree, counts), free
            self.free_counts = counts
        label = self._kept_labels(tree, cost, rows)
        value = BROKEN
        if label is not None:
            tree = replace(tree, label=label)
            leaves = np.flatnonzero(tree.is_leaf)
            value = float(cost[leaves, label[leaves]].sum())
        return tree, Score(0, value, value, 0.0, 0.0, value)

    def _kept_labels(
        self, tree: ObliqueTree, cost: FloatArray, rows: CountedRows
    ) -> IntArray | None:
        """Return the cheapest labels; leaves that are too small share one."""
        rules = self._rules(rows.population)
        stands_for = np.arange(tree.n_nodes)
        for size, least in rules.leaf_sizes:
            in_leaf = leaf_sizes(size, rows.leaf, tree.n_nodes)
            stands_for = joined_leaves(tree, in_leaf, least, stands_for)
        number = np.unique(stands_for[tree.is_leaf])
        place = np.searchsorted(number, stands_for[tree.is_leaf])
        tally = rows.population.tally(rows.leaf, tree.n_nodes)[tree.is_leaf]
        joint_cost = np.zeros((len(number), cost.shape[1]))
        joint_tally = np.zeros((len(number), tally.shape[1]), dtype=object)
        np.add.at(joint_cost, place, cost[tree.is_leaf])
        np.add.at(joint_tally, place, tally.astype(object))
        found = best_labels(joint_cost, joint_tally, rules.limits)
        if found is None:
            return None
        label = np.zeros(tree.n_nodes, dtype=np.intp)
        label[tree.is_leaf] = found[place]
        return label

    # ------------------------------------------------------------------- training

    def _train(self, rows: Problem, clock: Clock) -> list[ObliqueTree]:
        """Train without and with the constraints on the sample."""
        trees = super()._train(rows, clock.share(0.3))
        for number, part in enumerate(TIGHTER):
            turn = clock.share(1.0 / (len(TIGHTER) - number))
            if clock.is_over or self.best.is_stopped:
                break
            try:
                trees.append(self._trained(rows, part, turn))
            except NoTreeFoundError:
                continue  # all rows may have one
        return trees

    def _trained(self, rows: Problem, part: float, clock: Clock) -> ObliqueTree:
        assert rows.groups is not None
        share = int(rows.count.sum()) / self.seen.n_rows
        asked = tuple(
            in_proportion(_tighter(constraint, part), share)
            for constraint in self.constraints
        )
        names = tuple(self.columns.features)
        labels = tuple(self.frame.classes.tolist())
        population = Population(
            rows.y, rows.count, rows.groups, labels, self.frame.costs
        )
        rules = Rules(asked, population, names, names, rows.scaled).ready()
        plan = replace(self.plan, solver="search", init="auto")
        fitted = train_under_rules(rows, plan, rules, clock)
        self.best.n_iter += fitted.n_iter
        return fitted.tree

    # --------------------------------------------------------------------- ending

    @property
    def free_choice(self) -> tuple[ObliqueTree, FloatArray] | None:
        """The best tree that need not keep the constraints, and its counts."""
        assert self.free_tree is not None
        return self.free_tree, self.free_counts

    def bound_by_rules(self, tree: ObliqueTree) -> tuple[float, CountedRows | None]:
        """Return what errors cost at least where they are kept, by the rows counted."""
        (rows,) = self._counted([tree])
        return self.least_cost(rows), rows

    def certified(
        self,
        certificate: Certificate,
        tree: ObliqueTree,
        rows: CountedRows | None,
        free: Score,
        bound: float,
    ) -> Certificate:
        """Add what was counted of the constraints on all rows, by the method above.

        ``free`` is the score of the best tree that need not keep them, and ``bound``
        one on the objective of all such trees.
        """
        assert rows is not None
        findings = self._rules(rows.population).findings(tree, rows.leaf)
        broken = [found.sentence for found in findings if not found.kept]
        if broken:
            raise NoTreeFoundError(
                "No tree that keeps all constraints was found; that there is none is "
                f"not proved. The nearest tree: {' '.join(broken)} Loosen a "
                "constraint, or give more time, depth or max_rows."
            )
        least = self.least_cost(rows)
        return with_rules(
            certificate, findings, free.objective, least, free_bound=bound
        )

    def least_cost(self, rows: CountedRows) -> float:
        """Return what errors cost at least where the constraints are kept."""
        population = rows.population
        weight = population.groups.weight * population.unit
        weight = np.array([float(w) for w in weight])
        cost = plain_costs(population.y, weight, population.n_classes)
        if self.frame.costs is not None:
            cost = weight[:, None] * self.frame.costs[population.y]
        has_costs = self.seen.has_weights or self.frame.costs is not None
        return least_cost(self.constraints, population, cost, not has_costs)


def _tighter(constraint: Constraint, part: float) -> Constraint:
    if isinstance(constraint, Parity):
        bound = part * constraint.difference_bound
        return replace(constraint, difference_bound=bound)
    return constraint


def shifted(
    tree: ObliqueTree, rows: Problem, parts: Sequence[float]
) -> list[ObliqueTree]:
    """Return trees with one threshold moved past parts of the rows at its split."""
    passes = tree.ancestors[tree.apply(rows.X)]
    found = []
    for node in np.flatnonzero(~tree.is_leaf):
        here = passes[:, node]
        is_subset = rows.is_subset_split(tree.coef[[node]])[0]
        levels = np.unique(rows.X[here] @ tree.coef[node])
        if is_subset or len(levels) < 2:
            continue
        place = int(np.searchsorted(levels, tree.threshold[node], side="right"))
        steps = {max(1, round(part * len(levels))) for part in parts}
        moved = {place + step for step in (*steps, *(-step for step in steps))}
        for k in sorted(moved & set(range(1, len(levels)))):
            threshold = tree.threshold.copy()
            threshold[node] = 0.5 * (levels[k - 1] + levels[k])
            found.append(replace(tree, threshold=threshold))
    return found


def joined_leaves(
    tree: ObliqueTree, in_leaf: AnyArray, least: Fraction, stands_for: IntArray
) -> IntArray:
    """Return for each leaf the node that stands for it, so that all hold enough.

    A leaf that holds rows, but not enough, is joined with all leaves below the next
    node above it that hold enough together.
    """
    above = tree.ancestors
    parent = np.zeros(tree.n_nodes, dtype=np.intp)
    for node in np.flatnonzero(~tree.is_leaf):
        parent[[tree.children_left[node], tree.children_right[node]]] = node
    total = [sum(int(n) for n in in_leaf[above[:, v]]) for v in range(tree.n_nodes)]
    stands_for = stands_for.copy()
    for leaf in np.flatnonzero(tree.is_leaf):
        node = stands_for[leaf]
        while 0 < total[node] < least and node:
            node = parent[node]
        if node != stands_for[leaf]:
            stands_for[above[:, node] & tree.is_leaf] = node
    return stands_for
