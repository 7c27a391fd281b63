"""The LP of the root: what its hyperplane costs, given the sides of some points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.proof.routes.closing import boxed_point, closing
from miptree.proof.routes.columns import copy_lps, follow_masks, solve_split, start_anew
from miptree.proof.routes.jit import INNER, KERNEL, UNCOUNTED_KERNEL
from miptree.proof.routes.look import Look, look_ahead, make_look, prepare, write_image
from miptree.proof.routes.lp import value_of, write_scores
from miptree.proof.routes.state import Data, Lps, Rows, make_data, make_rows, view_lps
from miptree.proof.routes.structures import structure_of
from miptree.proof.routes.trace import BOX_LEFT, BOX_RIGHT, HARD, MARGIN
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import FloatArray, IntArray, WordArray

_CLOSINGS = 8
"""Closings that surely fit into the room for their multipliers."""
BOTH = 3
"""Mask of a point whose side is open; ``1 << side`` is that of one on a side."""


class Room(NamedTuple):
    """What the kernels work in."""

    look: Look
    whole: IntArray
    used: WordArray
    q: FloatArray
    no_use: IntArray
    entry: IntArray
    """(., 3): points, kinds and multipliers of closings, where they are recorded."""
    note: IntArray
    """(2n, 3): points and sides that were closed, and where their entries end."""


class Closed(NamedTuple):
    """A side of a point that was closed, and the multipliers that close it."""

    point: int
    side: int
    entries: IntArray


class Kept(NamedTuple):
    """A copy of the LP, to which the search comes back."""

    floats: FloatArray
    ints: IntArray
    flags: IntArray


class RootLp:
    """The LP of the root's hyperplane, with the columns of the points that are decided.

    Parameters
    ----------
    problem : RouteProblem
    record : bool
        Whether multipliers of closings are wanted.

    Attributes
    ----------
    mask : int array of shape (n,)
        BOTH for points whose side is open, 1 on the left, 2 on the right.
    score : float array of shape (n,)
        Scores of the points, once :meth:`look` was called.
    gain : float array of shape (n, 2)
        What is gained at least if an open point must go to a side.
    """

    def __init__(self, problem: RouteProblem, record: bool = False) -> None:
        n, m = problem.n_points, problem.X.shape[1] + 1
        # The root itself prefers no side: what the points cost is counted below it.
        free = problem._replace(
            cost=np.zeros((n, 2)), labels=np.arange(2), values=problem.values[:0]
        )
        self.mask = np.full(n, BOTH, dtype=np.int64)
        data = make_data(free, structure_of((0, 1)), self.mask.copy())
        self._data = data._replace(unavoidable=problem.unavoidable)
        self._rows, self._spare = make_rows(n, m, 1, 1), make_rows(n, m, 1, 1)
        self._lps = view_lps(self._rows, n, m, 1)
        look = make_look(n, m, 1)
        self._room = Room(
            look,
            np.zeros((1, 2 * n + m), dtype=np.int64),
            np.zeros((n + 63) // 64, dtype=np.uint64),
            np.zeros((1, 2 * (n + m))),
            np.zeros(0, dtype=np.int64),
            np.zeros((_CLOSINGS * (2 * n + m) * record, 3), dtype=np.int64),
            np.zeros((2 * n, 3), dtype=np.int64),
        )
        self.score, self.gain = look.score[0], look.gain[:, 0]
        self._rho, self._least = problem.rho, problem.least_split
        self.clear()

    @property
    def hyperplane(self) -> tuple[FloatArray, float]:
        """The coefficients and the threshold at hand, in units of the margin."""
        y = self._lps.y[0]
        return y[:-1].copy(), float(y[-1])

    def clear(self) -> None:
        """Forget the last steps, where rounding spoiled them."""
        _clear(self._lps)

    def keep(self) -> Kept:
        """Return a copy of the LP."""
        return Kept(*(memory[0].copy() for memory in self._rows))

    def bring_back(self, kept: Kept) -> None:
        """Make the LP what it was."""
        for memory, copy in zip(self._rows, kept, strict=True):
            memory[0] = copy

    def solve(self, enough: float) -> float:
        """Bring the LP up to date with the masks; return its value.

        Once it is enough it rises no further. Where points cannot be on their sides,
        multipliers would grow without limit, and prove nothing after rounding.
        """
        value = _solve(self._data, self._lps, self.mask, self._rho, enough)
        return max(value, self._least)

    def proved(self, threshold: float) -> float:
        """Return what the root costs at least in any tree cheaper than a threshold."""
        data, lps, room = self._data, self._lps, self._room
        return float(
            _proved(
                data, lps.q, lps, room, self._rho, self._least, threshold, self.mask
            )
        )

    def look(self) -> None:
        """Write the scores, and what points gain if they must go to a side."""
        _look(self._data, self._lps, self._room.look, self.mask, self._rho)

    def entries(self) -> IntArray:
        """Return points, kinds and multipliers by which :meth:`proved` closes."""
        room = self._room
        end = _write_entries(room.whole[0], self._lps.boxed[0], room.entry, 0)
        return np.asarray(room.entry[:end].copy())

    def close_sides(
        self, value: float, rest: float, threshold: float
    ) -> tuple[int, list[Closed]]:
        """Decide open points that have one side left; return how many they were.

        Returns -1 if a point has none. The closed sides are listed if they are
        recorded.

        Parameters
        ----------
        value : float
            Of the LP.
        rest : float
            What is proved of everything else.
        threshold : float
        """
        decided, n_notes = _close_sides(
            self._data, self._lps, self._room, self._rho, self._least,
            value, rest, threshold, self.mask,
        )  # fmt: skip
        closed, start = [], 0
        for point, side, end in self._room.note[:n_notes].tolist():
            closed.append(Closed(point, side, self._room.entry[start:end].copy()))
            start = end
        return int(decided), closed

    def try_side(
        self, point: int, side: int, enough: float, threshold: float
    ) -> tuple[float, IntArray]:
        """Return what is proved of the root if a point goes to a side, and why.

        The second answer is like that of :meth:`entries`, if they are recorded.
        """
        proved, end = try_side_kernel(
            self._data, self._lps, self._rows, self._spare, self._room,
            self._rho, self._least, enough, threshold, self.mask, point, side,
        )  # fmt: skip
        return float(proved), self._room.entry[:end].copy()


@njit(**KERNEL)
def _clear(lps: Lps) -> None:
    start_anew(lps)


@njit(**KERNEL)
def _solve(
    data: Data, lps: Lps, mask: IntArray, rho: float, enough: float
) -> float:  # fmt: skip
    follow_masks(data, lps, mask, rho)
    n, m = data.Z.shape
    return solve_split(data, lps, 0, rho, enough - value_of(lps.q[0], n, m, data.box))


@njit(**INNER)
def _closed(
    data: Data, q: FloatArray, lps: Lps, room: Room, rho: float, least_split: float,
    threshold: float, mask: IntArray,
) -> float:  # fmt: skip
    """Recount from the data what multipliers prove of the root."""
    return closing(
        data.Z, data.least, data.following, data.cheap, data.root_cost, data.C,
        data.distance, data.determined, rho, data.box, data.unavoidable, least_split,
        threshold, mask, room.no_use, q, lps.partner, lps.boxed, room.whole, room.used,
        len(mask), 1,
    )  # fmt: skip


@njit(**KERNEL)
def _proved(
    data: Data, q: FloatArray, lps: Lps, room: Room, rho: float, least_split: float,
    threshold: float, mask: IntArray,
) -> float:  # fmt: skip
    return _closed(data, q, lps, room, rho, least_split, threshold, mask)


@njit(**KERNEL)
def _look(data: Data, lps: Lps, look: Look, mask: IntArray, rho: float) -> None:
    write_scores(data.ZT, lps.y[0], look.score[0])
    prepare(data, lps, look, rho)
    look_ahead(
        data.ZT, data.C, data.cheap, data.determined, mask, lps.inverse, lps.q,
        lps.place, lps.sign, look.score, look.room, look.entry, look.reach,
        look.gain, look.step, look.loss,
    )  # fmt: skip


@njit(**KERNEL)
def _close_sides(
    data: Data, lps: Lps, room: Room, rho: float, least_split: float,
    value: float, rest: float, threshold: float, mask: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Close sides by one step of the LP each, as :func:`look_ahead` found them.

    Returns how many points are decided, -1 if one has no side left, and how many sides
    are noted. If there is no more room for these, other points have to wait.
    """
    n = len(mask)
    look, decided, n_notes, end = room.look, 0, 0, 0
    record = len(room.entry) > 0
    for i in range(n):
        if mask[i] != BOTH:
            continue
        if record and end + 2 * room.whole.shape[1] > len(room.entry):
            break
        for side in range(2):
            if max(value + look.gain[i, 0, side], least_split) + rest < threshold:
                continue
            for code in range(len(lps.q[0])):
                room.q[0, code] = lps.q[0, code]
            amount, s = look.step[i, 0, side], 2.0 * side - 1.0
            room.q[0, i] += min(amount, data.C[i])
            room.q[0, n + i] += max(0.0, amount - data.C[i])
            write_image(data.Z, lps.inverse, 0, i, look.image)
            for r in range(len(look.image)):
                room.q[0, lps.basis[0, r]] -= s * amount * look.image[r]
            before = mask[i]
            mask[i] = 1 << side
            proved = _closed(data, room.q, lps, room, rho, least_split, threshold, mask)
            mask[i] = before
            if proved + rest >= threshold:
                mask[i] = before & ~(1 << side)
                if record:
                    end = _write_entries(room.whole[0], lps.boxed[0], room.entry, end)
                    note = room.note[n_notes]
                    note[0], note[1], note[2] = i, side, end
                    n_notes += 1
            if mask[i] == 0:
                return -1, n_notes
        if mask[i] != BOTH:
            decided += 1
    return decided, n_notes


