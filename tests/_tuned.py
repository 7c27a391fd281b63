"""Small tables and quick tuners for tests of cross-validation under constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from miptree import OptimalTreeClassifierCV
from miptree.tuning import CartTree, ConstantTree, LogisticTree, all_settings

QUICK = [CartTree(), LogisticTree(3.0), ConstantTree()]


def biased(n: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two groups of which one has the larger feature, and more of the class 1."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(["f", "m"], n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += groups == "m"
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.4 * rng.normal(size=n) > 0.3).astype(int)
    return X, y, groups


def tuner(constraints: Any, **parameters: Any) -> OptimalTreeClassifierCV:
    given = {"candidates": QUICK, "cv": 3, "n_repeats": 1, "time_limit": None}
    given |= {"random_state": 0, "sparsity": None}
    return OptimalTreeClassifierCV(constraints=constraints, **(given | parameters))


def only_quick(monkeypatch: Any) -> None:
    """Let the command line compare quick candidates only."""

    def quick(style, problem, depths, readings, most, has_rules):
        return all_settings(QUICK, depths, readings)

    monkeypatch.setattr("miptree.tuning.comparison.style_settings", quick)


def people_in(folder: Any, names: list[str]) -> tuple[Any, pd.DataFrame, np.ndarray]:
    """Write a table of two columns, a group and a label; return its path and rows."""
    X, y, groups = biased(60)
    table, path = pd.DataFrame(X[:, :2], columns=names), folder / "people.csv"
    table = table.assign(sex=groups)
    table.assign(paid=np.where(y == 1, "yes", "no")).to_csv(path, index=False)
    return path, table, groups
