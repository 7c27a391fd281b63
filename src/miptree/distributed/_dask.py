"""Dask, imported only here, and how tasks are run on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def require_dask() -> Any:
    """Return ``dask.dataframe``, or raise an error that says how to install it."""
    try:
        import dask.dataframe as dd
    except ImportError as error:
        raise ImportError(
            f"miptree.distributed needs Dask ({error}). Run: pip install "
            "'miptree[dask]'"
        ) from None
    return dd


class Partitions:
    """The partitions of a Dask DataFrame and where work on them is done.

    Without a client, threads of this process hold a few partitions in memory at a time.
    """

    def __init__(self, table: Any, client: Any = None) -> None:
        self.parts, self.client = table.to_delayed(), client

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def turns(self) -> int:
        """How many partitions a worker has to do, one after the other."""
        import dask

        at_once = dask.system.CPU_COUNT
        if self.client is not None:
            at_once = sum(self.client.nthreads().values())
        return -(-len(self.parts) // max(1, at_once))

    def map(self, work: Callable[..., Any], *args: Any) -> list[Any]:
        """Return ``work(partition, number, *args)`` of every partition, in order.

        ``work`` must depend on its arguments alone: a task whose worker dies is done
        again elsewhere.
        """
        import dask

        tasks = [
            dask.delayed(work, pure=False)(part, number, *args)
            for number, part in enumerate(self.parts)
        ]
        if self.client is None:
            return list(dask.compute(*tasks, scheduler="threads"))
        return list(self.client.gather(self.client.compute(tasks, retries=3)))


def first_error(found: Iterable[Any]) -> None:
    """Raise the first message among the answers of partitions, if any."""
    for answer in found:
        if isinstance(answer, str):
            raise ValueError(answer)
