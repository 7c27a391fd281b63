"""Ctrl-C during a fit: the first stops it politely, the second at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class InterruptGuard:
    """Context in which the first Ctrl-C only sets :attr:`requested`.

    The second one raises KeyboardInterrupt, at the latest on leaving the context: a
    library may have swallowed the first raise. Outside the main thread, where Python
    delivers no signals, the guard does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._insisted = False
        self._previous: object = None
        self._active = False

    def __enter__(self) -> InterruptGuard:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._handle)
            self._active = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._active:
            # None stands for a handler that was not installed from Python.
            previous = self._previous or signal.SIG_DFL
            signal.signal(signal.SIGINT, previous)  # type: ignore[arg-type]
            self._active = False
        if self._insisted and error is None:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            self._insisted = True
            raise KeyboardInterrupt
        self.requested = True
