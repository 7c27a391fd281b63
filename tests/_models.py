"""Classifiers on all kinds of columns, and rows that try every corner of a tree."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from miptree import OptimalTreeClassifier
from miptree.certificate.digest import tree_digest
from miptree.data import (
    GridColumn,
    GridSpec,
    categorical_mask,
    learn_table,
    read_cells,
)
from miptree.data.schema import Schema
from miptree.export.readable import table_of
from miptree.fit.fitted import passing
from miptree.tree import HeapTree, ObliqueTree

QUICK = {"max_iter": 5, "solver": "search", "time_limit": None, "random_state": 0}
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"


@cache
def iris_model(**options):
    iris = load_iris(as_frame=True)
    clf = OptimalTreeClassifier(**(QUICK | options))
    return clf.fit(iris.data, iris.target_names[iris.target])


@cache
def tied_model():
    """Iris from a tree whose two rows of petal width 1.7 only rounding tells apart.

    It is what an LP made of the best tree under these penalties.
    """
    coef = np.array([[0, -0.0195, 0.0195, 0.0585], [0] * 4, [-5.6e-14, -5.6e-14, 0, 0]])
    coef[2, 2:] = 2.3e-14, 0.39000000000003443
    threshold = np.array([0.03705, 1.0, 0.6629999999996681])
    heap = HeapTree(coef, threshold, np.array([0, 0, 1, 2]))
    return iris_model(init=ObliqueTree.from_heap(heap), max_iter=0, l1_penalty=8.0)


@cache
def array_model():
    """No column names, integer classes, and a tree of depth 3 with odd numbers."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3)) * [1e-9, 1.0, 1e12]
    y = rng.integers(-1, 2, 60)
    clf = OptimalTreeClassifier(max_depth=3, **QUICK).fit(X, y)
    coef = rng.normal(size=(7, 3)) / [1e-9, 1.0, 1e12]
    heap = HeapTree(coef, rng.normal(size=7) / 3, rng.integers(0, 3, 8))
    return with_tree(clf, ObliqueTree.from_heap(heap), rng)


def with_tree(clf, tree, rng, has_blur=True):
    """The classifier with another tree, random probabilities and four digits."""
    proba = rng.dirichlet(np.ones(len(clf.classes_)), tree.n_nodes)
    count = rng.integers(0, 40, proba.shape) * tree.is_leaf[:, None]
    certificate = replace(clf.certificate_, tree_digest=tree_digest(tree)).signed()
    by_values = tree.coef[:, len(clf.table_.open_names) :].any(axis=1)
    fitted = replace(
        clf.fitted_,
        tree=tree,
        certificate=certificate,
        node_proba=proba,
        blur=has_blur * rng.random(tree.n_nodes) * ~(tree.is_leaf | by_values),
        node_count=passing(tree, count),
        digits=np.full((tree.n_nodes, 2), 4),
        spread=np.ones(tree.n_features),
    )
    names = getattr(clf, "feature_names_in_", None)
    return clf.adopt(Schema(clf.table_, clf.classes_, names), fitted)


def gaps_frame(n=80):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 100, (n, 2)), columns=["income", "age"])
    return X.astype(float).mask(rng.random(X.shape) < 0.2)


def gaps_model(coef, threshold):
    """A split of numbers with gaps: income, income missing, age, age missing."""
    X = gaps_frame()
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, np.arange(len(X)) % 2)
    heap = HeapTree(np.array([coef]), np.array([threshold]), np.array([0, 1]))
    return with_tree(clf, ObliqueTree.from_heap(heap), np.random.default_rng(0))


def mixed_frame(n=120, seed=0):
    """Text, truth values, numbers with gaps, numbers as categories, rare values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "co'lour": rng.choice(["red", 'bl"ue', "gre\\en", "?" * 3, "ü*/"], n),
            HOSTILE: rng.normal(size=n),
            "new": rng.random(n) < 0.5,
            "code": pd.Categorical(rng.choice([1.0, 2.0, 3.5], n)),
            "town": [f"town {k}" for k in rng.integers(0, 45, n)],
            "size\n--": rng.normal(size=n).round(3),
            "whole": rng.integers(0, 50, n),
        }
    )
    frame.loc[rng.random(n) < 0.2, "co'lour"] = None
    frame.loc[rng.random(n) < 0.2, "size\n--"] = np.nan
    return frame


@cache
def mixed_model(seed=0, **options):
    """Random splits of every kind, over the columns of a real table."""
    rng = np.random.default_rng(seed)
    frame = mixed_frame()
    y = np.where(rng.random(len(frame)) < 0.5, "it's", HOSTILE)
    clf = OptimalTreeClassifier(max_depth=3, **QUICK, **options).fit(frame, y)
    return with_tree(clf, random_tree(clf, rng), rng)


def random_tree(clf, rng):
    """Depth 3; about half of the splits are subsets of one feature."""
    table = clf.table_
    n_open, n_values = len(table.open_names), len(table.value_names)
    coef = np.zeros((7, n_open + n_values))
    threshold = np.zeros(7)
    for node in range(7):
        if n_values and rng.random() < 0.5:
            mine = table.value_feature == rng.integers(table.value_feature.max() + 1)
            chosen = np.flatnonzero(mine & (rng.random(n_values) < 0.5))
            sign = rng.choice([-1, 1])
            coef[node, n_open + chosen] = 2 * sign
            threshold[node] = sign
        else:
            coef[node, :n_open] = rng.normal(size=n_open) * (rng.random(n_open) < 0.6)
            threshold[node] = rng.normal()
    heap = HeapTree(coef, threshold, rng.integers(0, 2, 8))
    return ObliqueTree.from_heap(heap)


def grid_frame(n=120, seed=0):
    """Numbers of several scales for a grid, some with gaps, and categories."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(19, 76, n),
            HOSTILE: rng.normal(size=n) * 1e-9,
            "co'lour": rng.choice(["red", 'bl"ue', "ü*/"], n),
            "big": rng.normal(size=n) * 1e12,
            "size": rng.normal(size=n).round(1),
            "score": rng.integers(0, 9, n).astype(float),
            "flag": rng.integers(0, 2, n).astype(float),
            "one": 3.0,
        }
    )
    for name in ("co'lour", "size", "score", "flag", "one"):
        frame.loc[rng.random(n) < 0.2, name] = None
    return frame


