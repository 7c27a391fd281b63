"""The search over the sides of the root, node by node.

At a node some points are sent to a side. A tree that sends them there costs at least
what the root's LP says, what the best subtrees of both sides cost on the points sent to
them, and for every other point its cheapest label. Points whose other side would cost
too much are sent on the way. The next point to branch on is one that the hyperplanes at
hand treat badly, on whichever side. Where there is none, they are a tree of that cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from miptree.proof.routes.by_root.below import ROUNDING, Below
from miptree.proof.routes.by_root.branching import point_to_branch_on
from miptree.proof.routes.by_root.pending import Pending
from miptree.proof.routes.by_root.proofs import Closing, RootsProof
from miptree.proof.routes.by_root.root_lp import Kept, RootLp
from miptree.proof.routes.by_root.subtrees import Subtrees
from miptree.proof.routes.by_root.trees import TreesMet
from miptree.proof.routes.engine import central_point
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import AnyArray, IntArray

_SAFETY = 1.0 + 1e-7
"""A root's LP is worth a recount from here on."""
_BELOW = 1.0 - 1e-8
"""The threshold falls a little below a tree that was met, not to meet it again."""


@dataclass
class _Node:
    """A node that waits: masks, its parent's LP, what is known below the root.

    Where the proof is recorded, ``parent`` is what is recorded of its parent, and
    ``why`` is what proves the value.
    """

    mask: IntArray
    kept: Kept
    below: Below
    value: float
    parent: Pending | None = None
    why: Closing | None = None


class _Option(NamedTuple):
    """A side of a point, what is proved if it goes there, and why."""

    side: int
    value: float
    below: Below
    why: Closing | None


