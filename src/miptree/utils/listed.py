"""Results that are a list of things, with something to say about all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Listed(Sequence[T], Generic[T]):
    """Base of such results; they show what they print.

    Attributes
    ----------
    items : tuple
        The things.
    """

    items: tuple[T, ...]

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        """Return one of the things, or some of them as a tuple."""
        return self.items[place]

    def __repr__(self) -> str:
        return str(self)
