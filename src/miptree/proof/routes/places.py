"""Where an entry of a trace belongs, in kernels: point, split, kind and partner."""

from __future__ import annotations

from numba import njit

from miptree.proof.routes.jit import SMALL
from miptree.proof.routes.trace import (
    KIND_BIT,
    N_KINDS,
    PARTNER_BIT,
    POINT_BITS,
    SPLIT_BIT,
    SPLIT_BITS,
)


@njit(**SMALL)
def place_of(point: int, split: int, kind: int, partner: int) -> int:
    """Return where an entry belongs as one whole number."""
    return point | (partner + 1) << PARTNER_BIT | split << SPLIT_BIT | kind << KIND_BIT


@njit(**SMALL)
def point_of(place: int) -> int:
    """Return the point of an entry."""
    return place & POINT_BITS


@njit(**SMALL)
def key_of(place: int, n: int) -> int:
    """Return a number for the point, split and kind of an entry among n points."""
    split, kind = place >> SPLIT_BIT & SPLIT_BITS, place >> KIND_BIT
    return (split * N_KINDS + kind) * n + (place & POINT_BITS)


@njit(**SMALL)
def without_partner(place: int) -> int:
    """Return the same without a partner."""
    return place & ~(POINT_BITS << PARTNER_BIT)
