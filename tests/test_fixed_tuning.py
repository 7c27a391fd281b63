"""Cross-validation around splits of the user's own: they stay, others are grown."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _cli import refused, run
from _data import examples
from _kept import has_split, is_kept, way
from _tuned import QUICK, biased, only_quick, people_in, tuner
from miptree import load_json, save_json, verify_model
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    FixedSplit,
    ForbidFeatures,
    MaxRate,
    MinLeaf,
    Monotone,
    Signs,
)
from miptree.constraints.errors import ImpossibleConstraintsError, NoTreeFoundError
from miptree.constraints.placed import PlacedSplit
from miptree.constraints.places import is_below
from miptree.tree import HeapTree, ObliqueTree
from miptree.tuning import (
    CartTree,
    ConstantTree,
    GreedySvmTree,
    LogisticTree,
    SoftTree,
    Svm1Tree,
)
from miptree.tuning.grow_around import mirrored, on_side

FINAL_FIT = import_module("miptree.tuning.final_fit")  # not the function
FOLD = import_module("miptree.tuning.evaluate_fold")


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch):
    """Search a little only: what is tested does not depend on how good trees are."""
    monkeypatch.setattr(FINAL_FIT, "_ITERATIONS", 4)


ROOT = FixedSplit(0, {1: 2.0, 2: -1.0}, 0.3)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("node", [0, 1, 2])
def test_the_split_stays_at_its_node_with_its_very_numbers(node, depth, tmp_path):
    X, y, _ = biased()
    fixed = FixedSplit(node, {1: 3.0, 2: -1.0}, 0.3)
    clf = tuner([fixed], max_depth=depth).fit(X, y)
    assert has_split(clf, X, fixed)
    at = way(clf.tree_, node)
    coef, threshold = clf.tree_.coef[at], clf.tree_.threshold[at]
    assert coef[1] == -3 * coef[2]
    assert threshold == pytest.approx(-0.3 * coef[2], rel=1e-15)
    assert np.array_equal(clf.best_estimator_.predict(X), clf.predict(X))
    save_json(clf, tmp_path / "model.json")
    read = load_json(tmp_path / "model.json")
    assert read.constraints_ == clf.constraints_
    assert verify_model(read, X, y).ok


@pytest.mark.parametrize(
    "candidate",
    [
        SoftTree(0.4, l1=3e-3),
        Svm1Tree(0.4),
        GreedySvmTree(1.0),
        LogisticTree(3.0, n_levels=1),
        ConstantTree(),
    ],
)
def test_every_kind_of_candidate_grows_around_it(candidate):
    X, y, _ = biased(50)
    fixed = [ROOT, FixedSplit(2, {0: 1.0}, 0.2)]
    clf = tuner(fixed, candidates=[candidate], max_depth=3).fit(X, y)
    assert all(has_split(clf, X, split) for split in fixed)
    assert np.isfinite(clf.best_score_)
    assert verify_model(clf, X, y).ok


OTHERS = [
    MinLeaf(rows=8),
    MaxRate(1, 0.4),
    DemographicParity(difference_bound=0.05),
    ForbidFeatures([0]),
    AllowFeatures([0, 1], depth=1),
    Monotone({0: +1}, 1),
    Signs({0: +1}, 1),
]


@pytest.mark.parametrize("node", [0, 2])
@pytest.mark.parametrize("other", OTHERS, ids=lambda rule: rule.name)
def test_it_stays_beside_every_other_rule(other, node):
    X, y, groups = biased()
    fixed = FixedSplit(node, {1: 1.0}, 0.1)
    clf = tuner([fixed, other]).fit(X, y, sensitive_features=groups)
    assert has_split(clf, X, fixed)
    assert is_kept(other, clf, X, y, groups)
    assert len(clf.certificate_.rules) == len(clf.rules_held_out_) == 2
    assert clf.rules_held_out_[0].kept == 1.0
    assert verify_model(clf, X, y, sensitive_features=groups).ok


def check_any(seed):
    """Fit to an odd table under some rules; what comes out keeps all of them."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(30, 70)), int(rng.integers(2, 4))
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(int(rng.integers(0, 3))))
    X.columns = ["a", "b", "c"]
    X["kind"] = rng.choice(["u", "v", "w"], n)
    X["c"] = X["c"].where(rng.uniform(size=n) > 0.2)  # gaps
    y = (X["a"] + (X["kind"] == "u") + 0.5 * rng.normal(size=n)).to_numpy()
    y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    groups, weight = rng.choice(list("fm"), n), rng.integers(1, 4, n).astype(float)
    depth = int(rng.integers(1, 4))
    nodes = rng.permutation(2**depth - 1)[: 1 + seed % 2].tolist()
    column = str(rng.choice(["a", "b", "c"]))
    fixed = [FixedSplit(node, {column: 1.0}, 0.25) for node in nodes]
    beside = [
        [],
        [MinLeaf(rows=3)],
        [DemographicParity(difference_bound=0.2, positive_label=1)],
        [Monotone({"a": +1}, 1)],
    ]
    rules = [*fixed, *beside[seed % len(beside)]]
    clf = tuner(rules, max_depth=depth, candidates=QUICK[:2])
    if seed % 5 == 0:
        costs = rng.integers(1, 4, (n_classes, n_classes)).astype(float)
        clf.set_params(cost_matrix=costs * (1.0 - np.eye(n_classes)))
    try:
        clf.fit(X, y, weight, sensitive_features=groups)
    except NoTreeFoundError:
        return
    except ImpossibleConstraintsError:  # one split twice on a way, or too few rows
        is_twice = len(nodes) == 2 and is_below(max(nodes), min(nodes))
        goes_left = X[column].fillna(X[column].median()) <= 0.25
        is_small = min(goes_left.sum(), (~goes_left).sum()) < 3
        assert is_twice or (isinstance(rules[-1], MinLeaf) and is_small)
        return
    except ValueError as error:
        if "sends all rows to one side" in str(error):
            return
        raise
    numbers = X.assign(c=X["c"].fillna(clf.table_.columns[2].fill))
    for split in fixed:
        assert has_split_of(clf, X, numbers, split)
    given = {"sensitive_features": groups}
    assert verify_model(clf, X, y, weight, **given).ok


