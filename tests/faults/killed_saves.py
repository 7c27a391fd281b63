"""A program that is killed while it saves a file, again and again.

``python killed_saves.py folder seed n_kills`` saves old.json as model.json, then
new.json in its place, and prints as JSON what was left by each kill. Processes are
forked, so that none of them has to import anything.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from random import Random
from runpy import run_path

SOURCE = Path(__file__).parents[2] / "src" / "miptree" / "utils" / "files.py"
# The module by itself, as the package takes seconds to import.
write_atomic = run_path(str(SOURCE))["write_atomic"]


def main(folder: Path, seed: int, n_kills: int) -> None:
    """Kill a save at so many random moments."""
    random, path = Random(seed), folder / "model.json"
    contents = {name: (folder / f"{name}.json").read_bytes() for name in ("old", "new")}
    known = {"old.json", "new.json", "model.json"}
    seconds = _seconds_of_a_save(path, contents["old"])
    left, ended, n_drafts, n_whole = [], [], 0, 0
    for _ in range(n_kills):
        write_atomic(path, contents["old"], force=True)
        ended.append(_kill_after(random.uniform(0, 1.5) * seconds, path, contents))
        found = path.read_bytes()
        left.append(next((k for k, v in contents.items() if v == found), "torn"))
        drafts = set(os.listdir(folder)) - known
        n_drafts += len(drafts)
        write_atomic(path, contents["new"], force=True)
        n_whole += path.read_bytes() == contents["new"]
        for name in drafts:
            (folder / name).unlink()
    found = {"left": left, "ended": ended, "drafts": n_drafts, "next whole": n_whole}
    sys.stdout.write(json.dumps(found))


def _seconds_of_a_save(path: Path, content: bytes) -> float:
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        write_atomic(path, content, force=True)
        times.append(time.perf_counter() - begin)
    return sorted(times)[2]


def _kill_after(seconds: float, path: Path, contents: dict[str, bytes]) -> int:
    """Fork a process that saves the new content; return how it ended."""
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(told, b"x")
        write_atomic(path, contents["new"], force=True)
        while True:
            time.sleep(1)
    os.read(heard, 1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(heard)
    os.close(told)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
