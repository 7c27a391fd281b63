"""The baselines as classifiers: independent optima, certificates, exports, errors."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.exceptions import NotFittedError

from _data import data_folder, random_problem
from _sealed import sealed
from miptree import export_text, load_json, save_json, verify, verify_model
from miptree.baselines import (
    AghaeiTreeClassifier,
    BinOCTClassifier,
    FlowOCTClassifier,
    GreedySVMTreeClassifier,
    OCTClassifier,
    OCTHClassifier,
)
from miptree.data.problem import Problem
from miptree.mip.formulations.baselines import Binarisation, disparate_impact, flow_oct

MIP_BASELINES = [
    OCTHClassifier,
    OCTClassifier,
    AghaeiTreeClassifier,
    BinOCTClassifier,
    FlowOCTClassifier,
]
BASELINES = [*MIP_BASELINES, GreedySVMTreeClassifier]
WITHOUT_CLOCK = {"time_limit": None, "random_state": 0}


def quick(baseline, **parameters):
    """A baseline that only starts its MIP."""
    if baseline is GreedySVMTreeClassifier:
        return baseline(**parameters)
    return baseline(**{"node_limit": 0, "time_limit": None, **parameters})


@pytest.mark.parametrize("baseline", BASELINES)
def test_a_refused_fit_leaves_no_tree_with_the_classes_of_another(baseline):
    X, y = make_blobs(30, random_state=0)
    clf = quick(baseline).fit(X, y)
    with pytest.raises(ValueError, match="weight"):
        clf.fit(X, y + 1, sample_weight=-np.ones(30))
    with pytest.raises(NotFittedError):
        clf.predict(X)


# ------------------------------------------------- the same optimum as other programs


def sample(X, y, n_rows, seed=0):
    rows = np.random.default_rng(seed).permutation(len(y))[:n_rows]
    return np.asarray(X, dtype=float)[rows], np.asarray(y)[rows]


def paper_data(name, n_rows):
    file = data_folder() / f"{name}.csv"
    if not file.exists():
        pytest.skip(f"{file} is not there; set MIPTREE_DATA")
    frame = pd.read_csv(file)
    y = pd.factorize(frame.pop("target").astype(str), sort=True)[0]
    return sample(frame.to_numpy(dtype=float), y, n_rows)


def random_bits(n_rows):
    rng = np.random.default_rng(3)
    return rng.integers(0, 2, (n_rows, 6)).astype(float), rng.integers(0, 3, n_rows)


DATA = {
    "iris": lambda: sample(*load_iris(return_X_y=True), 30, seed=1),
    "wine": lambda: sample(*load_wine(return_X_y=True), 32, seed=2),
    "monks-1": lambda: paper_data("monks-1", 26),
    "monks-2": lambda: paper_data("monks-2", 28),
    "monks-3": lambda: paper_data("monks-3", 40),
    "banknote": lambda: paper_data("banknote-authentication", 26),
    "random bits": lambda: random_bits(24),
}


def errors_of_contree(X, y):
    pycontree = pytest.importorskip("pycontree", reason="pip install pycontree")
    tree = pycontree.ConTree(max_depth=2)
    tree.fit(X, y)
    return int((tree.predict(X) != y).sum())


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("baseline", [BinOCTClassifier, OCTClassifier])
def test_proved_errors_are_those_of_contree(baseline, name):
    X, y = DATA[name]()
    clf = baseline(**WITHOUT_CLOCK).fit(X, y)
    assert clf.status_ == "optimal"
    assert clf.certificate_.errors == errors_of_contree(X, y)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("n_thresholds", [3, None])
def test_proved_errors_are_those_of_streed(n_thresholds, name):
    pystreed = pytest.importorskip("pystreed", reason="pip install pystreed")
    X, y = DATA[name]()
    clf = FlowOCTClassifier(n_thresholds=n_thresholds, **WITHOUT_CLOCK).fit(X, y)
    assert clf.status_ == "optimal"
    codes = np.unique(y, return_inverse=True)[1]
    problem = Problem.from_data(X, codes, codes.max() + 1)
    found = Binarisation.of(problem, n_thresholds)
    bits = found.apply((X - problem.offset) / problem.scale).astype(int)
    other = pystreed.STreeDClassifier("accuracy", max_depth=2)
    other.fit(bits, codes)
    assert clf.certificate_.errors == int((other.predict(bits) != codes).sum())


# ------------------------------------------------------------ what a fit leaves behind


@pytest.mark.parametrize("baseline", BASELINES)
def test_what_is_reported_is_recounted(baseline):
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    clf = quick(baseline).fit(X, y, weight)
    wrong = clf.predict(X) != y
    certificate = clf.certificate_
    assert certificate.errors == (clf.tree_.predict(X) != y).sum()
    assert certificate.cost == pytest.approx(weight[clf.tree_.predict(X) != y].sum())
    assert wrong.sum() <= certificate.errors + 2  # probabilities are smoothed
    assert clf.bound_ <= clf.objective_ + 1e-9
    assert clf.gap_ == pytest.approx(certificate.gap)
    assert clf.get_depth() <= 2
    assert f"{certificate.errors} of 178" in str(certificate)


@pytest.mark.parametrize("baseline", MIP_BASELINES)
def test_never_worse_than_its_start_and_stopped_by_a_callback(baseline):
    X, y = load_iris(return_X_y=True)
    seen = []

    def stop(state):
        seen.append(state)
        return state.stage == "solve"

    start = baseline(time_limit=0).fit(X, y)
    with pytest.warns(UserWarning, match="interrupted"):
        clf = baseline(callback=stop, **WITHOUT_CLOCK).fit(X, y)
    assert clf.status_ == "interrupted"
    assert clf.objective_ <= start.objective_
    assert seen[-1].objective == clf.objective_
    objectives = [state.objective for state in clf.trace_]
    assert objectives == sorted(objectives, reverse=True)


def test_a_proof_says_whose_it_is():
    problem = random_problem(4, 12, 2, 2, "distinct")
    clf = OCTClassifier(complexity=0.05, **WITHOUT_CLOCK).fit(problem.X, problem.y)
    assert clf.status_ == "optimal"
    assert "proved optimal for OCT: no univariate tree of depth 2" in str(
        clf.certificate_
    )
    splits = clf.get_n_leaves() - 1
    wrong = (clf.predict(problem.X) != problem.y).sum()
    baseline = np.bincount(problem.y).min()
    assert clf.objective_ == pytest.approx(wrong / baseline + 0.05 * splits)


def test_a_mip_too_large_for_the_time_is_not_built():
    X, y = load_breast_cancer(return_X_y=True)
    clf = BinOCTClassifier(time_limit=0.5).fit(X, y)
    assert clf.status_ == "time_limit"
    assert clf.certificate_.errors < 40  # CART's


@pytest.mark.parametrize("baseline", BASELINES)
def test_exports(baseline, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = load_iris().target_names[y]
    clf = quick(baseline).fit(X, y)
    text = export_text(clf.tree_, clf.feature_names_in_, clf.classes_)
    assert "petal" in text
    assert "class setosa" in text
    save_json(clf, tmp_path / "model.json")
    back = load_json(tmp_path / "model.json")
    assert type(back) is baseline
    assert back.get_params() == clone(clf).get_params()
    assert np.array_equal(back.predict_proba(X), clf.predict_proba(X))
    assert back.certificate_ == clf.certificate_


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("estimator", "OptimalTreeClassifier", '"parameters" has no'),
        ("status", "done", "not a status"),
        ("version", 2, "version"),
        ("parameters", {"mu": -1}, '"parameters" has no'),
        ("rounds", 3, 'unknown entry "rounds"'),
    ],
)
def test_a_malformed_file_is_refused(entry, value, message, tmp_path):
    X, y = load_iris(return_X_y=True)
    save_json(quick(OCTHClassifier).fit(X, y), tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "bad.json").write_text(sealed({**plain, entry: value}))
    with pytest.raises(ValueError, match=message):
        load_json(tmp_path / "bad.json")


def test_a_changed_certificate_is_refused(tmp_path):
    X, y = load_iris(return_X_y=True)
    save_json(quick(OCTHClassifier).fit(X, y), tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    plain["certificate"]["digest"] = "0" * 64
    (tmp_path / "bad.json").write_text(sealed(plain))
    with pytest.raises(ValueError, match="does not fit its digest"):
        load_json(tmp_path / "bad.json")


@pytest.mark.parametrize(("n_classes", "depth"), [(4, 2), (8, 3)])
def test_the_greedy_tree_halves_the_classes(n_classes, depth):
    X, y = make_blobs(400, n_features=6, centers=n_classes, random_state=1)
    assert GreedySVMTreeClassifier(max_depth=depth).fit(X, y).score(X, y) > 0.98


def test_verify_says_that_a_baseline_is_checked_with_its_model():
    X, y = load_iris(return_X_y=True)
    clf = GreedySVMTreeClassifier().fit(X, y)
    with pytest.raises(TypeError, match="got one of the greedy SVM tree"):
        verify(clf.certificate_, clf.tree_, X, y)
    assert verify_model(clf, X, y).ok


@pytest.mark.parametrize("baseline", MIP_BASELINES)
def test_a_search_is_no_worse_than_cart_and_repeatable(baseline):
    X, y = sample(*load_wine(return_X_y=True), 80, seed=1)
    cart = quick(baseline, random_state=0).fit(X, y)
    found = quick(baseline, init="search", random_state=0).fit(X, y)
    assert found.objective_ <= cart.objective_
    again = quick(baseline, init="search", random_state=0).fit(X, y)
    assert np.array_equal(found.tree_.coef, again.tree_.coef)


def test_the_univariate_search_finds_the_optimum_of_wine():
    X, y = load_wine(return_X_y=True)
    clf = quick(BinOCTClassifier, init="search", random_state=0).fit(X, y)
    assert clf.certificate_.errors == errors_of_contree(X, y)
    assert clf.objective_ < quick(BinOCTClassifier).fit(X, y).objective_


@pytest.mark.parametrize("baseline", [OCTHClassifier, AghaeiTreeClassifier])
def test_the_search_for_hyperplanes_parts_wine(baseline):
    X, y = load_wine(return_X_y=True)
    clf = quick(baseline, init="search", random_state=0).fit(X, y)
    assert clf.status_ == "optimal"
    assert clf.certificate_.errors == 0
    assert quick(baseline).fit(X, y).certificate_.errors > 0


# --------------------------------------------------------------------------- fairness


def test_fair_trees_by_name_and_number():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 30)
    X = pd.DataFrame({"sex": group, "income": rng.normal(size=30) + group})
    y = (X["income"] + group > 1).to_numpy().astype(int)
    common = {"max_depth": 1, "branching": "univariate", **WITHOUT_CLOCK}

    def index(**parameters):
        clf = AghaeiTreeClassifier(**common, **parameters).fit(X, y)
        assert clf.status_ == "optimal"
        return disparate_impact(clf.tree_.predict(X.to_numpy()), group, 2, np.ones(30))

    fair = index(fairness_penalty=5.0, sensitive_features=["sex"])
    assert fair < index()
    assert fair == index(fairness_penalty=5.0, sensitive_features=[0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fairness_penalty": 1.0}, "sensitive_features is None"),
        ({"sensitive_features": []}, "is empty"),
        ({"sensitive_features": [7]}, "which is no column of X"),
        ({"sensitive_features": ["age"]}, "'age', which is no column"),
    ],
)
def test_sensitive_features_that_make_no_sense(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        AghaeiTreeClassifier(**parameters).fit(X, y)


# -------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], "NaN"),
        ([["a"], ["b"]], [0, 1], "Encode text columns"),
        ([[1.0], [2.0]], [0, 0], "at least 2 classes"),
        ([[1.0], [2.0]], [0.5, 1.7], "Unknown label type"),
    ],
)
def test_bad_data(baseline, X, y, message):
    with pytest.raises(ValueError, match=message):
        quick(baseline).fit(X, y)


@pytest.mark.parametrize("baseline", BASELINES)
def test_bad_weights(baseline):
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    with pytest.raises(ValueError, match="2 values, but X has 3 rows"):
        quick(baseline).fit(X, y, [1.0, 2.0])
    with pytest.raises(ValueError, match="All sample weights are zero"):
        quick(baseline).fit(X, y, [0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("baseline", "parameters"),
    [
        (OCTHClassifier, {"mu": 0}),
        (OCTHClassifier, {"complexity": -1}),
        (OCTClassifier, {"min_weight_fraction_leaf": 0.7}),
        (AghaeiTreeClassifier, {"branching": "oblique"}),
        (BinOCTClassifier, {"thresholds": 5}),
        (FlowOCTClassifier, {"complexity": 1.0}),
        (FlowOCTClassifier, {"n_thresholds": 0}),
        (GreedySVMTreeClassifier, {"C": 0}),
        (OCTClassifier, {"solver": "magic"}),
    ],
)
def test_bad_parameters(baseline, parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"The '{name}' parameter of"):
        baseline(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("baseline", BASELINES)
def test_rows_that_nothing_tells_apart(baseline):
    clf = quick(baseline).fit(np.ones((5, 2)), [0, 0, 1, 0, 1])
    assert clf.status_ == "optimal"
    assert clf.certificate_.errors == 2
    assert clf.get_n_leaves() == 1


@pytest.mark.parametrize("baseline", BASELINES)
def test_one_class_of_positive_weight(baseline):
    clf = quick(baseline).fit([[0.0], [1.0], [2.0]], ["a", "a", "b"], [1, 1, 0])
    assert clf.objective_ == 0
    assert clf.predict([[2.0]]) == ["a"]


def test_too_many_thresholds_are_refused(monkeypatch):
    monkeypatch.setattr(flow_oct, "_MOST_CELLS", 1000)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(2, size=40)
    with pytest.raises(ValueError, match=r"40 rows of 78 0/1 features.*n_thresholds"):
        FlowOCTClassifier(n_thresholds=None, **WITHOUT_CLOCK).fit(X, y)
    FlowOCTClassifier(n_thresholds=2, **WITHOUT_CLOCK).fit(X, y)
