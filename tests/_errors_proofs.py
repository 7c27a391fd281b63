"""Proof files of the errors of tiny trees, and what is true of them by brute force.

The brute force takes nothing from the package: it tries all sets of points about which
a tree may be right, and all ways to part them; LPs of SciPy tell how far a split may
keep two sets apart.
"""

import functools
import itertools
import json
from fractions import Fraction

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from _routes_proofs import numbers_of, values_of
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective.bounds import Subset
from miptree.proof.all_roots import all_roots_bound
from miptree.proof.box_limits import box_limits
from miptree.proof.fewest_errors import fewest_errors
from miptree.proof.recording import record_errors
from miptree.proof.root_recording import record_roots
from miptree.proof.row_partition import Part
from miptree.proof.space import Space, space_of

TOLERANCE = 1e-7
"""What an LP may miss of a margin."""


# ------------------------------------------------------------------------ the truth


def truth(header, frame):
    """Return what the rows weigh at least about which a tree of the depth is wrong."""
    X = features_of(header, frame)
    n, labels = len(X), header["labels"]
    weight = [Fraction(str(w)) for w in header["weights"] or [1] * n]
    kept = [i for i in range(n) if weight[i] > 0]
    points = tuple(map(tuple, X[kept].tolist()))
    margin = float(header["family"]["margin"]) - 1e-9

    @functools.cache
    def may_be_right(rows, depth):
        if len({labels[kept[i]] for i in rows}) <= 1:
            return True
        return depth > 0 and any(
            largest_margin(points, left, right) >= margin - TOLERANCE
            and may_be_right(left, depth - 1)
            and may_be_right(right, depth - 1)
            for left, right in parted(rows)
        )

    everything = range(len(kept))
    costs = [
        sum((weight[kept[i]] for i in everything if i not in rows), Fraction(0))
        for size in range(len(kept) + 1)
        for rows in itertools.combinations(everything, size)
        if may_be_right(rows, header["family"]["depth"])
    ]
    return min(costs)


def parted(rows):
    """Give all ways to part rows in two, up to mirror images."""
    for size in range(1, len(rows)):
        for right in itertools.combinations(rows[1:], size):
            yield tuple(i for i in rows if i not in right), right


@functools.cache
def largest_margin(points, left, right):
    """How far the scores of two sets can be from 0 where all lie in [-1, 1]."""
    X = np.array(points)
    n, d = X.shape
    z = np.hstack([X, -np.ones((n, 1))])  # of a and t
    box = np.hstack([np.vstack([z, -z]), np.zeros((2 * n, 1))])
    sides = np.vstack([z[list(left)], -z[list(right)]])
    sides = np.hstack([sides, np.ones((len(sides), 1))])
    bounds = [(None, None)] * (d + 1) + [(0, None)]
    target = np.zeros(d + 2)
    target[-1] = -1
    limit = np.concatenate([np.ones(2 * n), np.zeros(len(sides))])
    found = linprog(target, np.vstack([box, sides]), limit, bounds=bounds)
    return -found.fun if found.status == 0 else 0.0


def features_of(header, frame):
    """The columns of numbers of a header, and 0/1 columns of values."""
    columns = [numbers_of(header["columns"], frame)]
    counts = [
        len(c["values"]) + bool(c["rare"])
        for c in header["columns"]
        if c.get("is_subset")
    ]
    values = values_of(header["columns"], frame)
    columns += [np.eye(n)[own] for n, own in zip(counts, values.T, strict=True)]
    return np.hstack(columns)


# ------------------------------------------------------------------------ the files


