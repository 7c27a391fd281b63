"""What a search over routes would save by leaving the label of a leaf open.

Two structures that differ in the label of one leaf are searched together as long as
that pays: a leaf of open label costs a point the cheaper of its two labels, which is a
relaxation of both, and what it closes is closed in both. An oracle says when to decide
the label: it searches below every node both ways, and takes the fewer nodes.

The branches of the relaxation may be better than those of the structures by chance. So
both are also searched apart along its first branches: that has nothing of open labels
but the choice of points.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from miptree.proof.routes.engine import EXHAUSTED, SearchState, advance, begin
from miptree.proof.routes.part import least_costs
from miptree.proof.routes.search import BRANCHING
from miptree.proof.routes.structures import Nested, structure_of, structures
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import IntArray

_MOST_NODES = 50_000
_TOO_MANY = 4
"""Times the nodes of both structures after which a search with open label is ended."""


class Couple(NamedTuple):
    """Two structures, and the same with one label open, which needs its own costs."""

    both: tuple[Nested, Nested]
    routes: RouteProblem
    opened: Nested
    relaxed: RouteProblem


def couples(routes: RouteProblem, depth: int, threshold: float) -> Iterator[Couple]:
    """Yield all pairs of structures, not closed by costs, that differ in one leaf."""
    every = list(structures(routes.labels, depth))
    is_open = least_costs(routes, every) < threshold
    nested = [one.nested for one, own in zip(every, is_open, strict=True) if own]
    for one, other in combinations(nested, 2):
        for image in _images(other):
            if _shape(one) != _shape(image):
                continue
            labels, others = _labels(one), _labels(image)
            differ = [k for k, label in enumerate(labels) if label != others[k]]
            if len(differ) != 1:
                continue
            leaf = differ[0]
            cheaper = routes.cost[:, [labels[leaf], others[leaf]]].min(axis=1)
            cost = np.column_stack([routes.cost, cheaper])
            labels[leaf] = cost.shape[1] - 1
            opened = _labelled(one, iter(labels))
            yield Couple((one, image), routes, opened, routes._replace(cost=cost))
            break


def measure(couple: Couple, threshold: float, levels: int) -> dict[str, Any] | None:
    """Count the nodes of both structures, of the open label, and by the oracle.

    The label may be left open for so many levels of branches. None where the two have
    too many nodes.
    """
    apart = _apart(couple, threshold, None)
    if apart is None:
        return None
    state = begin(couple.relaxed, structure_of(couple.opened), threshold)
    advance(state, _TOO_MANY * apart)
    return {
        "structures": str(couple.both),
        "apart": apart,
        "open": state.nodes if _is_proved(state, threshold) else None,
        "oracle": _oracle(couple, threshold, None, apart, levels),
        "steered": int(sum(_steered(couple, threshold, None, levels))),
    }


def _apart(couple: Couple, threshold: float, mask: IntArray | None) -> int | None:
    """Count the nodes of the two structures, one after the other."""
    counts = [nodes_of(couple.routes, own, threshold, mask) for own in couple.both]
    return int(sum(counts)) if np.isfinite(counts).all() else None


def nodes_of(
    routes: RouteProblem, nested: Nested, threshold: float, mask: IntArray | None = None
) -> float:
    """Count the nodes that prove a threshold for a structure; infinite if too many."""
    state = begin(routes, structure_of(nested), threshold, mask=mask)
    advance(state, _MOST_NODES)
    return state.nodes if _is_proved(state, threshold) else np.inf


def normal(nested: Nested) -> Nested:
    """Return one and the same of all mirror images."""
    return min(_images(nested), key=str)


def _oracle(
    couple: Couple, threshold: float, mask: IntArray | None, apart: int, levels: int
) -> int:
    """Return the fewest nodes below a node, where deciding at once takes ``apart``."""
    if levels == 0:
        return apart
    state = begin(couple.relaxed, structure_of(couple.opened), threshold, mask=mask)
    advance(state, 1)
    if _is_proved(state, threshold):
        return 1
    own = state._levels
    if state.threshold < threshold or own.mode[0] != BRANCHING:
        return apart
    point, total = own.branch_point[0], 1
    for bits in own.option[0, : own.n_options[0]]:
        below = own.mask[0].copy()
        below[point] = bits
        nodes = _apart(couple, threshold, below)
        if nodes is None:
            return apart
        total += _oracle(couple, threshold, below, nodes, levels - 1)
    return min(apart, total)


def _steered(
    couple: Couple, threshold: float, mask: IntArray | None, levels: int
) -> list[float]:
    """Return the fewest nodes of each structure, by its own or by these branches."""
    apart = [nodes_of(couple.routes, own, threshold, mask) for own in couple.both]
    if levels == 0:
        return apart
    structure = structure_of(couple.opened)
    state = begin(couple.relaxed, structure, threshold, mask=mask)
    advance(state, 1)
    own = state._levels
    if state.threshold < threshold or own.mode[0] != BRANCHING:
        return apart
    if mask is None:
        mask = np.full(couple.routes.n_points, (1 << structure.n_leaves) - 1)
    point, total = own.branch_point[0], [1.0, 1.0]
    options = own.option[0, : own.n_options[0]].tolist()
    # What the relaxation had closed before it branched is searched as well.
    closed = int(mask[point]) & ~sum(options)
    for bits in [*options, closed] if closed else options:
        below = mask.copy()
        below[point] = bits
        counts = _steered(couple, threshold, below, levels - 1)
        total = [nodes + more for nodes, more in zip(total, counts, strict=True)]
    return [min(pair) for pair in zip(apart, total, strict=True)]


def _is_proved(state: SearchState, threshold: float) -> bool:
    """Tell whether a search ended, and not by a relaxed tree that costs less."""
    value = min(state.threshold, state.open_value)
    return state.outcome == EXHAUSTED and value >= threshold


def _images(nested: Nested) -> list[Nested]:
    """Return a structure and its mirror images."""
    if not isinstance(nested, tuple):
        return [nested]
    left, right = nested
    pairs = [(a, b) for a in _images(left) for b in _images(right)]
    return pairs + [(b, a) for a, b in pairs]


def _shape(nested: Nested) -> Nested:
    is_pair = isinstance(nested, tuple)
    return (_shape(nested[0]), _shape(nested[1])) if is_pair else 0


def _labels(nested: Nested) -> list[int]:
    is_pair = isinstance(nested, tuple)
    return [*_labels(nested[0]), *_labels(nested[1])] if is_pair else [nested]


def _labelled(nested: Nested, labels: Iterator[int]) -> Nested:
    """Return a structure of the same shape with other labels."""
    if not isinstance(nested, tuple):
        return next(labels)
    left = _labelled(nested[0], labels)
    return left, _labelled(nested[1], labels)