def has_split_of(clf, X, numbers, split):
    """Whether the rows that come to a place part as a split of one column says."""
    node, (column, _) = way(clf.tree_, split.node), split.coefficients[0]
    passes = clf.decision_path(X).toarray().astype(bool)
    left = passes[:, clf.tree_.children_left[node]]
    goes_left = (numbers[column] <= split.threshold).to_numpy()
    return node >= 0 and np.array_equal(left, passes[:, node] & goes_left)


@pytest.mark.filterwarnings("ignore:In no fold")
@given(st.integers(0, 5000))
@examples(8)
def test_it_stays_whatever_the_table(seed):
    check_any(seed)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:In no fold")
@pytest.mark.parametrize("block", range(5))
def test_it_stays_in_many_tables(block):
    for seed in range(20 * block, 20 * (block + 1)):
        check_any(seed)


# ------------------------------------------------------------------ how it is grown


def swapped_in(grower, splits, candidates):
    """Trees that were grown without fixed splits, which then take a place in them."""
    return grower.grow(candidates)


def errors_around(monkeypatch, fixed, X, y, candidate, **parameters):
    """Errors of trees grown around a split, and of trees that it is put into."""
    clf = tuner([fixed], candidates=[candidate], **parameters)
    around = (clf.fit(X, y).predict(X) != y).sum()
    for module in (FINAL_FIT, FOLD):
        monkeypatch.setattr(module, "grow_around", swapped_in)
    return around, (clf.fit(X, y).predict(X) != y).sum()


def test_below_a_fixed_root_each_side_is_grown_on_its_own(monkeypatch):
    """The class is told by another column on each side."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 2] <= 0, X[:, 0] > 0.5, X[:, 1] > -0.5).astype(int)
    fixed = FixedSplit(0, {2: 1.0}, 0.0)
    around, without = errors_around(monkeypatch, fixed, X, y, CartTree())
    assert around == 0
    assert without > 10


def test_the_side_of_a_root_that_a_split_is_of_use_on_becomes_its_side(monkeypatch):
    """CART sends low values left, but the split to the right is of use for them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] <= 0, X[:, 1] > 0.8, X[:, 2] > -0.8).astype(int)
    fixed = FixedSplit(2, {1: 1.0}, 0.8)
    around, without = errors_around(monkeypatch, fixed, X, y, CartTree())
    assert around == 0
    assert without > 5


