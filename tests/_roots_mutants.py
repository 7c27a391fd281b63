"""Mutants of proof files of errors by all splits of the root."""

import copy

from _errors_mutants import Mutator


class RootsMutator(Mutator):
    """Change a proof of the sides of the root at random."""

    KINDS = ("near", "lemma", "choice", "p", "x", "e", "t", "w", "h")
    WAYS = (
        "number multipliers line order cut header limit "
        "near case case most most known choice ending point side"
    )
    ENDS = ("p", "x", "e", "t")

    def multipliers(self, lines):
        """Make one multiplier of a pair many times larger or smaller."""
        line = self.some(lines, ("near",))
        if line is not None:
            side = line[2 + int(self.rng.integers(2))]
            k = 1 + 2 * int(self.rng.integers(len(side) // 2))
            side[k] = max(1, int(side[k] * self.pick([0.1, 0.9, 1.1, 10])))

    def near(self, lines):
        """Move a point of a pair to the other side, drop it, or swap names of pairs."""
        line, other = self.some(lines, ("near",)), self.some(lines, ("near",))
        if line is None:
            return
        way, side = self.rng.integers(4), int(self.rng.integers(2))
        if way == 0:
            line[3 - side] += line[2 + side][:2]
            del line[2 + side][:2]
        elif way == 1:
            del line[2 + side][:2]
        elif way == 2:
            line[1], other[1] = other[1], line[1]
        else:
            line[2 + side] = copy.deepcopy(other[2 + side])

    def nodes(self, node):
        """Give the cases of a question, and all inside them."""
        yield node
        for case in node:
            if isinstance(case, list):
                yield from self.nodes(case[1])

    def case(self, lines):
        """Drop a case of a lemma, copy one, let it end, or drop one of its pairs."""
        line, other = self.some(lines, ("lemma", "t")), self.some(lines, ("lemma", "t"))
        if line is None:
            return
        node = self.pick(list(self.nodes(line[-1])))
        way = self.rng.integers(5)
        cases = [k for k, case in enumerate(node) if isinstance(case, list)]
        if way == 0 and cases:
            del node[self.pick(cases)]
        elif way == 1:
            node[:] = copy.deepcopy(self.pick(list(self.nodes(other[-1]))))
        elif way == 2:
            node[:] = [one for one in node if not isinstance(one, list)]
        elif way == 3 and node:
            del node[int(self.rng.integers(len(node)))]
        else:
            node.append(int(self.rng.integers(20)))

    def most(self, lines):
        """Let a lemma or a choice allow more or fewer errors."""
        line = self.some(lines, ("lemma", "choice", "t"))
        if line is not None:
            k = {"lemma": 2, "choice": 3, "t": 1}[line[0]]
            values = [0, 0.5, line[k] + 1, line[k] + 0.5, line[k] / 2, -1]
            line[k] = self.pick(values)

    def known(self, lines):
        """Let a lemma build on others."""
        line = self.some(lines, ("lemma",))
        if line is not None:
            line[3] = self.rng.integers(0, 6, self.rng.integers(3)).tolist()

    def choice(self, lines):
        """Let a search be about other classes, or leave it out."""
        places = self.places(lines, ("choice",))
        if not places:
            return
        line, way = lines[self.pick(places)], self.rng.integers(3)
        if way == 0:
            line[1], line[2] = line[2], line[1]
        elif way == 1:
            k = 1 + int(self.rng.integers(2))
            line[k] = sorted(self.rng.integers(0, 4, 2).tolist())
        else:
            k = self.pick(places)
            last = min([p for p in places if p > k], default=len(lines) - 1)
            del lines[k:last]

    def ending(self, lines):
        """Let a case end otherwise."""
        places = self.places(lines, self.ENDS)
        if places:
            lines[self.pick(places)][:] = copy.deepcopy(lines[self.pick(places)])

    def point(self, lines):
        """Divide on another point."""
        line = self.some(lines, ("p",))
        if line is not None:
            line[1] = int(self.rng.integers(8))

    def side(self, lines):
        """Swap the lemmas about the two sides, or leave one out."""
        line = self.some(lines, ("e",))
        if line is None:
            return
        if self.rng.random() < 0.5:
            line[1], line[2] = line[2], line[1]
        else:
            line[1 + int(self.rng.integers(2))] = None

    def cut(self, lines):
        """Drop some lines of a search in a row."""
        places = self.places(lines, self.ENDS)
        if places:
            k = self.pick(places)
            del lines[k : min(k + 1 + int(self.rng.integers(4)), len(lines) - 1)]


class BodyMutator(RootsMutator):
    """Leave the header as it is, so that the optimum stays."""

    WAYS = RootsMutator.WAYS.replace("header ", "")
