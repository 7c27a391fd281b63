"""Mutants of proof files of errors."""

import copy
import functools


class Mutator:
    """Change a proof at random, in ways that leave it a proof file."""

    KINDS = ("b", "part", "w", "h")
    WAYS = "number multipliers line order reason cut most part header limit name"

    def __init__(self, rng):
        self.rng = rng

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def mutant(self, lines):
        lines = copy.deepcopy(lines)
        for _ in range(1 + int(self.rng.integers(2))):
            getattr(self, self.pick(self.WAYS.split()))(lines)
        lines[1]["lines"] = len(lines) - 3
        return lines

    def places(self, lines, kinds):
        return [k for k, line in enumerate(lines[2:-1], 2) if line[0] in kinds]

    def changed(self, value):
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            others = [value + 1, value - 1, 0, 1, 2 * value, value // 2, -value]
            return self.pick([*others, int(self.rng.integers(8)), None, value + 0.5])
        if isinstance(value, float):
            return self.pick([2 * value, value / 2, value + 0.5, 0.0, 1.1 * value])
        return 1.5 if value is None else self.pick(["number", None])

    def inner(self, value, path=()):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inside in pairs:
            if isinstance(inside, (dict, list)):
                yield from self.inner(inside, (*path, key))
            else:
                yield (*path, key)

    def put(self, value):
        """Change a value somewhere inside another one."""
        places = list(self.inner(value))
        if places:
            *path, key = self.pick(places)
            inside = functools.reduce(lambda whole, step: whole[step], path, value)
            inside[key] = self.changed(inside[key])
        return value

    def some(self, lines, kinds):
        """Pick a line of some kinds, if there is any."""
        places = self.places(lines, kinds)
        return lines[self.pick(places)] if places else None

    def number(self, lines):
        line = self.some(lines, self.KINDS)
        if line is not None:
            line[1:] = self.put(line[1:])

    def multipliers(self, lines):
        """Make one multiplier of a reason many times larger or smaller."""
        line = self.some(lines, "b")
        if line is not None and len(line) > 2:
            reason = self.pick(line[2:])
            k = 3 + 2 * int(self.rng.integers((len(reason) - 2) // 2))
            reason[k] = max(1, int(reason[k] * self.pick([0.1, 0.9, 1.1, 10])))

    def reason(self, lines):
        """Drop a reason, copy one of another line, or turn its side."""
        line, other = self.some(lines, "b"), self.some(lines, "b")
        if line is None or len(line) < 3:
            return
        k = 2 + int(self.rng.integers(len(line) - 2))
        way = self.rng.integers(4)
        if way == 0:
            del line[k]
        elif way == 1 and len(other) > 2:
            line.append(copy.deepcopy(self.pick(other[2:])))
        elif way == 2:
            line[k][1] = 1 - line[k][1]
        else:
            line[k][0] = int(self.rng.integers(3))

    def name(self, lines):
        """Let a branch be about another point, everywhere in its line."""
        line = self.some(lines, "b")
        if line is None:
            return
        old, new = line[1], int(self.rng.integers(8))
        line[1] = new
        for reason in line[2:]:
            for k in range(2, len(reason), 2):
                reason[k] = new if reason[k] == old else reason[k]

    def line(self, lines):
        places = self.places(lines, self.KINDS)
        k, other = self.pick(places), self.pick(places)
        way = self.rng.integers(3)
        if way == 0:
            del lines[k]
        elif way == 1:
            lines.insert(k, copy.deepcopy(lines[other]))
        else:
            lines[k] = copy.deepcopy(lines[other])

    def order(self, lines):
        places = self.places(lines, self.KINDS)
        a, b = self.pick(places), self.pick(places)
        lines[a], lines[b] = lines[b], lines[a]

    def cut(self, lines):
        """Drop some branches in a row."""
        places = self.places(lines, "b")
        if places:
            k = self.pick(places)
            del lines[k : min(k + 1 + int(self.rng.integers(4)), len(lines) - 1)]

    def most(self, lines):
        """Let a part allow more or fewer errors."""
        line = self.some(lines, ("part",))
        if line is not None:
            line[2] = self.pick([0, 0.5, 1, line[2] + 0.5, line[2] / 2, -1])

    def part(self, lines):
        line = self.some(lines, ("part",))
        if line is None:
            return
        way = self.rng.integers(4)
        names = list(range(8)) if line[1] is None else line[1]
        if way == 0:
            line[1] = [i for i in names if self.rng.random() < 0.8]
        elif way == 1:
            line[1] = None
        elif way == 2:
            line[3] = [int(k) for k in self.rng.integers(0, 3, self.rng.integers(3))]
        else:
            line[1] = [*names, int(self.rng.integers(8))]

    def limit(self, lines):
        """Scale, copy or swap multipliers of columns."""
        line, other = self.some(lines, "wh"), self.some(lines, "wh")
        if line is None:
            return
        way = self.rng.integers(4)
        if way == 0:
            line[2][1::2] = [-v for v in line[2][1::2]]
        elif way == 1:
            line[2] = copy.deepcopy(other[2])
        elif way == 2 and len(line[2]) > 3:
            line[2][1] += 2**40
            line[2][3] -= 2**40
        else:
            line[0] = "w" if line[0] == "h" else "h"

    def header(self, lines):
        """Change what the proof is about, so that it may no longer hold."""
        header, n = lines[0], len(lines[0]["labels"])
        way = self.rng.integers(7)
        if way == 0:
            header["weights"] = self.rng.integers(0, 3, n).tolist()
        elif way == 1:
            k = int(self.rng.integers(n))
            header["labels"][k] = int(self.rng.integers(len(header["classes"])))
        elif way == 2:
            header["family"]["margin"] *= self.pick([0.1, 0.5, 0.9, 1.1, 2])
        elif way == 3:
            header["family"]["depth"] = int(self.rng.integers(1, 4))
        elif way == 4:
            header["claim"]["bound"] += 0.5
        elif way == 5:
            self.put(header["family"])
        else:
            self.put(header["columns"])
