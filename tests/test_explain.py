"""Explanations: contributions, words, and the kinds of rows they are about."""

import copy
import json
import operator
import re
import warnings
from dataclasses import replace
from math import fsum

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from _explained import WHOLE, changed, frame_of, hand_made, whole_grid
from _models import (
    array_model,
    grid_frame,
    grid_model,
    iris_model,
    mixed_frame,
    mixed_model,
    strict,
)
from _points_models import NAMES, points_model
from miptree import explain, export_text
from miptree.baselines import GreedySVMTreeClassifier
from miptree.data import CategoricalColumn, NumericalColumn
from miptree.explain.cell_values import points_of
from miptree.explain.limits import Limits
from miptree.export.cards import steps_of
from miptree.export.conditions import Card
from miptree.export.describe import readable
from miptree.export.readable import readable_tree

COMPARED = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


# ---------------------------------------------------------------------- contributions


@pytest.mark.parametrize(
    ("clf", "frame"),
    [
        (iris_model, lambda: load_iris(as_frame=True).data),
        (mixed_model, mixed_frame),
        (grid_model, grid_frame),
    ],
)
def test_contributions_add_up_to_the_score_which_leads_to_the_leaf(clf, frame):
    clf, frame = clf(), frame()
    found = explain(clf, frame, changes=False)
    leaves, proba = clf.apply(frame), clf.predict_proba(frame)
    for item, leaf, label in zip(found, leaves, clf.predict(frame), strict=True):
        assert (item.leaf, item.label) == (leaf, label)
        place = clf.classes_.tolist().index(label)
        assert item.probability == proba[item.row, place]
        nodes = [split.node for split in item.splits]
        assert [0, *(split.next_node for split in item.splits)] == [*nodes, leaf]
        for split in item.splits:
            total = fsum(part.amount for part in split.contributions)
            assert total == pytest.approx(split.score, abs=1e-9)
            distance = abs(split.score - split.threshold)
            assert split.distance == pytest.approx(distance, abs=1e-9)
            if split.kind == "sum":
                _, sign, _ = re.split(" (<=|>=|<|>) ", split.rule)
                assert COMPARED[sign](split.score, split.threshold)


def test_a_year_that_adds_much_and_moves_little_is_listed_last():
    columns = [
        NumericalColumn("opened", 2022.5, False),
        NumericalColumn("income", 2500.0, False),
        NumericalColumn("debt", 4000.0, False),
    ]
    clf = hand_made(columns, [[20.0, 1.0, -0.5]], [40000.0], [0, 1])
    names = [column.name for column in columns]
    rows = frame_of([[2022.8, 3000.0, 4400.0], [2022.8, 2500.0, 0.0]], names)
    orders = [["income", "debt", "opened"], ["debt", "opened", "income"]]
    for item, order in zip(explain(clf, rows, changes=False), orders, strict=True):
        (split,) = item.splits
        assert [part.feature for part in split.contributions] == order
        amounts = {part.feature: part.amount for part in split.contributions}
        assert fsum(amounts.values()) == pytest.approx(split.score)
        assert max(amounts, key=amounts.get) == "opened"


@pytest.mark.parametrize(
    ("year", "income", "limit"),
    [
        (2022.731507, 3442.36, "above 130050"),
        (2020.0, 0.0, "below 130050"),
        (2022.731507, 1500.0, "above the exact limit 130052.53"),
    ],
)
def test_what_is_added_adds_up_to_the_sum_as_shown(year, income, limit):
    columns = [NumericalColumn(name, 0.0, False) for name in ("opened", "income")]
    clf = hand_made(columns, [[63.5571, 1.0]], [130052.53], [0, 1])
    digits, spread = np.full((3, 2), 5), np.array([0.01, 1.0])
    clf.fitted_ = replace(clf.fitted_, digits=digits, spread=spread)
    rows = frame_of([[year, income]], ["opened", "income"])
    text = str(explain(clf, rows, changes=False))
    amounts = [float(a) for a in re.findall(r"  ([-+][\d.]+)$", text, re.MULTILINE)]
    (shown,) = re.findall(r"the sum is ([\d.]+), ", text)
    assert amounts
    assert fsum(amounts) == pytest.approx(float(shown), rel=5e-5)
    assert "<= 130050\n" in text.replace("> ", "<= ")
    assert f" {limit}:\n" in text


