"""A tree can be read: terms by weight, lines that fit, plain rules, importances."""

import copy
import re
import warnings
from dataclasses import replace
from io import StringIO
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import sparse

from _models import gaps_model, iris_model, mixed_model
from _points_models import points_model
from miptree import (
    OptimalTreeClassifier,
    PointsTreeClassifier,
    explain,
    export_rules,
    export_text,
    load_json,
    save_json,
)
from miptree.commands import _app
from miptree.constraints import MinRate
from miptree.data import CategoricalColumn, NumericalColumn, Table
from miptree.data.schema import Schema
from miptree.export._plain_rule import Has, plain_rule
from miptree.export.readable import Missing, readable_tree
from miptree.tree import HeapTree, ObliqueTree

QUICK = {"max_iter": 5, "solver": "search", "time_limit": None, "random_state": 0}

pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")


def model_of_scales():
    """A split of columns whose weights and coefficients have opposite orders."""
    rng = np.random.default_rng(0)
    names = ["small", "middle", "large"]
    X = pd.DataFrame(rng.normal(size=(200, 3)) * [0.01, 1, 100], columns=names)
    y = X @ [20.0, 0.5, 0.02] > 0
    return OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y), X, y


def test_terms_come_by_weight():
    clf, X, _ = model_of_scales()
    first = export_text(clf).splitlines()[0]
    assert first.startswith("large ")  # whose coefficient is 1
    found = [float(c) for c in re.findall(r"([\d.]+) [sml]", f"1 {first}")]
    names = re.findall("small|middle|large", first)
    weights = np.array(found) * X.std()[names].to_numpy()
    assert len(names) == 3
    assert weights.tolist() == sorted(weights, reverse=True)


@pytest.mark.parametrize("width", [30, 50, 80])
@pytest.mark.parametrize("make", [iris_model, mixed_model])
def test_lines_keep_within_a_width(make, width):
    clf = make()
    whole, lines = export_text(clf), export_text(clf, width=width).splitlines()
    assert any(len(line) > width for line in whole.splitlines())
    for line in lines:
        text = line.lstrip("│├└─ ")
        # But a single word, and what stands deep in a tree.
        assert len(line) <= width or len(text) <= 24 + 8 or " " not in text
    # Nothing is lost, and no branch of the drawing is broken.
    drawn = r"[│├└─\s]+"
    assert re.sub(drawn, "", "".join(lines)) == re.sub(drawn, "", whole)
    for above, below in pairwise(lines):
        for place, mark in enumerate(above):
            assert mark not in "│├" or below[place] in "│├└"


def test_a_terminal_gets_lines_of_its_width(monkeypatch):
    shown = StringIO()
    terminal = Console(file=shown, width=50, force_terminal=True, highlight=False)
    monkeypatch.setattr(_app, "console", terminal)
    _app.show_tree(iris_model())
    assert shown.getvalue() == export_text(iris_model(), width=50) + "\n"
    assert max(map(len, shown.getvalue().splitlines())) <= 50
    file = StringIO()
    monkeypatch.setattr(_app, "console", Console(file=file, width=50, highlight=False))
    _app.show_tree(iris_model())
    assert file.getvalue() == export_text(iris_model()) + "\n"  # whole lines for a file


def test_steps_of_points_keep_within_a_width():
    clf = points_model(({"age": 1, "od280": 1, "income (missing highest)": 2}, 13))
    lines = export_text(clf, width=50).splitlines()
    assert max(map(len, lines)) <= 50
    assert " ".join(" ".join(lines).split()) == " ".join(export_text(clf).split())
    rules = export_rules(clf, width=50).splitlines()
    below = [
        line for line in rules[1 : rules.index("")] if not line.startswith(" " * 6)
    ]
    assert below
    assert all(line.startswith("  ") and line[2] != " " for line in below)


# ------------------------------------------------------------------------ plain rules

