"""A small program that checks proof files, and shares no code with what wrote them.

It needs Python and NumPy, and nothing else of miptree: the folder may be copied and run
by itself (which is why its files import each other relatively). It rebuilds all numbers
from the data, lists the splits of the family on its own, recounts the tree, and bounds
every other tree by an argument that fits on half a page (``docs/proofs.md``). Nothing
that a file claims is believed: each sentence is made of what was computed here.
"""

from __future__ import annotations

from .check import check_proof
from .outcome import Outcome
from .values import Refused

__all__ = ["Outcome", "Refused", "check_proof"]
