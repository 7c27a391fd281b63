"""Journals read as cells: one method on one pair, with the lines behind its mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from miptree.bench.journal import Journal
from miptree.bench.methods import METHODS
from miptree.bench.paper import printed
from miptree.bench.runner import KEY
from miptree.bench.suites import SUITES, Pair
from miptree.utils.arrays import FloatArray

OURS, ALL_STYLES = "miptree", "miptree-auto"
"""The method that the others are compared with."""
PAUSE = 60.0
"""Seconds without a fit after which a run counts as stopped."""


@dataclass(frozen=True)
class Line:
    """A record and where it stands."""

    file: str
    number: int
    record: dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A method on a pair: the lines of its splits, failed ones included."""

    lines: tuple[Line, ...]

    @property
    def done(self) -> list[dict[str, Any]]:
        """Records of the fits that did not fail."""
        return [k.record for k in self.lines if k.record["status"] == "ok"]

    @property
    def failed(self) -> int:
        """Number of fits that failed."""
        return len(self.lines) - len(self.done)

    @property
    def splits(self) -> list[int]:
        """Splits of the fits that did not fail."""
        return sorted(record["split"] for record in self.done)

    def mean(self, field: str) -> float:
        """Return the mean of a field over the splits; NaN without any."""
        values = [record[field] for record in self.done]
        return float(np.mean(values)) if values else float("nan")

    def mean_of_known(self, field: str) -> float:
        """Return the mean of a field that not every method has; NaN without it."""
        values = [record[field] for record in self.done if field in record]
        return float(np.mean(values)) if values else float("nan")


@dataclass(frozen=True)
class Section:
    """Fits that are comparable: of one suite, limit and kind of test rows."""

    suite: str
    limit: float
    part: str
    pairs: tuple[Pair, ...]
    methods: tuple[str, ...]
    splits: tuple[int, ...]
    cells: dict[tuple[Pair, str], Cell]

    @property
    def slug(self) -> str:
        """Name of the section in file names."""
        return f"{self.suite}-{self.part}-{self.limit:g}s"

    @property
    def paper_names(self) -> list[str]:
        """The paper's methods with a number here; it has none on official parts."""
        names = ("S1O", "S1O-DS", "CART", "OCT-H", "Fair", "BinOCT")
        return [
            name
            for name in names
            if self.part == "split"
            and any(np.isfinite(paper_number(pair, name)) for pair in self.pairs)
        ]

    @property
    def columns(self) -> list[str]:
        """The methods, and those of the paper as "paper: <name>"."""
        return [*self.methods, *(f"paper: {name}" for name in self.paper_names)]

    @property
    def others(self) -> list[str]:
        """The columns that our method is compared with."""
        return [column for column in self.columns if column != self.ours]

    @property
    def ours(self) -> str | None:
        """The method that others are compared with: our default, or all styles."""
        found = [method for method in (OURS, ALL_STYLES) if method in self.methods]
        return found[0] if found else None

    def accuracies(self, column: str) -> FloatArray:
        """Return the test accuracy on every pair; NaN where there is none."""
        if column in self.methods:
            return np.array([self.test(pair, column) for pair in self.pairs])
        name = column.removeprefix("paper: ")
        return np.array([paper_number(pair, name) for pair in self.pairs])

    def cell(self, pair: Pair, method: str) -> Cell:
        """Return the cell of a pair and a method, empty if nothing was run."""
        return self.cells.get((pair, method), Cell(()))

    def is_complete(self, pair: Pair, method: str) -> bool:
        """Say whether every split of the section was fitted."""
        return self.cell(pair, method).splits == list(self.splits)

    def test(self, pair: Pair, method: str) -> float:
        """Return the mean test accuracy of a complete cell; NaN of any other."""
        cell = self.cell(pair, method)
        return cell.mean("test") if self.is_complete(pair, method) else float("nan")


def elapsed(records: Iterable[dict[str, Any]]) -> float:
    """Return the seconds by the clock in which at least one fit was running.

    Data are read between two fits, so gaps of up to ``PAUSE`` seconds count; longer
    ones, in which the run was stopped, do not.
    """
    total, until = 0.0, -np.inf
    starts = ((datetime.fromisoformat(r["when"]).timestamp(), r) for r in records)
    for start, record in sorted(starts, key=lambda found: found[0]):
        end = start + record.get("wall", 0.0)
        begin = until if start <= until + PAUSE else start
        total += max(0.0, end - begin)
        until = max(until, end)
    return float(total)


def paper_number(pair: Pair, name: str, part: str = "test") -> float:
    """Return what the paper prints for one of its methods; NaN if nothing."""
    result = printed(pair.set, pair.depth)
    value = None if result is None else getattr(result, part).get(name)
    return float("nan") if value is None else float(value)


def journal_of(folder: Path, suite: str) -> Journal:
    """Return the journal of a suite."""
    return Journal(Path(folder) / f"bench-{suite}.jsonl", KEY)


def sections(
    folder: Path, suites: Sequence[str], splits: Iterable[int]
) -> list[Section]:
    """Return all sections of the journals in a folder, of these splits."""
    wanted = set(splits)
    found: list[Section] = []
    for suite in suites:
        journal = journal_of(folder, suite)
        # The last line of a key counts: an earlier one may be a failure retried.
        last: dict[Any, Line] = {}
        for number, record in journal.lines():
            if record["split"] in wanted:
                line = Line(journal.path.name, number, record)
                last[journal.key_of(record)] = line
        groups: dict[tuple[str, float], list[Line]] = defaultdict(list)
        for line in last.values():
            groups[line.record["part"], line.record["limit"]].append(line)
        for (part, limit), lines in sorted(groups.items(), reverse=True):
            found.append(_section(suite, limit, part, lines))
    return found


def _section(suite: str, limit: float, part: str, lines: list[Line]) -> Section:
    cells: dict[tuple[Pair, str], list[Line]] = defaultdict(list)
    for line in lines:
        pair = Pair(line.record["set"], line.record["depth"])
        cells[pair, line.record["method"]].append(line)
    there = {pair for pair, _ in cells}
    methods = {method for _, method in cells}
    return Section(
        suite,
        limit,
        part,
        tuple(pair for pair in SUITES[suite] if pair in there),
        tuple(name for name in METHODS if name in methods),
        tuple(sorted({line.record["split"] for line in lines})),
        {
            key: Cell(tuple(sorted(found, key=lambda line: line.record["split"])))
            for key, found in cells.items()
        },
    )
