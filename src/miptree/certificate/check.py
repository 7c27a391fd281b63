"""One check of ``verify``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One thing that was checked."""

    name: str
    """What was checked."""
    ok: bool
    """Whether it holds."""
    sentence: str
    """What was found, in plain words."""

    def __str__(self) -> str:
        return f"{'ok   ' if self.ok else 'WRONG'} {self.name}: {self.sentence}"