COLUMNS = (
    CategoricalColumn("work", ("none", "clerk", "other"), (), True, False),
    CategoricalColumn(
        "home", ("own", "rent", "free", None), ("hut", "boat"), True, False
    ),
    CategoricalColumn("sex", ("f", "m"), (), True, False),
    NumericalColumn("age", 40.0, True),
)
NAMES = Table(COLUMNS).open_names


def split_of(points, threshold, columns=COLUMNS):
    """Return a classifier with one split, by the names of what it reads."""
    coef = np.zeros((1, len(NAMES)))
    for name, weight in points.items():
        coef[0, NAMES.index(name)] = weight
    heap = HeapTree(coef, np.array([threshold]), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    fitted = replace(
        iris_model().fitted_,
        tree=tree,
        node_count=np.array([[3, 4], [2, 1], [1, 3]]),
        digits=np.full((3, 2), 2),
        spread=np.ones(len(NAMES)),
    )
    known = np.array([column.name for column in columns], dtype=object)
    schema = Schema(Table(columns), np.array(["no", "yes"]), known)
    return OptimalTreeClassifier().adopt(schema, fitted)


@pytest.mark.parametrize(
    ("points", "threshold", "words"),
    [
        ({"work=none": -1.3, "home=rent": 0.8}, -1, "work = none and home != rent"),
        ({"work=none": 1, "home=rent": 1}, 0.5, "work != none and home != rent"),
        ({"work=none": -2, "home=rent": -2}, -1, "work = none or home = rent"),
        ({"work=none": 2, "work=clerk": 1.5}, 1, "work not in {none, clerk}"),
        (
            {"home=any rare value": -2, "home=rent": -3},
            -1,
            "home in {rent, any rare value}",
        ),
        ({"home=missing": 2, "sex=m": -1}, -0.5, "home is not missing and sex = m"),
        ({"age missing": -2, "sex=m": 1}, -1.5, "sex != m and age is missing"),
        (
            {"work=none": 1, "home=rent": 1, "sex=m": 1},
            1.5,
            "work=none + home=rent",
        ),
        (
            {"work=none": 2, "home=rent": -1, "sex=m": 1},
            0.5,
            "work != none and (home = rent or sex != m)",
        ),
        (
            {"work=none": -3, "home=rent": -1, "sex=m": -1},
            -1.5,
            "work = none or (home = rent and sex = m)",
        ),
        ({"work=none": 1, "age": 0.1}, 1.5, "work=none + 0.1 age <="),
        ({"work=none": 1, "sex=m": 1}, 5, "work=none + sex=m <= 5"),
    ],
)
def test_splits_that_are_plain_rules(points, threshold, words):
    clf = split_of(points, threshold)
    assert export_text(clf).startswith(words)
    if "<=" in words or "work=none +" in words:
        return
    rule, *_ = export_text(clf).split(" (node")
    assert rule == words
    assert f"IF {words} THEN class no (leaf 1" in export_rules(clf)


def test_a_plain_rule_holds_for_just_the_rows_that_go_left():
    """All combinations of cells, those that training did not meet as well."""
    rng = np.random.default_rng(3)
    cells = {
        "work": ["none", "clerk", "other", "new"],
        "home": ["own", "rent", "free", None, "hut", "boat", "new"],
        "sex": ["f", "m", "new"],
        "age": [30.0, np.nan],
    }
    rows = pd.DataFrame(list(product(*cells.values())), columns=list(cells))
    binary = [name for name in NAMES if name != "age"]
    n_plain = 0
    for _ in range(150):
        chosen = rng.choice(binary, 4, replace=False)
        points = dict(zip(chosen, rng.integers(-3, 4, 4).astype(float), strict=True))
        clf = split_of(points, rng.integers(-3, 3) + 0.5)
        rule = plain_rule(readable_tree(clf).branches[0])
        if rule is None:
            continue
        n_plain += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of unknown values
            goes_left = clf.apply(rows) == 1
        for found, side in ((rule, goes_left), (rule.negated(), ~goes_left)):
            assert np.array_equal(held(found, rows), side), (points, found)
    assert n_plain > 50


def held(rule, rows):
    """Tell for which rows a rule holds."""
    parts = [
        has(part, rows) if isinstance(part, Has) else held(part, rows)
        for part in rule.parts
    ]
    return np.all(parts, axis=0) if rule.is_every else np.any(parts, axis=0)


def has(part, rows):
    """Tell which rows have a property."""
    cells = rows.iloc[:, part.atom.column]
    if isinstance(part.atom, Missing):
        found = cells.isna()
    else:
        found = cells.isin(part.atom.present) | (cells.isna() & part.atom.has_missing)
    return found.to_numpy() == part.holds


@pytest.mark.parametrize(
    ("coef", "threshold", "left", "right"),
    [
        ([1, 0, 0, 0], 70, "income <= 70 (or missing)", "income > 70 (not missing)"),
        ([1, 0, 0, 0], 20, "income <= 20 (not missing)", "income > 20 (or missing)"),
        ([-1, 0, 0, 0], -20, "income >= 20 (or missing)", "income < 20 (not missing)"),
        # What a gap adds decides where it goes: it counts as 53 + 0.5 or 53 - 0.5.
        ([1, 0.5, 0, 0], 53.2, "income <= 53.2 (not missing)", "income > 53.2 (or"),
        ([1, -0.5, 0, 0], 52.8, "income <= 52.8 (or missing)", "income > 52.8 (not"),
        ([0, 1, 0, 0], 0.5, "income is not missing", "income is missing"),
    ],
)
def test_a_split_of_one_number_says_where_gaps_go(coef, threshold, left, right):
    clf = gaps_model(np.array(coef) / 1000, threshold / 1000)
    first, second = export_rules(clf).splitlines()
    assert first.startswith(f"IF {left} THEN class 0")
    assert second.startswith(f"IF {right}")
    goes_left = "or missing" in left or "is missing" in left
    gap = pd.DataFrame({"income": [np.nan], "age": [1.0]})
    assert clf.predict(gap).tolist() == [1 - goes_left]
    assert export_text(clf).startswith(f"{left} (node 0")
    told = str(explain(clf, gap, background=gap.fillna(30)))
    assert (left if goes_left else right) in told
    assert "here income is missing\n" in told


def test_sums_say_what_gaps_count_as():
    clf = gaps_model(np.array([1, 5, 1, 0]) / 1000, 0.09)
    fills = [column.fill for column in clf.table_.columns]
    said = f"(Missing numbers count as: income {fills[0]:g}, age {fills[1]:g}.)"
    for text in (export_text(clf), export_rules(clf), export_text(clf, digits=17)):
        assert said in text.splitlines()
    assert "Missing numbers" not in export_text(iris_model())
    strict_one = copy.deepcopy(clf)
    strict_one.table_ = replace(clf.table_, missing="error")
    assert "Missing numbers" not in export_text(strict_one)


def test_values_of_one_column_are_said_together():
    clf = split_of({"work=none": -1, "work=clerk": 1}, 0.5)
    tree = clf.fitted_.tree
    arrays = two_levels(tree)
    arrays["coef"][1] = 0
    arrays["coef"][1, NAMES.index("work=none")] = 1.0
    arrays["threshold"][1] = 0.5
    fitted = replace(
        clf.fitted_,
        tree=replace(tree, **arrays),
        node_count=np.ones((5, 2), int),
        digits=np.full((5, 2), 2),
    )
    clf.adopt(Schema(clf.table_, clf.classes_, clf.feature_names_in_), fitted)
    assert [line.split(" THEN")[0] for line in export_rules(clf).splitlines()] == [
        "IF work not in {clerk, none}",
        "IF work = none",
        "IF work = clerk",
    ]


def test_an_or_beside_an_and_is_in_brackets():
    clf = split_of({"work=none": -2, "home=rent": -2}, -1)
    deep = replace(clf.fitted_.tree, **two_levels(clf.fitted_.tree))
    fitted = replace(
        clf.fitted_,
        tree=deep,
        node_count=np.ones((5, 2), int),
        digits=np.full((5, 2), 2),
    )
    names = clf.feature_names_in_
    clf.adopt(Schema(clf.table_, clf.classes_, names), fitted)
    assert "IF (work = none or home = rent) and sex = m THEN" in export_rules(clf)
    assert "IF work != none and home != rent THEN" in export_rules(clf)


def two_levels(tree):
    """Arrays of a tree that asks for 'm' below its left side."""
    coef = np.zeros((5, tree.n_features))
    coef[0] = tree.coef[0]
    coef[1, NAMES.index("sex=m")] = -1.0
    return {
        "children_left": np.array([1, 3, -1, -1, -1]),
        "children_right": np.array([2, 4, -1, -1, -1]),
        "coef": coef,
        "threshold": np.array([tree.threshold[0], -0.5, 0, 0, 0]),
        "label": np.array([0, 0, 1, 0, 1]),
    }


# ------------------------------------------------------------------------ importances


def test_importances_are_shares_of_the_splits():
    clf, X, _ = model_of_scales()
    size = np.abs(clf.tree_.coef[0]) * X.std(ddof=0).to_numpy()
    assert clf.feature_importances_ == pytest.approx(size / size.sum())


def test_importances_add_up_over_the_columns_of_a_category():
    clf = mixed_model()
    found = clf.feature_importances_
    assert found.shape == (clf.n_features_in_,)
    assert found.sum() == pytest.approx(1)
    used = readable_tree(clf).used
    assert np.flatnonzero(found).tolist() == used
    by_hand = np.zeros(len(found))
    rows = clf.fitted_.node_count.sum(axis=1)
    for branch in readable_tree(clf).branches:
        columns = np.array([clf.table_.column_sources]).T == np.arange(len(found))
        size = np.abs(clf.tree_.coef[branch.node]) @ columns  # the spreads are 1
        if size.any():
            by_hand += rows[branch.node] * size / size.sum()
    assert found == pytest.approx(by_hand / by_hand.sum())


def test_importances_of_points_trees_files_and_lone_leaves(tmp_path):
    X = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 3})
    clf = PointsTreeClassifier(max_depth=1, feature_penalty=1).fit(X, X["a"] > 9)
    assert clf.feature_importances_.tolist() == [1.0, 0.0]
    save_json(clf, tmp_path / "model.json")
    loaded = load_json(tmp_path / "model.json")
    assert loaded.feature_importances_.tolist() == [1.0, 0.0]
    none = PointsTreeClassifier(feature_penalty=99).fit(X, X["a"] > 9)
    assert none.feature_importances_.tolist() == [0.0, 0.0]
    assert not hasattr(PointsTreeClassifier(), "feature_importances_")
    loaded.fitted_ = replace(loaded.fitted_, spread=None)
    with pytest.raises(AttributeError, match="Fit the model again"):
        _ = loaded.feature_importances_


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (
            {"class_weight": {1: 20.0}},
            "Errors differ in cost: a leaf has",
        ),
        (
            {"constraints": [MinRate(1, bound=0.9)]},
            "The tree keeps rules: a leaf has",
        ),
        ({}, None),
    ],
)
def test_a_class_that_is_not_the_most_frequent_is_explained(options, note):
    X = np.arange(40.0)[:, None]
    y = (np.arange(40) % 4 == 0).astype(int)
    clf = OptimalTreeClassifier(
        max_depth=1, solver="search", max_iter=5, time_limit=None, random_state=0,
        **options,
    ).fit(X, y)  # fmt: skip
    for text in (export_text(clf), export_rules(clf)):
        assert ("not the most frequent one." in text) == (note is not None)
        assert note is None or note in text


def test_sparse_rows_are_refused_plainly():
    X, y = sparse.csr_matrix(np.eye(4)), [0, 1, 0, 1]
    for clf in (OptimalTreeClassifier(), PointsTreeClassifier()):
        with pytest.raises(TypeError, match="dense data is required"):
            clf.fit(X, y)
