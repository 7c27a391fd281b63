"""Ctrl-C at random moments of real processes: a tree or a clean end, and no litter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="looks for what is left in /proc"
)

SAMPLE = {"points": 2, "rules": 2, "mip": 2}
MANY = {
    "oblique": 30,
    "mip": 30,
    "rows": 20,
    "rules": 20,
    "points": 20,
    "tuner": 20,
    "tuner in processes": 15,
    "dask": 20,
    "bench": 15,
    "command": 20,
}


def trials(seed, folder, numbers):
    """Interrupt works so often; return what was found, trial by trial."""
    script = Path(__file__).parent / "faults" / "interrupted.py"
    words = [f"{work}={n}" for work, n in numbers.items()]
    done = subprocess.run(
        [sys.executable, script, str(seed), folder, *words],
        stdout=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert Counter(trial["trial"] for trial in found) == numbers
    return found


def faults(trial):
    """Return what is wrong with the end of a trial."""
    work, outcome = trial["trial"], trial.get("outcome", "none")
    is_command = work in ("bench", "command")
    if is_command:
        # A bench is stopped or was done; a fit keeps its tree, or had none to keep.
        if outcome != "exit" or trial["exit"] not in (0, 130):
            yield f"ended with {trial['exit']}, {outcome}"
    elif trial["exit"] != 0 or not outcome.startswith(("fitted", "KeyboardInterrupt")):
        yield f"ended with {trial['exit']}, {outcome}"
    if trial["error"] and work not in IN_PROCESSES:
        yield "a traceback was shown"
    yield from (f"left {kind}" for kind in LEFT if trial.get(kind))


LEFT = ("threads", "processes", "files")
IN_PROCESSES = ("tuner in processes", "bench")
"""Works whose workers Ctrl-C may meet while Python starts, which shows a traceback."""


def check(found):
    wrong = [(trial, told) for trial in found if (told := list(faults(trial)))]
    assert not wrong, json.dumps(wrong[0], indent=1)
    kept = sum("interrupted" in trial["outcome"] for trial in found)
    assert kept > 0, "no fit was under way"


def test_ctrl_c_at_any_moment_ends_well(tmp_path):
    check(trials(0, tmp_path, SAMPLE))


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_ctrl_c_at_many_moments_ends_well(tmp_path):
    found = trials(1, tmp_path, MANY)
    assert len(found) >= 200
    check(found)


def test_what_is_left_is_noticed():
    clean = {"trial": "points", "outcome": "fitted, optimal", "exit": 0, "error": ""}
    assert list(faults(clean)) == []
    for change, told in (
        ({"outcome": "ValueError"}, "ended with 0, ValueError"),
        ({"exit": "hang"}, "ended with hang, fitted, optimal"),
        ({"exit": -11}, "ended with -11, fitted, optimal"),
        ({"threads": ["miptree-solver"]}, "left threads"),
        ({"processes": ["python"]}, "left processes"),
        ({"files": ["tmp/x"]}, "left files"),
        ({"error": "Traceback"}, "a traceback was shown"),
    ):
        assert list(faults(clean | change)) == [told]
    bench = {"trial": "bench", "outcome": "exit", "exit": 1, "error": ""}
    assert list(faults(bench)) == ["ended with 1, exit"]
