"""Tables in: categories, missing values, names; through fit, predict and files."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from miptree import OptimalTreeClassifier, export_text, load_json, save_json, verify
from miptree.data import categorical_mask, learn_table, read_cells

QUICK = {"max_iter": 15, "solver": "search", "time_limit": None, "random_state": 0}
ENCODINGS = ["both", "native", "onehot"]


def shop(n=90, seed=0):
    """Sold iff it is red or large, which no numbers alone can tell."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "blue", "green"], n),
            "size": rng.normal(size=n).round(2),
            "new": rng.random(n) < 0.5,
        }
    )
    sold = (frame["colour"] == "red") | (frame["size"] > 0.6)
    return frame, np.where(sold, "sold", "left")


def learn(X, asked="from_dtype", **options):
    cells = read_cells(X)
    weight = options.pop("weight", np.ones(len(X)))
    return learn_table(cells, weight, categorical_mask(cells, asked), **options)


# ------------------------------------------------------------------- what is learnt


def test_columns_of_each_encoding():
    X, _ = shop()
    indicators = ["colour=blue", "colour=green", "colour=red", "size", "new=True"]
    values = ["blue", "green", "red", "False", "True"]
    both = learn(X)
    assert both.open_names == indicators
    assert both.value_names == values
    assert both.value_feature.tolist() == [0, 0, 0, 1, 1]
    native = learn(X, encoding="native")
    assert (native.open_names, native.value_names) == (["size"], values)
    onehot = learn(X, encoding="onehot")
    assert (onehot.open_names, onehot.value_names) == (indicators, [])


def test_numbers_of_a_table():
    X, _ = shop(20)
    Z = learn(X).transform(X)
    for j, name in enumerate(["blue", "green", "red"]):
        assert np.array_equal(Z[:, j], X["colour"] == name)
        assert np.array_equal(Z[:, 5 + j], X["colour"] == name)
    assert np.array_equal(Z[:, 3], X["size"])
    assert np.array_equal(Z[:, 4], X["new"])
    assert np.array_equal(Z[:, 9], X["new"])


@pytest.mark.parametrize("as_polars", [False, True])
def test_types_of_columns(as_polars):
    columns = {
        "text": ["a", None, "b"],
        "truth": [True, False, None],
        "whole": [1, 2, None],
        "real": [0.5, None, 1.5],
    }
    X = pl.DataFrame(columns) if as_polars else pd.DataFrame(columns)
    if as_polars:
        X = X.with_columns(pl.col("text").cast(pl.Categorical).alias("category"))
    else:
        X["category"] = X["text"].astype("category")
        X["Int64"] = pd.array([1, None, 3], dtype="Int64")
        X["string"] = pd.array(["a", None, "b"], dtype="string")
    table = learn(X, encoding="native")
    numbers = ["whole", "whole missing", "real", "real missing"]
    extra = [] if as_polars else ["Int64", "Int64 missing"]
    assert table.open_names == numbers + extra
    known = {f.name: f.value_names for f in table.features}
    assert known["text"] == known["category"] == ["a", "b", "missing"]
    assert known["truth"] == ["False", "True", "missing"]
    filled = table.transform(X)[:, : len(numbers)]
    assert filled.tolist() == [[1, 0, 0.5, 0], [2, 0, 1.0, 1], [1.5, 1, 1.5, 0]]


def test_numeric_codes_are_numbers_unless_asked():
    X = np.array([[1, 2.5], [2, 3.5], [1, 0.5]])
    assert learn(X).open_names == ["x[0]", "x[1]"]
    for asked in ([0], [True, False], np.array([-2])):
        table = learn(X, asked, encoding="native")
        assert table.open_names == ["x[1]"]
        assert table.value_names == ["1", "2"]
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert learn(frame, ["a"], encoding="native").open_names == ["b"]


def test_lists_keep_text_and_numbers_apart():
    rows = [[1.0, "a"], [2.0, "b"], [3.0, "a"], [4.0, "b"]]
    clf = OptimalTreeClassifier(**QUICK).fit(rows, [0, 1, 0, 1])
    assert clf.table_.open_names == ["x[0]", "x[1]=b"]
    assert clf.predict([[9.0, "b"]]) == [1]


