"""Proof files of tiny oblique trees by a slow prover of their own, and brute force.

Nothing here is taken from the package: LPs are solved by SciPy, sets of leaves are
branched on until a dual solution closes them, and the truth is found by trying all ways
to part the points.
"""

import functools
import itertools
import json

import numpy as np
import pandas as pd
from scipy.optimize import linprog

EXPONENT = 32
MARGIN, HARD, BOX_LEFT, BOX_RIGHT = range(4)


# ------------------------------------------------------------------ what files say


def numbers_of(columns, frame):
    """Numbers of the cells by the rules of a proof file."""
    found = [np.zeros((0, len(frame)))]
    for column in columns:
        cells = [None if c is None or c != c else c for c in frame[column["name"]]]
        if column["kind"] == "number":
            found.append([[column["fill"] if c is None else c for c in cells]])
            if column["has_gaps"]:
                found.append([[float(c is None) for c in cells]])
        elif column["kind"] == "category" and column["is_open"]:
            known = [[v] for v in column["values"]]
            known += [column["rare"]] if column["rare"] else []
            known = known[1:] if len(known) == 2 else known
            found += [[[float(c in group) for c in cells]] for group in known]
    return np.concatenate(found).T.astype(float)


def values_of(columns, frame):
    """Values of the categories that are split by subsets, numbered."""
    found = [np.zeros((0, len(frame)), dtype=int)]
    for column in columns:
        if column.get("is_subset"):
            cells = [None if c is None or c != c else c for c in frame[column["name"]]]
            known = {value: k for k, value in enumerate(column["values"])}
            found.append([[known.get(c, len(known)) for c in cells]])
    return np.concatenate(found).T


class Points:
    """The points of a header: scaled x, costs, slack, rho, box and names."""

    is_balanced = True

    def __init__(self, header, frame):
        X = numbers_of(header["columns"], frame)
        values = values_of(header["columns"], frame)
        n, n_classes = len(frame), len(header["classes"])
        weight = np.array(header["weights"] or [1.0] * n, dtype=float)
        cost = 1.0 - np.eye(n_classes)[header["labels"]]
        if header["costs"] is not None:
            cost = np.array(header["costs"], dtype=float)[header["labels"]]
        if header["row_costs"] is not None:
            cost = np.array(header["row_costs"], dtype=float)
        cost = cost * weight[:, None]
        kept = np.flatnonzero(weight > 0)
        first = {}
        for i in kept:
            first.setdefault((*X[i], *values[i]), []).append(i)
        groups = list(first.values())
        self.place = [int(group[0]) for group in groups]
        self.X, self.values = X[self.place], values[self.place]
        span = np.ptp(self.X, axis=0)
        self.x = (self.X - self.X.min(axis=0)) / np.where(span > 0, span, 1.0)
        self.cost = np.array([cost[group].sum(axis=0) for group in groups])
        self.weight = np.array([weight[group].sum() for group in groups])
        family = header["family"]
        self.depth = family["depth"]
        self.slack = family["slack_penalty"] * family["margin"] * self.weight
        self.rho = family["l1_penalty"] * family["margin"]
        self.box = 1 / family["margin"]
        d = self.x.shape[1]
        self.most = min(family["max_features"] or d, d)

    def some(self, chosen, share=1.0):
        """Return a part of the points, with a share of the norms' price."""
        part = object.__new__(Points)
        part.__dict__ |= self.__dict__
        part.x, part.cost, part.slack, part.weight, part.values = (
            values[list(chosen)]
            for values in (self.x, self.cost, self.slack, self.weight, self.values)
        )
        part.place = [self.place[i] for i in chosen]
        part.rho = self.rho * share
        return part

    def are_parted(self, left, right):
        """Whether the values of one category tell two sets apart."""
        return any(
            not set(own[list(left)]) & set(own[list(right)]) for own in self.values.T
        )


def objective_of(header, frame):
    """The objective of the tree of a header, in floats."""
    points, family = Points(header, frame), header["family"]
    span = np.ptp(points.X, axis=0)
    total, at = 0.0, np.zeros(len(points.X), dtype=int)
    for number, node in enumerate(header["tree"]):
        here = at == number
        if "class" in node:
            total += points.cost[here, node["class"]].sum()
            continue
        if "category" in node:
            before = header["columns"][: node["category"]]
            feature = sum(column.get("is_subset", False) for column in before)
            is_left = np.isin(points.values[:, feature], node["left_values"])
            at[here] = np.where(is_left, node["left"], node["right"])[here]
            continue
        coef = np.zeros(points.X.shape[1])
        for column, value in node["coef"]:
            coef[column] = value
        score = points.X @ coef - node["threshold"]
        shrink = max(1.0, np.abs(score).max())
        missing = np.maximum(0, family["margin"] - np.abs(score) / shrink)
        total += family["slack_penalty"] * (points.weight * missing)[here].sum()
        total += family["l1_penalty"] * (np.abs(coef) @ span) / shrink
        at[here] = np.where(score <= 0, node["left"], node["right"])[here]
    return total


