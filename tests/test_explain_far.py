"""Explanations of odd rows: far outside the ranges, or with several ways to change."""

import copy
import json
import re
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

from _cli import run
from _models import iris_model, with_tree
from _points_models import NAMES, points_model
from miptree import ObliqueTree, explain, save_json
from miptree.data import CategoricalColumn, NumericalColumn, Table
from miptree.data.limits import Limits
from miptree.data.schema import Schema
from miptree.tree import HeapTree

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")

FAR = [150.0, 1e3, 9_999_999.0, 999_999_999.0, 1e18, 1e100, 1e308, 1.7e308]


def number(name, limits, fill=0.0):
    return NumericalColumn(name, fill, False, limits)


XZ = number("x", Limits(0.0, 98.0, 0)), number("z", Limits(0.0, 9.9, 1))


def model(columns, coef, threshold, labels):
    """A classifier with such splits in heap order."""
    clf = copy.copy(iris_model())
    names = np.array([column.name for column in columns], dtype=object)
    heap = HeapTree(np.array(coef, float), np.array(threshold, float), np.array(labels))
    schema = Schema(Table(tuple(columns)), np.array(["bad", "good"]), names)
    clf.adopt(schema, clf.fitted_)
    tree = ObliqueTree.from_heap(heap)
    return with_tree(clf, tree, np.random.default_rng(0), has_blur=False)


def least_cost(clf, row, axes, label):
    """The documented cost of the nearest change; each cell stays or is of its axis."""
    costs, cells = [], []
    choices = ([cell, *axes[name]] for cell, name in zip(row, axes, strict=True))
    for choice in product(*choices):
        pairs = zip(row, choice, axes.values(), strict=True)
        costs.append(sum(abs(b - a) / (ax[-1] - ax[0]) for a, b, ax in pairs))
        cells.append(choice)
    flips = clf.predict(pd.DataFrame(cells, columns=list(axes))) != label
    return min(np.array(costs)[flips], default=None)


def held_against_counting(clf, rows, axes):
    for row in rows:
        (found,) = explain(clf, pd.DataFrame([row], columns=list(axes)))
        least = least_cost(clf, row, axes, found.label)
        if least is None:
            assert found.change is None
            assert "within their ranges leads to another" in found.no_change
            continue
        assert found.change is not None, row
        assert found.change.is_nearest
        assert found.change.cost == pytest.approx(least)


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize(
    ("coef", "threshold", "labels"),
    [
        ([[0.095, 1.0]], [8.8], [0, 1]),
        ([[-0.5, 2.0], [1, 0], [1, 1]], [3.0, 40.0, 60.5], [0, 1, 1, 0]),
        ([[1.0, -10.0]], [120.0], [0, 1]),
    ],
)
def test_no_cheaper_change_of_numbers_far_outside_flips(coef, threshold, labels, far):
    clf = model(XZ, coef, threshold, labels)
    axes = {"x": np.arange(99.0), "z": np.arange(100) / 10}
    rows = [(far, far), (far, 5.0), (5.0, far), (-far, far), (far, -far), (90.0, -far)]
    held_against_counting(clf, rows, axes)


@pytest.mark.parametrize("far", [1000.0, 999_999_999.0, 1e300])
def test_no_cheaper_change_of_a_points_tree_flips_from_far(far):
    clf = points_model(({"age": 1, "smoker": -2}, 5), labels=[0, 1])
    ages = [1e9, *range(20, 71)]
    grid = pd.DataFrame(index=range(51), columns=NAMES).astype(object)
    grid["age"], grid["smoker"] = np.arange(20, 71), np.arange(51) % 2
    rows = grid.iloc[:2].assign(age=[far, -far], smoker=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = explain(clf, rows, background=grid)
        for item, age, smoker in zip(found, [far, -far], [0, 1], strict=True):
            choices = list(product([age, *ages[1:]], [0, 1]))
            tried = rows.iloc[[0] * len(choices)].reset_index(drop=True)
            tried[["age", "smoker"]] = choices
            flips = clf.predict(tried) != item.label
            cost = [abs(a - age) / 50 + (s != smoker) for a, s in choices]
            assert item.change.cost == pytest.approx(np.array(cost)[flips].min())


def test_of_many_far_numbers_all_may_come_back():
    """More than all choices of which are tried: what is found is not surely nearest."""
    columns = [number(f"n{k}", Limits(0.0, 9.0, 0)) for k in range(8)]
    clf = model(columns, [[1.0] * 8], [20.5], [0, 1])
    row = pd.DataFrame([[9999.0] * 8], columns=[c.name for c in columns])
    (found,) = explain(clf, row)
    assert found.change.label == "bad"
    assert not found.change.is_nearest
    assert sum(part.after for part in found.change.changes) == 20


def test_all_leaves_of_values_that_do_as_well_are_named():
    """Of p, q and r, which are good, p ends at another leaf than the others."""
    column = CategoricalColumn("c", tuple("pqrs"), (), True, True)
    coef = np.zeros((3, 8))
    coef[0, 7] = coef[2, 7] = 1.0  # c is s
    coef[1, 4] = 1.0  # c is p
    clf = model([column], coef, [0.5, 0.5, 0.5], [1, 1, 0, 0])
    (found,) = explain(clf, pd.DataFrame({"c": ["s"]}))
    (part,) = found.change.changes
    values = [part.after, *part.others]
    assert sorted(values) == ["p", "q", "r"]
    leaves = clf.apply(pd.DataFrame({"c": values})).tolist()
    assert [found.change.leaf, *part.other_leaves] == leaves
    low, high = sorted(set(leaves))
    assert f"(leaves {low} and {high}, cost 1)" in str(found)


def test_sums_that_are_infinite_are_valid_json(tmp_path):
    clf = model(XZ, [[1.0, 1.0]], [60.0], [0, 1])
    rows, out = pd.DataFrame({"x": [1.7e308], "z": [1.7e308]}), tmp_path / "out.json"
    save_json(clf, tmp_path / "model.json")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    run("explain", tmp_path / "model.json", tmp_path / "rows.csv", "--out", out)
    found = json.loads(out.read_text(), parse_constant=pytest.fail)
    (split,) = found["rows"][0]["splits"]
    assert split["score"] is split["distance"] is None
    assert split["threshold"] == 60.0


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ((3000.0, 2800.3), ["+3000", "-2800.3", "199.7"]),
        ((700000.0, 703226.0), ["+700000", "-703226", "-3226"]),
        ((1e9 + 0.25, 1e9), ["+1000000000.25", "-1000000000", "0.25"]),
    ],
)
def test_what_nearly_cancels_adds_up_to_the_sum_as_shown(cells, told):
    """Far from its limit a sum may have a smaller last digit than the limit."""
    columns = [number(name, Limits(0.0, 1e9, 2)) for name in ("income", "debt")]
    clf = model(columns, [[1.0, -1.0]], [264500.0], [0, 1])
    names = [column.name for column in columns]
    (found,) = explain(clf, pd.DataFrame([cells], columns=names), changes=False)
    amounts = re.findall(r"  ([-+][\d.]+)$", str(found), re.MULTILINE)
    (shown,) = re.findall(r"the sum is (-?[\d.]+), ", str(found))
    assert sorted([*amounts, shown]) == sorted(told)
    assert sum(map(float, amounts)) == pytest.approx(float(shown), abs=1e-6)