@pytest.mark.parametrize("cells", [(1.7e308, 1.7e308), (1.7e308, -1.7e308)])
@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered")
def test_numbers_whose_sum_is_infinite_are_explained(cells):
    columns = [NumericalColumn(name, 0.0, False) for name in ("a", "b")]
    clf = hand_made(columns, [[2.0, 2.0]], [1.0], [0, 1])
    clf.fitted_ = replace(clf.fitted_, spread=np.array([1.0, 1.0]))
    rows = frame_of([list(cells)], ["a", "b"])
    assert "a = 1.7e+308" in str(explain(clf, rows, changes=False))


def test_a_sum_of_nothing_has_no_sign():
    columns = [NumericalColumn(name, 0.0, False) for name in ("a", "b")]
    clf = hand_made(columns, [[-2.0, -2.0]], [1.0], [0, 1])
    clf.fitted_ = replace(clf.fitted_, spread=np.array([1.0, 1.0]))
    found = explain(clf, frame_of([[0.0, 0.0]], ["a", "b"]), changes=False)
    assert "the sum is 0, " in str(found)


def test_splits_lie_on_the_path_of_the_row():
    clf, frame = mixed_model(), mixed_frame()
    path = clf.decision_path(frame).toarray()
    for item in explain(clf, frame, changes=False):
        passed = {split.node for split in item.splits} | {item.leaf}
        assert passed == set(np.flatnonzero(path[item.row]))


def test_scores_are_those_of_the_tree():
    clf, frame = mixed_model(), mixed_frame()
    Z = clf.tree_inputs(frame)
    for item in explain(clf, frame, changes=False):
        for split in item.splits:
            coef, limit = clf.tree_.coef[split.node], clf.tree_.threshold[split.node]
            unit = limit / split.threshold  # in which its rule is written
            assert np.isclose(np.abs(coef), abs(unit)).any() or split.kind != "sum"
            assert unit * split.score == pytest.approx(Z[item.row] @ coef, abs=1e-9)
            is_left = clf.tree_.children_left[split.node] == split.next_node
            assert (unit * split.score <= limit) == is_left


def test_points_are_those_of_the_card():
    """Each feature is looked up on the card, and the sum tells the way."""
    clf = grid_model()
    frame = grid_frame(300, seed=3)
    rules = readable(readable_tree(clf))
    steps = steps_of(rules)
    n_cards = 0
    for item in explain(clf, frame, changes=False):
        row = frame.iloc[item.row]
        for split in item.splits:
            asks, step = steps[split.node].asks, steps[split.node]
            if not isinstance(asks, Card):
                assert split.kind == "question"
                continue
            n_cards += 1
            points = 0
            for part in asks.parts:
                cell = row[rules.name(part.atom.column)]
                points += points_of(part, None if pd.isna(cell) else cell)
            assert split.kind == "points"
            assert split.score == points
            goes_left = step.branch.left.node == split.next_node
            assert (points <= asks.most) == goes_left
            few, many = f"{asks.most} point", f"{asks.most + 1} point"
            assert split.rule.startswith(few if goes_left else many)
            assert split.rule.endswith(f"in STEP {step.number}")
    assert n_cards > 100


