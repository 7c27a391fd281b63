"""Pictures say what the tree is: counts, numbers and regions, read back from them."""

import copy
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from _models import (
    HOSTILE,
    QUICK,
    array_model,
    iris_model,
    mixed_frame,
    mixed_model,
    with_tree,
)
from _points_models import points_model, random_rows

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.patches import FancyBboxPatch  # noqa: E402

from miptree import (  # noqa: E402
    OptimalTreeClassifier,
    PointsTreeClassifier,
    export_text,
)
from miptree.export.shown import shown_rules  # noqa: E402
from miptree.export.text import split_text  # noqa: E402
from miptree.plot import plot_node, plot_regions, plot_trace, plot_tree  # noqa: E402
from miptree.tree import HeapTree, ObliqueTree  # noqa: E402


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return iris_model(), data.data, data.target_names[data.target]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def drawn(ax):
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())


def test_tree(iris):
    clf, X, y = iris
    ax = plot_tree(clf, X, y)
    passed = np.asarray(clf.decision_path(X).sum(axis=0)).ravel()
    rows = [text.split()[1:3] for text in texts(ax) if text.endswith(" rows")]
    assert {int(node.strip(",")): int(n) for node, n in rows} == dict(enumerate(passed))
    assert sum("sum ≤" in text for text in texts(ax)) == (~clf.tree_.is_leaf).sum()
    for name in clf.classes_[clf.tree_.label[clf.tree_.is_leaf]]:
        assert name in texts(ax)
    assert drawn(ax).std() > 5


def test_tree_without_rows_and_with_hostile_names(iris):
    alone, counted = (sorted(texts(plot_tree(*args))) for args in (iris[:1], iris))
    assert alone == counted
    clf, frame = mixed_model(), mixed_frame()
    ax = plot_tree(clf, frame, np.where(np.arange(len(frame)) % 2, "it's", HOSTILE))
    assert any("\nin {" in text or "not in {" in text for text in texts(ax))
    drawn(ax)


def test_words_of_a_points_tree_and_where_a_yes_leads():
    clf = points_model(({"age": 1, "od280": 1}, 11), ({"housing=rent": 1}, 0), ({}, 0))
    ax = plot_tree(clf)
    found = texts(ax)
    (card,) = [text for text in found if text.startswith("Add up points (0 to 19):")]
    assert "od280: 1 point for every full 0.2 above 1.6, at most 10" in card
    assert {"9 or fewer", "10 or more", "housing = rent?", "yes", "no"} <= set(found)
    place = {text.get_text(): text.get_position()[0] for text in ax.texts}
    # The node's right child is the one of rows that rent; its box comes first.
    assert place["leaf 4, 145 rows"] < place["leaf 3, 85 rows"]
    assert place["yes"] < place["no"]
    drawn(ax)


def picture_of_node(clf, frame, y, node):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return plot_node(clf, frame, y, node), clf.apply(frame)


