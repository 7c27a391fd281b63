"""Kernels that enumerate the splits of an arrangement with the fewest errors.

A node of the arrangement stands for many hyperplanes. The points whose sides it decides
cause some errors, wherever the others go. They bound the errors of its hyperplanes:

* One split of some points: branch and bound goes down the arrangement.
* Two levels: branch and bound goes over the splits of the root. A node sends some
  points left, others right, and leaves the rest open. Its bound is the fewest errors of
  one split of the left points, plus those of one split of the right points. As long as
  two splits known before (the witnesses) make few enough errors, none is computed.

Errors are whole numbers of a unit of weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.proof.arrangement import EMPTY, LEAF, Arrangement, words_of
from miptree.proof.state import EXHAUSTED, FULL, PAUSED
from miptree.utils.arrays import BoolArray, IntArray, WordArray
from miptree.utils.jit import KERNEL, UNCOUNTED_KERNEL

_MOST_FOUND = 1000
"""Splits found after which a search gives up, its target being too high."""


class ClassBits(NamedTuple):
    """Weights of the points, class by class, bit by bit.

    Attributes
    ----------
    bits : (k,) uint64
        Points of a word whose weight in a class has a bit set.
    word, shift : (k,)
        Which word, and which bit of the weight.
    start : (Y + 1,)
        Where each class begins.
    """

    bits: WordArray
    word: IntArray
    shift: WordArray
    start: IntArray


class RootSearch(NamedTuple):
    """State of a search over the splits of the root; one entry per level."""

    node: IntArray
    tried: IntArray
    fewest: IntArray
    """(levels, 2): errors of every split on the left and on the right."""
    witness: IntArray
    """(levels, 2): splits that made few errors there."""
    found: IntArray
    """Leaves of the arrangement that make fewer errors than the target."""
    at: IntArray
    """(3,): level, whether it has just been entered, and number found."""


def pack(points: BoolArray) -> WordArray:
    """Return points as bits of words."""
    padded = np.zeros(64 * words_of(len(points)), dtype=np.bool_)
    padded[: len(points)] = points
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)


def class_bits(units: IntArray) -> ClassBits:
    """Return the bits of the weights (points, classes) in units."""
    bits, start = [], [0]
    for c in range(units.shape[1]):
        for shift in range(int(units[:, c].max(initial=0)).bit_length()):
            words = pack((units[:, c] >> shift & 1).astype(np.bool_))
            bits += [(words[w], w, shift) for w in np.flatnonzero(words)]
        start.append(len(bits))
    columns = list(zip(*bits, strict=True)) or [(), (), ()]
    return ClassBits(
        np.array(columns[0], dtype=np.uint64),
        np.array(columns[1], dtype=np.int64),
        np.array(columns[2], dtype=np.uint64),
        np.array(start),
    )


def begin_roots(n_points: int, node: int) -> RootSearch:
    """Make the state of a fresh search over the splits of a node."""
    levels = n_points + 2

    def zeros(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    roots = RootSearch(
        node=zeros(levels),
        tried=zeros(levels),
        fewest=zeros(levels, 2),
        witness=zeros(levels, 2),
        found=zeros(_MOST_FOUND),
        at=np.array([0, 1, 0]),
    )
    roots.node[0] = node
    return roots


@njit(**KERNEL)
def _n_bits(x: np.uint64) -> np.uint64:
    """Count the bits set: sums of pairs, of fours, of bytes, and of all bytes."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    low = x & np.uint64(0x3333333333333333)
    x = low + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(**UNCOUNTED_KERNEL)
def errors_of(a: Arrangement, node: int, inside: WordArray, classes: ClassBits) -> int:
    """Return the errors of the best classes among the points that a node decides."""
    errors = np.uint64(0)
    for side in range(2):
        best = np.uint64(0)
        for c in range(len(classes.start) - 1):
            weight = np.uint64(0)
            for k in range(classes.start[c], classes.start[c + 1]):
                w = classes.word[k]
                there = a.side[node, side, w] & inside[w] & classes.bits[k]
                weight += _n_bits(there) << classes.shift[k]
            errors += weight
            best = max(best, weight)
        errors -= best
    return int(errors)


@njit(**UNCOUNTED_KERNEL)
def _decides(a: Arrangement, node: int, inside: WordArray) -> bool:
    """Tell whether a node leaves none of these points open."""
    for w in range(len(inside)):
        if inside[w] & ~(a.side[node, 0, w] | a.side[node, 1, w]):
            return False
    return True


