"""Two groups that a feature tells apart, and fits under rules to them."""

import numpy as np

from miptree import OptimalTreeClassifier

PENALTIES = {"slack_penalty": 10.0, "l1_penalty": 0.2, "margin": 0.1}


def biased(n, seed=0):
    """Two groups of which one has the larger feature, and more of the class 1."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(["f", "m"], n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += groups == "m"
    y = (X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=n) > 0.3).astype(int)
    return X, y, groups


def classifier(constraints, **parameters):
    given = {"solver": "search", "max_iter": 20, "time_limit": None, "random_state": 0}
    return OptimalTreeClassifier(constraints=constraints, **(given | parameters))
