"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

CLOSE = Fraction(1, 10**9)
"""Part of a claimed cost or bound by which the float64 in a file may be off."""


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes
    ----------
    sentence : str
        What holds, or why nothing can be said.
    exit_code : int
        0 if what the file claims holds; 1 if it does not, or if the file is damaged,
        cut off or about other data; 2 if the check needs more time or memory, or if
        what was given is no file or no table.
    cost, bound : Fraction or None
        What the tree costs, and what every tree of the family costs at least, both
        computed here; None where they were not.
    """

    sentence: str
    exit_code: int
    cost: Fraction | None = None
    bound: Fraction | None = None