def test_what_is_below_a_split_below_the_root_is_grown_anew(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    below = np.where(X[:, 2] <= 0, X[:, 1] > 0.4, X[:, 3] > -0.4)
    y = np.where(X[:, 0] <= 0, below, 1).astype(int)
    fixed = FixedSplit(1, {2: 1.0}, 0.0)
    given = fixed, X, y, CartTree()
    around, without = errors_around(monkeypatch, *given, max_depth=3)
    assert around < 0.5 * without


@given(st.integers(2, 4), st.integers(0, 1000))
@examples(20)
def test_a_mirrored_tree_predicts_the_same(depth, seed):
    rng = np.random.default_rng(seed)
    n_branch = 2**depth - 1
    label = rng.integers(0, 5, n_branch + 1)
    tree = HeapTree(rng.normal(size=(n_branch, 2)), rng.normal(size=n_branch), label)
    X = rng.normal(size=(50, 2))
    both = [ObliqueTree.from_heap(t).predict(X) for t in (tree, mirrored(tree))]
    assert np.array_equal(*both)
    assert np.array_equal(mirrored(mirrored(tree)).label, tree.label)


def test_places_below_a_side_are_those_of_its_subtree():
    nothing = np.zeros(1), 0.0, np.zeros(1), 0.0
    splits = [PlacedSplit(node, *nothing) for node in range(15)]
    for side in (0, 1):
        below = [node for node in range(15) if is_below(node, 1 + side)]
        found = on_side(splits, side)
        assert [split.node for split in found] == list(range(7))
        assert len(below) == 7
    nodes = [[s.node for s in on_side(splits[n : n + 1], n % 2 == 0)] for n in (3, 6)]
    assert nodes == [[1], [2]]


# ---------------------------------------------------------------------------- choice


def test_depths_that_cannot_hold_it_are_not_compared():
    X, y, _ = biased(40)
    clf = tuner([FixedSplit(3, {1: 1.0}, 0.0)], max_depth="cv")
    clf.set_params(candidates=[CartTree()]).fit(X, y)
    depths = [given["max_depth"] for given in clf.cv_results_["params"]]
    assert depths == [3, 4]


@pytest.mark.filterwarnings("ignore:No further split")
def test_sparse_trees_have_room_for_it_or_do_not_take_part(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 10))
    y = (X.sum(axis=1) > 0).astype(int)
    wide = [FixedSplit(0, dict.fromkeys(range(6), 1.0), 0.0)]
    monkeypatch.setattr("miptree.tuning.style_settings.SPARSE_CANDIDATES", QUICK[:1])
    monkeypatch.setattr("miptree.tuning.style_settings.DEFAULT_CANDIDATES", QUICK[:1])
    clf = tuner(wide, candidates="default").fit(X, y)
    limits = {p["max_features_per_split"] for p in clf.cv_results_["params"]}
    assert limits == {8, None}
    clf.set_params(constraints=[FixedSplit(0, dict.fromkeys(range(9), 1.0), 0.0)])
    with pytest.raises(ValueError, match="9 columns, more than a split of a sparse"):
        clf.set_params(style="sparse").fit(X, y)


def test_where_no_other_split_helps_it_is_said(monkeypatch):
    X, _, _ = biased(60)
    y = (X[:, 1] > 0).astype(int)
    monkeypatch.setattr("miptree.tuning.style_settings.DEFAULT_CANDIDATES", QUICK[:1])
    clf = tuner([FixedSplit(0, {1: 1.0}, 0.0)], candidates="default")
    with pytest.warns(UserWarning, match="the tree has those of FixedSplit"):
        clf.fit(X, y)
    assert clf.style_ == "constant"
    assert clf.get_n_leaves() == 2
    assert (clf.predict(X) == y).all()


@pytest.mark.parametrize(
    "rule", [FixedSplit(0, {"stage": 1.0}, 2.0), Monotone({"stage": +1}, 1)]
)
@pytest.mark.parametrize("levels", [True, "cv"])
def test_columns_that_rules_read_as_numbers_are_no_levels(rule, levels):
    X, y, _ = biased(60)
    table = {"stage": np.arange(60) % 5, "level": np.arange(60) % 4, "a": X[:, 0]}
    clf = tuner([rule], levels=levels, candidates=[SoftTree(l1=3e-3)])
    clf.fit(pd.DataFrame(table), y)
    assert np.isfinite(clf.cv_results_["mean_test_score"]).all()
    assert clf.certificate_.rules


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ([FixedSplit(0, {"a": 1}, 0), FixedSplit(0, {"b": 1}, 0)], "are for node 0"),
        ([FixedSplit(0, {"d": 1}, 0)], "'d', which is no column"),
        ([FixedSplit(3, {"a": 1}, 0)], "nodes 0 to 2 only"),
        ([FixedSplit(0, {"a": 1}, 0), ForbidFeatures("a")], "'a', which no split may"),
        ([FixedSplit(0, {"a": 1}, 1e9)], "sends all rows to one side"),
    ],
)
def test_what_cannot_be_is_refused_before_the_folds(constraints, words):
    X, y, _ = biased(40)
    told = []
    clf = tuner(constraints, callback=told.append)
    with pytest.raises(ValueError, match=words):
        clf.fit(pd.DataFrame(X, columns=list("abc")), y)
    assert told == []


def test_the_command_line_tunes_around_it(tmp_path, monkeypatch):
    only_quick(monkeypatch)
    people, _, _ = people_in(tmp_path, ["income", "debt"])
    out = tmp_path / "model.json"
    fit = ["fit", people, "--target", "paid", "--tune", "--time-limit", 90]
    own = "0:income - 2 * debt <= 0.5"
    result = run(*fit, "--min-leaf", 4, "--fixed-split", own, "--out", out)
    assert result.exit_code == 0, result.output
    told = " ".join(result.output.split())
    assert "Node 0 sends rows with 1 * 'income' - 2 * 'debt' <= 0.5 left: kept" in told
    assert "fixed splits alone" in told
    assert "--style points" not in told  # which refuses rules
    tree = load_json(out).tree_
    assert tree.coef[0, 1] == -2 * tree.coef[0, 0]
    assert run("verify", out, people).exit_code == 0
    assert "nodes 0 to 2" in refused(*fit, "--fixed-split", "9:income <= 1")
