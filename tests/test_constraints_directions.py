"""The search under directions: what keeps them is found, though it is far away."""

import numpy as np
import pandas as pd
import pytest

from miptree import OptimalTreeClassifier
from miptree.constraints import ForbidFeatures, Monotone, Signs


@pytest.mark.parametrize("rule", [Monotone({"a": -1}, 1), Signs({"a": -1}, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_a_column_of_the_wrong_direction_is_done_without(rule, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = (X.sum(axis=1) > 0).astype(int)
    right = []
    for constraint, n_iter in ((rule, 40), (ForbidFeatures("a"), 5)):
        clf = OptimalTreeClassifier(
            constraints=[constraint],
            max_depth=1,
            solver="search",
            max_iter=n_iter,
            time_limit=None,
            random_state=0,
        )
        table = pd.DataFrame(X, columns=["a", "b"])
        right.append(clf.fit(table, y).score(table, y))
    assert right[0] >= right[1] > 0.6
