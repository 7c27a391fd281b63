"""The search over the sides of the root, node by node.

At a node some points are sent to a side. A tree that sends them there costs at least
what the root's LP says, what the best subtrees of both sides cost on the points sent to
them, and for every other point its cheapest label. Points whose other side would cost
too much are sent on the way. The next point to branch on is one that the hyperplanes at
hand treat badly, on whichever side. Where there is none, they are a tree of that cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from miptree.proof.routes.by_root.pending import Pending
from miptree.proof.routes.by_root.proofs import Closing, RootsProof
from miptree.proof.routes.by_root.root_lp import BOTH, Closed, Kept, RootLp
from miptree.proof.routes.by_root.subtrees import Subtree, Subtrees, costs
from miptree.proof.routes.by_root.trees import cost_at_hand, tree_at_hand
from miptree.proof.routes.engine import Candidate, central_point
from miptree.proof.routes.look import LEAST_LACK
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

_ROUNDING = 1.0 + 1e-12
"""Sums of bounds are rounded."""
_SAFETY = 1.0 + 1e-7
"""A root's LP is worth a recount from here on."""
_BELOW = 1.0 - 1e-8
"""The threshold falls a little below a tree that was met, not to meet it again."""
_HARDLY = 1.0 + 1e-9
"""A bound that is so little higher is not worth a lemma."""
_NEARLY = 1.0 + 1e-5
"""A tree that costs so little more than its node is its tree."""
_TIMES_BELOW, _SHARE_OF_WORSE = 2.0, 0.1
"""To choose a point: what it costs at a subtree at hand counts twice, and its worse
side a tenth beside its better one."""


@dataclass
class _Node:
    """A node that waits: masks, its parent's LP, what is known below the root.

    Where the proof is recorded, ``parent`` is what is recorded of its parent, and
    ``why`` is what proves the value.
    """

    mask: IntArray
    kept: Kept
    below: list[Subtree]
    value: float
    parent: Pending | None = None
    why: Closing | None = None


