"""What verify_model says of bounds that hold under rules."""

import numpy as np
import pytest

from miptree import OptimalTreeClassifier, verify_model
from miptree.constraints import DemographicParity
from miptree.objective.bounds import COUNTING

pytest.importorskip("highspy")


@pytest.fixture(scope="module")
def counted():
    """A fit whose bound is by counting: groups differ in their classes."""
    rng = np.random.default_rng(0)
    groups = np.repeat(["f", "m"], 12)
    X = rng.normal(size=(24, 2))
    y = np.where(groups == "m", np.arange(24) % 4 > 0, np.arange(24) % 4 == 0)
    clf = OptimalTreeClassifier(
        constraints=[DemographicParity(difference_bound=0.05)],
        max_depth=1,
        solver="search",
        max_iter=5,
        random_state=0,
    )
    given = X, y.astype(int)
    return clf.fit(*given, sensitive_features=groups), *given, groups


def test_a_bound_by_counting_needs_no_solver(counted):
    clf, X, y, groups = counted
    assert clf.certificate_.objective_proved_by == COUNTING
    options = {"resolve_with": "highs", "resolve_seconds": 0.0}
    assert verify_model(clf, X, y, sensitive_features=groups, **options).ok
