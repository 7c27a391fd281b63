"""Points trees without training: columns on grids, and splits written by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd

from _models import array_model
from miptree import OptimalTreeClassifier
from miptree.data import CategoricalColumn, GridColumn, Table
from miptree.data.schema import Schema
from miptree.fit.fitted import passing
from miptree.tree import HeapTree, ObliqueTree
from miptree.tree.rounding import ALL_DIGITS


def spaced(first, unit, n):
    """Return n cut points, decimals that are rounded once."""
    return tuple(float(f"{first + unit * k:.10g}") for k in range(n))


def values(name, *found, rare=()):
    """Return a column of categories, which splits read as 0/1."""
    return CategoricalColumn(name, found, rare, as_indicators=True, as_subsets=False)


COLUMNS = (
    GridColumn("age", spaced(25, 5, 9), 5.0, 38.0, False),
    GridColumn("od280", spaced(1.4, 0.2, 12), 0.2, 2.7, False),
    GridColumn("income", spaced(5000, 5000, 4), 5000.0, 9000.0, True),
    GridColumn("smoker", (1.0,), 0.0, 0.0, False),
    GridColumn("rooms", (2.0, 3.0, 5.0), 1.0, 3.0, True),
    values("housing", "free", "own", "rent"),
    values("purpose", "business", "new car", "used car", None),
    values("sex", "female", "male"),
    values("town", "A", "B", rare=("C", "D")),
    GridColumn("bonus", (100.0, 200.0), 100.0, 0.0, False),
)
NAMES = [column.name for column in COLUMNS]
TABLE = Table(COLUMNS)


def points_model(*splits, labels=None, columns=COLUMNS, classes=("bad", "good")):
    """Return a classifier with such splits in heap order.

    A split is a dict from open columns to points, and the highest sum that goes left.
    """
    table = Table(columns)
    names = table.open_names
    coef = np.zeros((len(splits), len(names)))
    for row, (points, _) in zip(coef, splits, strict=True):
        for name, weight in points.items():
            row[names.index(name)] = weight
    if labels is None:
        labels = np.arange(len(splits) + 1) % len(classes)
    threshold = np.array([most for _, most in splits], dtype=float)
    tree = ObliqueTree.from_heap(HeapTree(coef, threshold, np.array(labels)))
    leaves = np.arange(tree.n_nodes * len(classes)).reshape(tree.n_nodes, -1) ** 2
    fitted = replace(
        array_model().fitted_,
        tree=tree,
        node_proba=np.full(leaves.shape, 1 / len(classes)),
        blur=np.zeros(tree.n_nodes),
        node_count=passing(tree, leaves * tree.is_leaf[:, None]),
        digits=np.full((tree.n_nodes, 2), ALL_DIGITS),
        spread=np.ones(tree.n_features),
    )
    known = np.array([column.name for column in columns], dtype=object)
    schema = Schema(table, np.array(classes), known)
    return OptimalTreeClassifier().adopt(schema, fitted)


def random_rows(rng, n=60):
    """Return rows with values on, just below and just above cut points, and gaps."""
    frame = pd.DataFrame(index=range(n))
    for column in COLUMNS:
        if isinstance(column, GridColumn):
            cuts = rng.choice(column.cuts, n)
            near = [cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf)]
            near += [rng.uniform(-1, 1.2 * column.cuts[-1], n), np.full(n, np.nan)]
            frame[column.name] = np.choose(rng.integers(0, len(near), n), near)
        else:
            known = [*column.values, *column.rare, None, "unheard of"]
            found = rng.integers(0, len(known), n)
            frame[column.name] = np.array(known, dtype=object)[found]
    return frame
