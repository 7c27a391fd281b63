"""All splits of the root tried once more, with all that a stranger needs to check it.

The search is that of :mod:`root_search`, node by node. What it notes in its journal is
made a proof for each choice of classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.proof.all_roots import Choice, Pair, begin_choice, choices_of
from miptree.proof.all_splits import in_units
from miptree.proof.choice_recording import ChoiceRecorder
from miptree.proof.near_pairs import NotShown, TooFew
from miptree.proof.root_search import MOST_CONFLICTS, advance_roots
from miptree.proof.side_lemmas import Record
from miptree.proof.side_proofs import SideProof
from miptree.proof.space import Space
from miptree.proof.state import EXHAUSTED, FOUND, PAUSED

MOST_BYTES = 1 << 29
"""Size of all pairs and lemmas: they are held in memory until they are written."""
_MOST_CLASSES = 12
_SAME = 1e-6
"""Part of a unit by which errors allowed are below those proved."""


class RecordedRoots(NamedTuple):
    """The search of all splits of the root.

    Attributes
    ----------
    lines : list of str
        Lines of the file.
    errors : float
        Errors that they prove of every tree.
    """

    lines: list[str]
    errors: float


def record_roots(
    problem: Problem,
    space: Space,
    errors: float,
    *,
    clock: Clock,
    max_nodes: int | None = None,
) -> RecordedRoots | None:
    """Prove by all splits of the root that every tree makes so many errors.

    Where the search cannot exclude trees with fewer errors, it proves as many as these
    have. Returns None where that is not possible in the time, the nodes or the room
    given.

    Parameters
    ----------
    problem : Problem
    space : Space
        One that :func:`miptree.proof.all_roots.can_try_roots` accepts.
    errors : float
        Errors to prove: the next sum of weights counts.
    clock : Clock
        Ends the recording.
    max_nodes : int, optional
        Limit on the nodes of the search.
    """
    present = np.unique(problem.y)
    if not 1 < len(present) <= _MOST_CLASSES:
        return None
    recorder = _Recorder(problem, space, errors, clock, max_nodes)
    proofs = []
    try:
        for labels in choices_of(present):
            # Proofs of earlier choices hold for fewer errors as well.
            proof = recorder.prove(labels)
            if proof is not None:
                proofs.append((labels, proof))
    except NotShown:
        return None
    if recorder.record.allowed < 0:
        return None
    return RecordedRoots(list(_lines(recorder.record, proofs)), recorder.proved)


class _Recorder:
    """Searches all choices of classes, node by node."""

    def __init__(
        self,
        problem: Problem,
        space: Space,
        errors: float,
        clock: Clock,
        max_nodes: int | None,
    ) -> None:
        self.problem, self.space = problem, space
        self.clock, self.nodes_left = clock, max_nodes
        unit, self.units = in_units(problem.weight)
        allowed = int(np.ceil(errors / unit - _SAME)) - 1
        source = problem.source
        names = np.arange(problem.n_rows) if source is None else source
        self.record = Record(names.tolist(), self.units.tolist(), unit, allowed)

    @property
    def proved(self) -> float:
        """Errors that are proved once all choices are."""
        return (self.record.allowed + 1) * self.record.unit

    def prove(self, labels: tuple[Pair, Pair]) -> SideProof | None:
        """Prove it of trees of some classes; None if too many rows have others.

        Fewer errors are proved from now on, where trees of these classes have them.
        """
        while True:
            try:
                return self._prove(labels)
            except TooFew as found:
                self.record.allowed = min(found.errors, self.record.allowed) - 1

    def _prove(self, labels: tuple[Pair, Pair]) -> SideProof | None:
        n, d = self.space.X.shape
        n_words = 3 * (MOST_CONFLICTS + n) * (d + 4) + n * (2 * d + 20) + 1000
        choice = begin_choice(self.space.X, self.problem.y, self.units, labels, n_words)
        if choice.lost > self.record.allowed:
            return None
        recorder = ChoiceRecorder(self.record, choice)
        is_over = False
        while not is_over:
            is_known = recorder.enter()
            is_over, words = self._advance(choice, not is_known)
            if not is_known:
                recorder.read(words)
        return recorder.proof()

    def _advance(self, choice: Choice, is_searched: bool) -> tuple[bool, list[int]]:
        """Search a node, or leave it out; return whether it was the last, and notes."""
        roots, journal = choice.roots, choice.conflicts.journal
        if is_searched:
            self._spend()
        else:
            level = roots.at[0]
            roots.began[level] = choice.root.size[0, 0]
            roots.n_tried[level], roots.at[1] = 2, 0
        journal.n_words[0] = 0
        outcome, _ = advance_roots(
            choice.root,
            choice.conflicts,
            roots,
            self.record.allowed - choice.lost,
            self.space.min_distance,
            self.space.min_distance_moved(len(self.space.X)),
            int(is_searched),
        )
        if outcome == FOUND:
            raise TooFew(choice.lost + int(roots.at[2]))
        n_words = int(journal.n_words[0])
        if outcome not in (EXHAUSTED, PAUSED) or n_words > len(journal.words):
            raise NotShown
        return outcome == EXHAUSTED, journal.words[:n_words].tolist()

    def _spend(self) -> None:
        """Count a node, if there is time and room for it."""
        if self.nodes_left is not None:
            self.nodes_left -= 1
        is_spent = self.nodes_left is not None and self.nodes_left < 0
        if is_spent or self.clock.is_over or self.record.n_bytes > MOST_BYTES:
            raise NotShown


def _lines(
    record: Record, proofs: list[tuple[tuple[Pair, Pair], SideProof]]
) -> Iterator[str]:
    """Give the lines of the file, without what no proof refers to."""
    pairs: set[int] = set()
    lemmas: set[int] = set()
    for _, proof in proofs:
        for one in proof.all():
            pairs.update(one.pairs)
            lemmas.update(one.lemmas)
    for number in reversed(range(len(record.lemmas))):
        if number in lemmas:
            pairs |= record.lemmas[number].pairs
            lemmas |= record.lemmas[number].lemmas
    yield from (record.pairs.all[number].line for number in sorted(pairs))
    yield from (record.lemmas[number].line for number in sorted(lemmas))
    for (left, right), proof in proofs:
        most = record.most(record.allowed)
        yield f'["choice",{list(left)},{list(right)},{most}]\n'
        yield from (one.line for one in proof.all())
