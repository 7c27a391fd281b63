"""Check proofs of oblique trees: no tree of a depth has an objective below a number.

**What is claimed.** Features are scaled to x in [0, 1]. A split sends a row left if its
score a.x - t is not positive; scores of all rows lie in [-1, 1]. Where the file says so
of a category, a split may also send any of its values left. The objective of a tree
adds up: the cost of each row's class; ``slack_penalty`` times what its scores lack of
the ``margin``, at every split on its way and times its weight; and ``l1_penalty`` times
the sum of abs(a) of every split; splits by values cost nothing. In units of the margin,
row i pays C_i * h at a split, h = max(0, 1 - side * score), a split pays rho * norm,
and scores end at 1/margin.

**The argument.** Rows of equal x and values go the same way: they are one *point*.
Splits that part no points, and those of two leaves of one class, can be left out, so
that a tree has one of a few *structures* (``structures.py``). For each structure the
file holds a proof tree: it branches on the leaves that a point may come to, on the
category of a split by values, on the side that a value goes to (``walk.py`` and
``case.py``), and, where splits may use few features, on which ones they use
(``uses.py``). It closes every branch by whole-number multipliers that show, for any
tree whose objective is below a threshold T, what the splits cost at least
(``closings.py``). The least of all these and T is the bound; whatever the file holds,
it is one that was computed here. Points may be parted in groups, each with a share of
rho: their bounds add up.

**By root.** At depth 2, a proof of all structures with a split at once branches on the
sides of the root only, and takes from lemmas what the subtrees cost (``by_root.py``).

**Rounding.** Costs, C_i and rho are rounded down and the box up, which makes all trees
cheaper (``numbers.py``); sums of float64 are lowered by the most that they can be off.
The objective of the tree in the file is recounted in fractions (``recount.py``).
"""

from __future__ import annotations

from .check import routes_outcome
from .file import RoutesProof, read_routes_proof

__all__ = ["RoutesProof", "read_routes_proof", "routes_outcome"]
