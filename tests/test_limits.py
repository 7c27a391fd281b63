"""The ranges and digits of the training rows, which a model knows and explain uses."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from _attacked import MODELS, SEARCH, model, shop, written
from _partitioned import rows as partitioned_rows
from _sealed import sealed
from miptree import (
    OptimalTreeClassifier,
    PointsTreeClassifier,
    distill,
    explain,
    load_json,
    save_json,
    verify_model,
)
from miptree.constraints import ForbidFeatures
from miptree.data import GridColumn, NumericalColumn
from miptree.data.limits import Limits, NumbersSeen, learn_limits
from miptree.explain.limits import limits_of
from miptree.explain.tables import cells_of

pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")

NUMBERS = {
    "whole": [1, 4, 9],
    "few tens": [10, 20, 300],
    "tens": range(0, 200, 10),
    "thousands": range(5000, 500_000, 5000),
    "cents": [0.1, 2.25, 17.5],
    "one number": [0.125],
    "one, often": [7.0] * 600,
    "negative": [-3.5, -3.25],
    "far": [1e12, 1e12 + 0.5],
    "farther than floats": [-1.7e308, 1.7e308],
    "tiny": [1e-9, 3e-9],
    "tinier than digits": [1e-310, 3e-310],
    "wide": [1e18, 3e18],
    "widest": [0.0, 1.7e308],
    "a late digit": [*range(600), 0.5],
    "a late tenth number": [0] * 600 + [100 * k for k in range(10)],
    "many digits": np.random.default_rng(0).normal(size=700),
}


def places_of(numbers):
    """Decimal places as they are written, and zeros at the end below 0."""
    texts = [Decimal(repr(float(x))).normalize().as_tuple() for x in numbers if x]
    return max((-text.exponent for text in texts), default=0)


@pytest.mark.parametrize("name", NUMBERS)
def test_limits_are_ends_and_digits(name):
    numbers = np.array(NUMBERS[name], dtype=float)
    found = learn_limits(numbers)
    assert (found.low, found.high) == (numbers.min(), numbers.max())
    if not found.is_range:
        return
    least = -12 if len(set(numbers)) >= 10 else 0
    written = max(places_of(numbers), least)
    assert found.places == min(written, found.most_places)


@pytest.mark.parametrize("name", NUMBERS)
def test_parts_of_the_rows_teach_the_same(name):
    numbers = np.array(NUMBERS[name], dtype=float)
    for n_parts in (1, 2, 3):
        parts = [part for part in np.array_split(numbers, n_parts) if len(part)]
        joined = NumbersSeen.joined([NumbersSeen.of(part) for part in parts])
        assert joined.limits() == learn_limits(numbers)


# ------------------------------------------------------------------ in every model


def numbers_of(clf):
    kinds = (NumericalColumn, GridColumn)
    columns = enumerate(clf.table_.columns)
    return {j: column for j, column in columns if isinstance(column, kinds)}


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_knows_its_training_ranges(kind, tmp_path):
    clf, X, _, _ = model(kind)
    written(kind, tmp_path / "model.json")
    for known in (clf, load_json(tmp_path / "model.json")):
        learnt = limits_of(known.table_.columns, cells_of(X))
        found = {j: column.limits for j, column in numbers_of(known).items()}
        assert learnt == found
        few = X[:4]
        told, wanted = explain(known, few), explain(known, few, background=X)
        assert told.to_dict()["rows"] == wanted.to_dict()["rows"]
        assert told.ranges.endswith(" Ranges are those of the training rows.")


def test_rows_that_do_not_count_teach_nothing():
    frame, y, _ = shop()
    weight = np.ones(len(y))
    weight[frame["price"].argmax()] = 0.0
    for clf in (OptimalTreeClassifier(**SEARCH), PointsTreeClassifier(max_iter=3)):
        fitted = clf.fit(frame, y, weight)
        price = fitted.table_.columns[0].limits
        assert price.high == frame["price"][weight > 0].max() < frame["price"].max()
        assert verify_model(fitted, frame, y, weight).ok


def test_a_class_without_weight_teaches_nothing_in_partitions():
    pytest.importorskip("distributed")
    import dask.dataframe as dd

    from miptree import distributed

    table = partitioned_rows(90)
    table.loc[table["label"] == "z", "a"] += 100
    given = {"time_limit": None, "max_iter": 3, "class_weight": {"z": 0.0}}
    clf = PointsTreeClassifier(**given)
    data = dd.from_pandas(table, npartitions=2)
    fitted = distributed.fit(data, "label", classifier=clf, max_rows=60)
    counted = table["a"][table["label"] != "z"]
    assert fitted.table_.columns[0].limits.high == counted.max() < 100
    assert verify_model(fitted, table[list("abcd")], table["label"]).ok


def test_a_distilled_tree_knows_the_rows_it_was_fitted_to():
    frame, y, _ = shop()
    numbers = frame[["price"]].assign(size=frame["size"].fillna(0))
    forest = RandomForestClassifier(5, random_state=0).fit(numbers, y)
    clf = distill(forest, numbers, **SEARCH)
    price = numbers["price"]
    assert clf.table_.columns[0].limits == Limits(price.min(), price.max(), 1)


def test_a_column_that_is_left_out_leaves_nothing_but_its_name(tmp_path):
    frame, y, _ = shop()
    frame["secret"] = np.arange(len(y)) * 17.0 + 123456
    forbid = [ForbidFeatures("secret")]
    clf = OptimalTreeClassifier(**SEARCH, constraints=forbid).fit(frame, y)
    save_json(clf, tmp_path / "model.json")
    columns = json.loads((tmp_path / "model.json").read_text())["table"]["columns"]
    assert columns[-1] == {"kind": "dropped", "name": "secret"}
    assert "123456" not in (tmp_path / "model.json").read_text()


# ----------------------------------------------------------------- files, forgeries


@pytest.mark.parametrize("size", [1e-323, 1e-310, 1e-299, 1e15, 1e18, 1e300])
def test_models_of_huge_and_tiny_numbers_are_saved(size, tmp_path):
    X = pd.DataFrame({"x": np.arange(20) * size, "z": np.arange(20) % 7})
    clf = OptimalTreeClassifier(**SEARCH, max_depth=1).fit(X, np.arange(20) > 9)
    save_json(clf, tmp_path / "model.json")
    known = load_json(tmp_path / "model.json")
    for one, two in zip(explain(clf, X), explain(known, X), strict=True):
        assert one == two
        if one.change is not None:
            changed = X.iloc[[one.row]].astype(float)
            for part in one.change.changes:
                changed[part.feature] = part.after
            assert known.predict(changed)[0] == one.change.label
    assert verify_model(known, X, np.arange(20) > 9).ok


@pytest.mark.parametrize("kind", ["oblique", "points", "greedy", "partitions"])
def test_forged_ranges_are_found(kind, tmp_path):
    _, X, y, weight = model(kind)
    written(kind, tmp_path / "model.json")
    honest = json.loads((tmp_path / "model.json").read_text())
    for name, change in (("low", -0.5), ("high", 0.5), ("places", 1)):
        plain = json.loads(json.dumps(honest))
        plain["table"]["columns"][0]["limits"][name] += change
        (tmp_path / "model.json").write_text(sealed(plain))
        found = verify_model(tmp_path / "model.json", X, y, weight)
        assert {check.name for check in found.wrong} == {"ranges"}
        assert f"column {plain['table']['columns'][0]['name']!r}" in str(found)


def test_background_overrides():
    X = pd.DataFrame({"x": np.arange(20.0)})
    clf = OptimalTreeClassifier(**SEARCH, max_depth=1).fit(X, X["x"] > 9)
    fine = pd.DataFrame({"x": [0.0, 9.5, 9.75, 40.0]})
    known, given = (explain(clf, X[:1], background=b)[0].change for b in (None, fine))
    assert known.changes[0].after == 10
    assert 9 < given.changes[0].after < 10
    assert given.cost == given.changes[0].after / 40
