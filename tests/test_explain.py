"""Explanations: contributions, words, and the nearest change, held against counting."""

import copy
import json
import operator
import re
import warnings
from dataclasses import replace
from functools import cache
from itertools import product
from math import fsum

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from _cli import refused, run
from _models import (
    HOSTILE,
    array_model,
    corner_rows,
    grid_frame,
    grid_model,
    grid_rows,
    iris_model,
    mixed_frame,
    mixed_model,
    strict,
    with_tree,
)
from _points_models import NAMES, points_model
from miptree import ObliqueTree, explain, export_text, save_json
from miptree.baselines import GreedySVMTreeClassifier
from miptree.data import CategoricalColumn, NumericalColumn, Table
from miptree.data.schema import Schema
from miptree.explain.cell_values import points_of
from miptree.explain.limits import Limits
from miptree.export._conditions import Card
from miptree.export._describe import readable
from miptree.export._rules import rules_of
from miptree.export.cards import steps_of
from miptree.tree import HeapTree

COMPARED = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


def frame_of(rows, columns):
    return pd.DataFrame(rows, columns=columns)


def hand_made(columns, coef, threshold, labels, classes=("bad", "good")):
    """A classifier with such splits in heap order."""
    clf = copy.copy(iris_model())
    names = np.array([column.name for column in columns], dtype=object)
    heap = HeapTree(np.array(coef, float), np.array(threshold, float), np.array(labels))
    tree = ObliqueTree.from_heap(heap)
    clf.adopt(Schema(Table(tuple(columns)), np.array(classes), names), clf.fitted_)
    return with_tree(clf, tree, np.random.default_rng(0), has_blur=False)


def changed(frame, found):
    """The row of a frame with the changes of an explanation."""
    row = frame.iloc[[found.row]].astype(object)
    for part in found.change.changes:
        row[part.feature] = row[part.feature].astype(object)
        row.iloc[0, list(row.columns).index(part.feature)] = part.after
    return row


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
    rules = readable(rules_of(clf))
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


# --------------------------------------------------------------------- nearest changes

WHOLE = tuple(NumericalColumn(name, 0.0, False) for name in "abc")


@cache
def whole_grid():
    return pd.DataFrame(list(product(range(6), repeat=3)), columns=list("abc"))


ON_THE_SPLIT = [(305, 1), (311, 6), (312, 6), (313, 1), (318, 2)]
"""Cases whose nearest change ends where rounding decides on the side of a split."""


@pytest.mark.parametrize(
    ("seed", "digits"), [*product(range(6), [0, 6]), *ON_THE_SPLIT]
)
def test_no_cheaper_change_of_whole_numbers_flips(seed, digits):
    """All points of a grid are tried; coefficients of few digits make ties."""
    rng = np.random.default_rng(seed)
    grid = whole_grid()
    coef = (3 * rng.normal(size=(3, 3))).round(digits)
    threshold = (coef @ [2.0, 3.0, 2.0]).round(digits)
    clf = hand_made(WHOLE, coef, threshold, [0, 1, 1, 0])
    label = clf.predict(grid)
    rows = grid.sample(8, random_state=seed)
    fixed = [[], ["b"]][seed % 2]
    found = explain(clf, rows, background=grid, fixed=fixed)
    for item, (_, row) in zip(found, rows.iterrows(), strict=True):
        allowed = (grid[fixed] == row[fixed]).all(axis=1).to_numpy()
        cost = np.abs(grid - row).sum(axis=1).to_numpy() / 5
        flips = allowed & (label != item.label)
        if not flips.any():
            assert item.change is None
            continue
        assert item.change is not None
        assert item.change.is_nearest
        assert item.change.cost == pytest.approx(cost[flips].min())


