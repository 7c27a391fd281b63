"""The form of the report page: typed numbers, reasons, and the change that flips."""

import copy
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from _models import (
    QUICK,
    gaps_frame,
    gaps_model,
    grid_frame,
    grid_model,
    iris_model,
    mixed_frame,
    mixed_model,
    with_tree,
)
from _pages import iris_page, mixed_page, one, opened, plain_rows, points_page
from miptree import ObliqueTree, OptimalTreeClassifier, explain
from miptree.export.names import printable
from miptree.export.readable import readable_tree
from miptree.report import report_html
from miptree.tree import HeapTree

pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")


def one_number():
    """A split that says where rows without an income go."""
    return gaps_model([0.001, -0.0005, 0, 0], 0.0528)


def gaps_page(clf):
    return report_html(clf, gaps_frame(), clf.predict(gaps_frame()))


def year_frame():
    """A date as a year, an income and a debt."""
    rng = np.random.default_rng(0)
    opened_in = (2021 + 4 * rng.random(80)).round(2)
    income, debt = rng.gamma(6, 450, 80).round(2), rng.gamma(2, 3000, 80).round()
    return pd.DataFrame({"opened": opened_in, "income": income, "debt": debt})


def year_model(digits=6):
    """A sum with a year in it, whose rule is shown with so many digits."""
    X = year_frame()
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, np.arange(len(X)) % 2)
    heap = HeapTree(
        np.array([[20.55, 1.0, -0.14]]), np.array([43456.3]), np.array([0, 1])
    )
    clf = with_tree(clf, ObliqueTree.from_heap(heap), np.random.default_rng(0))
    spread = np.array([0.01, 1.0, 1.0])  # so that rules are in units of the income
    shown = np.full((3, 2), digits)
    clf.fitted_ = replace(clf.fitted_, digits=shown, spread=spread)
    return clf


def year_page(clf):
    return report_html(clf, year_frame(), clf.predict(year_frame()))


PAGES = {
    "iris": (iris_model, iris_page, lambda: load_iris(as_frame=True).data),
    "mixed": (mixed_model, mixed_page, mixed_frame),
    "points": (grid_model, points_page, grid_frame),
    "gaps": (one_number, gaps_page, gaps_frame),
    "year": (year_model, year_page, year_frame),
}


@pytest.fixture(params=PAGES)
def page(request, browser, tmp_path):
    """A browser with the page of a model, the model, and its rows."""
    make_model, make_page, make_rows = PAGES[request.param]
    clf = make_model()
    opened(browser, make_page(clf), tmp_path)
    return browser, clf, make_rows()


def test_reasons_are_those_of_explain(page):
    browser, clf, rows = page
    script = "return arguments[0].map((row) => miptree.reasons(row))"
    told = browser.execute_script(script, plain_rows(clf, rows))
    for reasons, item in zip(told, explain(clf, rows, changes=False), strict=True):
        assert [r["rule"] for r in reasons] == [split.rule for split in item.splits]
        for reason, split in zip(reasons, item.splits, strict=True):
            assert (reason["node"], reason["kind"]) == (split.node, split.kind)
            assert reason["limit"] == split.threshold
            assert reason["score"] == pytest.approx(split.score, abs=1e-9)
            assert reason["distance"] == pytest.approx(split.distance, abs=1e-12)
            parts = split.contributions
            amounts = {printable(part.feature): part.amount for part in parts}
            shown = {part["column"]["name"]: part["amount"] for part in reason["parts"]}
            assert shown == pytest.approx(amounts, abs=1e-12)
            assert list(shown) == list(amounts)  # in the same order


CHANGES = "return arguments[0].map((row) => miptree.nearestChange(row, arguments[1]))"


def changed_row(rows, k, change):
    row = rows.iloc[[k]].astype(object)
    for part in change["changes"]:
        row.isetitem(part["column"]["id"], [part["after"]])
    return row


@pytest.mark.parametrize("is_fixed", [False, True])
def test_the_change_is_that_of_explain(page, is_fixed):
    browser, clf, rows = page
    some = rows[::6].reset_index(drop=True)
    kept = readable_tree(clf).used[1:2] if is_fixed else []
    told = browser.execute_script(CHANGES, plain_rows(clf, some), kept)
    found = explain(clf, some, fixed=kept)
    assert any(change["changes"] for change in told)
    for k, (change, item) in enumerate(zip(told, found, strict=True)):
        assert change["isNearest"]
        if item.change is None:
            assert change["changes"] is None
            continue
        assert all(part["column"]["id"] not in kept for part in change["changes"])
        label = str(clf.predict(changed_row(some, k, change))[0])
        assert label == change["label"] != str(item.label)
        if item.change.is_nearest:  # to a few steps of numbers that have many
            assert change["cost"] == pytest.approx(item.change.cost, abs=3e-5)
        else:
            assert change["cost"] <= item.change.cost + 3e-5