# ---------------------------------------------------------------------- brute force


def truth(header, frame):
    """Return the least objective of all trees of a header's depth.

    Sides are closed, so that it may be less than what any tree attains.
    """
    points = Points(header, frame)
    key = (points.x, points.cost, points.slack, points.rho, points.box, points.depth)
    key += (points.values, points.most)
    key = json.dumps([np.asarray(value).tolist() for value in key])
    if key not in _known:
        _known[key] = least_objective(points)
    return _known[key]


_known = {}


def least_objective(points):
    n = len(points.x)
    everything = range(n)

    @functools.cache
    def split_cost(left, right):
        if points.are_parted(left, right):
            return 0.0
        entries = [(i, -1.0, points.slack[i]) for i in left]
        entries += [(i, 1.0, points.slack[i]) for i in right]
        hard = [(i, side) for i, side, _ in entries]
        d = points.x.shape[1]
        return min(
            split_lp(points, entries, hard, without)[0]
            for without in itertools.combinations(range(d), d - points.most)
        )

    @functools.cache
    def best(rows, depth):
        cost = points.cost[list(rows)].sum(axis=0).min()
        if depth == 0:
            return cost
        for size in range(len(rows) // 2 + 1):
            for left in itertools.combinations(rows, size):
                right = tuple(i for i in rows if i not in left)
                if left and right:
                    below = best(left, depth - 1) + best(right, depth - 1)
                    if below < cost:
                        cost = min(cost, below + split_cost(left, right))
        return cost

    return best(tuple(everything), points.depth)


def split_lp(points, entries, hard, without=()):
    """Return the least cost of a split, and multipliers of margins, sides and box.

    ``entries`` are (point, side, price of missing margin), ``hard`` (point, side). The
    split may not use the features ``without``.
    """
    n, d = points.x.shape
    m = len(entries)
    z = np.hstack([points.x, -points.x, -np.ones((n, 1))])  # of a+, a-, t
    margin = [-side * z[i] for i, side, _ in entries]
    margin = np.hstack([np.reshape(margin, (m, 2 * d + 1)), -np.eye(m)])
    sides = np.array([-side * z[i] for i, side in hard]).reshape(-1, 2 * d + 1)
    box = np.vstack([-z, z])
    below = np.vstack([sides, box])
    below = np.hstack([below, np.zeros((len(below), m))])
    A = np.vstack([margin, below])
    b = np.concatenate([-np.ones(m), np.zeros(len(hard)), np.full(2 * n, points.box)])
    price = np.concatenate([np.full(2 * d, points.rho), [0], [c for *_, c in entries]])
    t = (None, None) if points.is_balanced else (0, 0)
    a = [(0, 0 if j in without else None) for j in range(d)]
    bounds = [*a, *a, t] + [(0, None)] * m
    found = linprog(price, A, b, bounds=bounds, method="highs")
    assert found.status == 0, found.message
    return found.fun, -found.ineqlin.marginals


# --------------------------------------------------------------------------- prover


def labels_of(shape):
    return (
        [shape] if isinstance(shape, int) else [k for s in shape for k in labels_of(s)]
    )


def sides_of(shape):
    """Side of every leaf at every split: splits from the root down, left first."""
    if isinstance(shape, int):
        return []
    left, right = shape
    n, m = len(labels_of(left)), len(labels_of(right))
    return [
        [-1] * n + [1] * m,
        *([*row, *[0] * m] for row in sides_of(left)),
        *([*[0] * n, *row] for row in sides_of(right)),
    ]


def mirrored(shape):
    return shape if isinstance(shape, int) else [*sorted(map(mirrored, shape), key=str)]


def shapes_of(depth, labels):
    shapes = list(labels)
    for _ in range(depth):
        pairs = itertools.combinations_with_replacement(shapes, 2)
        pairs = [list(p) for p in pairs if p[0] != p[1] or not isinstance(p[0], int)]
        shapes = [*labels, *pairs]
    return shapes


def _other(points, **values):
    other = object.__new__(Points)
    other.__dict__ |= {**points.__dict__, **values}
    return other


LIES = {
    "norms": lambda points: _other(points, rho=3 * points.rho),
    "box": lambda points: _other(points, box=points.box / 3),
    "balance": lambda points: _other(points, is_balanced=False),
}
"""Other LPs of a split, whose multipliers break a rule."""


class Prover:
    """Proof of one structure for a threshold; ``lines`` are those of the file.

    ``critical`` are the lines that lead to the branch of the least ``value``. With a
    ``lie`` it breaks one of the rules, so that it proves too much.
    """

    def __init__(self, points, shape, threshold, rng, lie=None):
        self.points, self.threshold, self.rng, self.lie = points, threshold, rng, lie
        self.label, self.side = labels_of(shape), np.array(sides_of(shape))
        self.n_splits = len(self.side)
        self.least = 2 * min(points.rho, points.slack.min())
        self.lines = [["s", shape]]
        n, everything = len(points.x), frozenset(range(len(self.label)))
        leaves = [everything] * n
        alike = not isinstance(shape, int) and mirrored(shape[0]) == mirrored(shape[1])
        if alike or (lie == "fix" and not isinstance(shape, int)):
            i = int(rng.integers(n))
            leaves[i] = frozenset(np.flatnonzero(self.side[0] < 0).tolist())
            self.lines.append(["f", points.place[i]])
        self.value, self.critical = np.inf, []
        self.use = ({},) * self.n_splits
        self.prove(leaves, np.full(self.n_splits, self.least), [0])

    def common(self, leaves, split):
        """The side that some leaves have in common at a split, or 0."""
        sides = {int(self.side[split, leaf]) for leaf in leaves}
        return sides.pop() if len(sides) == 1 else 0

    def prove(self, leaves, known, way):
        if self.rng.random() < 0.2:
            known = self.lemma(leaves, known)
        value, plain, envelopes = self.close(leaves, known)
        free = [i for i, some in enumerate(leaves) if len(some) > 1]
        unused = self.open_features()
        way = [*way, len(self.lines)]
        if unused and value < self.threshold and (not free or self.rng.random() < 0.3):
            self.prove_uses(*unused[self.rng.integers(len(unused))], leaves, known, way)
            return
        if value >= self.threshold + 1e-6 or not free:
            self.lines.append(["c", plain, envelopes])
            if value < self.value:
                self.value, self.critical = value, way
            return
        i = free[int(self.rng.integers(len(free)))]
        parts = self.parts(leaves[i])
        parts = parts[:-1] if self.lie == "leaf left out" else parts
        masks = [sum(1 << leaf for leaf in part) for part in parts]
        self.lines.append(["b", self.points.place[i], *masks])
        for part in parts:
            self.prove([*leaves[:i], part, *leaves[i + 1 :]], known, way)

    def open_features(self):
        """Give all (split, feature) of which it is not known if one uses the other."""
        d = self.points.x.shape[1]
        if self.points.most == d and self.lie != "features left out":
            return []
        pairs = itertools.product(range(self.n_splits), range(d))
        return [(b, j) for b, j in pairs if j not in self.use[b]]

    def prove_uses(self, split, feature, leaves, known, way):
        """Branch on whether a split uses a feature: it does not, or keeps it."""
        self.lines.append(["u", split, feature])
        before, d = self.use, self.points.x.shape[1]
        most = self.points.most - (
            self.lie in ("too few features", "features left out")
        )
        for is_kept in (False, True):
            own = {**before[split], feature: is_kept}
            if is_kept and sum(own.values()) >= most:
                own = {j: own.get(j, False) for j in range(d)}
            self.use = (*before[:split], own, *before[split + 1 :])
            self.prove(leaves, known, way)
        self.use = before

    def left_out(self, split):
        """The features that a split does not use."""
        use = self.use[split]
        if self.lie == "no branch on features":
            return tuple(range(self.points.most, self.points.x.shape[1]))
        return tuple(j for j, is_kept in use.items() if not is_kept)

    def parts(self, leaves):
        """Part a set of leaves in one of several ways."""
        way = self.rng.integers(3)
        one = sorted(leaves)[int(self.rng.integers(len(leaves)))]
        if way == 0:
            return [frozenset([leaf]) for leaf in sorted(leaves)]
        left = frozenset(leaf for leaf in leaves if self.side[0, leaf] < 0)
        if way == 1 and 0 < len(left) < len(leaves):
            return [left, leaves - left]
        return [frozenset([one]), leaves - {one}]

    def lemma(self, leaves, known):
        split = int(self.rng.integers(self.n_splits)) if self.n_splits else 0
        if not self.n_splits:
            return known
        value, plain, _ = self.solve(split, leaves, [])
        self.lines.append(["l", plain])
        known = known.copy()
        known[split] = max(known[split], value - 1e-6)
        return known

    def close(self, leaves, known):
        cost = self.points.cost[:, self.label]
        base = sum(min(cost[i, list(some)]) for i, some in enumerate(leaves))
        known, plain, envelopes = known.copy(), [], []
        self.is_alone = self.rng.random(len(leaves)) < 0.1
        for split in reversed(range(self.n_splits)):
            entries = self.envelopes(split, leaves, base, known)
            value, more, others = self.solve(split, leaves, entries)
            plain, envelopes = plain + more, envelopes + others
            known[split] = max(known[split], value)
        return base + known.sum(), plain, envelopes

    def envelopes(self, split, leaves, base, known):
        """Give (point, side, cap, partner) of the envelopes at a split."""
        points, found = self.points, []
        for i, some in enumerate(leaves):
            cost = points.cost[i, self.label]
            least = min(cost[list(some)])
            cheap = [leaf for leaf in some if cost[leaf] <= least]
            dear = [cost[leaf] for leaf in some if cost[leaf] > least]
            Q = [
                b
                for b in range(self.n_splits)
                if self.common(cheap, b) and not self.common(some, b)
            ]
            if split not in Q or not dear:
                continue
            delta = min(dear) - least
            partners = {b: self.partner(i, b, self.common(cheap, b), leaves) for b in Q}
            H = len(Q) * (1 + points.box)
            H = 0 if self.lie == "envelopes without a chord" else H
            if all(p >= 0 for p in partners.values()):
                r = max(self.distance(i, p) for p in partners.values()) / points.rho
                B = self.threshold - base - delta - known.sum() + known[Q].sum()
                rest = sum(max(0, 1 - r * points.slack[p]) for p in partners.values())
                H = min(H, r * max(0, B) + rest)
            cap = min(points.slack[i], delta / max(H, 1e-9)) * (1 - 1e-9)
            found.append((i, self.common(cheap, split), cap, partners[split]))
        return found

    def partner(self, i, split, side, leaves):
        fitting = [p for p, s in enumerate(leaves) if self.common(s, split) == side]
        if self.lie == "any partner":
            fitting = [p for p in range(len(leaves)) if p != i]
        if not fitting or self.is_alone[i]:
            return -1
        return min(fitting, key=lambda p: self.distance(i, p))

    def distance(self, i, p):
        return np.abs(self.points.x[i] - self.points.x[p]).max(initial=0.0)

    def solve(self, split, leaves, envelopes):
        """Return the value of a split's LP, and its entries in the file."""
        points, place = self.points, self.points.place
        sides = [self.common(some, split) for some in leaves]
        guess = [
            s or self.common([min(some)], split)
            for s, some in zip(sides, leaves, strict=True)
        ]
        own = {i for i, *_ in envelopes} if self.lie == "open margins" else set()
        price = points.slack * (3 if self.lie in ("caps", "margins twice") else 1)
        of_margins = guess if self.lie == "open margins" else sides
        plain = [
            (i, s, price[i]) for i, s in enumerate(of_margins) if s and i not in own
        ]
        entries = plain + [(i, s, cap) for i, s, cap, _ in envelopes]
        of_sides = guess if self.lie == "open sides" else sides
        hard = [(i, s) for i, s in enumerate(of_sides) if s]
        lied = LIES.get(self.lie, lambda p: p)(points)
        value, dual = split_lp(lied, entries, hard, self.left_out(split))
        q = np.floor(np.maximum(dual, 0) * 2**EXPONENT).astype(int).tolist()
        if self.lie == "margins twice":
            q[: len(plain)] = [amount // 3 for amount in q[: len(plain)]]
        n, kinds = len(points.x), []
        kinds += [(MARGIN, i) for i, _, _ in plain]
        kinds += [None] * len(envelopes)
        kinds += [(HARD, i) for i, _ in hard]
        kinds += [(BOX_LEFT, i) for i in range(n)] + [(BOX_RIGHT, i) for i in range(n)]
        flat, more = [], []
        for kind, amount in zip(kinds, q, strict=True):
            if amount and kind is not None:
                often = 3 if self.lie == "margins twice" and kind[0] == MARGIN else 1
                flat += often * [split, kind[0], place[kind[1]], amount]
        for (i, _, _, p), amount in zip(envelopes, q[len(plain) :], strict=False):
            if amount:
                more += [split, place[i], amount, -1 if p < 0 else place[p]]
        return value, flat, more


def part_lines(points, whole, share, threshold, rng, lie=None):
    """Give the lines of a part, and which of them its bound depends on most.

    Structures that costs alone close have no lines.
    """
    names = None if len(points.place) == len(whole.place) else points.place
    lines = [["part", names, list(share), threshold]]
    labels = list(range(points.cost.shape[1]))
    least, value, critical = 2 * min(points.rho, points.slack.min()), np.inf, []
    for shape in shapes_of(points.depth, labels):
        used = sorted(set(labels_of(shape)))
        alone = points.cost[:, used].min(axis=1).sum()
        alone += (len(labels_of(shape)) - 1) * least
        if alone < threshold:
            found = Prover(points, shape, threshold, rng, lie)
            if found.value < value:
                value, critical = found.value, [len(lines) + k for k in found.critical]
            lines += found.lines
    return lines, critical


def random_header(
    rng, n=6, d=2, depth=2, n_classes=2, costs=None, more=False, most=None
):
    """Return a header without claim, and a table.

    ``more`` adds gaps and a category; ``most`` is how many features a split may use.
    """
    frame = pd.DataFrame({f"x{j}": rng.integers(0, 5, n) / 2 for j in range(d)})
    columns = [
        {"kind": "number", "name": name, "fill": 0.5, "has_gaps": False}
        for name in frame.columns
    ]
    if more:
        frame.loc[0, "x0"] = None
        columns[0]["has_gaps"] = True
        frame["c"] = ["u", "v", *rng.choice(["u", "v"], n - 2)]
        values = {"values": ["u", "v"], "rare": [], "is_open": True}
        columns.append({"kind": "category", "name": "c", **values})
    labels = [*range(n_classes), *rng.integers(0, n_classes, n - n_classes).tolist()]
    margin = float(rng.choice([0.125, 0.25, 0.5]))
    header = {
        "format": "miptree-proof",
        "version": 2,
        "written_by": "tests",
        "columns": columns,
        "is_named": True,
        "classes": ["no", "yes", "so", "too"][:n_classes],
        "target": None,
        "labels": labels,
        "weights": None,
        "costs": None,
        "row_costs": None,
        "family": {
            "kind": "oblique",
            "depth": depth,
            "slack_penalty": round(float(rng.choice([0.7, 1, 2])) / margin, 3),
            "l1_penalty": round(float(rng.choice([0.02, 0.1, 0.3])) / margin, 3),
            "margin": margin,
            "max_features": most,
        },
        "tree": [
            {"coef": [[0, 1.0]], "threshold": 0.75, "left": 1, "right": 2},
            {"class": 0},
            {"class": 1},
        ],
    }
    if rng.random() < 0.5:
        header["weights"] = [1.0, *np.round(2 * rng.random(n - 1), 1).tolist()]
    if costs == "matrix":
        matrix = np.round(2 * rng.random((n_classes, n_classes)), 1)
        header["costs"] = (matrix * (1 - np.eye(n_classes))).tolist()
    if costs == "rows":
        header["row_costs"] = np.round(rng.random((n, n_classes)), 1).tolist()
    return header, frame


def random_proof(seed, n_parts=1, part=1.2, lie=None, **options):
    """Return the lines of a proof file, save its digest, the table, critical lines.

    The threshold is a part of the least objective. Where it is above that, the bound is
    the least objective itself: whatever raises it makes it false.
    """
    rng = np.random.default_rng(seed)
    header, frame = random_header(rng, **options)
    whole = Points(header, frame)
    order = rng.permutation(len(whole.place)).tolist()
    lines, critical, bound = [], [], 0.0
    for k in range(n_parts):
        chosen = sorted(order if lie == "points in two parts" else order[k::n_parts])
        share = 1 if lie == "shares" else n_parts
        points = whole.some(chosen, 1 / share)
        least = least_objective(points)
        threshold = round(part * least, 6)
        if threshold > 0:
            bound += min(threshold, least - 1e-6)
            more, chosen = part_lines(points, whole, (1, share), threshold, rng, lie)
            critical += [2 + len(lines) + k for k in chosen]
            lines += more
    header["claim"] = {"cost": objective_of(header, frame), "bound": bound}
    section = {"section": "routes", "lines": len(lines), "exponent": EXPONENT}
    return [header, section, *lines, {"digest": ""}], frame, critical