def test_ends_on_a_split_are_tried_below_one_of_a_number_of_many_steps():
    columns = (
        NumericalColumn("income", 5000.0, False, Limits(0.0, 9000.0, 2)),
        NumericalColumn("k", 3.0, False, Limits(0.0, 10.0, 0)),
        NumericalColumn("l", 3.0, False, Limits(0.0, 10.0, 0)),
    )
    coef = [[1, 0, 0], [0, 0.1, -0.3], [0, 0.1, 0.7]]
    clf = hand_made(columns, coef, [4000.0, 0.2, 2.4], [0, 1, 1, 0])
    grid = pd.DataFrame(list(product([2000.0, 6000.0], range(11), range(11))))
    grid = grid.set_axis(["income", "k", "l"], axis=1)
    label = clf.predict(grid)
    for item in explain(clf, grid, fixed=["income"]):
        same = (grid["income"] == grid["income"][item.row]).to_numpy()
        cost = np.abs(grid - grid.iloc[item.row]).sum(axis=1).to_numpy() / 10
        least = cost[same & (label != item.label)].min()
        assert item.change.cost == pytest.approx(least)
    for item in explain(clf, grid):
        flips = (label != item.label) & (grid["income"] == grid["income"][item.row])
        cost = np.abs(grid - grid.iloc[item.row]).sum(axis=1)[flips].min() / 10
        assert item.change.cost <= cost * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_no_cheaper_change_of_categories_gaps_and_numbers_flips(seed):
    rng = np.random.default_rng(seed)
    columns = (
        NumericalColumn("n", 2.0, True),
        CategoricalColumn("c", ("p", "q", "r", None), (), True, True),
        CategoricalColumn("d", ("u", "v"), (), True, False),
    )
    width = len(Table(columns).open_names) + len(Table(columns).value_names)
    coef = np.zeros((3, width))
    coef[:2, : width - 4] = rng.normal(size=(2, width - 4)).round(4)
    coef[2, width - 4 :] = rng.permutation([1, 1, 0, 0])
    clf = hand_made(columns, coef, [*rng.normal(size=2).round(4), 0.5], [0, 1, 1, 0])
    cells = product([None, 0, 1, 2, 3, 4], ["p", "q", "r", None], ["u", "v"])
    grid = pd.DataFrame(list(cells), columns=["n", "c", "d"]).astype({"n": float})
    label = clf.predict(grid)
    found = explain(clf, grid, background=grid)
    n_changes = 0
    for item in found:
        flips = label != item.label
        costs = [
            _mixed_cost(grid.iloc[item.row], grid.iloc[k])
            for k in np.flatnonzero(flips)
        ]
        least = min(costs, default=np.inf)
        if least == np.inf:
            assert item.change is None
            continue
        n_changes += 1
        assert item.change is not None
        assert item.change.cost == pytest.approx(least)
        assert clf.predict(changed(grid, item))[0] == item.change.label
    assert n_changes > 5


def _mixed_cost(row, other):
    cost = 0.0
    for name in ("c", "d"):
        old, new = row[name], other[name]
        if not (old == new or (pd.isna(old) and pd.isna(new))):
            cost += np.inf if pd.isna(new) else 1.0
    old, new = row["n"], other["n"]
    if pd.isna(old) and not pd.isna(new):
        cost += 1 + abs(new - 2.0) / 4
    elif not pd.isna(old):
        cost += np.inf if pd.isna(new) else abs(new - old) / 4
    return cost


@pytest.mark.parametrize("seed", range(3))
def test_no_cheaper_change_of_a_points_tree_flips(seed):
    """Whole ages and rooms, and categories: every combination is tried."""
    rng = np.random.default_rng(seed)
    splits = [
        ({"age": 1, "housing=rent": int(rng.integers(1, 5)), "sex=male": -2}, 5),
        ({"smoker": 3, "housing=own": 2, "age": -1}, int(rng.integers(-6, 0))),
        ({"sex=male": 1, "smoker": 1, "age": 1}, 4),
    ]
    clf = points_model(*splits, labels=[0, 1, 1, 0])
    ages = np.arange(20, 71)
    cells = product(ages, [0, 1], ["free", "own", "rent"], ["female", "male"])
    few = pd.DataFrame(list(cells), columns=["age", "smoker", "housing", "sex"])
    grid = few.reindex(columns=NAMES).astype({"od280": float, "income": float})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        label = clf.predict(grid)
        rows = grid.sample(12, random_state=seed)
        found = explain(clf, rows, background=grid)
    for item in found:
        row = rows.iloc[item.row]
        cost = np.abs(few["age"] - row["age"]).to_numpy() / 50
        for name in ("smoker", "housing", "sex"):
            cost = cost + (few[name] != row[name]).to_numpy()
        flips = label != item.label
        assert item.change.cost == pytest.approx(cost[flips].min())


