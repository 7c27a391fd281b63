"""Run a solver so that Ctrl-C and the time limit need not wait for it.

A solver looks at its callbacks between two LPs, on large models tens of seconds
apart, and Python runs no signal handler while the main thread is inside it. So the
solver works on a thread of its own. The caller's thread talks to the callbacks, and
leaves a solver behind that does not heed a stop; it ends at its next callback. Python
waits for it before it exits: a callback into a dying interpreter would crash.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Thread

from miptree.mip.solvers.listener import SECONDS_BETWEEN_REPORTS, Listener

_SECONDS_OF_GRACE = 1.0
"""How long a solver may take to heed a stop or its own time limit."""


def run_watched(
    run: Callable[[], object],
    listener: Listener,
    interrupt: Callable[[], object] = lambda: None,
) -> bool:
    """Run a solve on a thread.

    Parameters
    ----------
    run : callable
        The solve.
    listener : Listener
        Its ``on_progress`` is called from here, ``on_incumbent`` from the solve. Its
        time limit counts here too.
    interrupt : callable
        Asks the solver to stop, where it can be asked from outside.

    Returns
    -------
    bool
        False when the solver was left behind: it must not be touched any more.
    """
    watched, over = Event(), Event()
    errors: list[BaseException] = []
    listener.is_watched = True

    def work() -> None:
        try:
            watched.wait()
            run()
        except BaseException as error:
            errors.append(error)
        finally:
            over.set()

    Thread(target=work, name="miptree-solver").start()
    last_moment = None
    while not over.is_set():
        try:
            watched.set()
            over.wait(SECONDS_BETWEEN_REPORTS)
            listener.poll()
        except BaseException as error:  # the second Ctrl-C
            errors.append(error)
            listener.stop = True
        if listener.stop or listener.remaining == 0:
            interrupt()
            last_moment = last_moment or time.perf_counter() + _SECONDS_OF_GRACE
            if time.perf_counter() > last_moment:
                break
    ended = over.is_set()
    if not ended:
        listener.leave()
    if errors:
        raise errors[0]
    return ended
