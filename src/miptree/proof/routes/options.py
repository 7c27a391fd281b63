"""Options of points: bound a node, and put on the trail what is closed."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.columns import set_caps, solve_split, write_lines
from miptree.proof.routes.jit import INNER, UNCOUNTED
from miptree.proof.routes.look import Look, write_image
from miptree.proof.routes.lp import value_of
from miptree.proof.routes.state import Data, Lps, Trail
from miptree.proof.routes.subsets import leaf_count
from miptree.utils.arrays import FloatArray, IntArray

TO_LEAF, NO_ENVELOPE, SOLVED = 0, 1, 2
"""How an option was closed: by a step, or by its own LPs."""
SAFETY = 1e-7
"""Options are closed if their value is above the threshold by this share of it: then
the recount of the multipliers hardly ever falls short."""
ROOM = 4
"""Snapshots for which a pass must have room."""
GROWTH, GROWTH_TRIED = 1.02, 1.2
"""Factors from which on caps are raised: in a node, and where options are tried."""


@njit(**INNER)
def bound_node(
    data: Data, lps: Lps, mask: IntArray, base: float, T: float, least_split: float,
    rho: float, value: FloatArray, gap: FloatArray, line: FloatArray, growth: float,
) -> float:  # fmt: skip
    """Solve the LPs with their envelopes, the last split first; return the bound."""
    n_splits = len(value)
    n, m = data.Z.shape
    lower = np.full(n_splits, least_split)
    for b in range(n_splits):
        value[b] = value_of(lps.q[b], n, m, data.box)
    write_lines(
        data.C, data.least, data.following, data.cheap, data.determined, mask,
        lps.near, lps.partner, rho, lps.chosen, gap, line,
    )  # fmt: skip
    total = base
    for b in range(n_splits):
        total += max(value[b], least_split)
    for b in range(n_splits - 1, -1, -1):
        set_caps(lps, b, data.C, gap, T - base, lower, line, data.box, growth)
        total -= max(value[b], least_split)
        goal = T * (1.0 + 2 * SAFETY) - total - value[b]
        value[b] = solve_split(data, lps, b, rho, goal)
        total += max(value[b], least_split)
        lower[b] = max(lower[b], value[b] - SAFETY * T)
    return total


@njit(**UNCOUNTED)
def bound_trial(
    data: Data, lps: Lps, base: float, T: float, least_split: float, rho: float,
    value: FloatArray,
) -> float:  # fmt: skip
    """Solve the LPs with the envelopes that they have; return the bound."""
    n_splits = len(value)
    n, m = data.Z.shape
    total = base
    for b in range(n_splits):
        value[b] = value_of(lps.q[b], n, m, data.box)
        total += max(value[b], least_split)
    for b in range(n_splits - 1, -1, -1):
        total -= max(value[b], least_split)
        goal = T * (1.0 + 2 * SAFETY) - total - value[b]
        value[b] = solve_split(data, lps, b, rho, goal)
        total += max(value[b], least_split)
    return total


@njit(**UNCOUNTED)
def write_options(data: Data, mask: int, i: int, option: IntArray) -> int:
    """Write the masks of a point's options; return how many there are.

    They are each cheap leaf, and the costly ones together.
    """
    cheap, count = data.cheap[i, mask], 0
    for leaf in range(leaf_count(data.determined)):
        if (cheap >> leaf) & 1:
            option[count] = 1 << leaf
            count += 1
    if mask & ~cheap:
        option[count] = mask & ~cheap
        count += 1
    return count


@njit(**UNCOUNTED)
def close_option(
    data: Data, lps: Lps, look: Look, trail: Trail, count: IntArray,
    i: int, bits: int, how: int,
) -> None:  # fmt: skip
    """Put a closed option on the trail, with the steps that close it.

    They raise the multipliers of the point towards a leaf, or take away its envelope,
    or there are none. ``count``: records, changes, snapshots.
    """
    trail.point[count[0]], trail.bits[count[0]] = i, bits
    trail.snapshot[count[0]], trail.start[count[0]] = count[2] - 1, count[1]
    count[0] += 1
    if how == SOLVED:
        return
    for b in range(len(lps.y)):
        own = float(lps.sign[b, i])
        if how == TO_LEAF:
            if ((data.determined[0, bits] | data.determined[1, bits]) >> b) & 1 == 0:
                continue
            side = (data.determined[1, bits] >> b) & 1
            s, amount = 2.0 * side - 1.0, look.step[i, b, side]
            room = data.C[i] - (lps.q[b, i] if own == s else 0.0)
        else:
            s, amount, room = own, -lps.q[b, i] if lps.hard[b, i] == 0 else 0.0, 0.0
        if amount == 0.0:
            continue
        row = count[1]
        count[1] += 1
        write_image(data.Z, lps.inverse, b, i, look.image)
        trail.change_split[row] = b
        trail.change[row, 0] = min(amount, room)
        trail.change[row, 1] = max(0.0, amount - room)
        for r in range(len(look.image)):
            trail.change[row, 2 + r] = -s * amount * look.image[r]


@njit(**UNCOUNTED)
def take_snapshot(lps: Lps, trail: Trail, count: IntArray) -> None:
    """Keep the multipliers that the options of this pass are closed with."""
    snap = count[2]
    for b in range(len(lps.y)):
        for k in range(lps.q.shape[1]):
            trail.snap_q[snap, b, k] = lps.q[b, k]
        for k in range(lps.basis.shape[1]):
            trail.snap_basis[snap, b, k] = lps.basis[b, k]
            trail.snap_boxed[snap, b, k] = lps.boxed[b, k]
        for side in range(2):
            for i in range(lps.partner.shape[2]):
                trail.snap_partner[snap, b, side, i] = lps.partner[b, side, i]
    count[2] += 1
