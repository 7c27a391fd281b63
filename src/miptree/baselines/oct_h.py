"""OCT-H of Bertsimas & Dunn (2017) as a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from miptree.baselines.oct import OCTClassifier
from miptree.data.problem import Problem
from miptree.mip.formulations.baselines import BaselineFormulation, OCTHFormulation


@dataclass(kw_only=True, eq=False, repr=False)
class OCTHClassifier(OCTClassifier):
    """Optimal classification tree with hyperplanes: OCT-H [1]_.

    Minimises errors / (errors of the best constant) + ``complexity`` * features used
    in the splits; see :class:`~miptree.mip.formulations.baselines.OCTHFormulation`.

    The other parameters and the fitted attributes are those of
    :class:`~miptree.baselines.BaselineClassifier`.

    Parameters
    ----------
    complexity : float, default=0
        alpha: the price of a feature of a split.
    min_weight_fraction_leaf : float, default=0
        The paper's N_min / n: least part of the weight that a leaf may have.
    mu : float, default=0.005
        Width of the strip beside a hyperplane that no point may lie in, in units of
        features scaled to [0, 1] and hyperplanes of 1-norm 1.

    References
    ----------
    .. [1] Bertsimas, Dunn: Optimal classification trees. Machine Learning 106, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree.baselines import OCTHClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OCTHClassifier(max_depth=1, time_limit=None).fit(X, y)
    >>> clf.status_, clf.certificate_.errors
    ('optimal', 50)
    """

    method = "OCT-H"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OCTClassifier._parameter_constraints,
        "mu": [Interval(Real, 1e-4, 1, closed="both")],
    }

    mu: float = 0.005

    def _formulation(self, problem: Problem) -> BaselineFormulation:
        return OCTHFormulation(
            problem,
            int(self.max_depth),
            self.complexity,
            self.min_weight_fraction_leaf,
            self.mu,
        )
