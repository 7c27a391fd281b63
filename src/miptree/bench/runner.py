"""Fit every method on every split, one journal line each."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any, Literal

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky.process_executor import TerminatedWorkerError

from miptree.bench.environment import environment
from miptree.bench.journal import Journal
from miptree.bench.measure import Parts, measure, split_rows
from miptree.bench.methods import Setting, get_method
from miptree.bench.suites import Pair
from miptree.datasets import Dataset, load, names, official_test_names
from miptree.utils.warn import warn

Part = Literal["split", "official"]
KEY = ("set", "depth", "method", "split", "limit", "part")
"""Fields that name a line of the journal."""
DEVELOPMENT_SPLITS = range(10)
"""Splits on which this package was developed: not for publication."""


@dataclass(frozen=True)
class Fit:
    """A fit that is to become a line of the journal.

    Attributes
    ----------
    set, depth, method : str, int, str
        What is fitted to what.
    split : int
        Seed of the 75/25 split and of the method.
    limit : float
        Seconds that the method may take.
    part : {"split", "official"}
        A random quarter as test rows; or all of the paper's rows for training, and
        UCI's official test rows.
    """

    set: str
    depth: int
    method: str
    split: int
    limit: float
    part: Part = "split"

    @property
    def key(self) -> tuple[Any, ...]:
        """The values of :data:`KEY`."""
        return tuple(getattr(self, field) for field in KEY)


def plan(
    pairs: Iterable[Pair],
    methods: Sequence[str],
    splits: Sequence[int],
    limit: float,
    official: bool = False,
) -> list[Fit]:
    """Return all fits of a suite, split by split, so that a partial run is balanced.

    With ``official``, the fits for the official test parts come last.
    """
    for name in methods:
        get_method(name).check()
    pairs, with_test = list(pairs), set(official_test_names())
    parts: dict[Part, list[Pair]] = {"split": pairs}
    if official:
        parts["official"] = [pair for pair in pairs if pair.set in with_test]
    return [
        Fit(pair.set, pair.depth, method, split, float(limit), part)
        for part, chosen in parts.items()
        for split in splits
        for pair in chosen
        for method in methods
    ]


def run(
    fits: Sequence[Fit],
    journal: Journal,
    n_jobs: int = 1,
    retry_failed: bool = False,
    on_record: Callable[[dict[str, Any], int, int], None] | None = None,
    elsewhere: bool = False,
) -> int:
    """Run the fits that the journal has no line of; return how many were run.

    They go through joblib, so ``joblib.parallel_config`` can send them to a cluster.
    Even a single one has a process of its own, which may die. Only this process writes
    lines, as soon as a fit is done.

    Parameters
    ----------
    fits : sequence of Fit
        From :func:`plan`.
    journal : Journal
        With the key :data:`KEY`. Locked while this runs.
    n_jobs : int, default=1
        Fits at a time.
    retry_failed : bool, default=False
        Whether fits that failed are run again; the last line counts.
    on_record : callable, optional
        Called with each new line, the number of fits done and of all missing ones.
    elsewhere : bool, default=False
        Whether the fits run on other machines, which have data of their own.

    Raises
    ------
    DatasetError
        If a set cannot be loaded, before anything is run.
    """
    with journal.locked():
        missing = _missing(fits, journal, retry_failed)
        if not elsewhere:
            _fetch(missing)
        about = environment()
        if missing:
            _warn_of_other_commits(journal, about["commit"])
        for count, record in enumerate(_records(missing, about, n_jobs), start=1):
            if record.get("fit_status") == "interrupted":
                raise KeyboardInterrupt
            journal.append(record)
            if on_record is not None:
                on_record(record, count, len(missing))
    return len(missing)


def count_failed(fits: Sequence[Fit], journal: Journal) -> int:
    """Count the fits that have failed, by their last lines."""
    last = journal.last()
    return sum(last.get(fit.key, {}).get("status") == "failed" for fit in fits)


def _fetch(fits: Sequence[Fit]) -> None:
    """Load every set once, so that a missing one is noticed before the first fit."""
    for name in dict.fromkeys(fit.set for fit in fits):
        _load(name)
    for name in dict.fromkeys(fit.set for fit in fits if fit.part == "official"):
        load(name, "paper_test")


def _warn_of_other_commits(journal: Journal, commit: str) -> None:
    found = {record.get("commit", "") for record in journal.records()}
    others = sorted(other or "unknown" for other in found - {commit})
    if others:
        warn(
            f"{journal.path} holds lines of other commits ({', '.join(others)}) than "
            f"this one ({commit or 'unknown'}): its means will mix them."
        )


def _missing(fits: Sequence[Fit], journal: Journal, retry_failed: bool) -> list[Fit]:
    done = {
        key
        for key, record in journal.last().items()
        if not (retry_failed and record["status"] == "failed")
    }
    return [fit for fit in fits if fit.key not in done]


def _records(
    fits: Sequence[Fit], about: dict[str, Any], n_jobs: int
) -> Iterator[dict[str, Any]]:
    left = {fit.key: fit for fit in fits}
    while left:
        try:
            for record in _answers(list(left.values()), about, n_jobs):
                del left[tuple(record[field] for field in KEY)]
                yield record
        except TerminatedWorkerError:
            # A fit took its process with it, such as by using up the memory. It is
            # one of the first that are left: find it out by running them alone.
            for fit in list(left.values())[: 2 * effective_n_jobs(n_jobs)]:
                del left[fit.key]
                yield _alone(fit, about)


def _answers(
    fits: Sequence[Fit], about: dict[str, Any], n_jobs: int
) -> Iterator[dict[str, Any]]:
    # joblib runs a single job in this process, which a fit may take with it. So it
    # gets two processes, of which one has work at a time.
    single = effective_n_jobs(n_jobs) == 1
    parallel = Parallel(
        n_jobs=2 if single else n_jobs,
        return_as="generator_unordered",
        pre_dispatch=1 if single else "n_jobs",
        batch_size=1,  # a line for each fit as soon as it is done
    )
    yield from parallel(delayed(run_fit)(fit, about) for fit in fits)


def _alone(fit: Fit, about: dict[str, Any]) -> dict[str, Any]:
    """Run a fit in a process of its own, which it may end; return its record."""
    try:
        return next(_answers([fit], about, n_jobs=1))
    except TerminatedWorkerError as error:
        return _new_record(fit) | _failure(error) | about


def run_fit(fit: Fit, about: dict[str, Any] | None = None) -> dict[str, Any]:
    """Fit once; a failure is a record, too.

    Parameters
    ----------
    fit : Fit
    about : dict, optional
        Versions and machine, to be written into the record.
    """
    record = _new_record(fit)
    setting = Setting(fit.set, fit.depth, fit.limit, fit.split)
    try:
        record |= measure(get_method(fit.method), setting, _parts(fit))[1]
    except Exception as error:
        record |= _failure(error)
    return record | (environment() if about is None else about)


def _new_record(fit: Fit) -> dict[str, Any]:
    when = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return {**asdict(fit), "seed": fit.split, "status": "ok", "when": when}


def _failure(error: Exception) -> dict[str, Any]:
    return {
        "status": "failed",
        "error": f"{type(error).__name__}: {error}"[:1000],
        "traceback": traceback.format_exc()[-2000:],
    }


def _parts(fit: Fit) -> Parts:
    data = _load(fit.set)
    if fit.part == "split":
        return split_rows(data.frame, data.target, fit.split)
    test = load(fit.set, "paper_test")
    return [data.frame, test.frame, data.target, test.target]


def _load(name: str) -> Dataset:
    """Load a set of the paper or of development."""
    return load(name, "dev" if name in names("dev") else "paper")
