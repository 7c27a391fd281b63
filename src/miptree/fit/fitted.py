"""What a fit leaves behind: the only thing that makes an estimator fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.control.clock import End
from miptree.data.problem import Problem
from miptree.fit.progress import FitProgress
from miptree.objective.blurred import suited_blur
from miptree.objective.leaf_probabilities import smoothed_frequencies
from miptree.tree import ObliqueTree
from miptree.tree.rounding import digits_that_matter, units_of
from miptree.utils.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from miptree.proof import ErrorsRecord
    from miptree.proof.routes.result import RoutesProof


@dataclass(frozen=True, eq=False)
class FittedTree:
    """A tree with all that is known of it; every training loop returns one.

    Attributes
    ----------
    tree : ObliqueTree
        In the user's units.
    node_proba : float array of shape (n_nodes, n_classes)
        Probabilities of the classes at each leaf.
    blur : float array of shape (n_nodes,)
        Width of the zone around each split where a row counts to both sides, in the
        unit of the split's scores; 0 where there is none.
    node_count : int array of shape (n_nodes, n_classes)
        Training rows of each class that pass each node, weights aside.
    digits : int array of shape (n_nodes, 2)
        Decimal digits of coefficients and threshold that matter, for texts, which
        show them in units (:func:`~miptree.tree.rounding.units_of`).
    certificate : Certificate
        What is proved.
    status : str
        Why the fit ended, see :data:`~miptree.control.clock.End`.
    n_iter : int
        Iterations of its searches.
    trace : list of FitProgress
        Objective and bound over time.
    seconds : float
        Time that the fit took.
    proof : RoutesProof or None
        Proof over routes of the highest bound; others may have proved a higher one.
    errors_record : ErrorsRecord or None
        What was recorded of a proof of the errors.
    spread : float array of shape (n_columns,) or None
        Standard deviation of each column that the tree reads, over the training rows;
        of rows in partitions over their sample. None where a file did not tell it.
    """

    tree: ObliqueTree
    node_proba: FloatArray
    blur: FloatArray
    node_count: IntArray
    digits: IntArray
    certificate: Certificate
    status: End
    n_iter: int = 0
    trace: list[FitProgress] = field(default_factory=list)
    seconds: float = 0.0
    proof: RoutesProof | None = None
    errors_record: ErrorsRecord | None = None
    spread: FloatArray | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        tree: ObliqueTree,
        certificate: Certificate,
        status: End,
        n_iter: int = 0,
        trace: Sequence[FitProgress] = (),
        seconds: float = 0.0,
        proof: RoutesProof | None = None,
        errors_record: ErrorsRecord | None = None,
    ) -> FittedTree:
        """Make one; probabilities, counts and digits are of the rows of a problem."""
        proba = smoothed_frequencies(problem, tree)
        # Of points trees people look a probability up, by the leaf.
        is_hard = certificate.method != ""
        spread = column_spread(problem)
        return cls(
            tree,
            proba,
            np.zeros(tree.n_nodes) if is_hard else suited_blur(problem, tree, proba),
            row_counts(problem, tree),
            digits_that_matter(tree, problem.X, units_of(tree, spread)),
            certificate,
            status,
            n_iter,
            list(trace),
            seconds,
            proof,
            errors_record,
            spread,
        )


def row_counts(problem: Problem, tree: ObliqueTree) -> IntArray:
    """Return (n_nodes, Y): the user's rows of each class that pass each node."""
    in_leaf = np.zeros((tree.n_nodes, problem.n_classes), dtype=np.intp)
    np.add.at(in_leaf, (tree.apply(problem.X), problem.y), problem.count)
    return passing(tree, in_leaf)


def column_spread(problem: Problem) -> FloatArray:
    """Return (d,): the standard deviation of each column over the user's rows."""
    # Scaled first: the square of a large number may be none.
    scaled = (problem.X - problem.offset) / problem.scale
    far = scaled - np.average(scaled, axis=0, weights=problem.count)
    spread: FloatArray = problem.scale * np.sqrt(
        np.average(far**2, axis=0, weights=problem.count)
    )
    return spread


def passing(tree: ObliqueTree, in_leaf: IntArray) -> IntArray:
    """Return what passes each node, (n_nodes, ...), of what ends in each leaf."""
    return tree.ancestors.T.astype(np.intp) @ in_leaf
