"""A program whose work is interrupted at random moments, as Ctrl-C does it.

``python interrupted.py seed folder work=n_trials ...`` prints a line of JSON for each
trial. A trial is a process that is forked, so that it has nothing to import, with a
session and a folder for temporary files of its own. SIGINT goes to all its processes,
as a terminal sends it; in every third trial a second one follows soon.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults import works

SECONDS_TO_END = 60
"""After so long without an end, an interrupted process hangs."""
SECONDS_TO_VANISH = 10
"""How long workers may take to notice that their master has gone."""
_OF_OTHERS = ("QueueFeeder", "ExecutorManager")
"""Threads that joblib keeps, to be used again."""


def main(work: str, seed: int, n_trials: int, folder: Path) -> None:
    """Interrupt a work so often; the first time it is left alone, and measured."""
    works.prepare(work)
    run, random = works.WORKS[work], Random(f"{work} {seed}")
    seconds = _trial(run, folder / "whole", None, None)["work"]
    for number in range(n_trials):
        moment = random.uniform(0, 1.05) * seconds
        again = random.uniform(0, 0.5) if number % 3 == 2 else None
        found = _trial(run, folder / f"{number}", moment, again)
        found |= {"trial": work, "moment": round(moment, 3), "again": again}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


def _trial(
    run: works.Work, folder: Path, moment: float | None, again: float | None
) -> dict[str, Any]:
    """Run a work in a process, interrupt it, and note what is left of it."""
    (folder / "tmp").mkdir(parents=True)
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(heard)
        _work(run, folder, told)
    os.close(told)
    os.read(heard, 1)
    os.close(heard)
    began = time.perf_counter()
    for seconds in (moment, again):
        if seconds is not None:
            time.sleep(seconds)
            _signal(child, signal.SIGINT)
    code = _exit_code(child)
    outcome = folder / "outcome.json"
    found = json.loads(outcome.read_text()) if outcome.exists() else {}
    found |= {
        "exit": code,
        "process": child,
        "end": round(time.perf_counter() - began, 3),
        "processes": _processes_left(child),
        "files": _files_left(folder, child),
    }
    error = (folder / "stderr").read_text()
    found["error"] = error[-4000:] if "Traceback" in error or code == "hang" else ""
    shutil.rmtree(folder)
    return found


# ------------------------------------------------------------ inside of a trial


def _work(run: works.Work, folder: Path, told: int) -> None:
    """Do the work, write down what came of it, and exit as a program does."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("TMPDIR", "JOBLIB_TEMP_FOLDER"):
        os.environ[name] = str(folder / "tmp")
    for name, number in (("stdout", 1), ("stderr", 2)):
        file = os.open(folder / name, os.O_CREAT | os.O_WRONLY)
        os.dup2(file, number)
    faulthandler.register(signal.SIGUSR1, file=2)
    began = []

    def begin() -> None:
        began.append(time.perf_counter())
        os.write(told, b"x")

    code, outcome = _heard(lambda: run(folder, begin))
    seconds = round(time.perf_counter() - began[0], 3)
    content = {"outcome": outcome, "work": seconds, "threads": _threads_left()}
    (folder / "outcome.json").write_text(json.dumps(content))
    sys.exit(code)


def _heard(run: Callable[[], str]) -> tuple[int, str]:
    """Run it; return the exit code and what came of it."""
    try:
        try:
            return 0, run()
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is over
    except KeyboardInterrupt:
        return 0, "KeyboardInterrupt"
    except SystemExit as end:
        return int(end.code or 0), "exit"


def _threads_left() -> list[str]:
    """Return the names of threads that go on, after a while."""
    end = time.perf_counter() + 5
    while True:
        threads = [t for t in threading.enumerate() if t is not threading.main_thread()]
        names = [t.name for t in threads if not t.name.startswith(_OF_OTHERS)]
        if not names or time.perf_counter() > end:
            return names
        time.sleep(0.02)


# ---------------------------------------------------------- outside of a trial


def _signal(child: int, number: int) -> None:
    try:
        os.killpg(child, number)
    except ProcessLookupError:
        pass  # it was done before


def _exit_code(child: int) -> int | str:
    """Wait for a process; kill one that hangs."""
    end = time.perf_counter() + SECONDS_TO_END
    while time.perf_counter() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    _signal(child, signal.SIGUSR1)  # it says where it is
    time.sleep(2)
    _signal(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hang"


def _processes_left(session: int) -> list[str]:
    """Return the command lines of processes that a trial left, after a while."""
    end = time.perf_counter() + SECONDS_TO_VANISH
    while True:
        found = [p for p in Path("/proc").iterdir() if _session_of(p) == session]
        if not found or time.perf_counter() > end:
            _signal(session, signal.SIGKILL)
            return [_command(p) for p in found]
        time.sleep(0.05)


def _session_of(process: Path) -> int | None:
    if not process.name.isdigit():
        return None
    try:
        text = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(text[3]) if text[0] != "Z" else None


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "gone"


def _files_left(folder: Path, child: int) -> list[str]:
    """Return temporary files, and shared memory named after the process."""
    here = [str(path.relative_to(folder)) for path in (folder / "tmp").rglob("*")]
    shared = Path("/dev/shm")
    if shared.is_dir():
        of_child = re.compile(rf"(?<!\d){child}(?!\d)")
        here += [p.name for p in shared.iterdir() if of_child.search(p.name)]
    return here


if __name__ == "__main__":
    for word in sys.argv[3:]:
        name, _, n = word.partition("=")
        main(name, int(sys.argv[1]), int(n), Path(sys.argv[2]) / name)
