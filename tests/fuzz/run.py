"""Run many inputs and keep those that do what no input may do."""

from __future__ import annotations

import json
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from fuzz.targets import Target
from fuzz.watch import FoundError, watched


@dataclass
class Findings:
    """What came of the inputs of a run.

    Attributes
    ----------
    outcomes : Counter
        How often each outcome came.
    crashes : list of (seed, input, error)
        Inputs that the package did not answer as it promises.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    crashes: list[tuple[int, Any, str]] = field(default_factory=list)

    def save(self, folder: Path) -> None:
        """Write each crash to a file of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        for seed, given, error in self.crashes:
            content = {"seed": seed, "input": repr(given), "error": error}
            (folder / f"{seed}.json").write_text(json.dumps(content, indent=1))


def run(target: Target, seeds: range, most_crashes: int = 20) -> Findings:
    """Read an input for each seed; each is the same whatever was read before."""
    found = Findings()
    target.input(Random(0))  # makes the good inputs, unwatched
    for seed in seeds:
        given = target.input(Random(seed))
        try:
            with watched(target.folder):
                found.outcomes[target.read(given)] += 1
        except (Exception, FoundError):
            found.crashes.append((seed, given, traceback.format_exc()))
            if len(found.crashes) >= most_crashes:
                break
    return found
