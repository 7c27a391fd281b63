"""A greedy tree of 1-norm SVMs: the cheap baseline that is hard to beat."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from miptree.baselines._base import ClassWeight
from miptree.baselines._valuation import ErrorValuation
from miptree.classifiers.numeric_classifier import NumericTreeClassifier
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.incumbent import Incumbent
from miptree.objective.proved import Bounds
from miptree.search.starts import greedy_svm_tree


@dataclass(kw_only=True, eq=False, repr=False)
class GreedySVMTreeClassifier(NumericTreeClassifier):
    """Tree grown from the root by 1-norm SVMs, in milliseconds and without a proof.

    At every node a 1-norm SVM is fitted for each way to put the classes into two
    groups, on features scaled to [0, 1]; the hyperplane of least entropy is the
    split. Of more than 4 classes only some groupings are tried: each class against the
    rest, and cuts of the classes ordered along the line on which their means differ
    most.

    Parameters
    ----------
    max_depth : int, default=2
        Depth D of the tree.
    C : float, default=10
        Price of the hinge loss beside the 1-norm, on rows of mean weight 1.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into ``sample_weight``.

    Attributes
    ----------
    objective_, bound_, gap_ : float
        Weight of the misclassified rows, a lower bound on it for every tree of this
        depth that needs no solver, and the relative gap between them.
    status_ : str
        "optimal" if they meet, otherwise "unproved".
    classes_, tree_, certificate_, fit_time_, n_features_in_, feature_names_in_
        As of :class:`~miptree.baselines.BaselineClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree.baselines import GreedySVMTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> GreedySVMTreeClassifier().fit(X, y).certificate_.errors < 6
    True
    """

    method: ClassVar[str] = "the greedy SVM tree"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_depth": [Interval(Integral, 1, 10, closed="both")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    max_depth: int = 2
    C: float = 10.0
    class_weight: ClassWeight = None

    def valuation(self, problem: Problem) -> ErrorValuation:
        """Return its objective: the weight of the misclassified rows."""
        return ErrorValuation(self.method, f"tree of depth {int(self.max_depth)}")

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> GreedySVMTreeClassifier:
        """Grow the tree; takes the same as ``fit`` of ``BaselineClassifier``."""
        clock, depth = Clock(), int(self.max_depth)
        problem, schema = self._problem_of(X, y, sample_weight)
        tree = problem.to_user(greedy_svm_tree(problem, depth, self.C))
        tree = tree.prune(problem.X)
        errors = self.valuation(problem)
        bounds = Bounds.without_solver(problem, depth)
        best = Incumbent(tree, errors.evaluate(problem, tree), bounds, clock)
        best.ended = "unproved"
        return self.adopt(schema, best.end(problem, errors, depth))