def random_proof(
    seed,
    n=6,
    d=2,
    depth=1,
    n_classes=2,
    is_weighted=False,
    is_halved=False,
    more=False,
    lie=None,
    by_roots=False,
    is_fine=False,
):
    """Return the lines of a proof file of random points, and the table.

    ``more`` adds a category of three values that is split by subsets, and a column
    that others determine. ``lie`` changes the space that the search believes in.
    ``by_roots`` proves it by all splits of the root, which takes depth 2. Equal numbers
    are rare where the data ``is_fine``.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.integers(0, 4, (n, d)) + 0.0, columns=[f"x{j}" for j in range(d)]
    )
    columns = [
        {"kind": "number", "name": name, "fill": 0.0, "has_gaps": False}
        for name in frame.columns
    ]
    if is_fine:
        frame = frame + rng.integers(0, 64, (n, d)) / 64
    value_feature = np.zeros(0, dtype=int)
    if more:
        frame["sum"] = 2 * frame["x0"] + 1
        frame["kind"] = [*"abc", *rng.choice([*"abc"], n - 3)]
        columns.append({"kind": "number", "name": "sum", "fill": 0.0})
        columns[-1]["has_gaps"] = False
        columns.append({"kind": "category", "name": "kind", "values": [*"abc"]})
        columns[-1] |= {"rare": [], "is_open": False, "is_subset": True}
        value_feature = np.zeros(3, dtype=int)
    labels = rng.permutation([*range(n_classes), *rng.integers(0, n_classes, n)])[:n]
    weights = rng.integers(0, 7, n) / 2 if is_weighted else None
    if weights is not None:
        weights[0] = 1.5  # not all are 0
    margin = float(rng.choice([0.05, 0.1337, 0.3119]))
    header = {
        "format": "miptree-proof",
        "version": 3 if more else 2,
        "written_by": "a test",
        "columns": columns,
        "is_named": True,
        "classes": [f"c{k}" for k in range(n_classes)],
        "target": None,
        "labels": labels.tolist(),
        "weights": None if weights is None else weights.tolist(),
        "costs": None,
        "row_costs": None,
        "family": {
            "kind": "errors",
            "depth": depth,
            "margin": margin,
            "max_features": None,
        },
        "tree": [{"class": 0}],
        "claim": {"cost": 0.0, "bound": 0.0},
    }
    problem = Problem.from_data(
        features_of(header, frame),
        labels,
        n_classes,
        weights,
        value_feature=value_feature,
    )
    if by_roots:
        body, shown = roots_section(problem, margin, lie)
    else:
        body, shown = section(problem, margin, depth, is_halved, lie)
    kind = "errors-roots" if by_roots else "errors"
    lines = [header, None, *body, None]
    header["claim"]["bound"] = shown
    lines[1] = {"section": kind, "lines": len(lines) - 3}
    header["claim"]["cost"] = float(problem.weight[problem.y != 0].sum())
    return lines, frame


def section(problem, margin, depth, is_halved, lie):
    """Prove what is true, or what a lie makes of it; return lines, and the bound."""
    space = space_of(problem, margin)
    honest = record_errors(problem, space, depth, [], clock=Clock())
    if lie is not None:
        space = LIES[lie](space)
    n = problem.n_rows
    rows = [np.arange(n)]
    if is_halved and n > 3:
        rows = [np.arange(0, n, 2), np.arange(1, n, 2), *rows]
    parts = []
    for k, own in enumerate(rows):
        halves = (0, 1) if k == 2 else ()
        known = [Subset(*parts[half][:2]) for half in halves]
        given = problem, space, depth, own, known, np.inf
        found = fewest_errors(*given, clock=Clock(5.0))
        parts.append(Part(own, found.bound, halves))
    record = record_errors(problem, space, depth, parts, clock=Clock(30.0))
    record = record or honest
    lines = columns_of(problem, honest.limits)
    for part in record.parts:
        points = problem.source[part.rows].tolist()
        lines.append(["part", points, part.most, list(part.made_of)])
        lines += map(json.loads, part.branches)
    return lines, record.bound.value


def roots_section(problem, margin, lie):
    """Prove it by all splits of the root; return lines, and the bound."""
    space = space_of(problem, margin)
    limits = box_limits(problem, space)
    if limits is None:  # columns determine each other but for rounding
        return [], 0.0
    lines = columns_of(problem, limits)
    if lie is not None:
        space = LIES_OF_ROOTS[lie](space)
    found = all_roots_bound(problem, space, np.inf, clock=Clock(10.0))
    record = None
    if found.bound > 0:
        record = record_roots(problem, space, found.bound, clock=Clock(30.0))
    if record is None:
        return lines, 0.0
    return lines + list(map(json.loads, record.lines)), record.errors


def columns_of(problem, limits):
    """The lines about columns."""
    name = problem.source
    lines = [["w", j, _flat(terms)] for j, terms in limits.left_out.items()]
    return lines + [
        ["h", j, _flat({int(name[i]): v for i, v in terms.items()})]
        for j, terms in limits.multipliers.items()
    ]


def _flat(terms):
    return [number for pair in terms.items() for number in pair]


LIES = {
    "margin": lambda space: space._replace(min_distance=3 * space.min_distance),
    "near": lambda space: space._replace(X=space.X / 3),
    "a feature": lambda space: space._replace(
        X=space.X * (np.arange(space.X.shape[1]) > 0)
    ),
}
"""Spaces in which more is inseparable than is true."""


class Unmoved(Space):
    """A space in which moving a threshold costs no margin."""

    def min_distance_moved(self, n):
        return 0.9 * self.min_distance


LIES_OF_ROOTS = {**LIES, "moved": lambda space: Unmoved(*space)}
