"""What the page shows of other trees, and of columns that trees cannot do without."""

from __future__ import annotations

from typing import Any

from miptree.classifiers.alternatives import Alternatives
from miptree.export.names import printable
from miptree.fit.necessity import Necessity


def other_trees(
    alternatives: Alternatives | None, necessity: Necessity | None
) -> dict[str, Any] | None:
    """Return the lines of a table and sentences, None if neither was asked for."""
    if alternatives is None and necessity is None:
        return None
    table = [] if alternatives is None else alternatives.table()
    sentences = [] if necessity is None else necessity.sentences()
    return {
        "note": "" if alternatives is None else f"{alternatives.title}.",
        "table": [[printable(cell) for cell in row] for row in table],
        "needs": [printable(line) for line in sentences],
    }
