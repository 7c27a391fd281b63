"""Whether labels of leaves should be left open in proofs over routes ("lazy labels").

* shares: a pair is run as ``routes`` runs it. How many nodes and seconds go to which
  structures? Structures that are closed at once are what open labels would save for
  sure, and the largest structure of each shape is what they cannot save.
* open: at one threshold, structures that differ in one label are searched apart, with
  this label open, and by an oracle that decides it at the best of the first levels.

    python benchmarks/run.py structures --part shares --name iris wine
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

from common import load, split_of
from miptree.bench.markdown import markdown_table
from miptree.objective.penalties import suited_objective
from miptree.proof.routes.groups import group_levels
from miptree.proof.routes.structures import count_structures
from miptree.proof.routes.units import route_problem
from questions import routes
from questions._open_labels import couples, measure, nodes_of, normal

TITLE = "Structures in proofs over routes"
ABOUT = (
    "Depth 2, training part of split 0, default penalties, one core; seconds are those "
    "of the CPU, on a core that others used as well. The engine is that of 42f7cbb. "
    "The shares were noted by a script with the same code before it became a question."
)
OPTIONS: dict[str, Any] = {"part": ("shares", "open"), "limit": 60.0, "levels": 2}
KEY = ("part", "name")
DEPTH, FEW = 2, (1, 10, 32)
THRESHOLDS = {
    "iris": 14.632,
    "image-segmentation": 78.9,
    "hayes-roth": 27.6,
    "seeds": 16.0,
    "dermatology": 55.68,
    "wine": 11.19,
    "heart-disease-cleveland": 11.0,
    "balance-scale": 9.0,
}
"""Of part ``open``: optima, or what takes a few thousand nodes."""
GROUPS = {"heart-disease-cleveland": 4, "balance-scale": 4}
"""Groups of the rows, where all rows are too hard; the first one is taken."""
MOST_COUPLES = 8
SHARES = (
    "Searches are those of one structure at one threshold, for all rows or a group; "
    "those that end within few nodes, with their part of the seconds of all searches. "
    "The last threshold is that of the proved sweep of most seconds: structures that "
    "costs alone do not close, parts of its seconds that the largest one and three "
    "take, and what would be left if only the largest of each shape took any time."
)
OPEN = (
    "Nodes of pairs of structures that differ in one label, the largest (at most 8): "
    "both searched apart; with this label never decided: how many pairs are proved "
    "that way at all, and how many with fewer nodes (the others meet a relaxed tree "
    "that costs less than the threshold, or take over 4 times as many nodes); and by "
    "the oracle, which has the label open for two levels of branches at most. Then the "
    "control: apart again, but along the first branches of the open label where they "
    "are better. Only what the oracle saves beyond that is due to open labels. More "
    "labels open, or more levels, were not tried. Of "
    "heart-disease-cleveland and balance-scale the first of 4 groups is taken."
)


def cases(options: Namespace) -> Iterator[tuple]:
    """Yield the sets of both parts."""
    yield from product(options.part, THRESHOLDS)


def run(case: Namespace) -> dict[str, Any]:
    """Measure one set."""
    return {"shares": _run_shares, "open": _run_open}[case.part](case)


# ------------------------------------------------------------------------------ shares


def _run_shares(case: Namespace) -> dict[str, Any]:
    """Run a pair, and note the searches of all sweeps."""
    part_module = import_module("miptree.proof.routes.part")
    sweep_module = import_module("miptree.proof.routes.sweep")
    plain, sweep = sweep_module.Search, sweep_module.sweep
    sweeps: list[dict[str, Any]] = []

    class Timed(plain):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.seconds, self.nodes = 0.0, 0
            sweeps[-1]["searches"].append(self)

        def go_on(self, nodes: int) -> Any:
            began = time.thread_time()
            found = super().go_on(nodes)
            self.seconds += time.thread_time() - began
            self.nodes += found[0]
            return found

    def noted(problem: Any, structures: Any, threshold: float, **others: Any) -> Any:
        sweeps.append({"points": problem.n_points, "searches": []})
        found = sweep(problem, structures, threshold, **others)
        own = sweeps[-1]
        own["bound"] = found.bound
        own["searches"] = [
            [one.structure.n_splits, one.nodes, one.seconds, one.is_exhausted]
            for one in own["searches"]
        ]
        return found

    with (
        patch.object(sweep_module, "Search", Timed),
        patch.object(part_module, "sweep", noted),
    ):
        pair = {"name": case.name, "depth": DEPTH, "limit": case.limit}
        found = routes.run(Namespace(**pair, penalties="default", method="routes"))
    n_labels = len(np.unique(split_of(*load(case.name), 0).y))
    count = count_structures(n_labels, DEPTH, False)
    return {"limit": case.limit, **found, "structures": count, **summary(sweeps)}


def summary(sweeps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return counts of all searches, and of the proved sweep of most seconds."""
    searches = [one for own in sweeps for one in own["searches"]]
    total = _seconds(searches)
    few = [[s for s in searches if s[3] and s[1] <= most] for most in FEW]
    proved = [own for own in sweeps if own["bound"] is not None]
    last = max(proved, key=lambda own: _seconds(own["searches"]))
    own = sorted(last["searches"], key=lambda s: -s[2])
    shapes = {s[0] for s in own}
    largest = sum(max(s[2] for s in own if s[0] == shape) for shape in shapes)
    seconds = _seconds(own)
    return {
        "searches": len(searches),
        "nodes": sum(s[1] for s in searches),
        "search_seconds": round(total, 3),
        "few": [len(some) for some in few],
        "few_part": [round(_seconds(some) / total, 4) for some in few],
        "last": {
            "points": last["points"],
            "bound": round(last["bound"], 4),
            "searched": len(own),
            "nodes": sum(s[1] for s in own),
            "seconds": round(seconds, 3),
            "few": [sum(s[3] and s[1] <= most for s in own) for most in FEW],
            "first": round(_seconds(own[:1]) / seconds, 4),
            "first_three": round(_seconds(own[:3]) / seconds, 4),
            "largest_of_shapes": round(largest / seconds, 4),
        },
    }


