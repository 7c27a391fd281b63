"""A journal of the bench as a run would have written it."""

from miptree.bench import Pair
from miptree.bench.results import journal_of

IRIS, WINE = Pair("iris", 2), Pair("wine", 2)


def line(pair, method, split, test, status="ok", limit=20.0):
    return {
        "set": pair.set,
        "depth": pair.depth,
        "method": method,
        "split": split,
        "limit": limit,
        "part": "split",
        "status": status,
        "when": "2026-11-15T10:00:00+00:00",
    } | (
        {"error": "boom"}
        if status == "failed"
        else {
            "test": test,
            "train": 99.0,
            "wall": 3.0,
            "cpu": 2.0,
            "test_rows_in_training": 0.02 if pair is IRIS else 0.0,
        }
    )


def small_journal(folder):
    """Two methods on two pairs and two splits, with a failure and a gap."""
    journal = journal_of(folder, "small")
    for record in (
        line(IRIS, "miptree", 10, 0, "failed"),
        line(IRIS, "cart", 10, 94.0),
        line(IRIS, "miptree", 10, 97.0),  # run again: this one counts
        line(IRIS, "miptree", 11, 98.0),
        line(IRIS, "cart", 11, 95.0),
        line(WINE, "miptree", 10, 96.0),
        line(WINE, "miptree", 11, 0, "failed"),
        line(WINE, "cart", 10, 88.0),
        line(WINE, "cart", 11, 90.0),
        line(WINE, "cart", 3, 10.0),  # a development split
        line(IRIS, "cart", 10, 91.0, limit=5.0),  # another limit
    ):
        journal.append(record)
    return journal
