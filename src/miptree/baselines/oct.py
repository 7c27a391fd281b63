"""OCT of Bertsimas & Dunn (2017) as a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from miptree.baselines._base import MIP_CONSTRAINTS, BaselineClassifier
from miptree.data.problem import Problem
from miptree.mip.formulations.baselines import BaselineFormulation, OCTFormulation


@dataclass(kw_only=True, eq=False, repr=False)
class OCTClassifier(BaselineClassifier):
    """Optimal classification tree with univariate splits: OCT [1]_.

    Minimises errors / (errors of the best constant) + ``complexity`` * splits; see
    :class:`~miptree.mip.formulations.baselines.OCTFormulation`.

    The other parameters and the fitted attributes are those of
    :class:`~miptree.baselines.BaselineClassifier`.

    Parameters
    ----------
    complexity : float, default=0
        alpha: the price of a split.
    min_weight_fraction_leaf : float, default=0
        The paper's N_min / n: least part of the weight that a leaf may have.

    References
    ----------
    .. [1] Bertsimas, Dunn: Optimal classification trees. Machine Learning 106, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree.baselines import OCTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OCTClassifier(max_depth=1, time_limit=None).fit(X, y)
    >>> clf.status_, clf.certificate_.errors
    ('optimal', 50)
    """

    method = "OCT"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MIP_CONSTRAINTS,
        "complexity": [Interval(Real, 0, None, closed="left")],
        "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
    }

    complexity: float = 0.0
    min_weight_fraction_leaf: float = 0.0

    def _formulation(self, problem: Problem) -> BaselineFormulation:
        return OCTFormulation(
            problem, int(self.max_depth), self.complexity, self.min_weight_fraction_leaf
        )
