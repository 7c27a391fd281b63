"""BinOCT of Verwer & Zhang (2019) as a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from miptree.baselines._base import MIP_CONSTRAINTS, BaselineClassifier
from miptree.data.problem import Problem
from miptree.mip.formulations.baselines import BaselineFormulation, BinOCTFormulation


@dataclass(kw_only=True, eq=False, repr=False)
class BinOCTClassifier(BaselineClassifier):
    """Optimal univariate tree with thresholds by binary search: BinOCT [1]_.

    Minimises the errors; see
    :class:`~miptree.mip.formulations.baselines.BinOCTFormulation`.

    The other parameters and the fitted attributes are those of
    :class:`~miptree.baselines.BaselineClassifier`.

    Parameters
    ----------
    thresholds : {"all", "class_changes"}, default="all"
        Where thresholds may lie. "class_changes" is the paper's preprocessing; it can
        lose the best tree of depth 2 and more.
    min_weight_fraction_leaf : float, default=0
        Least part of the weight that a leaf may have; an addition to the paper.

    References
    ----------
    .. [1] Verwer, Zhang: Learning optimal classification trees using a binary linear
       program formulation. AAAI 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree.baselines import BinOCTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = BinOCTClassifier(max_depth=1, time_limit=None).fit(X, y)
    >>> clf.status_, clf.certificate_.errors
    ('optimal', 50)
    """

    method = "BinOCT"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MIP_CONSTRAINTS,
        "thresholds": [StrOptions({"all", "class_changes"})],
        "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
    }

    thresholds: str = "all"
    min_weight_fraction_leaf: float = 0.0

    def _formulation(self, problem: Problem) -> BaselineFormulation:
        return BinOCTFormulation(
            problem,
            int(self.max_depth),
            self.thresholds,
            self.min_weight_fraction_leaf,
        )
