"""Proofs by root of tiny trees of depth 2, by a slow prover of its own, and mutants."""

import copy

import numpy as np

from _routes_mutants import Mutator
from _routes_proofs import (
    BOX_LEFT,
    BOX_RIGHT,
    EXPONENT,
    HARD,
    LIES,
    MARGIN,
    Points,
    Prover,
    _other,
    least_objective,
    objective_of,
    random_header,
    shapes_of,
    split_lp,
)

OPEN, LEFT, RIGHT = 3, 1, 2
SIDE = {LEFT: -1, RIGHT: 1}


class RootProver:
    """Lines of a part: lemmas, and the tree of the root's sides.

    ``critical`` are the lines of the closings of the least value, and of their lemmas.
    With a ``lie`` it breaks one of the rules, so that it proves too much.
    """

    def __init__(self, points, threshold, rng, lie=None):
        self.points, self.threshold, self.rng, self.lie = points, threshold, rng, lie
        self.least = 2 * min(points.rho, points.slack.min())
        self.cheapest = points.cost.min(axis=1)
        self.lemmas, self.known, self.starts = [], {}, []
        self.tree, self.closings = [], []
        sides = [OPEN] * len(points.place)
        if lie != "no mirror":
            i = int(rng.integers(len(sides)))
            sides[i] = LEFT
            self.tree.append(["f", points.place[i]])
        self.prove(sides)
        self.lines = [*self.lemmas, ["roots"], *self.tree]
        least = min((value for value, *_ in self.closings), default=0.0)
        self.value = min(threshold, least, points.cost.sum(axis=0).min())
        self.critical = []
        for value, k, pair in self.closings:
            if value <= least + 1e-9:
                named = [self.starts[number] for number in pair if number >= 0]
                self.critical += [*named, len(self.lemmas) + 1 + k]

    def prove(self, sides):
        free = [i for i, side in enumerate(sides) if side == OPEN]
        decided = set(sides) - {OPEN}
        if not free and len(decided) < 2:
            self.tree.append(["r", [-1, -1], []])
            return
        value, pair, plain = self.close(sides)
        if value >= self.threshold + 1e-6 or not free:
            self.closings.append((value, len(self.tree), pair))
            self.tree.append(["r", pair, plain])
            return
        i = free[int(self.rng.integers(len(free)))]
        cases = [LEFT, RIGHT] if self.rng.random() < 0.5 else [RIGHT, LEFT]
        cases = cases[:1] if self.lie == "case left out" else cases
        self.tree.append(["b", self.points.place[i], *cases])
        for case in cases:
            self.prove([*sides[:i], case, *sides[i + 1 :]])

    def close(self, sides):
        """Return the value of a closing, its lemmas and its entries."""
        value, plain = self.root(sides)
        total, pair = max(self.least, value), []
        counted = self.cheapest.sum()
        for side in (LEFT, RIGHT):
            both = (
                {side, OPEN} if self.lie == "points that may go elsewhere" else {side}
            )
            chosen = [i for i, own in enumerate(sides) if own in both]
            number, proved = self.lemma(chosen)
            if number >= 0:
                own = self.cheapest[chosen].sum()
                total, counted = total + proved, counted - own
            pair.append(number)
        if self.lie == "one lemma twice" and max(pair) >= 0:
            pair = [max(pair)] * 2
        return total + counted, pair, plain

    def root(self, sides):
        """Return what the LP of the root shows, and its entries in the file."""
        points, place = self.points, self.points.place
        guess = {OPEN: -1, **SIDE}
        chosen = [i for i, side in enumerate(sides) if side != OPEN]
        named = range(len(sides)) if self.lie == "open margins" else chosen
        price = points.slack * (3 if self.lie == "caps" else 1)
        entries = [(i, guess[sides[i]], price[i]) for i in named]
        hard = [(i, SIDE[sides[i]]) for i in chosen]
        lied = LIES.get(self.lie, lambda p: p)(points)
        value, dual = split_lp(lied, entries, hard)
        q = np.floor(np.maximum(dual, 0) * 2**EXPONENT).astype(int).tolist()
        n = range(len(sides))
        kinds = [(MARGIN, i) for i, *_ in entries] + [(HARD, i) for i, _ in hard]
        kinds += [(BOX_LEFT, i) for i in n] + [(BOX_RIGHT, i) for i in n]
        both = zip(kinds, q, strict=True)
        flat = [[0, kind, place[i], amount] for (kind, i), amount in both if amount]
        return value, [number for entry in flat for number in entry]

    def lemma(self, chosen):
        """Return the number of a lemma about some points, or -1, and its value."""
        key = tuple(chosen)
        if key not in self.known:
            self.known[key] = self.new_lemma(chosen) if chosen else (-1, 0.0)
        return self.known[key]

    def new_lemma(self, chosen):
        points = _other(self.points.some(chosen), depth=1)
        least = least_objective(points)
        if least <= points.cost.min(axis=1).sum() + 1e-9:
            return -1, 0.0
        lied = self.lie == "lemmas of another price"
        points = _other(points, rho=2 * points.rho) if lied else points
        more = [1.0, 1.3] if self.lie is None else [3.0]
        threshold = round(float(least * self.rng.choice(more)), 6)
        self.starts.append(len(self.lemmas))
        self.lemmas.append(["lemma", points.place, threshold])
        value = threshold
        for shape in shapes_of(1, list(range(points.cost.shape[1]))):
            labels = [shape] if isinstance(shape, int) else shape
            alone = points.cost[:, labels].min(axis=1).sum()
            alone += (len(labels) - 1) * 2 * min(points.rho, points.slack.min())
            proved = alone
            if alone < threshold and not isinstance(shape, int):
                found = Prover(points, shape, threshold, self.rng, self.lie)
                self.lemmas += found.lines
                proved = max(alone, found.value)
            value = min(value, proved)
        return len(self.starts) - 1, value


