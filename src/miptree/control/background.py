"""What a process that compiles does beside that, so that it disturbs nobody.

It outlives the program that started it: numba keeps a kernel when it is compiled to its
end, so that runs shorter than the longest kernel would begin anew for ever. But it ends
by itself, is nice then, and is the only one at its work.
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event, Thread, Timer
from typing import BinaryIO

from miptree.utils.jit import CACHE_FOLDER
from miptree.utils.locks import take_lock

SWITCH = "MIPTREE_KEEP_COMPILING"
"""Environment variable that is 0 where processes end with who started them."""
MOST_SECONDS = 900.0
"""After so long a process ends, whatever it is at."""
_NICENESS = 5  # not more, as the next fit may wait for it
_SECONDS_BETWEEN_LOOKS = 0.1
_locks: list[BinaryIO] = []
"""Files whose locks are held to the end of this process."""


def begin(name: str) -> None:
    """Wait until no other process compiles what has this name; be the one then.

    From now on the process hears when the one that started it ends, which closes the
    standard input. Where another one is at work by then, it ends as well.
    """
    is_alone = Event()
    Thread(target=_hear_the_end, args=(is_alone,), daemon=True).start()
    alarm = Timer(MOST_SECONDS, os._exit, (1,))
    alarm.daemon = True
    alarm.start()
    if CACHE_FOLDER is not None:
        _wait_for_turn(Path(CACHE_FOLDER) / f"{name}.lock", is_alone)


def _hear_the_end(is_alone: Event) -> None:
    while os.read(0, 1):  # not sys.stdin, whose lock Python wants when it ends
        pass
    if os.environ.get(SWITCH) == "0":
        os._exit(1)
    is_alone.set()
    _be_nice()


def _be_nice() -> None:
    """Leave the processor to others first; on Windows it is so from the beginning."""
    if hasattr(os, "setpriority"):  # os.nice is about one thread on Linux, this one
        pid = os.getpid()
        niceness = os.getpriority(os.PRIO_PROCESS, pid) + _NICENESS
        os.setpriority(os.PRIO_PROCESS, pid, niceness)


def _wait_for_turn(path: Path, is_alone: Event) -> None:
    """Take a lock that ends with this process, if files have locks there."""
    try:
        _locks.append(path.open("ab"))
        while not _has_turn(_locks[-1]):
            if is_alone.wait(_SECONDS_BETWEEN_LOOKS):
                os._exit(1)
    except OSError:
        return


def _has_turn(file: BinaryIO) -> bool:
    try:
        take_lock(file)
    except BlockingIOError:
        return False
    return True
