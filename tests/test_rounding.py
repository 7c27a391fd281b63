"""Shown numbers are short, and send every training row where the tree sends it."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.datasets import load_iris, load_wine

from _data import cases
from _models import QUICK, iris_model, tied_model, with_tree
from miptree import (
    OptimalTreeClassifier,
    explain,
    export_rules,
    export_text,
    load_json,
    save_json,
    verify_model,
)
from miptree.tree import HeapTree, ObliqueTree
from miptree.tree.rounding import ALL_DIGITS, digits_that_matter, rounded

TIED = r"At node (\d+) a sum of just ([\d.]+) is a yes only where f(\d+)_ (.=) ([\d.]+)"


@given(case=cases())
def test_no_row_changes_sides(case):
    tree = case.problem.to_user(case.heap)
    digits = digits_that_matter(tree, case.problem.X)
    short = rounded(tree, digits)
    assert np.array_equal(short.apply(case.problem.X), tree.apply(case.problem.X))
    assert (digits <= ALL_DIGITS).all()
    assert (digits >= [1, 0]).all()


def test_all_digits_where_they_matter():
    """Rows an ulp apart on both sides: nothing can be rounded."""
    third = 1 / 3
    X = np.array([[third], [np.nextafter(third, 1)]])
    heap = HeapTree(np.ones((1, 1)), np.array([third]), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    digits = digits_that_matter(tree, X)
    assert rounded(tree, digits).apply(X).tolist() == [1, 2]
    assert digits[0].tolist() == [ALL_DIGITS, ALL_DIGITS]


@pytest.mark.parametrize("is_new", [True, False])
def test_a_threshold_just_beside_rows_of_zero_is_shown_as_zero(is_new, tmp_path):
    X = np.random.default_rng(0).normal(size=(120, 1)).round(2)
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, X[:, 0] > 0)
    assert 0 < clf.tree_.threshold[0] < 1e-12  # a row is at 0
    if not is_new:
        save_json(clf, tmp_path / "model.json")
        clf = load_json(tmp_path / "model.json")
    assert export_text(clf).startswith("x[0] <= 0 (")
    assert "  1. x[0] <= 0\n" in str(explain(clf, [[0.0]]))
    assert verify_model(clf, X, X[:, 0] > 0).ok


def test_a_threshold_that_is_not_zero_is_not_shown_as_zero():
    heap = HeapTree(np.ones((1, 1)), np.array([0.3]), np.array([0, 1]))
    digits = digits_that_matter(ObliqueTree.from_heap(heap), np.array([[-1.0], [1.0]]))
    assert digits[0].tolist() == [2, 1]


def test_no_time_is_spent_on_very_many_rows():
    heap = HeapTree(np.ones((1, 1)), np.array([0.5]), np.array([0, 1]))
    digits = digits_that_matter(ObliqueTree.from_heap(heap), np.zeros((100_001, 1)))
    assert (digits == ALL_DIGITS).all()


def test_few_digits_where_few_do():
    X = np.arange(10.0)[:, None]
    heap = HeapTree(np.array([[1.23456]]), np.array([5.0654321]), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    short = rounded(tree, digits_that_matter(tree, X))
    assert (short.coef[0, 0], short.threshold[0]) == (1.2, 5.0)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_text_that_is_read_back_predicts_the_training_rows(load):
    """Parse the text, build the tree it says, and predict with it."""
    data = load(as_frame=True)
    clf = OptimalTreeClassifier(
        max_iter=20, solver="search", time_limit=None, random_state=0
    ).fit(
        data.data.set_axis([f"f{j}_" for j in range(data.data.shape[1])], axis=1),
        data.target,
    )
    text = export_text(clf)
    splits = [line for line in text.splitlines() if "(node" in line]
    assert len(splits) == (~clf.tree_.is_leaf).sum()
    score = {}
    for line in splits:
        bare = re.sub(r"^.*?(yes:|no:)| \(node.*", "", line)
        rule, operator, threshold = re.split("([<>]=)", bare)
        signed = re.sub(r"([+-] |^\s*)f", r"\g<1>1 f", rule)  # a coefficient of 1
        signed = signed.replace(" + ", " +").replace(" - ", " -")
        terms = re.findall(r"([+-]?[\d.e-]+) f(\d+)_", signed)
        assert len(terms) == rule.count("f")
        total = sum(float(c) * data.data.to_numpy()[:, int(j)] for c, j in terms)
        far, number = total - float(threshold), re.findall(r"node (\d+)", line)
        goes_left = far <= 0 if operator == "<=" else far >= 0
        for place, limit, j, sign, end in re.findall(TIED, text):
            if [place] == number:  # a row on the split
                far = data.data.to_numpy()[:, int(j)] - float(end)
                on_split = np.isclose(total, float(limit), rtol=1e-9)
                is_yes = far <= 0 if sign == "<=" else far >= 0
                goes_left = np.where(on_split, is_yes, goes_left)
        score[len(score)] = goes_left
    order = preorder(clf.tree_, 0)
    node = np.zeros(len(data.target), dtype=int)
    for k, branch in enumerate(n for n in order if not clf.tree_.is_leaf[n]):
        here = node == branch
        left, right = clf.tree_.children_left[branch], clf.tree_.children_right[branch]
        node[here] = np.where(score[k][here], left, right)
    X = data.data.set_axis(clf.feature_names_in_, axis=1)
    assert np.array_equal(clf.classes_[clf.tree_.label[node]], clf.predict(X))


def preorder(tree, node):
    if tree.is_leaf[node]:
        return [node]
    left, right = tree.children_left[node], tree.children_right[node]
    return [node, *preorder(tree, left), *preorder(tree, right)]


def test_digits_asked_for():
    X = np.random.default_rng(0).normal(size=(50, 2))
    clf = OptimalTreeClassifier(**QUICK).fit(X, X.sum(axis=1) > 0)
    assert max(map(len, re.findall(r"[\d.]{8,}", export_text(clf, digits=12)))) >= 12
    assert not re.findall(r"[\d.]{8,}", export_text(clf))


def test_a_text_says_what_becomes_of_rows_on_a_split():
    text = export_text(tied_model())
    assert "e-" not in text
    assert text.endswith(
        "\n(At node 2 a sum of just 1.7 is a yes only where sepal length (cm) "
        ">= 5.714.)"
    )
    assert export_text(tied_model(), digits=17).count("e-11 ") == 1
    assert "just" not in export_text(iris_model(max_depth=1))


def with_digits(clf, digits):
    """What the fit left behind, with so many digits of every number."""
    return replace(clf.fitted_, digits=np.full_like(clf.fitted_.digits, digits))


def test_a_coarse_text_says_so():
    """Rows an ulp apart on both sides of a split, which four digits cannot tell."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    middle = np.array([0.123456789, np.nextafter(0.123456789, 1)])
    X = np.concatenate([x, middle])[:, None]
    clf = OptimalTreeClassifier(
        max_depth=1, max_iter=5, solver="search", time_limit=None, random_state=0
    ).fit(X, X[:, 0] > 0.123456789)
    text = export_text(clf)
    coarse = clf.fitted_.digits[0].max() == ALL_DIGITS
    assert text.endswith("may differ.)") == coarse
    assert max(map(len, re.findall(r"[\d.]+", text))) < 12
    clf.fitted_ = with_digits(clf, ALL_DIGITS)
    assert export_text(clf).endswith("may differ.)")
    assert "differ" not in export_text(clf, digits=17)
    clf.fitted_ = with_digits(clf, 3)
    assert "differ" not in export_text(clf)


def test_a_split_is_written_in_units_of_its_weightiest_term():
    """The sum is the same but for a factor; a negative one turns the comparison."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": rng.integers(0, 999, 80), "late": rng.integers(0, 9, 80)})
    heap = HeapTree(np.array([[-3e-4, -0.0168]]), np.array([-0.15]), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    clf = OptimalTreeClassifier(**QUICK).fit(X, tree.predict(X.to_numpy(float)))
    clf = with_tree(clf, tree, rng)
    clf.fitted_ = replace(clf.fitted_, spread=X.std().to_numpy())
    assert export_text(clf).startswith("debt + 56 late >= 500 (node 0")
    assert export_text(clf, digits=17).startswith("-0.0003")
    assert "debt + 56 late < 500 THEN" in export_rules(clf)
    split = explain(clf, X, rows=[0])[0].splits[0]
    assert split.score == pytest.approx(X["debt"][0] + 56 * X["late"][0])
    assert split.threshold == pytest.approx(500)
