"""The contract of a selector: a problem and a tree in, rows and weights out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.selection.clusters import Cluster, leaf_clusters
from miptree.tree import ObliqueTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Selection:
    """Rows of a problem to train on.

    Attributes
    ----------
    rows : int array of shape (n_selected,)
        Row numbers of the problem, ascending, none twice.
    weight : float array of shape (n_selected,)
        Their weights, all positive.
    covering : bool array of shape (n_selected,)
        The paper's J: rows of which dropped rows are convex combinations, so that
        getting them right matters more than their own weight says.
    trees : tuple of ObliqueTree
        Trees for *all* rows that the selector found on the way, in the user's
        units, best first.
    """

    rows: IntArray
    weight: FloatArray
    covering: BoolArray
    trees: tuple[ObliqueTree, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of_rows(
        cls, problem: Problem, rows: IntArray, covering: BoolArray | None = None
    ) -> Selection:
        """Select rows with their own weights."""
        if covering is None:
            covering = np.zeros(len(rows), dtype=bool)
        return cls.joined([cls(rows, problem.weight[rows], covering)])

    @classmethod
    def joined(cls, parts: Sequence[Selection]) -> Selection:
        """Join selections of disjoint rows to one."""
        rows = np.concatenate([part.rows for part in parts])
        order = np.argsort(rows, kind="stable")
        return cls(
            rows[order],
            np.concatenate([part.weight for part in parts])[order],
            np.concatenate([part.covering for part in parts])[order],
        )


@dataclass(frozen=True, eq=False)
class SelectionContext:
    """What rows are chosen for, and until when.

    Attributes
    ----------
    objective : Svm1Objective or None
        What the trees minimise, None for the cost of the errors.
    depth : int
        Their depth.
    clock : Clock
        When choosing must end.
    max_iter : int or None
        Iterations that a search for such a tree has.
    completed : callable or None
        Returns the rows trained on for a choice, where others join it.
    """

    objective: Svm1Objective | None
    depth: int
    clock: Clock = field(default_factory=Clock)
    max_iter: int | None = None
    completed: Callable[[Selection], Selection] | None = None


class Selector(Protocol):
    """Chooses the rows that a MIP sees; ``selection/stratified.py`` is a short one.

    A selector is a frozen dataclass of its parameters, checks them when it is made,
    and gives the same rows for the same problem and tree. One that minds the clock or
    the trees to come also has a method ``adapted(context)``, which returns the
    selector to be asked in a :class:`SelectionContext`.
    """

    def select(
        self,
        problem: Problem,
        tree: ObliqueTree,
        clusters: Sequence[Cluster] | None = None,
    ) -> Selection:
        """Choose rows.

        Parameters
        ----------
        problem : Problem
            All rows.
        tree : ObliqueTree
            A tree for them, in the user's units.
        clusters : sequence of Cluster, optional
            Sets of rows to choose from, disjoint, by default
            :func:`~miptree.selection.clusters.leaf_clusters` of the tree.
        """
        ...


class ClusterSelector(ABC):
    """Base of the selectors that choose among clusters, by default of the leaves."""

    def select(
        self,
        problem: Problem,
        tree: ObliqueTree,
        clusters: Sequence[Cluster] | None = None,
    ) -> Selection:
        """Choose rows; see :class:`Selector`."""
        if clusters is None:
            clusters = leaf_clusters(problem, tree)
        return self._select(problem, tree, clusters)

    @abstractmethod
    def _select(
        self, problem: Problem, tree: ObliqueTree, clusters: Sequence[Cluster]
    ) -> Selection:
        """Choose rows of the clusters."""


Timed = TypeVar("Timed", bound="TimedSelector")


@dataclass(frozen=True)
class TimedSelector(ClusterSelector):
    """Base of the selectors that take long: a limit of their own, and a fit's clock.

    Parameters
    ----------
    seconds : float or None, default=None
        Time that choosing may take.
    clock : Clock or None, default=None
        Clock of the fit that rows are chosen for.
    """

    seconds: float | None = field(default=None, kw_only=True)
    clock: Clock | None = field(default=None, kw_only=True, repr=False, compare=False)

    def adapted(self: Timed, context: SelectionContext) -> Timed:
        """Keep to the time of a context and hear its stop."""
        return replace(self, clock=context.clock)

    def begun_now(self: Timed) -> Timed:
        """Return the selector with all of its time to come, for a table of its own."""
        return (
            self if self.clock is None else replace(self, clock=self.clock.begun_now())
        )

    def started(self) -> Clock:
        """Return the clock of one selection, which begins now."""
        return (self.clock or Clock()).counting(limit=self.seconds)


def adapted(selector: Selector, context: SelectionContext) -> Selector:
    """Return the selector for a context; one without ``adapted`` as it is."""
    adapt: Callable[[SelectionContext], Selector] | None
    adapt = getattr(selector, "adapted", None)
    return selector if adapt is None else adapt(context)


def select_rows(
    selector: Selector,
    problem: Problem,
    tree: ObliqueTree,
    clusters: Sequence[Cluster] | None = None,
) -> Selection:
    """Choose rows and check the choice: anybody may write a selector."""
    chosen = selector.select(problem, tree, clusters)
    name, rows = type(selector).__name__, np.asarray(chosen.rows)
    if not len(rows):
        raise ValueError(
            f"{name} selected no row. Let it keep some: with eps > 0 it may drop "
            "points that stand for each other; CoverSelection does not."
        )
    if not len(rows) == len(chosen.weight) == len(chosen.covering):
        raise ValueError(
            f"{name} selected {len(rows)} rows with {len(chosen.weight)} weights and "
            f"{len(chosen.covering)} entries of covering. Give one of each for a row."
        )
    if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= problem.n_rows:
        raise ValueError(
            f"{name} must select row numbers from 0 to {problem.n_rows - 1}, got "
            f"{rows.min()} to {rows.max()} of type {rows.dtype}."
        )
    if len(np.unique(rows)) < len(rows):
        twice = np.flatnonzero(np.bincount(rows) > 1)[0]
        raise ValueError(
            f"{name} selected row {twice} more than once. Raise its weight instead."
        )
    if not (np.isfinite(chosen.weight).all() and (chosen.weight > 0).all()):
        raise ValueError(f"{name} must give finite weights above 0.")
    return chosen


def checked_share(name: str, value: float) -> None:
    """Refuse a share of the rows that is not in (0, 1)."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value!r}.")


def checked_eps_number(eps: float) -> None:
    """Refuse an eps that is no finite number >= 0."""
    if not (np.isfinite(eps) and eps >= 0):
        raise ValueError(f"eps must be finite and >= 0, got {eps!r}.")