@njit(**UNCOUNTED_KERNEL)
def fewest_of_a_split(
    a: Arrangement,
    inside: WordArray,
    classes: ClassBits,
    limit: int,
    witness: int,
    stack: IntArray,
) -> tuple[int, int]:
    """Return (errors, node) of the best split of some points.

    It is (limit, -1) if no split has fewer errors than the limit. The witness, where it
    is a leaf, is the first split that is tried. The stack is room for the search.
    """
    stack[0], height = 0, 1
    best, found = limit, -1
    if a.right[witness] == LEAF:
        errors = errors_of(a, witness, inside, classes)
        if errors < limit:
            best, found = errors, witness
    while height:
        height -= 1
        node = stack[height]
        if a.right[node] == EMPTY:
            continue
        errors = errors_of(a, node, inside, classes)
        if errors >= best:
            continue
        if a.right[node] == LEAF or _decides(a, node, inside):
            best, found = errors, node
        else:
            stack[height], stack[height + 1] = node + 1, a.right[node]
            height += 2
    return best, found


@njit(**KERNEL)
def splits_below(
    a: Arrangement, inside: WordArray, classes: ClassBits, limit: int, out: IntArray
) -> int:
    """Write into ``out`` the nodes that decide some points with few enough errors.

    Returns their number, or -1 if they are too many for ``out``.
    """
    stack, height, n_out = np.zeros(64 * len(inside) + 2, np.int64), 1, 0
    while height:
        height -= 1
        node = stack[height]
        if a.right[node] == EMPTY or errors_of(a, node, inside, classes) >= limit:
            continue
        if a.right[node] == LEAF or _decides(a, node, inside):
            if n_out == len(out):
                return -1
            out[n_out] = node
            n_out += 1
        else:
            stack[height], stack[height + 1] = node + 1, a.right[node]
            height += 2
    return n_out


@njit(**UNCOUNTED_KERNEL)
def _some_leaf(a: Arrangement, node: int) -> int:
    """Return the leftmost leaf below a node."""
    while a.right[node] >= 0:
        node += 1
    return node


@njit(**UNCOUNTED_KERNEL)
def _is_promising(
    a: Arrangement,
    r: RootSearch,
    level: int,
    classes: ClassBits,
    target: int,
    stack: IntArray,
) -> bool:
    """Tell whether splits of a node may make fewer errors than the target.

    Writes what is known of them to the level below.
    """
    node = r.node[level]
    if a.right[node] == EMPTY:
        return False
    fewest, witness = r.fewest[level + 1], r.witness[level + 1]
    total, is_known = 0, True
    for side in range(2):
        fewest[side], witness[side] = r.fewest[level, side], r.witness[level, side]
        is_known &= a.right[witness[side]] == LEAF
        total += errors_of(a, witness[side], a.side[node, side], classes)
    if is_known and total < target:
        return True
    for side in range(2):
        limit = target - fewest[1 - side]
        errors, split = fewest_of_a_split(
            a, a.side[node, side], classes, limit, witness[side], stack
        )
        if split < 0:
            return False
        fewest[side], witness[side] = errors, _some_leaf(a, split)
    return True


@njit(**KERNEL)
def search_roots(
    a: Arrangement, r: RootSearch, classes: ClassBits, target: int, max_nodes: int
) -> int:
    """Search on for splits of the root with fewer errors than a target.

    Returns EXHAUSTED when all of them are in ``r.found``, PAUSED after some nodes, or
    FULL if there are too many.
    """
    stack = np.zeros(len(r.node) + 2, np.int64)
    done = 0
    while True:
        level = r.at[0]
        node = r.node[level]
        if r.at[1]:
            if done == max_nodes:
                return PAUSED
            done += 1
            r.at[1], r.tried[level] = 0, 2
            if _is_promising(a, r, level, classes, target, stack):
                if a.right[node] != LEAF:
                    r.tried[level] = 0
                elif r.at[2] == len(r.found):
                    return FULL
                else:
                    r.found[r.at[2]] = node
                    r.at[2] += 1
        if r.tried[level] < 2:
            r.node[level + 1] = node + 1 if r.tried[level] == 0 else a.right[node]
            r.tried[level] += 1
            r.at[0], r.at[1] = level + 1, 1
        elif level == 0:
            return EXHAUSTED
        else:
            r.at[0] = level - 1
