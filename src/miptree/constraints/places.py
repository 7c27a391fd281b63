"""Places of splits in a tree: their numbers in a complete one.

The root is 0, and the sides of the split at b are 2b+1 and 2b+2, the left one first. A
fitted tree drops splits that do nothing and numbers its nodes anew, so constraints name
places, which do not move when a split elsewhere is dropped.
"""

from __future__ import annotations

import numpy as np

from miptree.constraints.arguments import whole_number
from miptree.tree import ObliqueTree


def places_of(tree: ObliqueTree) -> list[int]:
    """Return the place of each node of a tree."""
    places = [0] * tree.n_nodes
    for node in np.flatnonzero(~tree.is_leaf):
        places[tree.children_left[node]] = 2 * places[node] + 1
        places[tree.children_right[node]] = 2 * places[node] + 2
    return places


def depth_of(place: int) -> int:
    """Return the number of splits above a place."""
    return (place + 1).bit_length() - 1


def is_below(place: int, top: int) -> bool:
    """Tell whether a place is another one, or below it."""
    while place > top:
        place = (place - 1) // 2
    return place == top


def checked_place(node: object, who: str) -> int:
    """Return the place that a constraint was given, a whole number >= 0."""
    place = whole_number(node)
    if place is None or place < 0:
        raise ValueError(
            f"node of {who} must be a whole number >= 0, 0 for the root and 2b+1 and "
            f"2b+2 for the sides of node b, got {node!r}."
        )
    return place