def test_a_card_in_words():
    clf = points_model(({"age": 1, "housing=rent": 2, "sex=male": 3}, 7))
    row = pd.DataFrame([[None] * len(NAMES)], columns=NAMES)
    row["age"], row["housing"], row["sex"] = 52.0, "rent", "female"
    row = row.astype({"age": float, "od280": float, "income": float})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (found,) = explain(clf, row, changes=False)
    text = str(found)
    assert "from 55 on" not in export_text(clf)  # levels that do not matter
    assert "6 or more  -> class good" in export_text(clf)
    assert "6 points or more in STEP 1" in text
    assert "here 6 points" in text
    assert "age = 52        4 points" in text
    assert "housing = rent  2 points" in text
    assert "sex = female    0 points" in text


# ------------------------------------------------------------------------ kinds of rows


def test_arrays_lists_and_polars_give_the_same_as_a_data_frame():
    polars = pytest.importorskip("polars")
    iris = load_iris(as_frame=True)
    clf = iris_model()
    rows = iris.data.iloc[[0, 60, 140]]
    expected = explain(clf, rows, background=iris.data).to_dict()
    other = explain(
        clf, polars.from_pandas(rows), background=polars.from_pandas(iris.data)
    )
    assert other.to_dict() == expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn misses the names
        plain = explain(clf, rows.to_numpy().tolist(), background=iris.data.to_numpy())
    assert plain.to_dict() == expected


def test_categories_gaps_and_truth_values_of_polars():
    polars = pytest.importorskip("polars")
    frame = mixed_frame().iloc[:12]
    cells = {name: _plain_cells(frame[name]) for name in frame.columns}
    other = explain(mixed_model(), polars.DataFrame(cells, strict=False))
    assert other.to_dict() == explain(mixed_model(), frame).to_dict()


def _plain_cells(column):
    return [None if pd.isna(cell) else cell for cell in column.tolist()]


def test_a_baseline_and_rules_of_few_digits():
    iris = load_iris(as_frame=True)
    clf = GreedySVMTreeClassifier(max_depth=1)
    clf.fit(iris.data, iris.target_names[iris.target])
    coarse = hand_made(WHOLE, [[1.0, 1.0, 0]], [4.44449], [0, 1])
    assert coarse.fitted_.digits[0, 1] == 4
    for found in explain(clf, iris.data, rows=[0, 60, 140]):
        assert clf.predict(changed(iris.data, found))[0] == found.change.label
    (found,) = explain(coarse, whole_grid(), background=whole_grid(), rows=[0])
    assert "a + b <= 4.444" in str(found)
    assert "the sum is 0, 4.44 below 4.444 (" in str(found)
    digits = np.full((3, 2), 1)
    coarse.fitted_ = replace(coarse.fitted_, digits=digits)
    (found,) = explain(coarse, whole_grid(), background=whole_grid(), rows=[0])
    assert "a + b <= 4\n" in str(found)
    assert "4.44 below the exact limit 4.444 (" in str(found)


def test_numbers_of_all_sizes_in_an_array():
    clf = array_model()
    X = np.random.default_rng(3).normal(size=(40, 3)) * [1e-9, 1.0, 1e12]
    found = explain(clf, X)
    for item in found:
        if item.change is not None:
            row = X[[item.row]].copy()
            for part in item.change.changes:
                row[0, int(part.feature[2:-1])] = part.after
            assert clf.predict(row)[0] == item.change.label
    assert sum(item.change is not None for item in found) > 20


def test_hostile_names_stay_on_their_lines():
    clf, frame = mixed_model(), mixed_frame()
    found = explain(clf, frame.iloc[:20], background=frame)
    for item in found:
        text = str(item)
        assert "\n--" not in text
        assert all(line.isprintable() for line in text.split("\n"))
    names = [
        part.feature
        for item in found
        for split in item.splits
        for part in split.contributions
    ]
    assert "size\n--" in names  # data have the name as it is
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["leaf"] == found[0].leaf


def test_a_table_of_all_rows():
    iris = load_iris(as_frame=True)
    table = explain(iris_model(), iris.data[::10], background=iris.data).to_frame()
    assert table["row"].tolist() == list(range(1, 16))
    assert (
        table["prediction"].tolist() == iris_model().predict(iris.data[::10]).tolist()
    )
    assert (table["change_to"] != table["prediction"]).all()
    assert table["reason"].str.startswith("Class ").all()