class RootSearch:
    """A search for the claim that no tree with an active root costs less than T.

    Parameters
    ----------
    problem : RouteProblem
        Without subset splits.
    threshold : float
        T > 0.
    stop : array
        The flag of a clock.
    record : bool
        Whether to keep the proof.

    Attributes
    ----------
    threshold : float
        T. It falls where trees are found, and may be lowered from outside.
    trees : TreesMet
    proof : RootsProof or None
        The proof of the whole, once the search is exhausted, if it is recorded.
    """

    def __init__(
        self,
        problem: RouteProblem,
        threshold: float,
        stop: AnyArray,
        record: bool = False,
    ) -> None:
        self.problem, self.threshold = problem, threshold
        self.trees = TreesMet(problem, threshold)
        self._own_nodes, self._stop = 0, stop
        self._root = RootLp(problem, record)
        self._subtrees = Subtrees(problem, stop, record)
        # A tree can be mirrored, so that one point is on the left.
        mask = self._root.mask.copy()
        self._fixed = central_point(problem)
        mask[self._fixed] = 1
        self.is_recorded = record
        self.proof: RootsProof | None = None
        below = Below(self._subtrees, (self._subtrees.nothing,) * 2)
        self._waiting = [_Node(mask, self._root.keep(), below, 0.0)]

    @property
    def nodes(self) -> int:
        """Nodes of the search, and of those below the root, so far."""
        return self._own_nodes + self._subtrees.nodes

    @property
    def n_entries(self) -> int:
        """Multipliers that are kept, most of them below the root."""
        return self._subtrees.counter.n_entries

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing is left to search."""
        return not self._waiting

    def go_on(self, nodes: int) -> bool:
        """Work on the next nodes; return False if the clock stopped that."""
        for _ in range(nodes):
            if self.is_exhausted:
                break
            node = self._waiting[-1]
            if node.parent is not None and node.parent.is_done:
                self._waiting.pop()  # its sibling was all that its parent needs
                continue
            pending = Pending(node.parent) if self.is_recorded else None
            if node.value < self.threshold * ROUNDING:
                children = self._children(node, pending)
            else:
                children = self._end(pending, node.why)
            if children is None:
                return False
            self._own_nodes += 1
            self._waiting.pop()
            self._waiting += children
        return True

    def stop_recording(self) -> None:
        """Forget the proof, which became too long, and go on without it."""
        self.is_recorded = self._subtrees.record = False
        for node in self._waiting:
            node.parent = node.why = None
            node.below = node.below.without_lemmas()

    def _children(self, node: _Node, pending: Pending | None) -> list[_Node] | None:
        """Return what is left to search of a node, the most promising part last."""
        root, below = self._root, node.below
        root.mask[:] = node.mask
        root.bring_back(node.kept)
        while True:
            value = root.solve(self._enough - below.cost)
            below = below.with_sent(root.mask, value, self._enough)
            if self._stop[0]:
                return None
            if self._is_closed(value, below):
                return self._end(pending, self._why(below))
            decided = self._close_sides(value, below, pending)
            if decided < 0:
                # The other side of the last point was closed before it.
                return self._end(pending, pending.forced.pop().why if pending else None)
            if decided:
                continue
            point = point_to_branch_on(self.problem.C, root, below)
            self.trees.look(root, below)
            if point < 0:
                self._keep_tree(below)
                return self._end(pending, self._why(below))
            options = [self._option(point, side, below) for side in range(2)]
            if self._stop[0]:
                return None
            is_open = [one.value < self.threshold * ROUNDING for one in options]
            if all(is_open):
                return self._nodes(point, options, pending)
            closed = options[is_open.index(False)]
            if pending is not None:
                pending.force(point, closed.side, closed.why)
            option = options[1 - closed.side]
            if not any(is_open):
                return self._end(pending, option.why)
            root.mask[point], below = 1 << option.side, option.below

    def _nodes(
        self, point: int, options: list[_Option], pending: Pending | None
    ) -> list[_Node]:
        """Return the nodes of both sides of a point."""
        kept, nodes = self._root.keep(), []
        for side, value, below, why in sorted(options, key=lambda one: -one.value):
            mask = self._root.mask.copy()
            mask[point] = 1 << side
            nodes.append(_Node(mask, kept, below, value, pending, why))
        if pending is not None:
            # The last node is the first to be searched.
            pending.branch(point, first_side=side)
        return nodes

    # ------------------------------------------------------------- what is proved

    @property
    def _enough(self) -> float:
        """What root and all below it have to cost, for a node to be closed."""
        return self.threshold * _SAFETY * _SAFETY

    def _is_closed(self, value: float, below: Below) -> bool:
        """Tell whether a node is closed, if the root's LP has some value.

        The root's multipliers are tried anew where they do not show that.
        """
        if value + below.cost < self.threshold * _SAFETY:
            return False
        for _ in range(2):
            proved = self._root.proved(self.threshold)
            if proved + below.cost >= self.threshold * ROUNDING:
                return True
            self._root.clear()
            self._root.solve(self._enough - below.cost)
        return False

    def _close_sides(self, value: float, below: Below, pending: Pending | None) -> int:
        """Decide points with one side left; return how many, -1 if one has none."""
        self._root.look()
        threshold = self.threshold * ROUNDING
        decided, sides = self._root.close_sides(value, below.cost, threshold)
        if pending is not None:
            for point, side, entries in sides:
                pending.force(point, side, self._why(below, entries))
        return decided

    def _option(self, point: int, side: int, below: Below) -> _Option:
        """Return what is proved if a point goes to a side."""
        enough, root = self._enough, self._root
        value, entries = root.try_side(point, side, enough - below.cost, self.threshold)
        if value + below.cost < self.threshold * ROUNDING:
            below = below.with_point(point, side, root.mask, value, enough)
        return _Option(side, value + below.cost, below, self._why(below, entries))

    def _keep_tree(self, below: Below) -> None:
        """Keep the tree of a node with nothing to decide, and fall below its cost."""
        value = self._root.proved(self.threshold) + below.cost
        self.threshold = min(self.threshold, value * _BELOW)
        self.trees.keep(self._root, below, value, self.threshold)

    # ---------------------------------------------------------- what is recorded

    def _end(self, pending: Pending | None, why: Closing | None) -> list[_Node]:
        """Take in what closes a node, where the proof is recorded: nothing is left."""
        if pending is not None and why is not None:
            tree = pending.end(why, why.used)
            self.proof = tree and RootsProof(self._fixed, tree)
        return []

    def _why(self, below: Below, entries: IntArray | None = None) -> Closing | None:
        """Return the closing by some multipliers, or the last ones, if recorded."""
        if not self.is_recorded:
            return None
        entries = self._root.entries() if entries is None else entries
        return Closing(entries, below.lemmas)
