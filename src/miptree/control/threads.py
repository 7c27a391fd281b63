"""Jobs that share memory."""

from __future__ import annotations

from joblib import Parallel, effective_n_jobs


def on_threads(n_jobs: int | None) -> Parallel:
    """Return joblib's threads, as many as the user's backend would have jobs.

    Whatever that backend is: work that shares data, or hears a stop, cannot go to
    another process. Left to itself joblib falls back to one thread, and refuses where
    the user prefers processes.
    """
    return Parallel(
        n_jobs=effective_n_jobs(n_jobs), prefer="threads", require="sharedmem"
    )