def test_rare_values_are_pooled():
    values = [f"v{k}" for k in range(1000)]
    X = pd.DataFrame({"many": values * 2 + ["v7", "v3"] * 50})
    table = learn(X)
    (column,) = table.features
    assert {"v3", "v7"} <= set(column.values)
    assert len(column.value_names) == 32
    assert len(column.values) + len(column.rare) == 1000
    assert not column.as_indicators
    Z = table.transform(X)
    assert Z.shape == (2100, 32)
    assert (Z.sum(axis=1) == 1).all()
    unseen = table.transform(pd.DataFrame({"many": ["never"]}))
    assert not unseen.any()


def test_median_counts_weights_as_copies():
    X = np.array([[1.0], [np.nan], [5.0], [2.0], [9.0]])
    weight = np.array([2.0, 1.0, 3.0, 1.0, 0.0])
    (weighted,) = learn(X, weight=weight).columns
    (repeated,) = learn(np.repeat(X, weight.astype(int), axis=0)).columns
    assert weighted == repeated
    assert weighted.fill == np.median([1, 1, 5, 5, 5, 2])


# ------------------------------------------------------------------- fit and predict


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_categories_are_learnt(encoding, tmp_path):
    X, y = shop()
    clf = OptimalTreeClassifier(categorical_encoding=encoding, **QUICK).fit(X, y)
    assert clf.score(X, y) == 1.0
    assert clf.certificate_.errors == 0
    shown = export_text(clf)
    assert re.search(r"colour ?!?= ?red", shown)
    assert "x[" not in shown
    assert verify(clf.certificate_, clf.tree_, X, y, table=clf.table_).ok
    save_json(clf, tmp_path / "model.json")
    again = load_json(tmp_path / "model.json")
    assert export_text(again) == shown
    new, _ = shop(50, seed=1)
    new.loc[3, "colour"] = "violet"
    assert np.array_equal(again.predict_proba(new), clf.predict_proba(new))
    assert np.array_equal(clf.predict(pl.from_pandas(new)), clf.predict(new))


def test_unseen_value_goes_with_the_majority():
    X = pd.DataFrame({"c": ["a"] * 5 + ["b"] * 3})
    y = np.array([0] * 5 + [1] * 3)
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y)
    assert clf.predict(pd.DataFrame({"c": ["z", "a", "b"]})).tolist() == [0, 0, 1]
    weight = np.where(y == 1, 9.0, 1.0)
    clf.fit(X, y, weight)
    assert clf.predict(pd.DataFrame({"c": ["z", "a", "b"]})).tolist() == [1, 0, 1]
    strict = OptimalTreeClassifier(max_depth=1, unknown="error", **QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"'c' holds 'z' in row 2 \(.*met a, b"):
        strict.predict(pd.DataFrame({"c": ["a", "z"]}))


def test_rows_of_weight_zero_teach_and_hinder_nothing():
    rows = pd.DataFrame(
        {"c": ["a", "b", "a", "b", "z", None], "x": [1.0, 2, 3, 4, 5, None]}
    )
    weight = np.array([1, 1, 1, 1, 0, 0])
    clf = OptimalTreeClassifier(unknown="error", missing="error", **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.fit(rows, [0, 1, 0, 1, 0, 1], weight)
    assert clf.certificate_.n_rows == 4
    with pytest.raises(ValueError, match="'z' in row 5"):
        clf.predict(rows.drop(index=5))


def test_an_unseen_value_has_no_indicator():
    rows = pd.DataFrame({"c": ["a"] * 3 + ["b"] * 5 + ["c"] * 4})
    clf = OptimalTreeClassifier(categorical_encoding="onehot", **QUICK)
    clf.fit(rows, [0] * 3 + [1] * 9)
    assert clf.table_.transform(pd.DataFrame({"c": ["z"]})).tolist() == [[0.0] * 3]


def test_text_of_subset_splits():
    X = pd.DataFrame({"c": ["a", "b", "c", "d"] * 6})
    y = X["c"].isin(["a", "b", "d"]).astype(int)
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y)
    assert export_text(clf).splitlines()[0] in (
        "c = c (node 0, 24 rows)",
        "c != c (node 0, 24 rows)",
    )
    assert clf.objective_ == 0  # a subset split has neither norm nor slack