@cache
def grid_model(seed=0):
    """A tree of whole coefficients over a grid: a card of points at every split."""
    rng = np.random.default_rng(seed)
    frame = grid_frame()
    cells = read_cells(frame)
    mask, weight = categorical_mask(cells, "from_dtype"), np.ones(len(frame))
    table = learn_table(cells, weight, mask, grid=GridSpec(units={"big": 3e11}))
    clf = copy.copy(iris_model())
    clf.adopt(Schema(table, clf.classes_, frame.columns.to_numpy()), clf.fitted_)
    heap = HeapTree(*points_splits(table, rng), rng.integers(0, 3, 16))
    return with_tree(clf, ObliqueTree.from_heap(heap), rng, has_blur=False)


def points_splits(table, rng):
    """Splits of one, two or three columns, with rows on both sides."""
    coef = np.zeros((15, len(table.open_names)))
    threshold = np.zeros(15)
    for node in range(15):
        used = rng.choice(len(table.open_names), 1 + node % 3, replace=False)
        coef[node, used] = rng.choice([-3, -1, -1, 1, 1, 2], len(used))
        steps = rng.integers(0, np.array(table.open_steps) + 1)
        most = coef[node].clip(0) @ table.open_steps
        threshold[node] = min(coef[node] @ steps, most - 1)
    return coef, threshold


def grid_rows(table, n=1500, seed=5):
    """Rows with numbers on the cuts of their columns, an ulp beside, far, missing."""
    rng = np.random.default_rng(seed)
    rows = grid_frame(n, seed)
    for column in table.columns:
        if isinstance(column, GridColumn):
            on = rng.choice(column.cuts, n) if column.cuts else np.full(n, 3.0)
            for k, side in enumerate([-np.inf, np.inf]):
                on = np.where(np.arange(n) % 3 == k, np.nextafter(on, side), on)
            on = np.where(rng.random(n) < 0.05, rng.choice([-1e300, 1e300], n), on)
            rows[column.name] = np.where(rng.random(n) < 0.1, np.nan, on)
    rows["co'lour"] = rows["co'lour"].mask(rng.random(n) < 0.1, "unseen")
    return rows


def strict(clf):
    """The same classifier, which refuses missing and unknown values."""
    clf = copy.copy(clf)
    clf.table_ = replace(clf.table_, missing="error", unknown="error")
    return clf


def corner_rows(clf, n=1000, seed=5):
    """Rows at random, others next to each hyperplane, unseen and missing values."""
    rng = np.random.default_rng(seed)
    if not hasattr(clf, "feature_names_in_"):
        return beside_hyperplanes(clf, rng.normal(size=(n, 3)) * [1e-9, 1, 1e12], rng)
    names = list(clf.feature_names_in_)
    if "age" in names:
        return grid_rows(clf.table_, n, seed)
    if "town" not in names:
        X = load_iris(as_frame=True).data.sample(n, replace=True, random_state=seed)
        X = X + rng.normal(size=X.shape)
        return pd.DataFrame(beside_hyperplanes(clf, X.to_numpy(), rng), columns=names)
    frame = mixed_frame(n, seed)
    frame["co'lour"] = frame["co'lour"].mask(rng.random(n) < 0.1, "unseen")
    frame["town"] = frame["town"].mask(rng.random(n) < 0.2, "town 99")
    frame["town"] = frame["town"].mask(rng.random(n) < 0.1, None)
    frame["code"] = rng.choice([1.0, 2.0, 3.5, 7.0, np.nan], n)
    frame["whole"] = frame["whole"].astype(float).mask(rng.random(n) < 0.1)
    frame["code"] = frame["code"].astype("category")
    near = beside_hyperplanes(clf, frame, rng, column=HOSTILE)
    return near


def beside_hyperplanes(clf, rows, rng, column=None):
    """Move one number of most rows so that they lie on a split or an ulp beside."""
    rows = rows.copy()
    Z = table_of(clf).transform(rows)
    tree = clf.tree_
    branch = np.flatnonzero(~tree.is_leaf)
    for i in range(len(rows) - len(rows) // 4):
        node = rng.choice(branch)
        j = rng.choice(tree.n_features) if column is None else open_place(clf, column)
        coef = tree.coef[node, j]
        if coef == 0:
            continue
        rest = np.cumsum(tree.coef[node] * Z[i])[-1] - coef * Z[i, j]
        value = (tree.threshold[node] - rest) / coef
        for _ in range(rng.integers(0, 3)):
            value = np.nextafter(value, rng.choice([-np.inf, np.inf]))
        if column is None:
            rows[i, j] = value
        else:
            rows.loc[rows.index[i], column] = value
    return rows


def open_place(clf, column):
    return clf.table_.open_names.index(column)
