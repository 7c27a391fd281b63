"""Small problems with subset splits of categories, and tables of such."""

from __future__ import annotations

import numpy as np
import pandas as pd

from _route_cases import MARGINS, NORMS, PRICES, RouteCase
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective


def subset_case(
    seed: int,
    rows: tuple[int, int],
    depths: tuple[int, ...] = (1, 2, 2, 3),
    is_distinct: bool = False,
) -> RouteCase:
    """Random case: 1 to 3 categories, weights, costs of classes, limits on features.

    Some categories are open to hyperplanes as well; rows of equal numbers and other
    values are common.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(rows[0], rows[1] + 1))
    d = int(rng.integers(0, 3)) if seed % 5 == 0 else int(rng.integers(1, 3))
    opened = [rng.integers(0, 3, (n, d)).astype(float)]
    if is_distinct:
        opened = [rng.normal(size=(n, max(d, 1)))]
    values, feature = [], []
    for number in range(int(rng.integers(1, 4))):
        n_values = int(rng.integers(2, 5))
        columns = np.eye(n_values)[rng.integers(0, n_values, n)]
        values.append(columns)
        feature += [number] * n_values
        if rng.random() < 0.3:
            opened.append(columns)
    n_classes = int(rng.integers(2, 4))
    depth = int(rng.choice(depths)) if n_classes == 2 else min(2, max(depths))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n)])[:n]
    weight = None if rng.random() < 0.5 else rng.choice([0.5, 1.0, 3.0], n)
    cost = None
    if rng.random() < 0.25:
        cost = rng.integers(0, 4, (n, n_classes)).astype(float)
    problem = Problem.from_data(
        np.column_stack([*opened, *values]), y, n_classes, weight, cost,
        np.array(feature), 1 if rng.random() < 0.2 else None,
    )  # fmt: skip
    price = float(rng.choice(PRICES)) * max(1.0, problem.largest_error_cost)
    margin = float(rng.choice(MARGINS))
    objective = Svm1Objective(price / margin, float(rng.choice(NORMS)), margin)
    return RouteCase(seed, problem, objective, depth)


def table(seed: int, n: int, noise: float = 0.1) -> tuple[pd.DataFrame, pd.Series]:
    """Two columns of numbers and two of categories, one with a gap, and labels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 90, n) / 2,
            "job": rng.choice(["clerk", "cook", "smith"], n),
            "age": rng.integers(18, 80, n).astype(float),
            "town": rng.choice(["Bonn", "Kiel"], n),
        }
    )
    X.loc[1, "town"] = None
    is_good = np.where(X["job"] == "cook", X["income"] > 25, X["town"] == "Bonn")
    is_good ^= rng.random(n) < noise
    return X, pd.Series(np.where(is_good, "yes", "no"), name="species")
