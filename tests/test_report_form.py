"""The form of the report page: typed numbers, reasons, and the change that flips."""

import copy

import numpy as np
import pytest
from sklearn.datasets import load_iris

from _models import (
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
from miptree import ObliqueTree, explain
from miptree.export._rules import rules_of
from miptree.report import report_html

pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")


def one_number():
    """A split that says where rows without an income go."""
    return gaps_model([0.001, -0.0005, 0, 0], 0.0528)


def gaps_page(clf):
    return report_html(clf, gaps_frame(), clf.predict(gaps_frame()))


PAGES = {
    "iris": (iris_model, iris_page, lambda: load_iris(as_frame=True).data),
    "mixed": (mixed_model, mixed_page, mixed_frame),
    "points": (grid_model, points_page, grid_frame),
    "gaps": (one_number, gaps_page, gaps_frame),
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
            amounts = {part.feature: part.amount for part in split.contributions}
            shown = {part["column"]["name"]: part["amount"] for part in reason["parts"]}
            assert shown == pytest.approx(amounts, abs=1e-12)


def test_the_change_is_the_nearest_of_one_value(page):
    browser, clf, rows = page
    some = rows[::11].reset_index(drop=True)
    script = "return arguments[0].map((row) => miptree.nearestChange(row))"
    told = browser.execute_script(script, plain_rows(clf, some))
    costs = np.full(len(some), np.inf)
    names = list(rows.columns)
    for j in rules_of(clf).used:
        fixed = [name for k, name in enumerate(names) if k != j]
        for k, item in enumerate(explain(clf, some, background=rows, fixed=fixed)):
            if item.change is not None:
                costs[k] = min(costs[k], item.change.cost)
    assert np.isfinite(costs).any()
    # `explain` passes a split by a few millionths of what its score can vary by.
    found = [np.inf if change is None else change["cost"] for change in told]
    assert found == pytest.approx(costs, abs=1e-5)
    for k, change in enumerate(told):
        if change is not None:
            changed = some.iloc[[k]].astype(object)
            changed[names[change["column"]["id"]]] = change["after"]
            assert str(clf.predict(changed)[0]) == change["label"]


def type_into(browser, column, text):
    field = one(browser, f'[data-column="{column}"]')
    field.clear()
    field.send_keys(text)
    return field


def test_odd_numbers_are_refused_kindly(browser, tmp_path):
    clf = iris_model()
    opened(browser, iris_page(clf), tmp_path)
    column = rules_of(clf).used[-1]
    said = {
        "1,5": "write petal width (cm) with a point, 1.5, and not as 1,5",
        "1.5 cm": "petal width (cm) is “1.5 cm”, which is no number",
        "1e999": "petal width (cm) is “1e999”, which is no number",
        "49.5": "petal width (cm) is 49.5, but it is between 0.1 and 2.5 in all rows",
        "-1": "petal width (cm) is -1, but it is between 0.1 and 2.5 in all rows",
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
    for j in rules_of(clf).used:
        type_into(browser, j, str(row.iat[0, j]))
    item = explain(clf, row, background=iris, changes=False)[0]
    lines = browser.find_elements("css selector", "#reasons li")
    assert len(lines) == len(item.splits)
    for line, split in zip(lines, item.splits, strict=True):
        assert line.text.startswith(split.rule)
        assert f"the sum is {split.score:.4g}" in line.text
    said = one(browser, "#change").text
    assert said.startswith("The nearest change of one value: ")
    assert said.endswith(" gives virginica.") or said.endswith(" gives setosa.")


def test_a_tree_of_one_class_has_no_change(browser, tmp_path):
    leaf = np.array([-1])
    tree = ObliqueTree(leaf, leaf, np.zeros((1, 4)), np.zeros(1), np.array([1]))
    clf = with_tree(copy.copy(iris_model()), tree, np.random.default_rng(0))
    opened(browser, iris_page(clf), tmp_path)
    assert "No change of one value alone" in one(browser, "#change").text
    assert not browser.find_elements("css selector", "#reasons")
