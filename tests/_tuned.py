"""Small tables and quick tuners for tests of cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from miptree import OptimalTreeClassifierCV
from miptree.data import Cells
from miptree.data.rows import TrainingRows
from miptree.tuning import (
    CartTree,
    ConstantTree,
    GreedySvmTree,
    LogisticTree,
    SoftTree,
    Svm1Tree,
    all_settings,
)

QUICK = [CartTree(), LogisticTree(3.0), ConstantTree()]
FEW = (SoftTree(0.4, l1=3e-3), SoftTree(l2=1e-3), CartTree())
ALL_KINDS = (*FEW, GreedySvmTree(), Svm1Tree(0.4))


def biased(n: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two groups of which one has the larger feature, and more of the class 1."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(["f", "m"], n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += groups == "m"
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.4 * rng.normal(size=n) > 0.3).astype(int)
    return X, y, groups


def mixed_rows(seed: int = 0, n_rows: int = 60) -> TrainingRows:
    """Numbers with gaps, levels and a category, in two classes."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 2))
    y = (numbers[:, 0] + 0.5 * rng.normal(size=n_rows) > 0).astype(np.intp)
    numbers[rng.integers(n_rows, size=5), 1] = np.nan
    colour = rng.choice(["red", "green", "blue"], n_rows).tolist()
    cells = [
        Cells("a", numbers=numbers[:, 0]),
        Cells("b", numbers=numbers[:, 1]),
        Cells("colour", values=colour),
        Cells("level", numbers=rng.integers(1, 5, n_rows).astype(float)),
    ]
    mask = [False, False, True, False]
    return TrainingRows(cells, mask, y, np.ones(n_rows), 2, np.ones(2))


def tuner(constraints: Any, **parameters: Any) -> OptimalTreeClassifierCV:
    given = {"candidates": QUICK, "cv": 3, "n_repeats": 1, "time_limit": None}
    given |= {"random_state": 0, "sparsity": None}
    return OptimalTreeClassifierCV(constraints=constraints, **(given | parameters))


def fast(**params: object) -> OptimalTreeClassifierCV:
    given = {"candidates": FEW, "cv": 3, "n_repeats": 1, "time_limit": None}
    return OptimalTreeClassifierCV(random_state=0, **(given | params))


def same_tree(one: OptimalTreeClassifierCV, two: OptimalTreeClassifierCV) -> bool:
    a, b = one.tree_, two.tree_
    return np.array_equal(a.coef, b.coef) and np.array_equal(a.threshold, b.threshold)


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
