"""Mutants of proof files of oblique trees."""

import copy
import functools


class Mutator:
    """Change a proof at random, in ways that leave it a proof file.

    Half of the changes are in lines on which its bound depends most.
    """

    def __init__(self, rng, critical):
        self.rng, self.critical = rng, critical

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def mutant(self, lines):
        lines = copy.deepcopy(lines)
        if self.rng.random() < 0.3:
            lines[2][3] *= self.pick([1.3, 2.0])  # a wrong bound may now show
        for _ in range(1 + int(self.rng.integers(2))):
            names = "number number entry line order header structure part multipliers"
            more = ["kind", "value"] if lines[0]["version"] == 3 else []
            more += ["use"] if lines[0]["family"]["max_features"] else []
            getattr(self, self.pick([*names.split(), "cut", "cut", *more]))(lines)
        lines[1]["lines"] = len(lines) - 3
        return lines

    def events(self, lines, kinds="bckldvu"):
        found = [k for k, line in enumerate(lines[2:-1], 2) if line[0] in kinds]
        critical = [k for k in self.critical if k in found]
        return critical if critical and self.rng.random() < 0.5 else found

    def changed(self, value):
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            others = [value + 1, value - 1, 0, 1, 2 * value, value // 2, 2**32, -1]
            others += [True, False, None, value + 0.5]
            return self.pick([*others, int(self.rng.integers(8))])
        if isinstance(value, float):
            return self.pick([2 * value, value / 2, value + 0.5, 0.0, 1.1 * value])
        if isinstance(value, str):
            return self.pick(["number", "yes", ""])
        return 1.5 if value is None else None

    def places(self, value, path=()):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inside in pairs:
            if isinstance(inside, (dict, list)):
                yield from self.places(inside, (*path, key))
            else:
                yield (*path, key)

    def put(self, value):
        """Change a number somewhere inside a value."""
        places = list(self.places(value))
        if places:
            *path, key = self.pick(places)
            inside = functools.reduce(lambda whole, step: whole[step], path, value)
            inside[key] = self.changed(inside[key])
        return value

    def number(self, lines):
        """Change a number of a branch, closing or lemma."""
        line = lines[self.pick(self.events(lines))]
        line[1:] = self.put(line[1:])

    def entry(self, lines):
        """Drop, repeat or copy an entry of a closing or lemma."""
        some = [k for k in self.events(lines, "ckl") if lines[k][1]]
        if not some:
            return
        flat = self.pick(lines[self.pick(some)][1:3])
        other = self.pick(lines[self.pick(some)][1:3])
        if not isinstance(flat, list) or not isinstance(other, list):
            return  # a lemma has one list, and maybe a shift
        k = 4 * int(self.rng.integers(len(flat) // 4 + 1))
        way = self.rng.integers(3)
        if way == 0:
            del flat[k : k + 4]
        elif way == 1:
            flat[k:k] = other[:4]
        else:
            flat.extend(flat[k : k + 4])

    def line(self, lines):
        """Drop or repeat a line, or put that of another place into it."""
        k, other = (self.pick(self.events(lines, "bcklsfdvu")) for _ in range(2))
        way = self.rng.integers(3)
        if way == 0 and len(self.events(lines)) > 2:
            del lines[k]
        elif way == 1:
            lines.insert(k, copy.deepcopy(lines[other]))
        else:
            lines[k] = copy.deepcopy(lines[other])

    def cut(self, lines):
        """Put one closing in place of a branch with all that is below it."""
        branches = self.events(lines, "bdvu")
        if not branches or lines[branches[0]][0] not in "bdvu":
            return
        start = self.pick(branches)
        end = self.end_of(lines, start)
        closings = [line for line in lines[start:end] if line[0] in "ck"]
        if not closings:
            return
        closing = copy.deepcopy(self.pick(closings))
        if self.rng.random() < 0.3:
            closing[2] += copy.deepcopy(self.pick(closings)[2])
        if self.rng.random() < 0.3:
            closing[1:] = self.put(closing[1:])
        lines[start:end] = [closing]

    def end_of(self, lines, start):
        """The line after a branch or closing and all that is below it."""
        ends, end = 1, start
        n_categories = sum(c.get("is_subset", False) for c in lines[0]["columns"])
        while ends and end < len(lines) - 1 and lines[end][0] in "bckldvu":
            more = {"c": -1, "k": -1, "l": 0, "v": 1, "u": 1, "d": n_categories - 1}
            ends += more.get(lines[end][0], len(lines[end]) - 3)
            end += 1
        return end

    def order(self, lines):
        a, b = (self.pick(self.events(lines, "bcklsfdvu")) for _ in range(2))
        lines[a], lines[b] = lines[b], lines[a]

    def structure(self, lines):
        """Change the labels or sides of a structure, or leave out its proof."""
        starts = [k for k, line in enumerate(lines[2:-1], 2) if line[0] == "s"]
        if not starts:
            return
        k = self.pick(self.events(lines, "s"))
        way = self.rng.integers(4)
        if way == 0:
            ends = [*[s for s in starts if s > k], len(lines) - 1]
            if len(starts) > 1 and lines[ends[0] - 1][0] in "bcklsfdvu":
                del lines[k : ends[0]]
        elif way == 1 and isinstance(lines[k][1], list):
            lines[k][1] = lines[k][1][::-1]
        elif way == 2:
            lines.insert(k + 1, ["f", self.pick(range(6))])
        else:
            lines[k][1] = self.put([lines[k][1]])[0]

    def kind(self, lines):
        """Make a hyperplane of a structure a split by values, or the other way."""
        starts = self.events(lines, "s")
        splits, todo = [], [lines[self.pick(starts)][1]] if starts else []
        while todo:
            nested = todo.pop()
            if isinstance(nested, list):
                splits.append(nested)
                todo += nested
        if splits:
            split = self.pick(splits)
            split[2:] = [] if len(split) == 3 else ["subset"]

    def value(self, lines):
        """Let a branch on a value be about another split or point."""
        some = self.events(lines, "dv")
        if some and lines[some[0]][0] in "dv":
            line = lines[self.pick(some)]
            line[1 + int(self.rng.integers(len(line) - 1))] = self.pick(range(6))

    def use(self, lines):
        """Branch on another feature, or on one more, or change how many are allowed."""
        places = self.events(lines, "bcu")
        k, way = self.pick(places), self.rng.integers(4)
        if way == 0:
            lines[0]["family"]["max_features"] = self.pick([None, 1, 2, 3])
        elif way == 1:
            lines.insert(k, ["u", *self.rng.integers(3, size=2).tolist()])
        elif way == 2 and lines[k][0] == "u":
            lines[k][1:] = self.rng.integers(3, size=2).tolist()
        elif lines[k][0] == "u":
            self.drop_case(lines, k)

    def drop_case(self, lines, k):
        """Let one of the two cases of a feature stand for both."""
        middle = self.end_of(lines, k + 1)
        end = self.end_of(lines, middle)
        cases = lines[k + 1 : middle], lines[middle:end]
        lines[k:end] = self.pick(cases)

    def part(self, lines):
        parts = [k for k, line in enumerate(lines[2:-1], 2) if line[0] == "part"]
        line = lines[self.pick(parts)]
        way = self.rng.integers(4)
        if way == 0:
            line[3] *= self.pick([1.05, 1.3, 2.0, 10.0, 0.5])
        elif way == 1:
            names = list(range(6)) if line[1] is None else line[1]
            line[1] = [i for i in names if self.rng.random() < 0.8]
        elif way == 2:
            line[2] = self.pick([[1, 1], [1, 2], [2, 3], [1, 3], [2, 1]])
        elif isinstance(line[1], list):
            self.put(line[1])

    def multipliers(self, lines):
        """Make many multipliers larger, or change the exponent of all."""
        if self.rng.random() < 0.2:
            lines[1]["exponent"] = int(self.rng.integers(28, 36))
            return
        factor = self.pick([0.5, 1.01, 2, 3])
        for k in self.events(lines, "ckl"):
            self.scale(lines[k], factor)

    def scale(self, line, factor):
        """Multiply the multipliers of a closing or lemma, where they are numbers."""
        for flat, place in zip(line[1:], (3, 2), strict=False):
            for j in range(place, len(flat) if isinstance(flat, list) else 0, 4):
                if isinstance(flat[j], int):
                    flat[j] = int(flat[j] * factor)

    def header(self, lines):
        keys = ["family", "family", "labels", "weights", "costs", "row_costs"]
        key = self.pick([*keys, "tree", "columns", "claim"])
        if isinstance(lines[0][key], (dict, list)):
            self.put(lines[0][key])
        else:
            n = len(lines[0]["labels"])
            lines[0]["weights"] = self.rng.integers(0, 3, n).tolist()