def test_a_question_of_a_points_tree_is_that_of_the_text():
    """The text turns it: those who rent get a yes, and go to the right child."""
    clf = points_model(({"housing=rent": 1}, 0))
    frame = random_rows(np.random.default_rng(0))
    y = np.where(np.arange(len(frame)) % 2, "good", "bad")
    ax, leaves = picture_of_node(clf, frame, y, 0)
    assert ax.get_title() == "node 0: housing = rent"
    assert texts(ax) == ["← to node 2: good", "to node 1: bad →"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["yes", "no"]
    heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
    counted = [[(leaves[y == c] == n).sum() for n in (2, 1)] for c in clf.classes_]
    assert heights == counted


def test_a_card_of_a_points_tree_is_that_of_the_text():
    clf = points_model(({"age": -1, "od280": -1, "housing=rent": -1}, -11))
    frame = random_rows(np.random.default_rng(0))
    y = np.where(np.arange(len(frame)) % 2, "good", "bad")
    ax, leaves = picture_of_node(clf, frame, y, 0)
    (answers,) = [line for line in export_text(clf).split("\n") if "or fewer" in line]
    most = int(answers.split()[0])
    assert f"node 0: {most} points or fewer of [" in ax.get_title()
    assert ax.get_xlabel() == f"points in STEP 1: yes where they are at most {most}"
    (to_left,) = [text for text in texts(ax) if text.startswith("←")]
    node = int(to_left.split()[3].strip(":"))
    assert f"leaf {node}," in answers
    bars = [bar for bars in ax.containers for bar in bars]
    middles = [bar.get_x() + bar.get_width() / 2 for bar in bars]
    assert {middle % 1 for middle in middles} == {0.0}  # a bar for each whole number
    left = sum(
        bar.get_height() for bar, x in zip(bars, middles, strict=True) if x <= most
    )
    assert left == (leaves == node).sum()
    assert sum(bar.get_height() for bar in bars) == len(frame)


def outside_their_boxes(ax):
    """Texts that begin in a box and cross its border."""
    ax.figure.canvas.draw()
    boxes = [
        patch.get_window_extent()
        for patch in ax.patches
        if isinstance(patch, FancyBboxPatch)
    ]
    found = []
    for text in ax.texts:
        at = text.get_window_extent()
        middle = (at.x0 + at.x1) / 2, (at.y0 + at.y1) / 2
        inside = [box for box in boxes if box.contains(*middle)]
        found += [text.get_text() for b in inside if at.x0 < b.x0 or at.x1 > b.x1]
        found += [text.get_text() for b in inside if at.y0 < b.y0 or at.y1 > b.y1]
    return found


@pytest.mark.parametrize("size", [None, (7, 4)])
def test_no_text_crosses_a_border(iris, size):
    frame = mixed_frame()
    y = np.where(np.arange(len(frame)) % 2, "it's", HOSTILE)
    _, X, of_X = iris
    names = ["W" * 30, "employment=unemployed", "a$b " * 9, "MMMM mmmm MMMM"]
    wide = OptimalTreeClassifier(**QUICK).fit(X.set_axis(names, axis=1), of_X)
    points = points_model(
        ({"age": 1, "od280": 1, "rooms (missing lowest)": 2}, 11),
        ({"housing=rent": 1}, 0),
        ({"sex=male": 1}, 0),
        classes=("a class with a long name, longer than its box", "good"),
    )
    for args in ((mixed_model(), frame, y), (wide,), (points,)):
        given = plt.subplots(figsize=size)[1] if size else None
        ax = plot_tree(*args, ax=given)
        assert len(ax.texts) > 5
        assert outside_their_boxes(ax) == []


def test_title_of_a_node_is_whole():
    """However long its split is."""
    clf = mixed_model()
    frame = mixed_frame()
    y = np.where(np.arange(len(frame)) % 2, "it's", HOSTILE)
    node = int(np.argmax((clf.tree_.coef != 0).sum(axis=1)))
    rules, digits, _ = shown_rules(clf)
    (split,) = [branch for branch in rules.branches if branch.node == node]
    ax = plot_node(clf, frame, y, node)
    title = " ".join(ax.get_title().split())
    assert title == " ".join(f"node {node}: {split_text(rules, split, digits)}".split())
    ax.figure.canvas.draw()
    drawn_at, page = ax.title.get_window_extent(), ax.figure.bbox
    assert drawn_at.x0 >= page.x0
    assert drawn_at.x1 <= page.x1
    assert drawn_at.y1 <= page.y1


def test_regions_count_the_columns_of_the_user():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    X["colour"] = rng.choice(["red", "blue", "green", "grey"], 60)
    y = X["a"] + X["b"] > 0
    clf = OptimalTreeClassifier(**QUICK).fit(X, y)
    assert "2 other columns" in plot_regions(clf, X, y).get_title()
    few = OptimalTreeClassifier(**QUICK).fit(X[["a", "b"]], y)
    assert "other" not in plot_regions(few, X[["a", "b"]], y).get_title()


def test_regions_of_a_points_tree_have_units_of_the_user():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.integers(20, 70, 80), "debt": rng.integers(0, 900, 80)}
    )
    y = X["debt"] > 10 * X["age"]
    clf = PointsTreeClassifier(max_depth=1, feature_penalty=0.5).fit(X, y)
    ax = plot_regions(clf, X, y, features=("age", "debt"))
    cuts = clf.table_.columns[0].cuts
    named = [float(label.get_text()) for label in ax.get_xticklabels()]
    assert set(named) <= set(cuts)
    for cut, place in zip(named, ax.get_xticks(), strict=True):
        below, above = (
            clf.tree_inputs(X.assign(age=v))[0, 0] for v in (cut - 1e-6, cut)
        )
        assert below < place < above