@pytest.mark.parametrize("seed", [0, 1, 163])  # 163 had a solver fail
def test_two_features_on_a_fine_grid(seed):
    """Numbers of two digits: nothing on the grid of their digits is cheaper."""
    rng = np.random.default_rng(seed)
    columns = (NumericalColumn("u", 0.0, False), NumericalColumn("v", 0.0, False))
    coef = rng.normal(size=(3, 2))
    clf = hand_made(columns, coef, coef @ [0.5, 0.5], [0, 1, 1, 0])
    axis = np.arange(0, 101) / 100
    grid = pd.DataFrame(list(product(axis, axis)), columns=["u", "v"])
    label = clf.predict(grid)
    rows = grid.sample(30, random_state=seed)
    for item in explain(clf, rows, background=grid):
        cost = np.abs(grid - rows.iloc[item.row]).sum(axis=1).to_numpy()
        assert item.change.cost == pytest.approx(cost[label != item.label].min())


@pytest.mark.parametrize(
    ("clf", "frame", "fixed"),
    [
        (iris_model, lambda: load_iris(as_frame=True).data, ["petal width (cm)"]),
        (mixed_model, mixed_frame, ["town"]),
        (grid_model, grid_frame, ["size", HOSTILE]),
    ],
)
def test_every_change_flips_keeps_fixed_columns_and_ranges(clf, frame, fixed):
    clf, frame = clf(), frame()
    rows = frame.iloc[:40]
    n_changes = 0
    for item in explain(clf, rows, background=frame, fixed=fixed):
        if item.change is None:
            assert item.no_change
            continue
        n_changes += 1
        assert clf.predict(changed(rows, item))[0] == item.change.label != item.label
        assert clf.apply(changed(rows, item))[0] == item.change.leaf
        for part in item.change.changes:
            assert part.feature not in fixed
            assert part.after is not None
            column = frame[part.feature]
            if pd.api.types.is_float_dtype(column):
                assert column.min() <= part.after <= column.max()
            elif not pd.api.types.is_integer_dtype(column):
                assert part.after in column.tolist()
    assert n_changes > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_changes_of_a_thousand_rows_flip(seed):
    """Rows next to splits, on cut points, far outside the ranges, with odd values."""
    mixed, grid = mixed_model(seed), grid_model(seed)
    mixed_rows = corner_rows(mixed, 700).sample(700, random_state=seed)
    cases = [
        (mixed, mixed_rows.reset_index(drop=True), mixed_frame()),
        (grid, grid_rows(grid.table_, 300, seed), grid_frame()),
    ]
    for clf, rows, background in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gaps where training had none
            found = explain(clf, rows, background=background)
            changes = [item for item in found if item.change is not None]
            after = pd.concat([changed(rows, item) for item in changes])
            predicted, leaves = clf.predict(after), clf.apply(after)
        assert len(changes) > len(rows) / 2
        for item, label, leaf in zip(changes, predicted, leaves, strict=True):
            assert (item.change.label, item.change.leaf) == (label, leaf)
            assert label != item.label


def test_a_target_is_reached_or_its_absence_told():
    iris = load_iris(as_frame=True)
    clf, rows = iris_model(), iris.data.iloc[[0, 60, 140]]
    for target in clf.classes_:
        found = explain(clf, rows, background=iris.data, target=target)
        for item in found:
            if item.label == target:
                assert item.no_change == f"It has class {target} already."
            else:
                assert item.change.label == target


def test_columns_of_other_weights():
    clf = hand_made(WHOLE, [[1, 1, 0]], [5.5], [0, 1])
    row = frame_of([[1, 1, 1]], list("abc"))
    cheap = explain(clf, row, background=whole_grid(), weights={"a": 3})[0].change
    assert {part.feature: part.after for part in cheap.changes} == {"b": 5}
    assert cheap.cost == pytest.approx(4 / 5)


def test_a_number_has_the_digits_of_its_column():
    columns = (NumericalColumn("u", 0.0, False),)
    clf = hand_made(columns, [[1.0]], [1 / 3], [0, 1])
    for digits in range(7):  # from 5 on, numbers move freely and are rounded
        axis = frame_of([[0.0], [10.0**-digits], [1.0]], ["u"])
        up = explain(clf, frame_of([[0.0]], ["u"]), background=axis)[0].change
        down = explain(clf, frame_of([[1.0]], ["u"]), background=axis)[0].change
        step = 10.0**-digits
        assert up.changes[0].after == round(np.ceil(1 / 3 / step) * step, digits)
        assert down.changes[0].after == round(np.floor(1 / 3 / step) * step, digits)