def test_changes_of_several_values_are_found(browser, tmp_path):
    clf, iris = iris_model(), load_iris(as_frame=True).data
    opened(browser, iris_page(clf), tmp_path)
    told = browser.execute_script(CHANGES, plain_rows(clf, iris), [])
    several = [k for k, change in enumerate(told) if len(change["changes"]) > 1]
    assert len(several) > 10
    for k in several:
        assert clf.predict(changed_row(iris, k, told[k]))[0] == told[k]["label"]


@pytest.mark.parametrize(("seed", "digits"), [(0, 0), (1, 0), (2, 6), (313, 1)])
def test_no_cheaper_change_of_whole_numbers_flips(browser, tmp_path, seed, digits):
    """All points of a grid are tried; coefficients of few digits make ties."""
    rng = np.random.default_rng(seed)
    grid = pd.DataFrame(list(product(range(6), repeat=3)), columns=list("abc"))
    clf = OptimalTreeClassifier(**QUICK).fit(grid, np.arange(len(grid)) % 2)
    coef = (3 * rng.normal(size=(3, 3))).round(digits)
    threshold = (coef @ [2.0, 3.0, 2.0]).round(digits)
    heap = HeapTree(coef, threshold, np.array([0, 1, 1, 0]))
    clf = with_tree(clf, ObliqueTree.from_heap(heap), rng)
    label = clf.predict(grid)
    opened(browser, report_html(clf, grid, label), tmp_path)
    told = browser.execute_script(CHANGES, plain_rows(clf, grid), [])
    for k, change in enumerate(told):
        cost = np.abs(grid - grid.iloc[k]).sum(axis=1).to_numpy() / 5
        assert change["isNearest"]
        assert change["cost"] == pytest.approx(cost[label != label[k]].min())
        assert str(clf.predict(changed_row(grid, k, change))[0]) == change["label"]


def test_a_missing_number_is_filled_in_as_by_explain(browser, tmp_path):
    """Medians of whole numbers may lie between two of them."""
    frame = pd.DataFrame({"n": [*range(10), np.nan, np.nan], "k": [*range(6)] * 2})
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(frame, np.arange(12) % 2)
    assert clf.table_.columns[0].fill == 4.5
    for threshold in (3.2, 5.2):
        width = clf.tree_.n_features
        coef, rng = np.eye(1, width), np.random.default_rng(0)
        heap = HeapTree(coef, np.array([threshold]), np.array([0, 1]))
        clf = with_tree(clf, ObliqueTree.from_heap(heap), rng)
        opened(browser, report_html(clf, frame, clf.predict(frame)), tmp_path)
        (told,) = browser.execute_script(CHANGES, plain_rows(clf, frame[-1:]), [])
        (found,) = explain(clf, frame[-1:])
        assert [part["after"] for part in told["changes"]] == [
            part.after for part in found.change.changes
        ]
        assert told["cost"] == pytest.approx(found.change.cost)


def test_values_that_cannot_change_are_ticked(browser, tmp_path):
    clf = iris_model()
    opened(browser, iris_page(clf), tmp_path)
    used = readable_tree(clf).used
    before = one(browser, "#changes").text
    for j in used:
        one(browser, f'[data-keep="{j}"]').click()
    said = "No change of the values that may change, within the ranges of the training"
    assert one(browser, "#change").text.startswith(said)
    assert not browser.find_elements("css selector", "#changes")
    for j in used:
        one(browser, f'[data-keep="{j}"]').click()
    assert one(browser, "#changes").text == before


def type_into(browser, column, text):
    field = one(browser, f'[data-column="{column}"]')
    field.clear()
    field.send_keys(text)
    return field


def test_odd_numbers_are_refused_kindly(browser, tmp_path):
    clf = iris_model()
    opened(browser, iris_page(clf), tmp_path)
    column = readable_tree(clf).used[-1]
    said = {
        "1,5": "write petal width (cm) with a point, 1.5, and not as 1,5",
        "1,234": "write petal width (cm) without commas as 1234, or as 1.234 if",
        "1,234,567.5": "write petal width (cm) without commas as 1234567.5, and not as",
        "0,125": "write petal width (cm) with a point, 0.125, and not as 0,125",
        "1.5 cm": "petal width (cm) is “1.5 cm”, which is no number",
        "1e999": "petal width (cm) is “1e999”, which is no number",
        "49.5": "petal width (cm) is 49.5, but it is between 0.1 and 2.5 in all",
        "-1": "petal width (cm) is -1, but it is between 0.1 and 2.5 in all training",
    }
    for text, why in said.items():
        field = type_into(browser, column, text)
        assert f"No prediction: {why}" in one(browser, "#answer").text
        assert field.get_attribute("aria-invalid") == "true"
        assert not browser.find_elements("css selector", ".node.passed, #change")
    field = type_into(browser, column, " .2 ")
    assert field.get_attribute("aria-invalid") == "false"
    assert "Predicted" in one(browser, "#answer").text
    type_into(browser, column, " ")
    assert "Predicted" in one(browser, "#answer").text  # missing, which it takes