class _Option(NamedTuple):
    """A side of a point, what is proved of it and why, and the subtree there."""

    side: int
    value: float
    subtree: Subtree
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
    met : float
        The threshold after it fell to that of a tree in the box, which is no more
        than such a tree costs: no higher bound is possible.
    fell_short : bool
        Whether the threshold fell to less than any tree in the box that was met costs.
    nodes : int
        Nodes of the search, and of those below the root.
    candidates : list of Candidate
        Trees that were met since the list was emptied.
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
        self.problem, self.threshold, self.met = problem, threshold, inf
        self.candidates: list[Candidate] = []
        self.fell_short = False
        self._own_nodes, self._stop, self._cheapest = 0, stop, threshold
        self._root = RootLp(problem, record)
        self._subtrees = Subtrees(problem, stop, record)
        self._least = problem.least_cost
        # A tree can be mirrored, so that one point is on the left.
        mask = self._root.mask.copy()
        self._fixed = central_point(problem)
        mask[self._fixed] = 1
        self.is_recorded = record
        self.proof: RootsProof | None = None
        nothing = self._subtrees.nothing
        self._waiting = [_Node(mask, self._root.keep(), [nothing, nothing], 0.0)]

    @property
    def nodes(self) -> int:
        """Nodes so far."""
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
            if node.value < self.threshold * _ROUNDING:
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
            node.below = [one._replace(lemma=None) for one in node.below]

    def _children(self, node: _Node, pending: Pending | None) -> list[_Node] | None:
        """Return what is left to search of a node, the most promising part last."""
        root, below = self._root, list(node.below)
        root.mask[:] = node.mask
        root.bring_back(node.kept)
        while True:
            value = root.solve(self._enough(below))
            if not self._count_sent(below, value):
                return None
            rest = self._rest(below)
            if value + rest >= self.threshold * _SAFETY and self._is_closed(below):
                return self._end(pending, self._why(below))
            root.look()
            decided, sides = root.close_sides(value, rest, self.threshold * _ROUNDING)
            self._note(pending, sides, below)
            if decided < 0:
                # The other side of the last point was closed before it.
                return self._end(pending, pending.forced.pop().why if pending else None)
            if decided:
                continue
            point = self._point_to_branch_on(below)
            self._look_at_tree(below)
            if point < 0:
                self._keep_tree(rest, below)
                return self._end(pending, self._why(below))
            options = [self._option(point, side, below) for side in range(2)]
            if self._stop[0]:
                return None
            is_open = [one.value < self.threshold * _ROUNDING for one in options]
            if all(is_open):
                return self._nodes(point, options, below, pending)
            closed = options[is_open.index(False)]
            if pending is not None:
                pending.force(point, closed.side, closed.why)
            option = options[1 - closed.side]
            if not any(is_open):
                return self._end(pending, option.why)
            root.mask[point] = 1 << option.side
            below[option.side] = option.subtree

    def _nodes(
        self,
        point: int,
        options: list[_Option],
        below: list[Subtree],
        pending: Pending | None,
    ) -> list[_Node]:
        """Return the nodes of both sides of a point."""
        kept, nodes = self._root.keep(), []
        options = sorted(options, key=lambda one: -one.value)
        for option in options:
            mask, subtrees = self._root.mask.copy(), list(below)
            mask[point] = 1 << option.side
            subtrees[option.side] = option.subtree
            value, why = option.value, option.why
            nodes.append(_Node(mask, kept, subtrees, value, pending, why))
        if pending is not None:
            # The last node is the first to be searched.
            pending.branch(point, first_side=options[1].side)
        return nodes

    # ---------------------------------------------------------- what is recorded

    def _end(self, pending: Pending | None, why: Closing | None) -> list[_Node]:
        """Take in what closes a node, where the proof is recorded: nothing is left."""
        if pending is not None and why is not None:
            tree = pending.end(why, why.used)
            self.proof = tree and RootsProof(self._fixed, tree)
        return []

    def _why(
        self, below: list[Subtree], entries: IntArray | None = None
    ) -> Closing | None:
        """Return the closing by some multipliers, or the last ones, if recorded."""
        if not self.is_recorded:
            return None
        entries = self._root.entries() if entries is None else entries
        return Closing(entries, (below[0].lemma, below[1].lemma))

    def _note(
        self, pending: Pending | None, sides: list[Closed], below: list[Subtree]
    ) -> None:
        """Note the sides that were closed on the way."""
        if pending is not None:
            for point, side, entries in sides:
                pending.force(point, side, self._why(below, entries))

    # ------------------------------------------------------------- what is proved

    def _rest(self, below: list[Subtree]) -> float:
        """Return what is proved of everything but the root."""
        is_counted = np.zeros(self.problem.n_points, dtype=bool)
        for subtree in below:
            is_counted[subtree.points] = True
        total = float(self._least[~is_counted].sum())
        return (total + below[0].bound + below[1].bound) / _ROUNDING

    def _count_sent(self, below: list[Subtree], value: float) -> bool:
        """Find the subtrees of sides whose new points do not fit; False if stopped."""
        for side, known in enumerate(below):
            new = self._not_counted(side, known)
            if self._rise(known, new).sum() > LEAST_LACK:
                below[side] = self._with_points(side, new, below, value)
        return not self._stop[0]

    def _not_counted(self, side: int, known: Subtree) -> IntArray:
        """Return the points of a side that cost nothing at its subtree until now."""
        is_new = self._root.mask == 1 << side
        is_new[known.points] = False
        return np.flatnonzero(is_new)

    def _rise(self, known: Subtree, points: IntArray) -> FloatArray:
        """Return what points cost at a subtree beyond what they must cost."""
        return costs(self.problem, known.split, points) - self._least[points]

    def _with_points(
        self, side: int, new: IntArray, below: list[Subtree], root: float
    ) -> Subtree:
        """Return the subtree of a side that gets new points, if the root costs so much.

        Only the subtree for all of them together is searched for.
        """
        known = below[side]
        points = np.sort(np.append(known.points, new))
        at_least = known.bound + float(self._least[new].sum()) / _ROUNDING
        others = root + self._rest(below) - at_least
        limit = self.threshold * _SAFETY * _SAFETY - others
        found = self._subtrees.best(points, limit, known.split)
        if found.bound <= at_least * _HARDLY:
            found = found._replace(bound=at_least, lemma=known.lemma)
        return found

    def _option(self, point: int, side: int, below: list[Subtree]) -> _Option:
        """Return what is proved if a point goes to a side."""
        enough = self._enough(below)
        root, entries = self._root.try_side(point, side, enough, self.threshold)
        rest, subtree = self._rest(below), below[side]
        is_open = root + rest < self.threshold * _ROUNDING
        if is_open and self._rise(subtree, np.array([point]))[0] > LEAST_LACK:
            new = np.append(self._not_counted(side, subtree), point)
            subtree = self._with_points(side, new, below, root)
            below = [subtree if k == side else below[k] for k in range(2)]
            rest = self._rest(below)
        why = self._why(below, entries)
        return _Option(side, root + rest, subtree, why)

    def _enough(self, below: list[Subtree]) -> float:
        """Return what the root has to cost, for a node to be closed."""
        return self.threshold * _SAFETY * _SAFETY - self._rest(below)

    def _is_closed(self, below: list[Subtree]) -> bool:
        """Tell whether the root's multipliers close a node; try them anew if not."""
        rest = self._rest(below)
        for _ in range(2):
            proved = self._root.proved(self.threshold)
            if proved + rest >= self.threshold * _ROUNDING:
                return True
            self._root.clear()
            self._root.solve(self._enough(below))
        return False

    def _point_to_branch_on(self, below: list[Subtree]) -> int:
        """Return an open point that costs much on both sides, -1 if none costs more."""
        root = self._root
        points = np.flatnonzero(root.mask == BOTH)
        if len(points) == 0:
            return -1
        rise = np.stack([self._rise(subtree, points) for subtree in below], axis=1)
        score = root.score[points]
        at_own_side = rise[np.arange(len(points)), (score > 0.0).astype(int)]
        lack = self.problem.C[points] * np.maximum(0.0, 1.0 - np.abs(score))
        worth = root.gain[points] + _TIMES_BELOW * rise
        key = worth.min(axis=1) + _SHARE_OF_WORSE * worth.max(axis=1)
        key[lack + at_own_side <= LEAST_LACK] = -1.0
        best = int(key.argmax())
        return int(points[best]) if key[best] >= 0.0 else -1

    def _look_at_tree(self, below: list[Subtree]) -> None:
        """Keep the tree of the hyperplanes at hand if it costs less than any before."""
        cost = cost_at_hand(self.problem, self._root, below)
        if cost < self._cheapest:
            self._cheapest = cost
            self.candidates.append(tree_at_hand(self.problem, self._root, below))

    def _keep_tree(self, rest: float, below: list[Subtree]) -> None:
        """Keep the tree of a node at which nothing is left to decide."""
        value = self._root.proved(self.threshold) + rest
        self.threshold = min(self.threshold, value * _BELOW)
        tree = tree_at_hand(self.problem, self._root, below)
        self.candidates.append(tree)
        # The subtrees were found without the box of the points on the other side.
        score = self.problem.X @ tree.coef.T - tree.threshold
        is_inside = np.abs(score).max() <= _SAFETY
        if (
            is_inside
            and cost_at_hand(self.problem, self._root, below)
            <= value * _NEARLY + _NEARLY - 1.0
        ):
            self.met = self.threshold
        else:
            self.fell_short = True
