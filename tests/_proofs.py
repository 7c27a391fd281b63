"""Proof files of small problems, and what is true of them by brute force."""

import gzip
import hashlib
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd

from miptree.certificate.certificate import certify
from miptree.checker import check_proof
from miptree.control.clock import Clock
from miptree.data.cells import read_cells
from miptree.data.grid import GridSpec
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.data.table import categorical_mask
from miptree.fit.points_log import write_points_proof
from miptree.objective.bounds import Bound, combinatorial_bound
from miptree.objective.points import PointsObjective
from miptree.objective.proved import Bounds
from miptree.points import Family, PointsProblem, solve
from miptree.tree import ObliqueTree


class Fit:
    """A points tree of some rows, with all that its proof needs."""

    def __init__(
        self,
        frame,
        y,
        depth=2,
        max_features=2,
        max_points=1,
        penalty=0.0,
        min_leaf=1,
        weight=None,
        costs=None,
        row_costs=None,
        signs=(),
        allowed=(),
        steps=5,
        max_evaluations=None,
    ):
        cells = read_cells(frame)
        classes, codes = np.unique(y, return_inverse=True)
        n, weight = len(y), np.ones(len(y)) if weight is None else np.asarray(weight)
        self.rows = TrainingRows(
            cells,
            categorical_mask(cells, "from_dtype"),
            codes,
            weight,
            len(classes),
            np.ones(len(classes)),
            None if costs is None else np.asarray(costs, dtype=float),
            None if row_costs is None else np.asarray(row_costs, dtype=float),
        )
        grid = GridSpec(steps)
        self.table = self.rows.learn_table("onehot", "fill", "majority", grid)
        names = np.array(frame.columns, dtype=object)
        self.schema = Schema(self.table, classes, names)
        t = self.table
        d = len(t.open_steps)
        self.family = Family(
            t.open_steps, t.open_sources, t.open_is_category, max_features, max_points,
            signs, allowed,
        )  # fmt: skip
        self.penalty = np.broadcast_to(np.asarray(penalty, dtype=float), (d,))
        kept = weight > 0
        cost = None
        if costs is not None:
            cost = self.rows.costs[codes] * weight[:, None]
        if row_costs is not None:
            cost = self.rows.row_costs * weight[:, None]
        self.points = PointsProblem.of(
            t.transform(frame)[kept],
            codes[kept],
            len(classes),
            weight[kept],
            None if cost is None else cost[kept],
            np.ones(n, dtype=int)[kept],
            self.family,
            np.array(self.penalty),
            min_leaf,
        )
        self.found = solve(
            self.points,
            depth,
            Clock(),
            keep_anchors=True,
            max_evaluations=max_evaluations,
        )
        self.problem = self.rows.problem(t)
        self.tree = ObliqueTree.from_heap(self.found.heap).prune(self.problem.X)
        self.objective = PointsObjective(
            tuple(self.penalty.tolist()), depth, max_features, max_points, min_leaf,
            float(self.points.unit), self.points.rounding,
            is_plain=costs is None and row_costs is None and bool((weight == 1).all()),
            is_mixed={n == 1 for n in t.open_steps if n} == {True, False},
            has_categories=self.family.adds_up_values,
            has_signs=any(signs), n_allowed=sum(allowed) if allowed else None,
        )  # fmt: skip
        score = self.objective.evaluate(self.problem, self.tree)
        trivial = combinatorial_bound(self.problem, depth)
        bound = self.points.in_user_units(self.found.bound) - self.points.rounding
        best = max(trivial, Bound(bound, "all root splits"))
        bounds = Bounds(trivial, trivial, best, self.problem.cheapest_error)
        self.certificate = certify(
            self.problem, self.objective, depth, self.tree, score, bounds, 0.0
        )

    def write(self, path, **more):
        write_points_proof(
            path, self.schema, self.rows, self.family, self.tree, self.certificate,
            self.found.anchors, **more,
        )  # fmt: skip


