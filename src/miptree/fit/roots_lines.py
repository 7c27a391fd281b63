"""The proof of a search by root as lines of a proof file: lemmas, then the sides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from miptree.fit.proof_log import line
from miptree.fit.trace_lines import KIND, n_lines_of, structure_lines
from miptree.proof.routes.by_root.proofs import Branch, Closing, RootsProof
from miptree.utils.arrays import IntArray


def roots_lines(proof: RootsProof, number: IntArray) -> Iterator[str]:
    """Write the lemmas that the proof refers to, and the tree of the root's sides.

    Parameters
    ----------
    proof : RootsProof
    number : int array of shape (n,)
        What each point is called in the file.
    """
    place: dict[int, int] = {}
    for lemma in proof.lemmas():
        place[id(lemma)] = len(place)
        names = number[lemma.points]
        yield line(["lemma", names[lemma.is_needed].tolist(), lemma.value])
        yield from structure_lines(lemma.proofs, names)
    yield line(["roots"])
    yield line(["f", int(number[proof.fixed])])
    for event in proof.events():
        if isinstance(event, Branch):
            yield line(["b", int(number[event.point]), *event.masks])
        else:
            lemmas = [-1 if one is None else place[id(one)] for one in event.lemmas]
            yield line(["r", lemmas, _entries(event, number)])


def n_roots_lines(proof: RootsProof) -> int:
    """Return how many lines these are."""
    lemmas = proof.lemmas()
    of_lemmas = sum(1 + n_lines_of(lemma.proofs) for lemma in lemmas)
    return of_lemmas + 2 + sum(1 for _ in proof.events())


def _entries(closing: Closing, number: IntArray) -> list[int]:
    """Return the multipliers of the root as a flat list, four numbers for an entry."""
    point, kind, q = closing.entries.T
    split = np.zeros_like(q)
    table = np.column_stack([split, KIND[kind], number[point], q])
    flat: list[int] = table.ravel().tolist()
    return flat
