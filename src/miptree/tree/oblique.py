"""The oblique tree: plain arrays, and the one rule that routes a point.

A point goes **left iff** ``x @ coef <= threshold``. The sum is *defined* as the
float64 sum over the features in their order, so that the tree routes a row alike
alone, in a batch, on any BLAS, and in every export. A matrix product gives the
same answer except within its rounding error of a hyperplane; only those rows are
summed again in order.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from miptree.utils.arrays import BoolArray, FloatArray, IntArray

LEAF = -1
"""Child index that marks a leaf."""

_BLOCK_ELEMENTS = 1 << 19
"""Rows x features handled at once: the block and its scores stay in cache."""

_ONE_THREAD_ELEMENTS = 10_000
"""Size up to which OpenBLAS multiplies vectors and slim matrices on one thread."""


class HeapTree(NamedTuple):
    """A complete tree of depth D in heap order: what the MIP and the search work on.

    Node 0 is the root and the children of branch node b are 2b+1 and 2b+2 (the
    paper's numbers less one); leaf l is node ``len(threshold) + l``.
    """

    coef: FloatArray
    """(2**D - 1, d): h_b."""
    threshold: FloatArray
    """(2**D - 1,): g_b."""
    label: IntArray
    """(2**D,): class index u_l of each leaf, left to right."""

    @property
    def depth(self) -> int:
        """Depth D."""
        return len(self.label).bit_length() - 1

    def leaf_of(self, X: FloatArray) -> IntArray:
        """Return the leaf 0 .. 2**D - 1 that each row reaches."""
        return ObliqueTree.from_heap(self).apply(X) - len(self.threshold)

    def copy(self) -> HeapTree:
        """Return a tree that shares no memory with this one."""
        return HeapTree(self.coef.copy(), self.threshold.copy(), self.label.copy())


@dataclass(frozen=True, eq=False)
class ObliqueTree:
    """A binary tree with a hyperplane at every branch node and a class at every leaf.

    Parameters
    ----------
    children_left, children_right : int array of shape (n_nodes,)
        Node indices, ``-1`` at a leaf. The root is node 0 and a child comes after
        its parent.
    coef : float array of shape (n_nodes, n_features)
        Hyperplane of each branch node, zero at a leaf.
    threshold : float array of shape (n_nodes,)
        A point goes left iff ``x @ coef <= threshold``.
    label : int array of shape (n_nodes,)
        Class index of each leaf; unused at a branch node.

    Examples
    --------
    >>> import numpy as np
    >>> tree = ObliqueTree.from_heap(
    ...     HeapTree(np.array([[1.0, -1.0]]), np.array([0.0]), np.array([0, 1]))
    ... )
    >>> tree.predict(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]))
    array([0, 1, 0])
    >>> tree
    ObliqueTree(depth 1, 2 leaves, 2 coefficients of 2 features)
    """

    children_left: IntArray
    children_right: IntArray
    coef: FloatArray
    threshold: FloatArray
    label: IntArray

    def __repr__(self) -> str:
        counts = (
            _number(self.n_leaves, "leaf", "leaves"),
            _number(int(np.count_nonzero(self.coef)), "coefficient", "coefficients"),
        )
        features = _number(int(self.coef.any(axis=0).sum()), "feature", "features")
        name = type(self).__name__
        return f"{name}(depth {self.depth}, {', '.join(counts)} of {features})"

    @property
    def n_nodes(self) -> int:
        """Number of branch nodes and leaves."""
        return len(self.threshold)

    @property
    def n_features(self) -> int:
        """Number of columns the tree reads."""
        return self.coef.shape[1]

    @property
    def is_leaf(self) -> BoolArray:
        """(n_nodes,): True at a leaf."""
        return self.children_left == LEAF

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def node_depth(self) -> IntArray:
        """(n_nodes,): branches between the root and each node."""
        depth = np.zeros(self.n_nodes, dtype=np.intp)
        for node in np.flatnonzero(~self.is_leaf):
            depth[self.children_left[node]] = depth[node] + 1
            depth[self.children_right[node]] = depth[node] + 1
        return depth

    @property
    def depth(self) -> int:
        """Branches on the longest way from the root to a leaf."""
        return int(self.node_depth.max())

    # ------------------------------------------------------------------ routing

    def goes_right(self, X: FloatArray) -> BoolArray:
        """Find the side of every row at every branch node, reached or not.

        Returns
        -------
        bool array of shape (n_samples, n_branch_nodes)
            Columns follow ``np.flatnonzero(~tree.is_leaf)``.
        """
        branch = np.flatnonzero(~self.is_leaf)
        coef, threshold = self.coef[branch], self.threshold[branch]
        return _goes_right(np.asarray(X, dtype=np.float64), coef, threshold)

    def apply(self, X: FloatArray) -> IntArray:
        """Return the index of the leaf that each row reaches."""
        X = np.asarray(X, dtype=np.float64)
        leaf = np.zeros(len(X), dtype=np.intp)
        if self.n_nodes == 1:
            return leaf
        step = max(1, _BLOCK_ELEMENTS // max(1, self.n_features))
        for start in range(0, len(X), step):
            block = slice(start, start + step)
            leaf[block] = self.follow(self.goes_right(X[block]))
        return leaf

    def follow(self, goes_right: BoolArray) -> IntArray:
        """Return the leaf of each row, given its sides from :meth:`goes_right`."""
        n_rows, n_branch = goes_right.shape
        node = np.zeros(n_rows, dtype=np.intp)
        column = np.zeros(self.n_nodes, dtype=np.intp)
        column[~self.is_leaf] = np.arange(n_branch)
        right = goes_right.ravel()
        # child[2 * node + side]; a leaf is its own child, so early leaves stay put.
        itself = np.arange(self.n_nodes)
        child = np.stack([self.children_left, self.children_right], axis=1)
        child = np.where(self.is_leaf[:, None], itself[:, None], child).ravel()
        row = np.arange(n_rows) * n_branch
        for _ in range(self.depth):
            node = child[2 * node + right[row + column[node]]]
        return node

    def predict(self, X: FloatArray) -> IntArray:
        """Return the class index of each row."""
        return self.label[self.apply(X)]

    def decision_path(self, X: FloatArray) -> sparse.csr_matrix:
        """Mark the nodes that each row passes, as scikit-learn's trees do.

        Returns
        -------
        csr_matrix of shape (n_samples, n_nodes)
            1 where the row passes the node, its leaf included.
        """
        return sparse.csr_matrix(self.ancestors.astype(np.int64))[self.apply(X)]

    @property
    def ancestors(self) -> BoolArray:
        """(n_nodes, n_nodes): row v marks node v and the nodes above it."""
        above = np.eye(self.n_nodes, dtype=bool)
        for node in np.flatnonzero(~self.is_leaf):
            for child in (self.children_left[node], self.children_right[node]):
                above[child] |= above[node]
        return above

    # ------------------------------------------------------------- heap and back

    @classmethod
    def from_heap(cls, heap: HeapTree) -> ObliqueTree:
        """Build the tree with the same routing as a complete tree in heap order."""
        n_branch, n_leaves = len(heap.threshold), len(heap.label)
        twice, leaves = 2 * np.arange(n_branch), np.full(n_leaves, LEAF)
        return cls(
            np.append(twice + 1, leaves),
            np.append(twice + 2, leaves),
            np.vstack([heap.coef, np.zeros((n_leaves, heap.coef.shape[1]))]),
            np.append(heap.threshold, np.zeros(n_leaves)),
            np.append(np.zeros(n_branch, dtype=np.intp), heap.label),
        )

    def to_heap(self, depth: int) -> HeapTree:
        """Return the complete tree of the given depth with the same predictions.

        A leaf above the last level becomes a subtree of dummy nodes (``coef = 0``,
        ``threshold = 1``: every point goes left) whose leaves share its class.
        """
        if self.depth > depth:
            raise ValueError(
                f"A tree of depth {self.depth} does not fit into depth {depth}."
            )
        n_branch = 2**depth - 1
        heap = HeapTree(
            np.zeros((n_branch, self.n_features)),
            np.ones(n_branch),
            np.zeros(n_branch + 1, dtype=np.intp),
        )
        source = np.zeros(2 * n_branch + 1, dtype=np.intp)
        for place in range(n_branch):
            node = source[place]
            below = (node, node)
            if self.children_left[node] != LEAF:
                heap.coef[place] = self.coef[node]
                heap.threshold[place] = self.threshold[node]
                below = (self.children_left[node], self.children_right[node])
            source[2 * place + 1], source[2 * place + 2] = below
        heap.label[:] = self.label[source[n_branch:]]
        return heap

    # ---------------------------------------------------------------- simplifying

    def prune(self, X: FloatArray) -> ObliqueTree:
        """Drop the splits that do nothing on X; predictions on X stay the same.

        A split does nothing when all the rows that reach it go to one side, or when
        both its children are leaves of one class.
        """
        return self.prune_to(np.bincount(self.apply(X), minlength=self.n_nodes))

    def prune_to(
        self, in_leaf: FloatArray | IntArray, keep: Collection[int] = ()
    ) -> ObliqueTree:
        """Do as :meth:`prune`, by the number or weight of the rows in each leaf.

        Splits at the nodes ``keep`` stay where rows go to both sides, though both may
        be leaves of one class.
        """
        reached = in_leaf @ self.ancestors > 0
        stands_for = np.arange(self.n_nodes)
        left, right = self.children_left.copy(), self.children_right.copy()
        for node in np.flatnonzero(~self.is_leaf)[::-1]:
            below = stands_for[left[node]], stands_for[right[node]]
            left[node], right[node] = below
            two_leaves = left[below[0]] == LEAF and left[below[1]] == LEAF
            if not reached[self.children_left[node]]:
                stands_for[node] = below[1]
            elif not reached[self.children_right[node]]:
                stands_for[node] = below[0]
            elif node in keep:
                continue
            elif two_leaves and self.label[below[0]] == self.label[below[1]]:
                stands_for[node] = below[0]
        return self._subtree(int(stands_for[0]), left, right)

    def _subtree(self, root: int, left: IntArray, right: IntArray) -> ObliqueTree:
        """Return the tree below a node under other child arrays, breadth first."""
        order = [root]
        for node in order:
            if left[node] != LEAF:
                order += [left[node], right[node]]
        number = np.full(self.n_nodes + 1, LEAF, dtype=np.intp)
        number[order] = np.arange(len(order))
        # number[-1] stays LEAF, so a leaf's child index maps to itself.
        return ObliqueTree(
            number[left[order]],
            number[right[order]],
            self.coef[order],
            self.threshold[order],
            self.label[order],
        )


def _goes_right(X: FloatArray, coef: FloatArray, threshold: FloatArray) -> BoolArray:
    """Return (n, B): ``x @ coef > threshold``, the sum taken in feature order."""
    score, norm = _scores_and_norm(X, coef, threshold)
    # The Euclidean norm of the whole block bounds every number in it. That is crude
    # but costs next to nothing and nearly always clears every row; a bound from the
    # largest number of each feature follows where it does not.
    if np.isfinite(norm):
        error = rounding_error(coef, threshold, np.full(X.shape[1], norm)).max()
        right: BoolArray = score > error
        if np.array_equal(right, score > -error):
            return right
    errors = rounding_error(coef, threshold, np.abs(X).max(axis=0))
    right = score > errors
    rows, nodes = np.nonzero(right != (score > -errors))
    right[rows, nodes] = ordered_sum(X[rows] * coef[nodes]) > threshold[nodes]
    return right


def _scores_and_norm(
    X: FloatArray, coef: FloatArray, threshold: FloatArray
) -> tuple[FloatArray, float]:
    """Return (n, B): ``X @ coef.T - threshold``; and the Euclidean norm of X.

    In pieces so small that a BLAS works on one thread: more threads gain nothing on
    such slim matrices, and on a busy machine they wait for each other.
    """
    columns = np.ascontiguousarray(coef.T)
    step = max(1, _ONE_THREAD_ELEMENTS // max(1, X.shape[1]))
    # Subtracting whole rows of thresholds at once is several times faster than
    # broadcasting one short row.
    thresholds = np.tile(threshold, (min(step, len(X)), 1))
    score = np.empty((len(X), len(coef)))
    square = 0.0
    for start in range(0, len(X), step):
        piece, part = X[start : start + step], score[start : start + step]
        np.matmul(piece, columns, out=part)
        part -= thresholds[: len(part)]
        square += float(np.vdot(piece, piece))
    return score, float(np.sqrt(square))


def rounding_error(
    coef: FloatArray, threshold: FloatArray, largest: FloatArray
) -> FloatArray:
    """Bound how far a product is from the sum in order, (B,), if abs(X) <= largest.

    Each is within d u sum |coef_j x_j| of the exact sum (u the unit roundoff); the
    factor 8 covers both, the subtraction and the rounding of this bound itself.
    """
    reach = np.abs(coef) @ largest + np.abs(threshold)
    bound: FloatArray = 8 * np.finfo(np.float64).eps * (coef.shape[1] + 1) * reach
    return bound


def ordered_sum(terms: FloatArray) -> FloatArray:
    """Sum over the last axis from left to right, as a plain loop would."""
    if terms.shape[-1] == 0:
        return np.zeros(terms.shape[:-1])
    return np.cumsum(terms, axis=-1)[..., -1]


def _number(n: int, one: str, many: str) -> str:
    """Count things in words."""
    return f"{n} {one if n == 1 else many}"