def test_reasons_and_change_are_shown(browser, tmp_path):
    clf, iris = iris_model(), load_iris(as_frame=True).data
    opened(browser, iris_page(clf), tmp_path)
    row = iris.iloc[[75]]
    for j in readable_tree(clf).used:
        type_into(browser, j, str(row.iat[0, j]))
    item = explain(clf, row, background=iris, changes=False)[0]
    lines = browser.find_elements("css selector", "#reasons li")
    assert len(lines) == len(item.splits)
    for line, split in zip(lines, item.splits, strict=True):
        assert line.text.startswith(split.rule)
        assert f"the sum is {split.score:.4g}" in line.text
    change = explain(clf, row)[0].change
    said = f"The nearest change that gives {change.label}:"
    assert one(browser, "#change").text == said
    parts = [f"{p.feature} from {p.before:g} to {p.after:g}" for p in change.changes]
    listed = browser.find_elements("css selector", "#changes li")
    assert [part.text for part in listed] == parts


def said_of_sums(browser, rows):
    """What the form says of the sum of each row that is typed."""
    for row in rows.itertuples(index=False):
        for j, value in enumerate(row):
            type_into(browser, j, str(value))
        said = one(browser, "#reasons .hint").text
        yield said.removeprefix("Here ").partition(" (")[0]


@pytest.mark.parametrize(
    ("digits", "limit"),
    [(6, "43456.3"), (4, "43456.3"), (2, "the exact limit 43456.3")],
)
def test_sums_are_told_from_their_limits_as_by_explain(
    browser, tmp_path, digits, limit
):
    clf, years = year_model(digits), year_frame()
    opened(browser, report_html(clf, years, clf.predict(years)), tmp_path)
    sums = years.to_numpy() @ clf.tree_.coef[0] - clf.tree_.threshold[0]
    close = np.argsort(np.abs(sums))
    rows = years.iloc[[close[sums[close] > 0][0], close[sums[close] < 0][0]]]
    told = list(said_of_sums(browser, rows))
    for said, item in zip(told, explain(clf, rows, changes=False), strict=True):
        assert f"here {said} (" in str(item)  # to the last digit
        assert said.endswith(f" {limit}")
    assert " above " in told[0]
    assert " below " in told[1]


def test_a_sum_has_no_fewer_digits_than_its_rule(browser, tmp_path):
    clf, years = year_model(6), year_frame()
    opened(browser, report_html(clf, years, clf.predict(years)), tmp_path)
    row = years.nlargest(1, "income")
    (split,) = explain(clf, row, changes=False)[0].splits
    (said,) = said_of_sums(browser, row)
    assert split.rule.endswith("> 43456.3")
    far = float(f"{split.distance:.3g}")
    assert said == f"the sum is {split.score:.6g}, {far:g} above 43456.3"


def test_what_is_added_is_said_as_by_explain(browser, tmp_path):
    clf, years = year_model(6), year_frame()
    opened(browser, report_html(clf, years, clf.predict(years)), tmp_path)
    row = years.nlargest(1, "income")
    (said,) = said_of_sums(browser, row)
    listed = one(browser, "#reasons .hint").text.partition(" (")[2].removesuffix(").")
    told = [
        part.rpartition(": ")[2].replace("\u2212", "-") for part in listed.split("; ")
    ]
    lines = str(explain(clf, row, changes=False)).splitlines()[3:6]
    assert told == [line.split()[-1] for line in lines]
    shown = float(said.split()[3].rstrip(","))
    assert sum(map(float, told)) == pytest.approx(shown, abs=0.2)


def test_a_tree_of_one_class_has_no_change(browser, tmp_path):
    leaf = np.array([-1])
    tree = ObliqueTree(leaf, leaf, np.zeros((1, 4)), np.zeros(1), np.array([1]))
    clf = with_tree(copy.copy(iris_model()), tree, np.random.default_rng(0))
    opened(browser, iris_page(clf), tmp_path)
    said = "No leaf of the tree gives another class."
    assert one(browser, "#change").text == said
    assert not browser.find_elements("css selector", "#reasons")
