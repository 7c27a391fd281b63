"""What multipliers show that a tree costs, for many branches of a proof at a time.

At a branch every point i has a set of leaves that it may come to. It costs at least
``cmin``, its cheapest class there, and C_i * h at every split that all of these leaves
pass on the same side, s. For multipliers 0 <= q <= C_i of h >= 1 - s * z, and q >= 0 of
s * z >= 0 (the point is on that side) and of abs(z) <= 1/margin (the box), a split
(a, t) of norm at most A and abs(t) at most S costs at least

    sum of value * q  -  A * max_j max(0, abs(sum of s * q * x_j) - rho)
                      -  S * abs(sum of s * q),

value being 1, 0 and -1/margin, and j going through the features that the split may use
(``uses.py``). A is what T leaves for norms: (T - sum of cmin) / rho, and S is
A + 1/margin, as scores and features are at most 1/margin and 1. For
rho * norm + sum of C_i * h is not less than
sum of value * q + rho * norm - a.(sum of s * q * x) + t * (sum of s * q). To these
multipliers come those of envelopes (``envelopes.py``), with caps of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..values import Refused, TooMuch
from .batches import Batch
from .envelopes import Envelopes
from .numbers import SMALL, Numbers
from .structures import Structure

MARGIN, HARD, BOX_LEFT, BOX_RIGHT = range(4)
MOST_Q, MOST_SUM = 1 << 52, 1 << 62
"""Multipliers are exact as float64, and their sums as int64."""
MOST_NUMBERS = 1 << 26
"""Entries of a split times columns: some copies of them are held."""


class _Terms(NamedTuple):
    """Multipliers with their sides, and what they are of."""

    node: np.ndarray
    split: np.ndarray
    point: np.ndarray
    side: np.ndarray
    q: np.ndarray
    is_margin: np.ndarray
    is_box: np.ndarray

    def of(self, split: int) -> _Terms:
        """Return those of a split."""
        chosen = self.split == split
        return _Terms(*(column[chosen] for column in self))


def lemma_values(
    numbers: Numbers, structure: Structure, exponent: int, batch: Batch
) -> np.ndarray:
    """Return (nodes, splits): what each split costs at least by its multipliers."""
    terms = _plain_terms(numbers, structure, exponent, batch)
    found = [np.zeros((0, batch.n_nodes))]
    for split in range(structure.n_splits):
        found.append(_values(numbers, exponent, batch, split, terms.of(split))[None])
    return np.concatenate(found).T


def closing_values(
    numbers: Numbers,
    structure: Structure,
    exponent: int,
    batch: Batch,
    known: np.ndarray,
) -> np.ndarray:
    """Return (nodes,): what trees cost at least, if their objective is below T.

    ``known`` is what each split is known to cost, of shape (nodes, splits). Envelopes
    may use what the splits of higher numbers turn out to cost.
    """
    plain = _plain_terms(numbers, structure, exponent, batch)
    envelopes = Envelopes(numbers, structure, batch)
    known = known.copy()
    for split in reversed(range(structure.n_splits)):
        more = _envelope_terms(envelopes, exponent, known)
        both = zip(plain.of(split), more.of(split), strict=True)
        terms = _Terms(*(np.concatenate(columns) for columns in both))
        value = _values(numbers, exponent, batch, split, terms)
        known[:, split] = np.maximum(known[:, split], value)
    total = known.sum(axis=1) + batch.base * numbers.unit + batch.rest
    return np.asarray(total * (1 - SMALL))


def _plain_terms(
    numbers: Numbers, structure: Structure, exponent: int, batch: Batch
) -> _Terms:
    """Check the entries that are no envelopes, and cut multipliers to their caps."""
    node, split, kind, point, q, leaves = batch.plain
    is_box = kind >= BOX_LEFT
    side = structure.common[leaves, split].astype(np.int64)
    side[is_box] = np.where(kind == BOX_LEFT, 1, -1)[is_box]
    if (side == 0).any():
        raise Refused("An entry of the proof file names a split that is still open.")
    is_margin = kind == MARGIN
    cap = np.where(is_margin, _whole(numbers.slack[point], exponent), MOST_Q)
    return _Terms(node, split, point, side, np.minimum(q, cap), is_margin, is_box)


def _envelope_terms(given: Envelopes, exponent: int, known: np.ndarray) -> _Terms:
    q = np.minimum(given.q, _whole(given.caps(known), exponent))
    yes = np.ones(len(q), dtype=bool)
    return _Terms(given.node, given.split, given.point, given.side, q, yes, ~yes)


def _values(
    numbers: Numbers, exponent: int, batch: Batch, split: int, terms: _Terms
) -> np.ndarray:
    """Return (nodes,): the formula above for a split, rounded down; -inf if unused."""
    found = np.full(batch.n_nodes, -np.inf)
    if len(terms.node) == 0:
        return found
    if len(terms.node) * numbers.x.shape[1] > MOST_NUMBERS:
        raise TooMuch("A split has too many entries in a closing.")
    _check_once(terms, batch.n_points)
    order = np.argsort(terms.node, kind="stable")
    starts = np.flatnonzero(np.diff(terms.node[order], prepend=-1))
    size = np.diff(starts, append=len(order))

    def summed(values: np.ndarray) -> np.ndarray:
        return np.asarray(np.add.reduceat(values[order], starts, axis=0))

    if summed(terms.q.astype(np.float64)).max() > MOST_SUM:
        raise Refused("Multipliers of the proof file are too large.")
    unit = 2.0**-exponent
    signed = terms.side * terms.q
    moment = summed(signed[:, None] * numbers.x[terms.point]) * unit
    balance = np.abs(summed(signed)) * unit
    everything = summed(terms.q) * unit
    won = summed(terms.q * terms.is_margin) * unit
    boxed = summed(terms.q * terms.is_box) * unit * numbers.box
    rounding = (size + 16) * 2.0**-52 * everything
    nodes = terms.node[order][starts]
    moment = np.abs(moment)
    left_out = batch.left_out(nodes, split, numbers.x.shape[1])
    if left_out is not None:
        moment[left_out] = 0.0
    moment = moment.max(axis=1, initial=0.0) + rounding
    norm = _largest_norm(numbers, batch.base[nodes] * numbers.unit)
    lost = norm * np.maximum(moment - numbers.rho, 0.0)
    lost += (norm + numbers.box) * (1 + SMALL) * balance + boxed
    found[nodes] = won - lost - SMALL * (won + lost)
    return found


def _largest_norm(numbers: Numbers, base: np.ndarray) -> np.ndarray:
    """Return (nodes,): how large norms can be, where classes cost so much already."""
    left = numbers.threshold - base + SMALL * (numbers.threshold + base)
    norm = np.maximum(left, 0.0) / numbers.rho * (1 + SMALL)
    return np.minimum(norm, numbers.norm)


def _check_once(terms: _Terms, n_points: int) -> None:
    """Refuse two entries for one margin: a point pays it once."""
    key = (terms.node * n_points + terms.point)[terms.is_margin]
    if len(np.unique(key)) < len(key):
        raise Refused("A margin of a point is used twice in a closing.")


def _whole(cap: np.ndarray, exponent: int) -> np.ndarray:
    """Return caps in units of multipliers, rounded down."""
    return np.minimum(np.floor(cap * 2.0**exponent), MOST_Q).astype(np.int64)
