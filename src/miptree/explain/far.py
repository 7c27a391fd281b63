"""The nearest change of rows with numbers far outside the ranges of their columns.

A program that weighs a jump of a million ranges against steps within one has no digits
left for the steps. So it is chosen first which of these numbers come back into their
ranges, the cheapest choice first, and programs see numbers in or near a range only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import inf

from miptree.data.limits import Limits
from miptree.explain.moves import Move
from miptree.explain.nearest import Flip, Router, nearest_flip
from miptree.explain.program import Row, Way
from miptree.export.readable import Leaf

_FAR = 1.0
"""Ranges outside its own beyond which a number is far."""
_MOST_CHOSEN = 6
"""Far numbers of which every choice is tried; of more, up to two of them, and all."""

MovesOf = Callable[[Row, Collection[int]], list[Move]]
"""What of a row may change where some columns are kept."""


@dataclass(frozen=True)
class FarNumber:
    """A number far outside the range of its column.

    Attributes
    ----------
    end : float
        The end of the range that it comes back to.
    cost : float
        What that costs.
    """

    end: float
    cost: float


def far_numbers(
    row: Row, limits: Mapping[int, Limits], weights: Mapping[int, float]
) -> dict[int, FarNumber]:
    """Find the numbers of a row that are far outside the ranges of their columns.

    Parameters
    ----------
    row : sequence of Value
    limits : mapping from int to Limits
        Of the numeric columns that may change.
    weights : mapping from int to float
        What the cost of a column is multiplied by, 1 if it is not there.
    """
    found = {}
    for j, known in limits.items():
        cell = row[j]
        if cell is None:
            continue
        number, ends = float(cell), known.inside()
        end = min(max(number, ends.low), ends.high)
        far = abs(number - end) / known.width
        if far > _FAR:
            found[j] = FarNumber(end, weights.get(j, 1.0) * far)
    return found


def nearest_from_afar(
    router: Router,
    ways: Sequence[tuple[Leaf, Way]],
    moves_of: MovesOf,
    row: Row,
    far: Mapping[int, FarNumber],
) -> Flip:
    """Find the cheapest change of a row that leads to one of some leaves.

    Parameters
    ----------
    router : Router
    ways : sequence of (Leaf, Way)
        The leaves, and the splits that lead there.
    moves_of : callable
        What of a row may change where some columns are kept.
    row : sequence of Value
    far : mapping from int to FarNumber
        Its numbers far outside their ranges.
    """
    best, is_sure = Flip(None, inf, True), len(far) <= _MOST_CHOSEN
    for chosen in _choices(far):
        entry = _entry_cost(far, chosen)
        if best.row is not None and entry >= best.cost:
            break
        back = [far[j].end if j in chosen else cell for j, cell in enumerate(row)]
        moves = moves_of(back, far.keys() - chosen)
        flip = nearest_flip(router, ways, moves, back)
        is_sure &= flip.is_sure
        cost = entry + flip.cost
        if flip.row is not None and (best.row is None or cost < best.cost):
            best = replace(flip, cost=cost)
    return replace(best, is_sure=is_sure)


def _choices(far: Mapping[int, FarNumber]) -> list[frozenset[int]]:
    """List which of the far numbers may come back, the cheapest choice first."""
    n_far = len(far)
    sizes: Iterable[int] = range(n_far + 1)
    if n_far > _MOST_CHOSEN:
        sizes = (0, 1, 2, n_far)
    chosen = chain.from_iterable(combinations(far, size) for size in sizes)
    return sorted(map(frozenset, chosen), key=lambda some: _entry_cost(far, some))


def _entry_cost(far: Mapping[int, FarNumber], chosen: Collection[int]) -> float:
    """Return what it costs that some of the far numbers come back."""
    return sum((far[j].cost for j in sorted(chosen)), start=0.0)