def test_a_row_on_a_split_that_rounding_sends_right():
    """0.1 + 0.2 is above 0.3, so (1, 1) does not go left though arithmetic says so."""
    clf = hand_made(WHOLE, [[0.1, 0.2, 0]], [0.3], [0, 1])
    grid = whole_grid()
    rows = frame_of([[1, 2, 0], [1, 1, 0], [5, 1, 0]], list("abc"))
    label = clf.predict(grid)
    assert clf.predict(rows).tolist() == ["good"] * 3
    for item in explain(clf, rows, background=grid):
        cost = np.abs(grid - rows.iloc[item.row]).sum(axis=1).to_numpy() / 5
        assert item.change.cost == pytest.approx(cost[label == "bad"].min())


def test_nothing_becomes_missing():
    columns = (
        NumericalColumn("n", 2.0, True),
        CategoricalColumn("c", ("p", "q", None), (), True, False),
    )
    clf = hand_made(columns, [[0, 1, 0, 0, 1]], [0.5], [0, 1])  # is something missing?
    rows = pd.DataFrame({"n": [1.0, np.nan, np.nan], "c": ["p", "p", None]})
    one, two, three = explain(
        clf, rows, background=pd.DataFrame({"n": [0.0, 4.0], "c": ["p", "q"]})
    )
    assert one.label == "bad"
    assert one.no_change.startswith("No change of the allowed features")
    assert [(part.feature, part.after) for part in two.change.changes] == [("n", 2.0)]
    assert two.change.cost == 1.0  # filled in with the number that stood for it
    assert {part.feature for part in three.change.changes} == {"n", "c"}
    assert three.change.cost == 2.0


def test_a_missing_number_is_filled_in_with_the_digits_of_its_column():
    whole = NumericalColumn("n", 2.5, False, Limits(0.0, 10.0, 0))  # a median of 2.5
    clf = hand_made((whole,), [[1.0]], [3.2], [0, 1])
    with pytest.warns(UserWarning, match="1 missing value"):
        (found,) = explain(clf, pd.DataFrame({"n": [np.nan]}))
    assert [(part.before, part.after) for part in found.change.changes] == [(None, 4.0)]
    assert found.change.cost == pytest.approx(1.2)


def test_a_split_that_reads_all_values_alike_is_passed():
    columns = (
        NumericalColumn("n", 2.0, False, Limits(0.0, 4.0, 0)),
        CategoricalColumn("c", ("p", "q", None), (), True, False),
    )
    is_low, is_known = [1, 0, 0, 0], [0, 1, 1, 0]
    coef = [is_low, is_known, is_known]
    clf = hand_made(columns, coef, [1.5, 0.5, 0.5], [0, 1, 0, 0])
    (found,) = explain(clf, pd.DataFrame({"n": [3.0], "c": ["p"]}))
    assert [(part.feature, part.after) for part in found.change.changes] == [("n", 1.0)]


def test_a_row_outside_the_ranges_comes_back_into_them():
    clf = hand_made(WHOLE, [[1, 1, 0]], [8.5], [0, 1])
    row = frame_of([[9, 2, 0]], list("abc"))
    (found,) = explain(clf, row, background=whole_grid())
    assert clf.predict(changed(row, found))[0] == "bad"
    assert all(0 <= part.after <= 5 for part in found.change.changes)
    assert found.change.cost == pytest.approx(4 / 5)  # 8 would be enough


def test_without_a_range_nothing_is_changed_and_that_is_said():
    clf = hand_made(WHOLE, [[1, 1, 0]], [5.5], [0, 1])
    (found,) = explain(clf, frame_of([[1, 1, 1]], list("abc")))
    assert found.change is None
    assert "show no range of them: a, b." in found.no_change
    assert "another class" in str(found)


def test_a_tree_of_one_class_and_a_single_leaf():
    clf = hand_made(WHOLE, [[1, 1, 0]], [5.5], [0, 0])
    (found,) = explain(clf, frame_of([[1, 1, 1]], list("abc")), background=whole_grid())
    assert found.no_change == "No leaf of the tree has another class."
    single = with_tree(clf, _leaf(3), _rng())
    (found,) = explain(single, frame_of([[1, 1, 1]], list("abc")))
    assert found.reason == "Class bad, as every row."
    assert "Every row has this class." in str(found)


