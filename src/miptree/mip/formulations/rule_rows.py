"""Rows that constraints give to a MIP: what every tree that keeps them satisfies.

Sums of whole weights are whole numbers. So a limit may be looser by a part of one, by
which no tree is cut off and none let in: a solver's tolerances are far smaller. It is a
part that matters, as solvers err where numbers are just above their tolerances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, floor

import numpy as np

from miptree.constraints.limit import AnyLimit, Limit, Spread
from miptree.constraints.placed import PlacedSplit
from miptree.constraints.population import Population
from miptree.mip.formulations.tree_variables import Hyperplanes, Routes
from miptree.mip.model import ModelBuilder
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray

LOOSER = 0.25
"""How much looser a limit on a whole number is."""
LEAST_ROOM = 1e-5
"""The same in parts of the largest term, at least: a solver must see it."""
RIGHT, LEFT = 0, 1
"""Sides to which a rising feature leads, as columns."""


def add_limits(
    b: ModelBuilder, limits: Sequence[AnyLimit], population: Population, p: IntArray
) -> None:
    """Add the limits on sums over rows and their labels.

    ``p`` (n, L, Y) says that a row is in a leaf of a class.
    """
    weight = population.groups.weight.astype(object)[:, None]
    for number, limit in enumerate(limits):
        if isinstance(limit, Spread):
            middle = b.variables(middle_name(number), (1,), upper=1)
            _add_spread(b, limit, middle, population, p)
            continue
        denominator = limit.denominator
        rows, whole = _of_rows(limit, population)
        terms, size, unit = _scaled(weight[rows] * whole)
        room = max(LOOSER * unit, LEAST_ROOM)
        lower, upper = -np.inf, np.inf
        if limit.lower is not None:
            lower = float(ceil(limit.lower * denominator) / size) - room
        if limit.upper is not None:
            upper = float(floor(limit.upper * denominator) / size) + room
        b.rows("limits", (1,), _counted(p[rows], terms), lower=lower, upper=upper)


def _add_spread(
    b: ModelBuilder,
    spread: Spread,
    middle: IntArray,
    population: Population,
    p: IntArray,
) -> None:
    """Add that rates are near a middle."""
    weight = population.groups.weight.astype(object)[:, None]
    half = spread.upper / 2
    for rate in spread.sums:
        rows, whole = _of_rows(rate, population)
        terms, size, _ = _scaled(weight[rows] * whole)
        in_parts = Fraction(rate.denominator) / size
        most = float(half * in_parts) + LEAST_ROOM
        against = (middle[:, None], np.array([[-float(in_parts)]]))
        counted = _counted(p[rows], terms), against
        b.rows("limits", (1,), *counted, lower=-most, upper=most)


def middle_name(number: int) -> str:
    """Name the variable that the rates of a limit are near to, by its place."""
    return f"middle {number}"


def _of_rows(limit: Limit, population: Population) -> tuple[IntArray, AnyArray]:
    """Return the rows that a limit counts, and what each adds for each label."""
    place = np.full(population.n_cells, -1)
    place[limit.cells] = np.arange(len(limit.cells))
    rows = np.flatnonzero(place[population.cell] >= 0)
    return rows, limit.whole[place[population.cell[rows]]]


def _counted(p: IntArray, terms: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the terms of one row of the MIP: those of the rows, in every leaf."""
    of_p = np.broadcast_to(terms[:, None, :], p.shape)
    return p.reshape(1, -1), of_p.reshape(1, -1)


def _scaled(whole: AnyArray) -> tuple[FloatArray, Fraction, float]:
    """Return whole numbers in parts of the largest, that, and the part that 1 is."""
    size = Fraction(max((abs(int(n)) for n in whole.flat), default=0) or 1)
    parts = np.array([float(int(n) / size) for n in whole.flat])
    return parts.reshape(whole.shape), size, float(1 / size)


def add_full_leaves(
    b: ModelBuilder, sizes: Sequence[tuple[AnyArray, Fraction]], e: IntArray
) -> None:
    """Add: a leaf that holds rows holds enough. e (n, L) is 'row i is in leaf l'."""
    filled = b.variables("filled", (e.shape[1],), upper=1)
    b.rows("filled", e.shape, (e, 1.0), (filled[None, :], -1.0), upper=0)
    for size, least in sizes:
        wanted = max(1, ceil(least))
        part = np.array([float(Fraction(int(n), wanted)) for n in size])
        room = max(LOOSER / wanted, LEAST_ROOM)
        inside = (e.T, part[None, :])
        b.rows("full leaves", filled.shape, inside, (filled, room - 1.0), lower=0)


