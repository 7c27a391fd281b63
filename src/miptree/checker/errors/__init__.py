"""Check proofs of errors: every tree of a depth makes so many, close calls included.

**What is claimed.** A split sends a row left if its score h.x - g is not positive, and
is scaled so that no score of a row lies outside of [-1, 1]. Where the file says so of a
category, a split may also send any of its values left: that is such a split over the
0/1 columns of its values, with scores of -1 and 1. A tree is *right* about a row if it
predicts its class and no score on its way is nearer to 0 than the margin. Otherwise the
row counts, with its weight. Claimed is what the rows that count weigh at least.

**How far a split sees.** Say that for numbers v_i with sum 0, sum of v_i x_i is e_j,
the direction of feature j. Then h_j = sum of v_i (h.x_i - g), which is sum of abs(v_i)
at most. What the sum misses of e_j is made up for with the largest coefficient of all
(``limits.py``). A feature that is a sum of multiples of others, at every row and
exactly, can be left out: what it weighs can be moved to the others.

**When a side is closed.** Say that a tree is right about some rows, of which those of a
convex combination p are right of a split and those of q left of it. Then h.p - g is at
least the margin, and h.q - g at most minus the margin. If sum of H_j abs(p_j - q_j) is
less than twice the margin, H_j being the largest abs(h_j), there is no such split.

**The search of parts.** Rows of equal x, values and class are a *point*. Each point
that the proof takes is sent to each leaf at which the tree may be right about it, or it
counts (``walk.py``). A leaf is left out if a point of another class is there; if a side
on the way is closed; or if it is right of a split that no point has come to, as
mirroring the tree there changes nothing. A case ends when the points that count weigh
more than the proof allows; what they weigh at least is the bound. Points may be parted:
what is shown of parts adds up, and counts for a part that is made of them. Rows of
classes for which there is no leaf, and rows of equal x that differ in class, are
counted in any case.

**All splits of the root.** At depth 2 a file may go through the sides that the points
have at the root instead, and show what counts on each side (``roots.py``).
"""

from __future__ import annotations

from .check import errors_outcome
from .file import ErrorsProof, is_about_errors, read_errors_proof

__all__ = ["ErrorsProof", "errors_outcome", "is_about_errors", "read_errors_proof"]
