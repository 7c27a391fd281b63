"""A table and a quick classifier for the tests of distributed fits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from miptree import OptimalTreeClassifier

FEATURES = list("abcd")


def rows(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Three classes in two informative columns of four."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 4))
    X[:, :2] += np.array([[0, 0], [3, 0], [0, 3]])[y]
    table = pd.DataFrame(X, columns=FEATURES)
    table["label"] = np.array(["x", "y", "z"])[y]
    return table


def quick_model(**changes: object) -> OptimalTreeClassifier:
    """A classifier with a budget of iterations."""
    usual = {
        "solver": "search",
        "time_limit": None,
        "max_iter": 20,
        "max_rounds": 2,
        "random_state": 0,
    }
    return OptimalTreeClassifier(**(usual | changes))
