"""FlowOCT of Aghaei, Gomez & Vayanos (2020) as a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from miptree.baselines._base import MIP_CONSTRAINTS, BaselineClassifier
from miptree.data.problem import Problem
from miptree.mip.formulations.baselines import BaselineFormulation, FlowOCTFormulation


@dataclass(kw_only=True, eq=False, repr=False)
class FlowOCTClassifier(BaselineClassifier):
    """Optimal tree of 0/1 features by max-flow: FlowOCT [1]_, [2]_.

    Minimises (1 - ``complexity``) * errors + ``complexity`` * splits; see
    :class:`~miptree.mip.formulations.baselines.FlowOCTFormulation`. Numerical features
    are binarised: feature j becomes ``x_j > t`` for ``n_thresholds`` values t, so 0/1
    features stay what they are. The tree reads the features as given.

    The other parameters and the fitted attributes are those of
    :class:`~miptree.baselines.BaselineClassifier`.

    Parameters
    ----------
    complexity : float, default=0
        lambda in [0, 1).
    n_thresholds : int or None, default=5
        0/1 features that stand for a feature, between values near the quantiles of
        the training rows; None for one between any two neighbouring values.

    References
    ----------
    .. [1] Aghaei, Gomez, Vayanos: Learning optimal classification trees: strong
       max-flow formulations. arXiv:2002.09142, 2020.
    .. [2] Aghaei, Gomez, Vayanos: Strong optimal classification trees.
       arXiv:2103.15965, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree.baselines import FlowOCTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = FlowOCTClassifier(max_depth=1, time_limit=None).fit(X, y)
    >>> clf.status_, clf.certificate_.errors
    ('optimal', 50)
    """

    method = "FlowOCT"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MIP_CONSTRAINTS,
        "complexity": [Interval(Real, 0, 1, closed="left")],
        "n_thresholds": [Interval(Integral, 1, None, closed="left"), None],
    }

    complexity: float = 0.0
    n_thresholds: int | None = 5

    def _formulation(self, problem: Problem) -> BaselineFormulation:
        return FlowOCTFormulation(
            problem, int(self.max_depth), self.complexity, self.n_thresholds
        )
