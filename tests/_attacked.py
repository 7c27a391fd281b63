"""Small models of every kind with their rows, and every change of their files."""

import copy
from functools import cache

import numpy as np
import pandas as pd
import pytest

from _partitioned import FEATURES, quick_model, rows
from miptree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    PointsTreeClassifier,
    save_json,
)
from miptree.baselines import GreedySVMTreeClassifier, OCTClassifier
from miptree.constraints import (
    AllowFeatures,
    ForbidFeatures,
    MaxCost,
    MaxRate,
    MinLeaf,
    MinRate,
    Monotone,
    Signs,
)
from miptree.tuning import Svm1Tree

LITTLE = 1e-5
"""Relative change of a number that hardly shows."""
SEARCH = {"solver": "search", "max_iter": 3, "time_limit": None, "random_state": 0}


def shop(n=36, seed=0):
    """Numbers with and without gaps, and categories with a missing value."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "price": rng.integers(1, 30, n) / 2,
            "size": rng.normal(size=n).round(1),
            "kind": rng.choice(["a", "b", "c"], n),
            "new": rng.random(n) < 0.5,
        }
    )
    frame.loc[rng.random(n) < 0.2, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "kind"] = None
    score = frame["price"] + 5 * frame["size"].fillna(2) + 6 * (frame["kind"] == "b")
    y = np.where(score + rng.normal(size=n) > 9, "good", "bad")
    return frame, y, rng.integers(1, 4, n).astype(float)


def _oblique():
    frame, y, weight = shop()
    clf = OptimalTreeClassifier(
        **SEARCH,
        l1_penalty=0.1,
        class_weight={"bad": 1.0, "good": 1.5},
        max_features_per_split=2,
    )
    return clf.fit(frame, y, weight), frame, y, weight


def _costs():
    frame, y, _ = shop(30, 1)
    costs = [[0.0, 1.0], [3.0, 0.0]]
    named = {"categorical_features": ["kind", 3], "categorical_encoding": "onehot"}
    given = {"max_depth": 1, "l1_penalty": 0.1, "cost_matrix": costs}
    clf = OptimalTreeClassifier(**SEARCH, **given, **named)
    return clf.fit(frame, y), frame, y, None


def _proved():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 2)).round(1)
    y = (X[:, 0] + 0.2 * rng.normal(size=12) > 0).astype(int)
    penalties = {"slack_penalty": 50.0, "l1_penalty": 0.1, "margin": 0.02}
    clf = OptimalTreeClassifier(max_depth=1, random_state=0, **penalties)
    return clf.fit(X, y), X, y, None


def _rules():
    frame, y, weight = shop()
    constraints = [
        MinLeaf(rows=3),
        MinLeaf(weight=5.5),
        MaxRate("good", 0.7),
        MinRate("good", 0.25, on="positives"),
        MaxCost(60.0, costs=[[0.0, 1.5], [2.5, 0.0]]),
        ForbidFeatures("new"),
        AllowFeatures(["price", "size"], depth=0),
        Monotone({"price": 1}, "good"),
        Signs({"size": 1}, "good"),
    ]
    clf = OptimalTreeClassifier(**SEARCH, l1_penalty=0.1, constraints=constraints)
    return clf.fit(frame, y, weight), frame, y, weight


def _points():
    frame, y, weight = shop()
    clf = PointsTreeClassifier(
        time_limit=None,
        grid_steps=6,
        max_features_per_split=2,
        units={"price": 3},
        signs={"price": 1, 1: "+"},
        feature_penalty={"price": 0.5, "size": 0.25, 2: 1},
    )
    return clf.fit(frame, y, weight), frame, y, weight


def _points_auto():
    frame, y, _ = shop(40, 3)
    clf = PointsTreeClassifier(time_limit=None, max_depth=1, grid_steps=5)
    return clf.fit(frame, y), frame, y, None


def _alternative():
    clf, frame, y, weight = _points()
    others = clf.alternatives(within=0.2, time_limit=None)
    other = next(o for o in others if "first" in o.restriction)
    return other.classifier, frame, y, weight


def _baseline():
    X = shop()[0][["price"]].assign(other=np.arange(36) % 5)
    y = shop()[1]
    return OCTClassifier(max_depth=1, complexity=0.01).fit(X, y), X, y, None


def _greedy():
    X = shop()[0][["price"]].assign(other=np.arange(36) % 5).to_numpy()
    y = shop()[1]
    return GreedySVMTreeClassifier(class_weight="balanced").fit(X, y), X, y, None


def _tuned():
    frame, y, _ = shop(40, 5)
    frame["stars"] = np.arange(40) % 4
    clf = OptimalTreeClassifierCV(
        candidates=[Svm1Tree()], n_repeats=1, cv=2, random_state=0, levels=True
    )
    return clf.fit(frame, y), frame, y, None


def _partitions():
    pytest.importorskip("distributed")
    import dask.dataframe as dd

    from miptree import distributed

    table = rows(90)
    data = dd.from_pandas(table, npartitions=2)
    clf = distributed.fit(data, "label", classifier=quick_model(max_iter=3))
    return clf, table[FEATURES], table["label"], None


def _points_partitions():
    pytest.importorskip("distributed")
    import dask.dataframe as dd

    from miptree import distributed

    table = rows(90).assign(d=lambda table: table["d"] > 0)
    clf = PointsTreeClassifier(time_limit=None, max_iter=3, grid_steps=5)
    data = dd.from_pandas(table, npartitions=2)
    clf = distributed.fit(data, "label", classifier=clf, max_rows=60)
    return clf, table[FEATURES], table["label"], None


MODELS = {
    "oblique": _oblique,
    "costs": _costs,
    "proved": _proved,
    "rules": _rules,
    "points": _points,
    "points auto": _points_auto,
    "alternative": _alternative,
    "baseline": _baseline,
    "greedy": _greedy,
    "tuned": _tuned,
    "partitions": _partitions,
    "points partitions": _points_partitions,
}


@cache
def model(kind):
    """A fitted classifier, its rows, labels and weights."""
    return MODELS[kind]()


def written(kind, path):
    """The file of a model with the notes that the command line keeps."""
    save_json(model(kind)[0], path, metadata={"target": "y", "weights": None})


# ----------------------------------------------------------------- every change


def changes(plain):
    """Yield (where, file) for every change of one value, and of one list or object."""
    for path in paths(plain):
        for other in others(at(plain, path)):
            yield path, put(plain, path, other)
        if path and isinstance(at(plain, path[:-1]), dict):
            yield path, without(plain, path)


def paths(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*path, key))
    if isinstance(value, list):
        for place in range(len(value)):
            yield from paths(value[place], (*path, place))


def others(value):
    """Values that are nearly the same, and some that are not."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    if isinstance(value, float):
        return [value + 1, value * (1 + LITTLE)] if value else [1.0]
    if isinstance(value, str):
        return [value + "x"]
    if value is None:
        return [1, "x"]
    if isinstance(value, dict):
        return [value | {"x": 1}]
    return [value[:-1], [*value, *value[-1:]]] if value else [[1]]


def at(plain, path):
    for key in path:
        plain = plain[key]
    return plain


def put(plain, path, value):
    if not path:
        return value
    plain = copy.deepcopy(plain)
    at(plain, path[:-1])[path[-1]] = value
    return plain


def without(plain, path):
    plain = copy.deepcopy(plain)
    del at(plain, path[:-1])[path[-1]]
    return plain
