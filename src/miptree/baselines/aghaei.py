"""The trees of Aghaei, Azizi & Vayanos (2019) as a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from miptree.baselines._base import MIP_CONSTRAINTS, BaselineClassifier
from miptree.data.problem import Problem
from miptree.mip.formulations.baselines import AghaeiFormulation, BaselineFormulation
from miptree.utils.arrays import IntArray


@dataclass(kw_only=True, eq=False, repr=False)
class AghaeiTreeClassifier(BaselineClassifier):
    """Optimal tree, fair if asked: Aghaei, Azizi & Vayanos [1]_.

    Minimises the error rate + ``fairness_penalty`` * disparate impact index, the sum
    over protected groups and classes of abs(P(predicted | group) - P(predicted)). With
    hyperplanes and without the penalty it is 'Fair' in the tables of SVM1-ODT. See
    :class:`~miptree.mip.formulations.baselines.AghaeiFormulation`.

    The other parameters and the fitted attributes are those of
    :class:`~miptree.baselines.BaselineClassifier`.

    Parameters
    ----------
    branching : {"linear", "univariate"}, default="linear"
        Splits by hyperplanes, or by one feature.
    margin : float, default=0.001
        epsilon, the strip beside a hyperplane that no point may lie in, in units of
        the box abs(score) <= 1. Univariate splits need none.
    fairness_penalty : float, default=0
        lambda.
    sensitive_features : sequence of int or of str, default=None
        Columns of X whose values make the protected groups.

    References
    ----------
    .. [1] Aghaei, Azizi, Vayanos: Learning optimal and fair decision trees for
       non-discriminative decision-making. AAAI 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree.baselines import AghaeiTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AghaeiTreeClassifier(
    ...     branching="univariate", max_depth=1, time_limit=None
    ... ).fit(X, y)
    >>> clf.status_, clf.certificate_.errors
    ('optimal', 50)
    """

    method = "the model of Aghaei et al."

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MIP_CONSTRAINTS,
        "branching": [StrOptions({"linear", "univariate"})],
        "margin": [Interval(Real, 1e-4, 1, closed="both")],
        "fairness_penalty": [Interval(Real, 0, None, closed="left")],
        "sensitive_features": ["array-like", None],
    }

    branching: str = "linear"
    margin: float = 1e-3
    fairness_penalty: float = 0.0
    sensitive_features: Sequence[int] | Sequence[str] | None = None

    def _formulation(self, problem: Problem) -> BaselineFormulation:
        return AghaeiFormulation(
            problem,
            int(self.max_depth),
            self.branching,
            self.margin,
            self.fairness_penalty,
            self._groups(problem),
        )

    def _groups(self, problem: Problem) -> IntArray | None:
        """Return the protected group of each row, by its sensitive columns."""
        if self.sensitive_features is None:
            if self.fairness_penalty > 0:
                raise ValueError(
                    f"fairness_penalty is {self.fairness_penalty:g}, but "
                    "sensitive_features is None. Name the columns of X whose groups "
                    "should be treated alike."
                )
            return None
        columns = [self._column(given) for given in self.sensitive_features]
        if not columns:
            raise ValueError("sensitive_features is empty. Name a column, or use None.")
        rows = problem.X[:, columns]
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel().astype(np.intp)

    def _column(self, given: Any) -> int:
        """Number of a column given by its number or name."""
        names = list(getattr(self, "feature_names_in_", ()))
        if isinstance(given, str):
            if given in names:
                return names.index(given)
        elif isinstance(given, Integral) and 0 <= int(given) < self.n_features_in_:
            return int(given)
        raise ValueError(
            f"sensitive_features has {given!r}, which is no column of X: give numbers "
            f"from 0 to {self.n_features_in_ - 1}, or names that X has"
            + (f" ({', '.join(map(str, names[:5]))}, ...)." if names else ".")
        )
