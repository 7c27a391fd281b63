"""Run ``python -m fuzz model proof table command --inputs 10000`` in ``tests``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import mkdtemp

from fuzz.run import run
from fuzz.targets import TARGETS


def main() -> int:
    """Run targets, print what came of their inputs, and keep the crashes."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []])
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first input")
    parser.add_argument("--crashes", type=Path, default=Path("crashes"))
    given = parser.parse_args()
    seeds, n_crashes = range(given.first, given.first + given.inputs), 0
    for name in given.targets or TARGETS:
        begin = time.perf_counter()
        found = run(TARGETS[name](Path(mkdtemp(prefix=f"fuzz-{name}-"))), seeds)
        found.save(given.crashes / name)
        n_crashes += len(found.crashes)
        outcomes = ", ".join(
            f"{n:,} {what}" for what, n in sorted(found.outcomes.items())
        )
        seconds = time.perf_counter() - begin
        sys.stdout.write(
            f"{name}: {outcomes}; {len(found.crashes)} crashes, {seconds:.0f} s\n"
        )
    return n_crashes > 0


if __name__ == "__main__":
    sys.exit(main())