def _rng():
    return np.random.default_rng(0)


def _leaf(n_features):
    return ObliqueTree(
        np.array([-1]),
        np.array([-1]),
        np.zeros((1, n_features)),
        np.zeros(1),
        np.zeros(1, dtype=int),
    )


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


# ------------------------------------------------------------------------ command line


@pytest.fixture
def files(tmp_path):
    """A points model with the table of its columns, and an oblique one."""
    iris = load_iris(as_frame=True)
    save_json(iris_model(), tmp_path / "iris.json")
    iris.data.to_csv(tmp_path / "iris.csv", index=False)
    iris.data.iloc[[0, 60, 140]].to_csv(tmp_path / "few.csv", index=False)
    return tmp_path


def test_the_command_says_what_the_function_says(files):
    iris = load_iris(as_frame=True)
    shown = run(
        *("explain", files / "iris.json", files / "few.csv", "--row", 3, "--row", 1),
        *("--background", files / "iris.csv", "--fixed", "petal width (cm)"),
    )
    expected = explain(
        iris_model(),
        iris.data.iloc[[0, 60, 140]],
        rows=[2, 0],
        background=iris.data,
        fixed=["petal width (cm)"],
    )
    assert shown.exit_code == 0
    assert shown.stdout == f"{expected}\n"


def test_the_command_shows_ten_rows_unless_asked(files):
    shown = run("explain", files / "iris.json", files / "iris.csv").stdout
    assert shown.count("Row ") == 10
    assert "140 more rows are not shown" in shown


def test_the_command_writes_tables_and_json(files):
    table, plain = files / "reasons.csv", files / "reasons.json"
    start = ("explain", files / "iris.json", files / "few.csv", "--target", "virginica")
    more = ("--background", files / "iris.csv", "--out")
    assert run(*start, *more, table).stdout == f"3 rows in {table}.\n"
    assert run(*start, *more, plain).exit_code == 0
    found = pd.read_csv(table)
    assert found["row"].tolist() == [1, 2, 3]
    assert found["change_to"].tolist()[:2] == ["virginica", "virginica"]
    rows = json.loads(plain.read_text())["rows"]
    assert [row["row"] for row in rows] == [1, 2, 3]
    assert [row["leaf"] for row in rows] == found["leaf"].tolist()
    assert [row["reason"] for row in rows] == found["reason"].tolist()
    assert "exists" in refused(*start, *more, plain)


def test_the_command_refuses_what_it_cannot_do(files):
    start = ("explain", files / "iris.json", files / "few.csv")
    assert "--row 4 is not there" in refused(*start, "--row", 4)
    message = refused(*start, "--target", "rose")
    assert "--target rose is no class of the model; the classes are setosa," in message
    assert "There is no column 'age'" in refused(*start, "--fixed", "age")
    assert "ends in .csv" in refused(*start, "--out", files / "reasons.pdf")
    (files / "other.csv").write_text("a,b\n1,2\n")
    other = refused(*start, "--background", files / "other.csv")
    assert "There is no column 'sepal width (cm)'" in other


def test_predictions_with_leaf_and_reason(files):
    iris = load_iris(as_frame=True)
    clf, out = iris_model(), files / "out.csv"
    run("predict", files / "iris.json", files / "iris.csv", "--explain", "--out", out)
    found = pd.read_csv(out)
    assert found["leaf"].tolist() == clf.apply(iris.data).tolist()
    expected = [item.reason for item in explain(clf, iris.data, changes=False)]
    assert found["reason"].tolist() == expected
    assert found["reason"].str.contains(" because ").all()


def test_zeros_at_the_end_are_digits_of_many_numbers():
    columns = (NumericalColumn("u", 0.0, False),)
    clf = hand_made(columns, [[1.0]], [333.0], [0, 1])
    row = frame_of([[0.0]], ["u"])
    tens = frame_of([[10.0 * k] for k in range(100)], ["u"])
    assert explain(clf, row, background=tens)[0].change.changes[0].after == 340
    few = frame_of([[0.0], [500.0], [1000.0]], ["u"])
    assert explain(clf, row, background=few)[0].change.changes[0].after == 334
    odd = explain(clf, frame_of([[5.0]], ["u"]), background=tens)[0]
    assert odd.change.changes[0].after == 334