def random_frame(rng, n=30, with_gaps=False):
    """Two numbers, a category and a truth value; the labels have something to learn."""
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 5, n).astype(float),
            "b": np.round(rng.random(n), 1),
            "c": rng.choice(["x", "y", "z"], n),
            "d": rng.choice(["no", "yes"], n),
        }
    )
    y = (frame["a"] + 4 * frame["b"] > 4).to_numpy() ^ (frame["c"] == "x").to_numpy()
    y ^= rng.random(n) < 0.2
    if with_gaps:
        frame.loc[rng.random(n) < 0.2, "b"] = np.nan
        frame.loc[rng.random(n) < 0.2, "c"] = None
    return frame, np.where(y, "pos", "neg")


# ------------------------------------------------------------------------ tampering


def lines_of(path):
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    return [json.loads(line) for line in text.splitlines()]


def write_lines(path, values):
    """Write a proof file with a digest that fits."""
    text = "".join(json.dumps(value) + "\n" for value in values[:-1]).encode()
    digest = json.dumps({"digest": hashlib.sha256(text).hexdigest()}) + "\n"
    path.write_bytes(text + digest.encode())


def checked(lines, frame, folder):
    """Check the lines of a proof file against a table."""
    write_lines(folder / "a.proof", lines)
    frame.to_csv(folder / "a.csv", index=False)
    return check_proof(folder / "a.proof", folder / "a.csv")


def checked_with_count(lines, frame, folder):
    """The same, where the section's line says how many lines follow."""
    lines[1]["lines"] = len(lines) - 3
    return checked(lines, frame, folder)


# ---------------------------------------------------------------------- brute force


def grid_of(columns, frame):
    """Grid values by the rules of a proof file; steps, source and kind of each."""
    values, steps, source, kinds = [], [], [], []
    for number, column in enumerate(columns):
        cells = frame[column["name"]].tolist()
        if column["kind"] == "number":
            cuts = column["cuts"]
            for missing in [0, len(cuts)][: 1 + column["has_gaps"]]:
                fill = missing if column["has_gaps"] else None
                values.append(
                    [_steps(cell, cuts, fill, column["fill"]) for cell in cells]
                )
                steps.append(len(cuts))
                source.append(number)
                kinds.append(False)
        elif column["kind"] == "category":
            known = [[v] for v in column["values"]]
            known += [column["rare"]] if column["rare"] else []
            known = known[1:] if len(known) == 2 else known
            for group in known:
                values.append([int(_plain(cell) in group) for cell in cells])
                steps.append(1)
                source.append(number)
                kinds.append(True)
    grid = np.array(values).reshape(len(values), len(frame)).T
    return grid, steps, source, kinds


def _plain(cell):
    return None if cell is None or cell != cell else cell


def _steps(cell, cuts, missing, fill):
    if _plain(cell) is None:
        if missing is not None:
            return missing
        cell = fill
    return sum(cut <= cell for cut in cuts)


def is_of_family(points, steps, source, kinds, family):
    """Tell whether a split of these points is one of a family, by the rules."""
    used = [j for j, p in enumerate(points) if p]
    sizes = [abs(points[j]) for j in used]
    if not 1 <= len(used) <= family["max_features"] or any(steps[j] < 1 for j in used):
        return False
    if family["allowed"] and not all(family["allowed"][j] for j in used):
        return False
    if family["signs"]:
        sides = {np.sign(points[j]) * family["signs"][j] for j in used}
        if {1, -1} <= sides:
            return False
    for i, j in itertools.combinations(used, 2):
        if source[i] == source[j] and (not kinds[i] or points[i] != points[j]):
            return False
    most = family["max_points"]
    if len(used) == 1:
        return sizes == [1]
    yes_no = [steps[j] == 1 for j in used]
    if len(used) == 2 and all(yes_no):
        return sizes == [1, 1]
    if len(used) == 2 and any(yes_no):
        beside = {1: (1, 4), 2: (1, 2, 4, 5), 3: (1, 2, 3, 4, 5, 10)}
        beside = beside.get(most, (1, 2, 3, 4, 5, 10))
        number, indicator = sizes[yes_no.index(False)], sizes[yes_no.index(True)]
        return number == 1 and indicator in beside
    return max(sizes) <= most and math.gcd(*sizes) == 1