def test_missing_numbers_may_tell_the_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    X[::2, 0] = np.nan
    y = np.arange(60) % 2
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y)
    assert clf.score(X, y) == 1.0
    assert re.search(r"x\[0\] (missing|is)", export_text(clf))


def test_missing_category_is_a_value():
    X = pd.DataFrame({"c": [None, "a"] * 20})
    y = np.arange(40) % 2
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y)
    assert clf.predict(pd.DataFrame({"c": [None, "a"]})).tolist() == [0, 1]


def test_missing_only_at_predict_is_filled_with_one_warning():
    X, y = shop()
    clf = OptimalTreeClassifier(**QUICK).fit(X, y)
    new = X.copy()
    new.loc[:4, "size"] = np.nan
    with pytest.warns(UserWarning, match=r"'size' has 5 missing.*filled") as caught:
        found = clf.predict(new)
    assert len(caught) == 1
    new["size"] = new["size"].fillna(X["size"].median())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(found, clf.predict(new))


def test_missing_may_be_refused():
    X, y = shop()
    strict = OptimalTreeClassifier(missing="error", **QUICK).fit(X, y)
    for column in ("size", "colour"):
        gap = X.astype({"size": object})
        gap.loc[2, column] = None
        with pytest.raises(ValueError, match=f"{column!r} has 1 missing.*row 3"):
            strict.predict(gap)
        with pytest.raises(ValueError, match=f"{column!r} has 1 missing.*row 3"):
            OptimalTreeClassifier(missing="error", **QUICK).fit(gap, y)


def test_weights_equal_copies():
    X, y = shop(60)
    X = X.astype({"size": object})
    X.loc[5:9, "size"] = None
    times = np.random.default_rng(1).integers(0, 3, len(y))
    twice = X.loc[np.repeat(X.index, times)], np.repeat(y, times)
    options = {**QUICK, "class_weight": "balanced"}
    weighted = OptimalTreeClassifier(**options).fit(X, y, times)
    repeated = OptimalTreeClassifier(**options).fit(*twice)
    assert weighted.table_ == repeated.table_
    assert np.array_equal(weighted.tree_.coef, repeated.tree_.coef)
    assert weighted.objective_ == repeated.objective_


# -------------------------------------------------------------------------- bad input


def refused(X, y=None, match="", **options):
    y = np.arange(len(X)) % 2 if y is None else y
    with pytest.raises(ValueError, match=match):
        OptimalTreeClassifier(**QUICK, **options).fit(X, y)


def test_bad_columns():
    refused(pd.DataFrame({"a": [1, "x", 2]}), match=r"'a' mixes types: numbers \(1")
    refused(pd.DataFrame({"a": [None] * 3}), match="Every column of X is missing")
    refused(pd.DataFrame({"a": [1.0, np.inf, 2]}), match="infinity")
    dates = pd.to_datetime(["2020-01-01"] * 3)
    refused(pd.DataFrame({"a": dates}), match="'a' is of type datetime64")
    numbers = pd.DataFrame({"a": [1, 2, 3]})
    refused(numbers, categorical_features=["b"], match="'b', which is no column")
    refused(numbers, categorical_features=[True] * 2, match="mask of 2 entries")
    text = pd.DataFrame({"a": ["x", "y", "x"]})
    refused(text, categorical_features=None, match="'a' does not hold numbers")


def test_odd_columns_are_told():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=30), "b": [None] * 30})
    y = (X["a"] > 0).astype(int)
    with pytest.warns(UserWarning, match="Dropped, as every value is missing: 'b'"):
        clf = OptimalTreeClassifier(**QUICK).fit(X, y)
    assert clf.score(X, y) == 1.0
    X["b"] = [f"id{k}" for k in range(30)]
    with pytest.warns(UserWarning, match="'b' has 30 different values.*like an id"):
        OptimalTreeClassifier(**QUICK).fit(X, y)


def test_other_frames_at_predict_are_refused():
    X, y = shop()
    clf = OptimalTreeClassifier(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(X.rename(columns={"size": "length"}))
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(X[["colour", "size"]])
    with pytest.raises(ValueError, match=r"'colour' held text .* holds 1\.0 in row 1 "):
        clf.predict(X.assign(colour=1.0))
    with pytest.raises(ValueError, match="'size' held numbers in training"):
        clf.predict(X.assign(size="large"))
