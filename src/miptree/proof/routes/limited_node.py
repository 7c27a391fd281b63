"""A node of the search where hyperplanes may use few features only."""

from __future__ import annotations

from numba import njit

from miptree.proof.routes.jit import INNER
from miptree.proof.routes.look import Look
from miptree.proof.routes.node import BRANCHED, OPEN
from miptree.proof.routes.state import Data, Lps, Rows, Trail
from miptree.proof.routes.subset_node import work_on_node
from miptree.proof.routes.subsets import clear
from miptree.proof.routes.uses import BY_USE, count_uses, follow_uses
from miptree.utils.arrays import FloatArray, IntArray, WordArray


@njit(**INNER)
def work_on_limited_node(
    data: Data, lps: Lps, kept: Lps, here: Rows, scratch: Rows, look: Look,
    trail: Trail,
    count: IntArray, mask: IntArray, feature: IntArray, use: IntArray, T: float,
    least_split: float, rho: float, whole: IntArray, used: WordArray, option: IntArray,
    answer: FloatArray,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Work on a node, as :func:`~miptree.proof.routes.subset_node.work_on_node` does.

    Where nothing is violated, but a hyperplane uses too many features, the branch is on
    one of them: the first option is the feature.
    """
    if len(use) > 0:
        follow_uses(data, lps, use)
    outcome, pick, n_options, kind, split = work_on_node(
        data, lps, kept, here, scratch, look, trail, count, mask, feature, use, T,
        least_split, rho, whole, used, option, answer,
    )  # fmt: skip
    if len(use) > 0 and outcome == OPEN:
        for b in range(len(lps.y)):
            n_used, first = count_uses(lps.y, use, b)
            if n_used > data.most_features and first >= 0:
                clear(used)
                option[0] = first
                return BRANCHED, 0, 2, BY_USE, b
    return outcome, pick, n_options, kind, split