def _seconds(searches: list[list[Any]]) -> float:
    return float(sum(one[2] for one in searches))


# -------------------------------------------------------------------------------- open


def _run_open(case: Namespace) -> dict[str, Any]:
    """Search the largest couples of a set apart, open and by the oracle."""
    problem = split_of(*load(case.name), 0).problem
    objective = suited_objective("auto", 8.0, "auto", problem)
    rows, share = None, 1.0
    if case.name in GROUPS:
        levels = group_levels(problem, 15, np.random.default_rng(0))
        level = next(own for own in levels if len(own) == GROUPS[case.name])
        rows, share = level[0], 1.0 / len(level)
    points = route_problem(problem, objective, rows, share)
    threshold = THRESHOLDS[case.name]
    every = list(couples(points, DEPTH, threshold))
    count = cache(lambda nested: nodes_of(points, nested, threshold))
    chosen = sorted(every, key=lambda own: -sum(map(count, map(normal, own.both))))
    found = [measure(own, threshold, case.levels) for own in chosen[:MOST_COUPLES]]
    return {
        "threshold": threshold,
        "points": points.n_points,
        "levels": case.levels,
        "couples": len(every),
        "measured": [own for own in found if own is not None],
    }


# ------------------------------------------------------------------------------- pages


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return a table for each part."""
    blocks = []
    for part, about, table in (("shares", SHARES, _shares), ("open", OPEN, _open)):
        mine = {r["name"]: r for r in records if r["part"] == part}
        rows = [mine[name] for name in THRESHOLDS if name in mine]
        blocks += [f"## {part.capitalize()}", about, *table(rows)] if rows else []
    return blocks


def _shares(records: list[dict[str, Any]]) -> list[str]:
    ends = [f"<= {most} nodes" if most > 1 else "1 node" for most in FEW]
    searches = markdown_table(
        ["set", "(1a)", "bound", "structures", "searches", "nodes", "s", *ends],
        [
            [
                r["name"],
                f"{r['objective']:.4g}{'*' if r['is_proved'] else ''}",
                f"{r['bound']:.4g}",
                r["structures"],
                r["searches"],
                f"{r['nodes']:,}",
                f"{r['search_seconds']:.1f}",
                *(
                    f"{count} ({100 * part:.1f} %)"
                    for count, part in zip(r["few"], r["few_part"], strict=True)
                ),
            ]
            for r in records
        ],
    )
    head = ["set", "points", "bound", "structures", *ends, "nodes", "s"]
    last = markdown_table(
        [*head, "largest", "three", "largest of each shape"],
        [
            [
                r["name"],
                own["points"],
                f"{own['bound']:.4g}",
                own["searched"],
                *own["few"],
                f"{own['nodes']:,}",
                f"{own['seconds']:.1f}",
                *(
                    f"{100 * own[key]:.0f} %"
                    for key in ("first", "first_three", "largest_of_shapes")
                ),
            ]
            for r in records
            for own in [r["last"]]
        ],
    )
    return [searches, "The last threshold:", last]


def _open(records: list[dict[str, Any]]) -> list[str]:
    rows = []
    for r in records:
        own = r["measured"]
        apart, best, steered = (
            sum(one[key] for one in own) for key in ("apart", "oracle", "steered")
        )
        proved = [one["open"] for one in own if one["open"] is not None]
        fewer = [one for one in own if (one["open"] or np.inf) < one["apart"]]
        saved = [f"{100 * (1 - k / max(1, apart)):.1f} %" for k in (best, steered)]
        rows.append(
            [
                *(r["name"], r["points"], f"{r['threshold']:g}", len(own)),
                *(r["couples"], f"{apart:,}", f"{len(proved)} ({len(fewer)})"),
                *(f"{best:,}", saved[0], f"{steered:,}", saved[1]),
            ]
        )
    head = ["set", "points", "threshold", "pairs", "of", "nodes apart"]
    return [
        markdown_table(
            [
                *(*head, "never decided: proved (with fewer)", "oracle", "saved"),
                *("apart, same branches", "saved"),
            ],
            rows,
        )
    ]
