"""Jobs that share memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from joblib import Parallel, effective_n_jobs

Answer = TypeVar("Answer")
_SECONDS_BETWEEN_LOOKS = 0.05


def apart(work: Callable[[], Answer]) -> Answer:
    """Run work beside the main thread, which waits and hears Ctrl-C meanwhile.

    Python runs no signal handler while its main thread is inside a kernel.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    answers: list[Answer] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="miptree-work", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_SECONDS_BETWEEN_LOOKS)
    if errors:
        raise errors[0]
    return answers[0]


def on_threads(n_jobs: int | None) -> Parallel:
    """Return joblib's threads, as many as the user's backend would have jobs.

    Whatever that backend is: work that shares data, or hears a stop, cannot go to
    another process. Left to itself joblib falls back to one thread, and refuses where
    the user prefers processes.
    """
    return Parallel(
        n_jobs=effective_n_jobs(n_jobs), prefer="threads", require="sharedmem"
    )