def gaps_and_regions(features):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.integers(20, 70, 80), "debt": rng.integers(0, 900, 80)}
    ).astype(float)
    X.loc[:9, "debt"] = np.nan
    y = X["debt"].fillna(0) > 10 * X["age"]
    clf = PointsTreeClassifier(max_depth=1, feature_penalty=0.5).fit(X, y)
    return clf, X, plot_regions(clf, X, y, features)


@pytest.mark.parametrize("features", [None, ("age", "debt"), (1, 0)])
def test_regions_of_a_points_tree_with_gaps(features):
    clf, X, ax = gaps_and_regions(features)
    names = [ax.get_xlabel(), ax.get_ylabel()]
    assert sorted(names) == ["age", "debt"]
    assert "rows are spread within the steps of the tree" in ax.get_title()
    assert "without 10 rows that lack one of the numbers" in ax.get_title()
    # Every row is drawn inside its step, where the region has its class.
    (image,) = ax.images
    left, right, low, high = image.get_extent()
    codes = image.get_array()
    points = np.vstack([dots.get_offsets() for dots in ax.collections])
    known = X[X["debt"].notna()]
    places = [names.index("age"), names.index("debt")]
    cuts = [np.array(column.cuts) for column in clf.table_.columns]
    steps = [
        np.searchsorted(c, known[n], side="right")
        for c, n in zip(cuts, ["age", "debt"], strict=True)
    ]
    drawn_at = np.round(points[:, places]).astype(int)
    assert sorted(map(tuple, drawn_at)) == sorted(zip(*steps, strict=True))
    assert len({tuple(point) for point in points}) == len(known)
    j = ((points[:, 0] - left) / (right - left) * len(codes)).astype(int)
    i = ((points[:, 1] - low) / (high - low) * len(codes)).astype(int)
    on = {
        tuple(step): label
        for step, label in zip(
            zip(*steps, strict=True), clf.predict(known), strict=True
        )
    }
    told = clf.classes_[codes[i, j]]
    assert [on[tuple(step)] for step in drawn_at] == told.tolist()