def brute_force(header, frame):
    """Return the cost of the tree of a header, and the least cost of its family.

    Of trees deeper than 3 it is what they cost at least, however deep they are.
    """
    grid, steps, source, kinds = grid_of(header["columns"], frame)
    family, n_classes = header["family"], len(header["classes"])
    weight = [Fraction(repr(w)) for w in header["weights"] or [1] * len(frame)]
    price = []
    for i, label in enumerate(header["labels"]):
        rates = [int(k != label) for k in range(n_classes)]
        if header["costs"] is not None:
            rates = header["costs"][label]
        if header["row_costs"] is not None:
            rates = header["row_costs"][i]
        price.append([weight[i] * Fraction(repr(rate)) for rate in rates])
    kept = [i for i, w in enumerate(weight) if w > 0]
    grid, price = grid[kept], [price[i] for i in kept]
    penalties = [Fraction(repr(p)) for p in family["penalties"]]
    below = math.lcm(*(v.denominator for row in [*price, penalties] for v in row))
    units = [[int(v * below) for v in row] for row in price]
    sides, fees = all_splits(grid, steps, source, kinds, family, penalties)
    fees = [int(fee * below) for fee in fees]
    impossible = 4 * (sum(map(max, units)) + sum(fees)) + 1
    dtype = np.int64 if impossible < 1 << 60 else object
    whole, fees = np.array(units, dtype), np.array(fees, dtype)
    least = family["min_samples_leaf"]

    def best(rows, depth):
        if rows.sum() < least:
            return impossible
        cost = whole[rows].sum(axis=0).min()
        if depth == 1 and len(fees):
            left, n_left = sides @ (whole * rows[:, None]), sides @ rows.astype(int)
            other = whole[rows].sum(axis=0) - left
            n_other = rows.sum() - n_left
            both = left.min(axis=1) + other.min(axis=1) + fees
            both[np.minimum(n_left, n_other) < max(1, least)] = impossible
            return min(cost, both.min())
        for left, fee in zip(sides, fees, strict=True) if depth > 1 else ():
            if (rows & left).any() and (rows & ~left).any():
                both = best(rows & left, depth - 1) + best(rows & ~left, depth - 1)
                cost = min(cost, both + fee)
        return cost

    if family["depth"] > 3:  # no tree, however deep, parts equal rows
        same = np.unique(grid, axis=0, return_inverse=True)[1].ravel()
        lowest = sum(whole[same == k].sum(axis=0).min() for k in range(same.max() + 1))
        lowest = Fraction(int(lowest), below)
        return tree_cost(header["tree"], grid, price, penalties), lowest
    everything = np.ones(len(grid), dtype=bool)
    lowest = Fraction(int(best(everything, family["depth"])), below)
    return tree_cost(header["tree"], grid, price, penalties), lowest


def all_splits(grid, steps, source, kinds, family, penalties):
    """Return every split of a family as the rows on its left, with its penalty."""
    key = json.dumps([grid.tolist(), steps, source, kinds, family])
    if key in _known:
        return _known[key]
    splits = {}
    d = grid.shape[1]
    for size in range(1, family["max_features"] + 1):
        sizes = {
            *range(1, family["max_points"] + 1),
            *((4, 2, 3, 5, 10) if size == 2 else ()),
        }
        sizes = [sign * p for p in sorted(sizes) for sign in (1, -1)]
        for used in itertools.combinations(range(d), size):
            for chosen in itertools.product(sizes, repeat=size):
                points = np.zeros(d, dtype=int)
                points[list(used)] = chosen
                if not is_of_family(points, steps, source, kinds, family):
                    continue
                sums, fee = grid @ points, sum(penalties[j] for j in used)
                for t in np.unique(sums)[:-1]:
                    key = (sums <= t).tobytes()
                    splits[key] = min(fee, splits.get(key, fee))
    sides = [np.frombuffer(key, dtype=bool) for key in splits]
    sides = np.array(sides).reshape(len(splits), len(grid))
    _known[key] = sides, list(splits.values())
    return _known[key]


_known = {}


def tree_cost(tree, grid, price, penalties):
    total = Fraction(0)
    for row, cost in zip(grid, price, strict=True):
        node = tree[0]
        while "class" not in node:
            pairs = zip(node["columns"], node["points"], strict=True)
            goes_left = sum(row[j] * p for j, p in pairs) <= node["threshold"]
            node = tree[node["left" if goes_left else "right"]]
        total += cost[node["class"]]
    used = [j for node in tree if "class" not in node for j in node["columns"]]
    return total + sum(penalties[j] for j in used)