def random_by_root(seed, n_parts=1, part=1.2, lie=None, family=(), **options):
    """Return the lines of a proof file, save its digest, the table, critical lines.

    The bound is what the prover works out. It is less than the least objective where
    the box of points beside a lemma makes its split dearer.
    """
    rng = np.random.default_rng([seed, 7])
    header, frame = random_header(rng, depth=2, **options)
    header["family"] |= dict(family)
    whole = Points(header, frame)
    order = rng.permutation(len(whole.place)).tolist()
    lines, critical, bound = [], [], 0.0
    for k in range(n_parts):
        points = whole.some(sorted(order[k::n_parts]), 1 / n_parts)
        least = least_objective(points)
        threshold = round(part * least, 6)
        if threshold > 0:
            names = None if n_parts == 1 else points.place
            lines.append(["part", names, [1, n_parts], threshold])
            found = RootProver(points, threshold, rng, lie)
            bound += max(0.0, found.value - 1e-6)
            critical += [2 + len(lines) + k for k in found.critical]
            lines += found.lines
    header["claim"] = {"cost": objective_of(header, frame), "bound": bound}
    section = {"section": "routes", "lines": len(lines), "exponent": EXPONENT}
    return [header, section, *lines, {"digest": ""}], frame, critical


class RootMutator(Mutator):
    """Changes of any proof file, and those of lemmas and of the tree of sides."""

    WAYS = (
        "lemma_of points_of threshold sides cut_sides root_entries moved kept "
        "lemma_entries lemma_entries"
    )

    def mutant(self, lines):
        if self.rng.random() < 0.3:
            return super().mutant(lines)
        lines = copy.deepcopy(lines)
        for _ in range(1 + int(self.rng.integers(2))):
            getattr(self, self.pick(self.WAYS.split()))(lines)
        lines[1]["lines"] = len(lines) - 3
        return lines

    def events(self, lines, kinds="bckldvu"):
        found = super().events(lines, kinds)
        return found or super().events(lines, "rf") or [2]

    def some(self, lines, *kinds):
        found = [k for k, line in enumerate(lines[2:-1], 2) if line[0] in kinds]
        critical = [k for k in self.critical if k in found]
        is_critical = critical and self.rng.random() < 0.6
        return self.pick(critical if is_critical else found or [2])

    def lemma_of(self, lines):
        """Let a closing name another lemma, or the same ones on the other sides."""
        line = lines[self.some(lines, "r")]
        if line[0] != "r":
            return
        pair = line[1]
        n = sum(line[0] == "lemma" for line in lines[2:-1])
        if self.rng.random() < 0.3:
            pair.reverse()
        else:
            pair[int(self.rng.integers(2))] = int(self.rng.integers(-1, n + 1))

    def points_of(self, lines):
        """Let a lemma be about more points, or fewer, or others."""
        line = lines[self.some(lines, "lemma")]
        if line[0] != "lemma":
            return
        names = line[1]
        way, new = self.rng.integers(3), int(self.rng.integers(6))
        if way == 0:
            names.append(new)
        elif way == 1 and names:
            names[int(self.rng.integers(len(names)))] = new
        elif names:
            names.pop(int(self.rng.integers(len(names))))

    def threshold(self, lines):
        """Raise what a lemma is said to prove, or the part."""
        line = lines[self.some(lines, "lemma", "part")]
        line[-1] *= self.pick([1.1, 1.5, 3.0, 100.0])

    def branches(self, lines):
        """Return the lines of the branches of the tree of sides."""
        start = lines.index(["roots"]) if ["roots"] in lines else len(lines)
        return [k for k, line in enumerate(lines) if k > start and "b" in line]

    def sides(self, lines):
        """Change the sides of a branch, or the point that it is about."""
        found = self.branches(lines)
        if not found:
            return
        line = lines[self.pick(found)]
        line[int(self.rng.integers(1, len(line)))] = int(self.rng.integers(5))

    def cut_sides(self, lines):
        """Put one closing in place of a branch of the sides and all below it."""
        found = self.branches(lines)
        if not found:
            return
        begin = end = self.pick(found)
        ends = 1
        while ends and end < len(lines) - 1:
            ends += -1 if "r" in lines[end] else len(lines[end]) - 3
            end += 1
        closings = [line for line in lines[begin:end] if line[0] == "r"]
        if closings:
            chosen = copy.deepcopy(self.pick(closings))
            if self.rng.random() < 0.5:
                chosen[2] = copy.deepcopy(self.pick(closings)[2])
            lines[begin:end] = [chosen]

    def root_entries(self, lines):
        """Change a number of a closing, or make all its multipliers larger."""
        line = lines[self.some(lines, "r")]
        if line[0] != "r":
            return
        if self.rng.random() < 0.5:
            line[2] = self.put(line[2])
        else:
            self.scale(["r", line[2]], self.pick([0.5, 1.1, 2, 3]))

    def lemma_entries(self, lines):
        """Make all multipliers of a lemma larger, and what it may prove."""
        begin = self.some(lines, "lemma")
        if begin == len(lines) - 1 or lines[begin][0] != "lemma":
            return
        lines[begin][2] *= self.pick([1.3, 2.0])
        factor = self.pick([1.1, 1.5, 3])
        for line in lines[begin + 1 : -1]:
            if line[0] in ("lemma", "roots", "part"):
                break
            if line[0] in "ck":
                self.scale(line, factor)

    def moved(self, lines):
        """Repeat, drop or move a line of any kind."""
        kinds = ("r", "lemma", "roots", "b", "c", "k", "f", "s")
        k, other = self.some(lines, *kinds), self.some(lines, *kinds)
        way = self.rng.integers(3)
        if way == 0:
            del lines[k]
        elif way == 1:
            lines.insert(k, copy.deepcopy(lines[other]))
        else:
            lines[k], lines[other] = lines[other], lines[k]

    def kept(self, lines):
        """Keep a point on the left, of the root or of a structure."""
        lines.insert(self.some(lines, "roots", "s") + 1, ["f", self.pick(range(6))])
