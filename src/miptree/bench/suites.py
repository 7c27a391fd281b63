"""Suites: data sets and depths that are run together."""

from __future__ import annotations

from typing import NamedTuple

from miptree.bench.paper import paper_results
from miptree.datasets import names


class Pair(NamedTuple):
    """A data set and the depth of the tree."""

    set: str
    depth: int

    def __str__(self) -> str:
        return f"{self.set} D{self.depth}"


def _of_tables(*numbers: int) -> tuple[Pair, ...]:
    """Return the pairs of the paper's tables, in the order of the numbers."""
    return tuple(
        Pair(result.set, result.depth)
        for number in numbers
        for result in paper_results()
        if result.table == number
    )


SMALL = _of_tables(2, 3, 4, 5, 1)
"""The 26 pairs of tables 1-5."""
MEDIUM = _of_tables(6)
"""The five sets of table 6."""
LARGE = (
    *MEDIUM,
    *_of_tables(7, 8),
    *(Pair(pair.set, 3) for pair in MEDIUM),  # not in the paper
)
"""The 11 sets of tables 6-8, each at both depths."""
SMOKE = (Pair("iris", 2), Pair("wine", 2))
"""Two sets that need no data folder."""

DEV = tuple(Pair(name, 3) for name in names("dev") if not name.startswith("fair-"))
"""28 further tables, mixed and with gaps, that no method here was made for."""

SUITES = {
    "small": SMALL,
    "medium": MEDIUM,
    "large": LARGE,
    "dev": DEV,
    "smoke": SMOKE,
}

_ALWAYS = ("miptree", "miptree-auto", "miptree-tuned", "cart", "logistic", "svm-tree")
DEFAULT_METHODS = {
    "small": (*_ALWAYS, "s1o", "oct-h", "fair", "binoct"),
    "medium": (*_ALWAYS, "s1o-ds", "oct-h", "fair"),
    "large": (*_ALWAYS, "s1o-ds", "oct-h"),
    "dev": (*_ALWAYS[:-1], "cart-tuned", "forest", "rbf-svm"),
    "smoke": ("miptree", "cart"),
}
"""What is run if nothing is said: our methods and those of the paper's tables."""
