"""Proofs over routes checked from outside: brute force, and replay in plain NumPy."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from miptree.proof.routes.state import EXCLUDED, KEPT, MAY_USE
from miptree.proof.routes.structures import Structure
from miptree.proof.routes.trace import (
    BOX_LEFT,
    BOX_RIGHT,
    BRANCH,
    CHANGE,
    CLOSE,
    ENVELOPE,
    EXPONENT,
    MARGIN,
    USE,
    Trace,
)
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import AnyArray, IntArray


class SplitCosts:
    """Least cost of a split that sends some points left and some right, by LPs.

    There is one for every set of as many features as a split may use.
    """

    def __init__(self, problem: RouteProblem, with_box: bool) -> None:
        self.problem, self.with_box, self.known = problem, with_box, {}

    def __call__(self, side: tuple[int, ...]) -> float:
        if side not in self.known:
            self.known[side] = self._solve(np.array(side))
        return self.known[side]

    def _solve(self, side: np.ndarray) -> float:
        X, most = self.problem.X, self.problem.most_features
        sets = combinations(range(X.shape[1]), most)
        return min(self._solve_with(X[:, used], side) for used in sets)

    def _solve_with(self, X: np.ndarray, side: np.ndarray) -> float:
        C, rho, box = (getattr(self.problem, k) for k in ("C", "rho", "box"))
        (rows,) = np.nonzero(side)
        if len(rows) == 0:
            return 0.0
        n, d = len(rows), X.shape[1]
        # Variables: a+, a-, t, h. With z = (a+ - a-) x - t: s z + h >= 1, s z >= 0.
        score = np.column_stack([X, -X, -np.ones(len(X))])
        signed = side[rows, None] * score[rows]
        upper = [
            np.column_stack([-signed, -np.eye(n)]),
            np.pad(-signed, ((0, 0), (0, n))),
        ]
        limit = [-np.ones(n), np.zeros(n)]
        if self.with_box:
            wide = np.pad(score, ((0, 0), (0, n)))
            upper, limit = [*upper, wide, -wide], [*limit, *2 * [np.full(len(X), box)]]
        cost = np.concatenate([np.full(2 * d, rho), [0.0], C[rows]])
        bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
        answer = linprog(cost, np.vstack(upper), np.concatenate(limit), bounds=bounds)
        return float(answer.fun) if answer.status == 0 else np.inf


def brute_force(
    problem: RouteProblem, structure: Structure, with_box: bool, reached: bool
) -> float:
    """Return the least cost of a structure over all routes of all points.

    With ``reached`` only where every leaf has a point, as in normal form; else a split
    costs at least what an active one does.
    """
    split_cost = SplitCosts(problem, with_box)
    floor = 0.0 if reached else problem.least_split
    best = np.inf
    for leaf in product(range(structure.n_leaves), repeat=problem.n_points):
        if reached and len(set(leaf)) < structure.n_leaves:
            continue
        where = np.array(leaf)
        total = problem.cost[np.arange(len(where)), structure.label[where]].sum()
        for b in range(structure.n_splits):
            if total >= best:
                break
            side = structure.side[b, where]
            if not structure.is_subset[b]:
                total += max(floor, split_cost(tuple(side.tolist())))
            elif not any(are_parted(own, side) for own in problem.values):
                total = np.inf
        best = min(best, float(total))
    return best


def are_parted(values: IntArray, side: AnyArray) -> bool:
    """Tell whether no value is on both sides."""
    return not bool(np.isin(values[side < 0], values[side > 0]).any())


def unfolded(trace: Trace) -> Trace:
    """Return a trace of changes with all entries of its closings."""
    entry, starts, last = [], [0], {}
    for event in range(trace.n_events):
        own = trace.entry[slice(*trace.entries_start[event : event + 2])].tolist()
        if own and trace.kind[event] in (CLOSE, CHANGE):
            found = trace.entries(event, event + 1)
            keys = zip(found.point, found.split, found.kind, strict=True)
            before = last if trace.kind[event] == CHANGE else {}
            last = before | dict(zip(keys, own, strict=True))
            last = {key: row for key, row in last.items() if row[1]}
        if trace.kind[event] == CHANGE:
            own = list(last.values())
        entry += own
        starts.append(len(entry))
    return trace._replace(
        kind=np.where(trace.kind == CHANGE, CLOSE, trace.kind),
        entries_start=np.array(starts),
        entry=np.array(entry, dtype=np.int64).reshape(-1, 2),
    )


def replay(
    problem: RouteProblem, structure: Structure, trace: Trace, T: float
) -> float:
    """Check the branches of a trace; return the least value of all its closings."""
    n, full = problem.n_points, (1 << structure.n_leaves) - 1
    first = np.full(n, full)
    if trace.fixed >= 0:
        assert structure.is_symmetric
        first[trace.fixed] = structure.left_of_root
    may_use = np.full((structure.n_splits, problem.X.shape[1]), MAY_USE)
    stack, least = [(first, may_use)], np.inf
    for event in range(trace.n_events):
        mask, use = stack.pop()
        if trace.kind[event] == BRANCH:
            masks, i = trace.masks_of(event), trace.point[event]
            assert np.bitwise_or.reduce(masks) == mask[i]
            for child in reversed(masks):
                below = mask.copy()
                below[i] = child
                stack.append((below, use))
        elif trace.kind[event] == USE:
            split, (feature,) = trace.point[event], trace.masks_of(event)
            assert use[split, feature] == MAY_USE
            kept, without = use.copy(), use.copy()
            kept[split, feature], without[split, feature] = KEPT, EXCLUDED
            if (kept[split] == KEPT).sum() == problem.most_features:
                kept[split, kept[split] == MAY_USE] = EXCLUDED
            stack += [(mask, kept), (mask, without)]
        else:
            value = value_of(problem, structure, trace, event, mask, T, use)
            least = min(least, value)
    assert not stack
    return least


def leaves_of(mask: int, n_leaves: int) -> list[int]:
    return [leaf for leaf in range(n_leaves) if mask >> leaf & 1]


def value_of(
    problem: RouteProblem, structure: Structure, trace: Trace, event: int,
    mask: np.ndarray, T: float, use: np.ndarray,
) -> float:  # fmt: skip
    """Return what the multipliers of a closing prove."""
    cost = problem.cost[:, structure.label]
    leaves = [leaves_of(M, structure.n_leaves) for M in mask]
    cmin = np.array([cost[i, own].min() for i, own in enumerate(leaves)])
    base, rho, vmin = cmin.sum(), problem.rho, problem.least_split

    def common(b, some):
        sides = set(structure.side[b, some].tolist())
        return sides.pop() if len(sides) == 1 else 0

    found = trace.entries(event, event + 1)
    entries = list(zip(*found[:4], found.q / 2.0**EXPONENT, strict=True))
    lower = np.full(structure.n_splits, vmin)
    A = max(0.0, T - base) / rho
    for b in range(structure.n_splits - 1, -1, -1):
        balance, paid = np.zeros(problem.X.shape[1] + 1), 0.0
        for i, split, kind, _, q in entries:
            if split != b:
                continue
            side = common(b, leaves[i])
            if kind in (BOX_LEFT, BOX_RIGHT):
                side = 1 if kind == BOX_LEFT else -1
                paid -= problem.box * q
            if kind == ENVELOPE:
                assert side == 0
                cheap = [k for k in leaves[i] if cost[i, k] == cmin[i]]
                side = common(b, cheap)
                above = [cost[i, k] for k in leaves[i] if cost[i, k] > cmin[i]]
                gap = min(above) - cmin[i]
                own = [e for e in entries if e[0] == i and e[2] == ENVELOPE]
                splits = {e[1] for e in own}
                voff = sum(low for k, low in enumerate(lower) if k not in splits)
                B = max(0.0, T - base - voff - gap)
                H = len(own) * (1 + problem.box)
                if all(e[3] >= 0 for e in own):
                    for e in own:
                        assert common(e[1], leaves[e[3]]) == common(e[1], cheap) != 0
                    far = max(np.abs(problem.X[i] - problem.X[e[3]]).max() for e in own)
                    prices = [problem.C[e[3]] for e in own]
                    for u in [far / rho, *(max(far / rho, 1 / C) for C in prices)]:
                        H = min(H, u * B + sum(max(0.0, 1 - u * C) for C in prices))
                cap = problem.C[i] if H * problem.C[i] <= gap else gap / H
                assert q <= cap
            assert side != 0
            if kind == MARGIN:
                assert q <= problem.C[i]
            balance += side * q * np.append(problem.X[i], 1.0)
            paid += q if kind in (MARGIN, ENVELOPE) else 0.0
        may_use = np.abs(balance[:-1])[use[b] != EXCLUDED]
        excess = max(0.0, may_use.max(initial=0.0) - rho)
        value = paid - A * excess - (problem.box + A) * abs(balance[-1])
        lower[b] = max(lower[b], value)
    return float(base + lower.sum())
