"""The proof of a choice of classes, made of what a search notes node by node."""

from __future__ import annotations

from collections.abc import Sequence

from miptree.proof.all_roots import Choice
from miptree.proof.choice_nodes import Node
from miptree.proof.journal import (
    ANSWERED,
    ASKED,
    BOTH,
    CLOSED,
    DECIDED,
    NEITHER,
    WHOLE_TREE,
)
from miptree.proof.near_pairs import NotShown, TooFew, Words
from miptree.proof.side_lemmas import Question, Record
from miptree.proof.side_proofs import SideProof, divided, mirrored


class ChoiceRecorder:
    """Makes a proof of the notes of a search.

    Parameters
    ----------
    record : Record
    choice : Choice
        A search that is about to begin. Points of this class are rows.
    """

    def __init__(self, record: Record, choice: Choice) -> None:
        self.record, self.choice = record, choice
        self.rows: list[int] = choice.rows.tolist()
        self.has_leaf = [
            {self.rows[p] for p, side in enumerate(own.tolist()) if side}
            for own in choice.roots.wanted
        ]
        self.nodes: list[Node] = []

    @property
    def allowed(self) -> int:
        """Errors allowed of the rows whose class has a leaf."""
        return self.record.allowed - self.choice.lost

    def enter(self) -> bool:
        """Begin the next node; return whether it need not be searched."""
        roots = self.choice.roots
        level = int(roots.at[0])
        self._finish(level)
        if level == 0:
            self.nodes.append(Node())
            return False
        above = self.nodes[-1]
        point = int(roots.chosen[level - 1])
        side, i = int(self.choice.root.place[point]), self.rows[point]
        node = Node(above)
        self.nodes.append(node)
        self._join(node, i, side, above.lemma[side])
        if side == 1 and 0 in above.cases and not above.cases[0].needs(i, 0):
            node.closed = above.cases[0]  # which holds whatever the side of the point
        return node.closed is not None

    def proof(self) -> SideProof:
        """Return the proof, once the search has ended."""
        proof = self._finish(0)
        if self.choice.roots.is_symmetric:
            proof = proof._replace(cases=proof.cases[:1])
        return proof

    # -------------------------------------------------------------- a node is done

    def _finish(self, level: int) -> SideProof:
        """Finish the nodes from a level on; return the proof of the last one."""
        proof = SideProof(0, 0, "")
        while len(self.nodes) > level:
            node = self.nodes.pop()
            proof = self._made(node)
            if self.nodes:
                above = self.nodes[-1]
                side = len(above.cases)
                above.cases[side] = proof
        return proof

    def _made(self, node: Node) -> SideProof:
        """Return the proof of a node whose cases are done."""
        proof = node.closed
        if proof is None:
            if node.point is None:
                raise NotShown
            proof = self._divided(node.point, node.cases)
        for i, side, closed in reversed(node.steps):
            cases = (proof, closed) if side == 0 else (closed, proof)
            proof = divided(i, self.record.names[i], *cases)
        return proof

    def _divided(self, i: int, cases: dict[int, SideProof]) -> SideProof:
        name = self.record.names[i]
        if self.choice.roots.is_symmetric and not self.nodes:
            return mirrored(i, name, cases[0])
        return divided(i, name, cases[0], cases[1])

    # ---------------------------------------------------------------- a node's notes

    def read(self, notes: list[int]) -> None:
        """Read what the search of the last node noted."""
        node = self.nodes[-1]
        words = Words(notes, self.rows, self.record.pairs)
        asked: list[int | None] = [None, None]
        while not words.is_at_end and node.closed is None and node.point is None:
            kind = words.take()
            if kind == CLOSED:
                self._close(node, words)
            elif kind == ASKED:
                self._answer(node, words, asked)
            elif kind == DECIDED:
                self._decide(node, words, asked)
                asked = [None, None]
            else:
                raise NotShown
        if node.closed is None and node.point is None:
            node.closed = self._costs_too_much(node)

    def _close(self, node: Node, words: Words) -> None:
        """Read that a point cannot be on a side."""
        point, closed = words.take(), dict[int, SideProof]()
        while True:
            side = words.take()
            closed[side] = self._too_near(words.pair(is_moved=True))
            if not words.next_is(CLOSED, point):
                break
            words.at += 2
        i = self.rows[point]
        if len(closed) == 2:
            node.closed = divided(i, self.record.names[i], closed[0], closed[1])
            return
        ((side, why),) = closed.items()
        self._step(node, i, 1 - side, why, None)

    def _too_near(self, number: int) -> SideProof:
        pair = self.record.pairs.all[number]
        return SideProof(pair.left, pair.right, f'["x",{number}]\n', (), (number,))

    def _answer(self, node: Node, words: Words, asked: list[int | None]) -> None:
        """Read a question, and what its answer shows."""
        side, point = words.take(), words.take()
        if not words.next_is(ANSWERED):
            return
        if side == WHOLE_TREE:
            node.closed = self._whole_tree(node, words)
        else:
            number = self.record.lemma(words, node.known[side])
            if node.is_placed(self.rows[point]):
                node.known[side].append(number)
            else:
                asked[side] = number

    def _decide(self, node: Node, words: Words, asked: Sequence[int | None]) -> None:
        """Read what becomes of a point that was in question."""
        i, side = self.rows[words.take()], words.take()
        if side == BOTH:
            node.point, node.lemma = i, list(asked)
            return
        closed = {k: self._case(node, i, k, asked[k]) for k in (0, 1) if k != side}
        if side == NEITHER:
            node.closed = divided(i, self.record.names[i], closed[0], closed[1])
        else:
            self._step(node, i, side, closed[1 - side], asked[side])

    def _case(self, node: Node, i: int, side: int, lemma: int | None) -> SideProof:
        """Return why a point cannot come to a side."""
        inside = Node(node)
        self._join(inside, i, side, lemma)
        return self._costs_too_much(inside)

    def _step(
        self, node: Node, i: int, side: int, why: SideProof, lemma: int | None
    ) -> None:
        node.steps.append((i, side, why))
        self._join(node, i, side, lemma)

    def _join(self, node: Node, i: int, side: int, lemma: int | None) -> None:
        """Put a point on a side."""
        node.on[side] |= 1 << i
        if i not in self.has_leaf[side]:
            node.lost.append((i, side))
        elif lemma is not None:
            node.known[side].append(lemma)

    # -------------------------------------------------------------- too many errors

    def _costs_too_much(self, node: Node) -> SideProof:
        """Return that the two sides make too many errors."""
        sums = [0, *(self.record.units[i] for i, _ in node.lost)]
        lost = sum(sums)
        last = [side[-1] if side else None for side in node.known]
        for left, right in ((None, None), (last[0], None), (None, last[1]), last):
            lemmas = [k for k in (left, right) if k is not None]
            shown = sum(self.record.lemmas[k].errors for k in lemmas)
            if shown + lost > self.allowed:
                break
        else:
            raise TooFew(shown + lost + self.choice.lost)
        on = [0 if k is None else self.record.lemmas[k].points for k in (left, right)]
        for i, side in node.lost:
            if shown > self.allowed:
                break
            on[side] |= 1 << i
            shown += self.record.units[i]
        names = ",".join("null" if k is None else str(k) for k in (left, right))
        return SideProof(on[0], on[1], f'["e",{names}]\n', (), (), tuple(lemmas))

    def _whole_tree(self, node: Node, words: Words) -> SideProof:
        """Return that the three splits make too many errors together."""
        lost = sum(self.record.units[i] for i, _ in node.lost)
        allowed = self.allowed - lost
        words.answer()
        shown = Question(words, self.record.units, [], allowed).shown()
        on = [0, 0]
        for i, side in node.lost:
            on[side] |= 1 << i
        for number in shown.pairs:
            pair = self.record.pairs.all[number]
            for side in (0, 1):
                on[side] |= (pair.left | pair.right) & node.on[side]
        most = self.record.most(allowed)
        return SideProof(
            on[0], on[1], f'["t",{most},{shown.words}]\n', (), tuple(shown.pairs)
        )