@njit(**UNCOUNTED_KERNEL)
def _write_entries(
    whole: IntArray, boxed: IntArray, entry: IntArray, end: int
) -> int:  # fmt: skip
    """Write points, kinds and multipliers of a closing from a row on."""
    m = len(boxed)
    n = (len(whole) - m) // 2
    for code in range(len(whole)):
        if whole[code] == 0:
            continue
        row = entry[end]
        if code < 2 * n:
            row[0], row[1] = code % n, MARGIN if code < n else HARD
        else:
            point, s = boxed_point(boxed[code - 2 * n])
            row[0], row[1] = point, BOX_LEFT if s > 0 else BOX_RIGHT
        row[2] = whole[code]
        end += 1
    return end


@njit(**KERNEL)
def try_side_kernel(
    data: Data, lps: Lps, rows: Rows, spare: Rows, room: Room, rho: float,
    least_split: float, enough: float, threshold: float, mask: IntArray,
    point: int, side: int,
) -> tuple[float, int]:  # fmt: skip
    """Solve the LP with one more point on a side, and recount it; note why."""
    copy_lps(rows, 0, spare, 0)
    mask[point] = 1 << side
    _solve(data, lps, mask, rho, enough)
    proved = _closed(data, lps.q, lps, room, rho, least_split, threshold, mask)
    end = 0
    if len(room.entry) > 0:
        end = _write_entries(room.whole[0], lps.boxed[0], room.entry, 0)
    mask[point] = BOTH
    copy_lps(spare, 0, rows, 0)
    return proved, end