def test_dollars_are_no_formulas(iris):
    _, X, y = iris
    names = ["$\\frac{", "a$b$", "$", "d"]
    clf = OptimalTreeClassifier(
        max_iter=3, solver="search", time_limit=None, random_state=0
    )
    clf.fit(X.set_axis(names, axis=1), np.char.add("$x_", y))
    rows = X.set_axis(names, axis=1)
    labels = np.char.add("$x_", y)
    for ax in (
        plot_tree(clf, rows, labels),
        plot_regions(clf, rows, labels),
        plot_node(clf, rows, labels),
    ):
        drawn(ax)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_node_counts_rows_by_class_and_side(iris, sign):
    fitted, X, y = iris
    heap = HeapTree(
        sign * np.array([[0.1, 0.0, 0.2, 0.3]]), np.array([sign]), np.array([0, 1])
    )
    rng = np.random.default_rng(0)
    clf = with_tree(copy.copy(fitted), ObliqueTree.from_heap(heap), rng)
    ax = plot_node(clf, X, y, 0)
    assert (" <= " if sign > 0 else " >= ") in ax.get_title()
    (limit, _) = ax.lines[0].get_xdata()
    low, high = np.zeros(3), np.zeros(3)
    for k, bars in enumerate(ax.containers):
        for bar in bars:
            middle = bar.get_x() + bar.get_width() / 2
            (low if middle <= limit else high)[k] += bar.get_height()
    passed = clf.decision_path(X).toarray()
    left = [
        passed[y == name, clf.tree_.children_left[0]].sum() for name in clf.classes_
    ]
    assert (low if sign > 0 else high).tolist() == left
    assert (low + high).tolist() == [50, 50, 50]
    to_left = next(text for text in ax.texts if "to node 1:" in text.get_text())
    assert to_left.get_ha() == ("left" if sign > 0 else "right")
    drawn(ax)


def test_node_that_is_no_split(iris):
    clf, X, y = iris
    leaf = int(np.flatnonzero(clf.tree_.is_leaf)[0])
    with pytest.raises(ValueError, match=f"Node {leaf} is no split"):
        plot_node(clf, X, y, leaf)


def test_regions_are_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X @ [1, -2] > 0.3, "up", "down")
    clf = OptimalTreeClassifier(
        max_depth=1, max_iter=3, solver="search", time_limit=None, random_state=0
    ).fit(X, y)
    ax = plot_regions(clf, X, y, (0, 1))
    (image,) = ax.images
    left, right, low, high = image.get_extent()
    codes = image.get_array()
    n = len(codes)
    spots = np.array(
        [
            (left + (right - left) * j / (n - 1), low + (high - low) * i / (n - 1))
            for i, j in [(0, 0), (0, n - 1), (n - 1, 0), (n // 2, n // 3)]
        ]
    )
    found = [codes[0, 0], codes[0, -1], codes[-1, 0], codes[n // 2, n // 3]]
    assert clf.classes_[found].tolist() == clf.predict(spots).tolist()
    drawn(ax)


def test_regions_choose_the_most_used_columns(iris):
    clf, X, y = iris
    ax = plot_regions(clf, X, y)
    assert ax.get_xlabel() in clf.feature_names_in_
    assert ax.get_xlabel() != ax.get_ylabel()
    asked = plot_regions(clf, X, y, ("sepal width (cm)", 0))
    assert asked.get_xlabel() == "sepal width (cm)"
    assert asked.get_ylabel() == "sepal length (cm)"
    with pytest.raises(ValueError, match="no column of numbers"):
        plot_regions(clf, X, y, ("a", "b"))
    with pytest.raises(ValueError, match="pair"):
        plot_regions(clf, X, y, (1,))


def test_trace_ends_at_the_certificate(iris):
    clf = iris[0]
    ax = plot_trace(clf)
    best, bound = (line for line in ax.lines if len(line.get_xdata()) > 2)
    assert best.get_ydata()[-1] == clf.trace_[-1].objective
    assert bound.get_ydata()[-1] == clf.trace_[-1].bound
    drawn(ax)


def test_labels_are_checked(iris):
    clf, X, y = iris
    with pytest.raises(ValueError, match="one label for each of the 150 rows"):
        plot_tree(clf, X, y[:3])
    with pytest.raises(ValueError, match="'rose', which is no class"):
        plot_node(clf, X, np.full(len(X), "rose"))


def test_given_axes_are_used():
    clf = array_model()
    _, ax = plt.subplots()
    assert plot_tree(clf, ax=ax) is ax
    assert plot_trace(clf, ax=ax) is ax


def test_without_matplotlib_the_pip_line(monkeypatch, iris):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'miptree\[plot\]'"):
        plot_tree(iris[0])
