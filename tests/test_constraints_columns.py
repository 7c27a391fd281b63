"""The columns that constraints are about: each is named once, in whatever way."""

import json

import numpy as np
import pandas as pd
import pytest

from _sealed import sealed
from miptree import OptimalTreeClassifier
from miptree.constraints import FixedSplit, Monotone, Signs
from miptree.export import load_json, save_json


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
    return X, np.where(X["a"] < 0.2, "yes", "no")


def classifier(rule):
    return OptimalTreeClassifier(
        constraints=[rule], max_depth=1, solver="search", max_iter=5, random_state=0
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: Monotone((("a", 1), ("a", -1)), "yes"),
        lambda: Monotone([("a", 1), ("b", 1), (np.str_("a"), 1)], "yes"),
        lambda: Signs([(0, 1), (np.int64(0), -1)], "yes"),
        lambda: FixedSplit(0, (("a", 1), ("a", -3)), 0.1),
        lambda: FixedSplit(0, (("a", 1), ("a", 0)), 0.1),
    ],
)
def test_a_column_that_is_listed_twice_is_refused(make):
    with pytest.raises(ValueError, match=r"names column .* twice"):
        make()


@pytest.mark.parametrize(
    "rule",
    [
        Monotone({"a": +1, 0: -1}, "yes"),
        Monotone({1: +1, -1: +1}, "yes"),
        Signs({"a": 1, 0: -1}, "yes"),
        FixedSplit(0, {"a": 1, 0: -3}, 0.1),
    ],
)
def test_a_column_by_name_and_by_position_is_named_twice(rule):
    with pytest.raises(ValueError, match=r"names column '[ab]' twice"):
        classifier(rule).fit(*table())


def test_two_rules_may_keep_a_column_out_of_both_directions():
    X, y = table()
    rules = [Monotone({"a": +1}, "yes"), Monotone({"a": -1}, "yes")]
    clf = classifier(None).set_params(constraints=rules).fit(X, y)
    assert len(np.unique(clf.predict(X.assign(b=0.0)))) == 1


def test_a_file_that_lists_a_column_twice_is_refused(tmp_path):
    path = tmp_path / "model.json"
    save_json(classifier(Monotone({"a": -1}, "yes")).fit(*table()), path)
    plain = json.loads(path.read_text())
    plain["constraints"][0]["directions"].append(["a", 1])
    path.write_text(sealed(plain))
    with pytest.raises(ValueError, match="names column 'a' twice"):
        load_json(path)