def add_real_splits(b: ModelBuilder, e: IntArray, routes: Routes) -> IntArray:
    """Add: rows go to both sides of a split, and below a leaf is none.

    Places mean nothing otherwise: a split that does nothing is dropped, and those below
    it move up. Returns the variables (B,), 1 at a split.
    """
    n_branch = routes.n_branch
    splits = b.variables("splits", (n_branch,), upper=1)
    goes_right = (e[:, None, :], routes.right[None, :, :].astype(float))
    goes = (e.shape[0], n_branch)
    b.rows("right of a split", goes, goes_right, (splits[None, :], -1.0), upper=0)
    for tag, side in (("some left", routes.left), ("some right", routes.right)):
        every = np.broadcast_to(e.reshape(1, -1), (n_branch, e.size))
        inside = np.tile(side.astype(float), (1, e.shape[0]))
        counted = (every, inside), (splits, -1.0)
        b.rows(f"{tag} of a split", splits.shape, *counted, lower=0)
    if n_branch > 1:
        below = np.arange(1, n_branch)
        terms = (splits[below], 1.0), (splits[(below - 1) // 2], -1.0)
        b.rows("above a split", below.shape, *terms, upper=0)
    return splits


def add_fixed_splits(
    b: ModelBuilder,
    fixed: Sequence[PlacedSplit],
    goes_right: BoolArray,
    e: IntArray,
    h: Hyperplanes,
    splits: IntArray,
    routes: Routes,
) -> None:
    """Add: the splits at some places are known, and so are the sides of the rows.

    ``goes_right`` (n, fixed) tells the sides.
    """
    if not fixed:
        return
    n_open = h.positive.shape[1]
    # A positive multiple is the same split: in (1a) it may cost less, in the box.
    factor = b.variables("factor", (len(fixed),), upper=np.inf)
    for number, split in enumerate(fixed):
        node, coef = split.node, split.scaled_coef[:n_open]
        for columns, value in (
            (h.positive[node], np.maximum(coef, 0.0)),
            (h.negative[node], np.maximum(-coef, 0.0)),
            (h.threshold[[node]], np.array([split.scaled_threshold])),
        ):
            multiple = np.full(value.shape, factor[number]), -value
            b.rows("fixed splits", value.shape, (columns, 1.0), multiple, equals=0)
        b.rows("fixed splits", (1,), (splits[[node]], 1.0), equals=1)
        right = goes_right[:, number, None]
        wrong = np.where(right, routes.left[node], routes.right[node]).astype(float)
        b.rows("sides of fixed splits", (len(e),), (e, wrong), upper=0)


def add_directions(
    b: ModelBuilder,
    name: str,
    h: Hyperplanes,
    nodes: IntArray,
    signs: dict[int, int],
    most: float,
) -> IntArray:
    """Add to which sides rising features may lead, (nodes, 2): right and left.

    ``signs`` gives +1 or -1 for columns, and ``most`` a bound on coefficients.
    """
    towards = b.variables(name, (len(nodes), 2), upper=1, integer=True, priority=10)
    columns = np.array(list(signs), dtype=np.intp)
    rises = np.array(list(signs.values())) > 0
    shape = (len(nodes), len(columns))
    positive = h.positive[np.ix_(nodes, columns)]
    negative = h.negative[np.ix_(nodes, columns)]
    for side, part in (
        (RIGHT, np.where(rises, positive, negative)),
        (LEFT, np.where(rises, negative, positive)),
    ):
        allowed = (towards[:, side, None], -most)
        b.rows(f"{name}: coefficients", shape, (part, 1.0), allowed, upper=0)
    return towards


def leaf_pairs(routes: Routes) -> Iterator[tuple[int, int, int, int]]:
    """Give (node, side, low leaf, high leaf): the order where features lead there."""
    for node in range(routes.n_branch):
        left, right = np.flatnonzero(routes.left[node]), routes.right[node]
        for one in left:
            for two in np.flatnonzero(right):
                yield node, RIGHT, int(one), int(two)
                yield node, LEFT, int(two), int(one)


def add_orders(
    b: ModelBuilder, name: str, towards: IntArray, u: IntArray, label: int, r: Routes
) -> None:
    """Add: where a feature leads from leaf a to c, c has the label if a has it."""
    node, side, low, high = np.array(list(leaf_pairs(r)), dtype=np.intp).T
    terms = (u[low, label], 1.0), (u[high, label], -1.0), (towards[node, side], 1.0)
    b.rows(f"{name}: labels", node.shape, *terms, upper=1)


def add_root_shares(
    b: ModelBuilder,
    name: str,
    towards: IntArray,
    e: IntArray,
    weight: AnyArray,
    is_label: BoolArray,
    routes: Routes,
) -> None:
    """Add: features lead to the side of the root with no less of a label.

    The share of a label is no larger on the left than on the right iff it is no larger
    there than among all rows, whose share is known: a sum over the rows on the left.
    """
    weight = weight.astype(object)  # whole numbers may be long
    all_of_it, of_label = sum(weight), sum(weight[is_label])
    more, _, unit = _scaled(weight * (is_label.astype(object) * all_of_it - of_label))
    most, room = float(np.maximum(more, 0.0).sum()), max(LOOSER * unit, LEAST_ROOM)
    each = (more[:, None] * routes.left[0][None, :]).reshape(1, -1)
    on_left = (e.reshape(1, -1), each)
    # All of 'more' adds up to 0, so no part of the rows has more than 'most'.
    right, left = towards[:, RIGHT], towards[:, LEFT]
    tag = f"{name}: shares"
    b.rows(tag, (1,), on_left, (right, most), upper=most + room)
    b.rows(tag, (1,), on_left, (left, -most), lower=-most - room)