def test_what_is_wrong_is_said():
    iris = load_iris(as_frame=True)
    clf, rows = iris_model(), iris.data.iloc[:2]
    with pytest.raises(ValueError, match="fixed names 'age', which is no column"):
        explain(clf, rows, fixed=["age"])
    with pytest.raises(ValueError, match="target is 'rose', which is no class"):
        explain(clf, rows, target="rose")
    with pytest.raises(ValueError, match="finite number above 0"):
        explain(clf, rows, weights={"petal width (cm)": 0})
    with pytest.raises(ValueError, match="background rows cannot be read"):
        explain(clf, rows, background=iris.data.iloc[:, :2])
    with pytest.raises(TypeError, match="needs a fitted classifier"):
        explain(clf.tree_, rows)
    gap = mixed_frame().iloc[:30]
    with pytest.raises(ValueError, match="missing value"):
        explain(strict(mixed_model()), gap)


def test_one_fixed_column_may_be_named_alone():
    iris = load_iris(as_frame=True)
    rows = iris.data.iloc[:3]
    one = explain(iris_model(), rows, background=iris.data, fixed="petal width (cm)")
    two = explain(iris_model(), rows, background=iris.data, fixed=["petal width (cm)"])
    assert one.to_dict() == two.to_dict()


def test_limits_know_ranges_and_digits():
    limits = Limits(0.0, 10.0, 1)
    assert (limits.above(0.31), limits.below(0.3)) == (0.4, 0.2)
    assert replace(limits, low=0.25, high=9.99).inside() == Limits(0.3, 9.9, 1)
    assert limits.holding(0.125).places == 3
    assert limits.holding(1 / 3).places == 5


def test_other_values_of_a_category_do_as_well():
    columns = (
        CategoricalColumn("c", tuple("pqrstuvw"), (), True, True),
        CategoricalColumn("d", ("x", "y", "z", None), (), True, True),
    )
    coef = np.zeros((1, 24))
    coef[0, 12:15] = 1  # c is one of p, q, r
    clf = hand_made(columns, coef, [0.5], [0, 1])
    rows = frame_of([["s", "x"], ["q", "x"]], ["c", "d"])
    one, two = explain(clf, rows)
    assert [one.label, two.label] == ["bad", "good"]
    (part,) = one.change.changes
    assert {part.after, *part.others} == {"p", "q", "r"}
    (part,) = two.change.changes
    assert {part.after, *part.others} == {"s", "t", "u", "v", "w"}
    assert "to s or t or u or v or w (leaf" in str(two)
    coef[0, 12:18] = 1
    text = str(explain(hand_made(columns, coef, [0.5], [0, 1]), rows.replace("s", "w")))
    assert "to p or q or r or s or t or 1 more values" in text


def test_rows_are_named_by_their_places():
    iris = load_iris(as_frame=True)
    some = explain(iris_model(), iris.data, rows=[140, 0])
    every = explain(iris_model(), iris.data.iloc[[140, 0]], background=iris.data)
    assert [item.row for item in some] == [140, 0]
    assert [item.change for item in some] == [item.change for item in every]
    assert str(some).startswith("Row 141: class")
    with pytest.raises(ValueError, match="rows names place 150, but X has 150 rows"):
        explain(iris_model(), iris.data, rows=[150])


def test_no_change_is_reported_that_predict_does_not_confirm(monkeypatch):
    """If the search and predict ever disagreed, predict would have the last word."""
    iris = load_iris(as_frame=True)
    clf = copy.copy(iris_model())
    rows = iris.data.iloc[[0, 140]]
    label = clf.predict(rows).tolist()
    monkeypatch.setattr(clf, "predict", lambda X: np.array(label), raising=False)
    for item in explain(clf, rows, background=iris.data):
        assert item.change is None
        assert item.no_change.endswith("leads to another class by prediction.")
