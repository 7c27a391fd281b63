import os
import pickle
import signal
import threading
from dataclasses import replace

import joblib
import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from miptree import OptimalTreeClassifier, evaluate
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.objective.leaf_probabilities import smoothed

QUICK = {"max_iter": 10, "node_limit": 0, "time_limit": None, "random_state": 0}


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def noisy():
    return make_classification(
        n_samples=80,
        n_features=4,
        n_informative=3,
        n_redundant=0,
        flip_y=0.2,
        random_state=0,
    )


@pytest.fixture(scope="module")
def fitted(iris):
    return OptimalTreeClassifier(**QUICK).fit(*iris)


def objective_of(clf):
    found = clf.certificate_
    return Svm1Objective(found.slack_penalty, found.l1_penalty, found.margin)


# --------------------------------------------------------------------- honesty


def test_reported_numbers_are_those_of_the_tree(iris, fitted):
    X, y = iris
    problem = Problem.from_data(X.to_numpy(), y.to_numpy(), 3)
    score = objective_of(fitted).evaluate(problem, fitted.tree_)
    assert fitted.objective_ == score.objective
    assert fitted.certificate_.errors == (fitted.predict(X) != y).sum()
    assert fitted.bound_ <= fitted.objective_
    assert fitted.gap_ == pytest.approx(1 - fitted.bound_ / fitted.objective_)
    assert (fitted.tree_.predict(X.to_numpy()) == fitted.predict(X)).all()


@pytest.mark.parametrize("init", ["auto", "cart"])
def test_trace_only_gets_better(noisy, init):
    clf = OptimalTreeClassifier(**{**QUICK, "node_limit": 5}, init=init).fit(*noisy)
    objective = [state.objective for state in clf.trace_]
    bound = [state.bound for state in clf.trace_]
    assert objective == sorted(objective, reverse=True)
    assert bound == sorted(bound)
    assert clf.objective_ == objective[-1]
    assert clf.trace_[-1].seconds <= clf.fit_time_


def test_never_worse_than_the_start_tree(noisy):
    X, y = noisy
    good = OptimalTreeClassifier(
        solver="search", max_iter=200, time_limit=None, random_state=1
    ).fit(X, y)
    again = OptimalTreeClassifier(
        init=good.tree_, node_limit=0, time_limit=None, random_state=0
    ).fit(X, y)
    assert again.objective_ <= good.objective_ * (1 + 1e-9)
    nothing = OptimalTreeClassifier(
        init=good.tree_, solver="search", time_limit=0.0
    ).fit(X, y)
    assert nothing.get_n_leaves() >= 1


def test_optimal_on_separable_data_is_proved():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array(["a", "a", "b", "b"])
    clf = OptimalTreeClassifier(
        max_depth=1, slack_penalty=1000, l1_penalty=0.1, margin=0.01, time_limit=None
    ).fit(X, y)
    assert clf.status_ == "optimal"
    # Half of the gap of 1/3 in scaled units must be worth the margin: h = .02 / (1/3).
    assert clf.objective_ == pytest.approx(0.1 * 0.06, rel=1e-6)
    assert clf.gap_ == 0.0
    assert clf.certificate_.errors_optimal
    assert "no tree of depth 1 costs less by more than a millionth, by" in str(
        clf.certificate_
    )


def test_conflicting_points_are_proved_by_counting():
    X = np.array([[0.0], [0.0], [0.0], [0.0]])
    clf = OptimalTreeClassifier(time_limit=None).fit(X, [0, 0, 0, 1])
    assert clf.status_ == "optimal"
    assert clf.certificate_.errors == clf.bound_ == 1
    assert clf.get_n_leaves() == 1
    assert "identical points" in clf.certificate_.any_tree_proved_by


def test_statuses(noisy):
    budgets = {
        "node_limit": {"node_limit": 1, "max_iter": 5, "time_limit": None},
        "max_iter": {"solver": "search", "max_iter": 5, "time_limit": None},
        "time_limit": {"time_limit": 0.0},
        "gap_tol": {"gap_tol": 1.0, "time_limit": None, "max_iter": 5},
    }
    for status, budget in budgets.items():
        clf = OptimalTreeClassifier(random_state=0, **budget).fit(*noisy)
        assert clf.status_ == status


@pytest.mark.parametrize("formulation", ["compact", "paper", "flow"])
def test_formulations_reach_the_same_tree_value(formulation):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(12, 2)), rng.integers(2, size=12)
    clf = OptimalTreeClassifier(
        max_depth=1,
        formulation=formulation,
        time_limit=None,
        l1_penalty=1,
        random_state=0,
    ).fit(X, y)
    reference = OptimalTreeClassifier(
        max_depth=1, time_limit=None, l1_penalty=1, random_state=0
    ).fit(X, y)
    assert reference.status_ == "optimal"
    assert clf.objective_ == pytest.approx(reference.objective_, rel=1e-6)
    assert clf.bound_ <= reference.objective_ * (1 + 1e-6)


# ------------------------------------------------------------- budgets and stops


def test_same_seed_same_tree(noisy):
    one, two = (OptimalTreeClassifier(**QUICK).fit(*noisy) for _ in range(2))
    assert np.array_equal(one.tree_.coef, two.tree_.coef)
    assert one.objective_ == two.objective_


def test_interrupt_returns_the_best_tree_with_a_warning(noisy):
    seen = []

    def press_ctrl_c_once(state):
        if state.stage == "count" and all(s.stage != "count" for s in seen):
            os.kill(os.getpid(), signal.SIGINT)
        seen.append(state)

    handler = signal.getsignal(signal.SIGINT)
    clf = OptimalTreeClassifier(
        callback=press_ctrl_c_once, max_iter=5, time_limit=None, random_state=0
    )
    with pytest.warns(UserWarning, match="interrupted"):
        clf.fit(*noisy)
    assert clf.status_ == "interrupted"
    assert clf.objective_ == min(state.objective for state in seen)
    assert signal.getsignal(signal.SIGINT) is handler


def test_second_interrupt_raises(noisy):
    def press_twice(state):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    clf = OptimalTreeClassifier(callback=press_twice, time_limit=None)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*noisy)
    assert signal.getsignal(signal.SIGINT) is handler


def test_callback_stops_the_fit_and_its_errors_come_through(noisy):
    clf = OptimalTreeClassifier(callback=lambda state: True, time_limit=None)
    with pytest.warns(UserWarning, match="interrupted"):
        assert clf.fit(*noisy).status_ == "interrupted"

    def fail(state):
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        OptimalTreeClassifier(callback=fail, time_limit=None).fit(*noisy)


def test_a_failed_fit_leaves_no_tree_with_the_columns_of_another(noisy):
    def fails(state):
        raise RuntimeError("no")

    X, y = noisy
    clf = OptimalTreeClassifier(**QUICK).fit(X, y)
    before = clf.predict(X)
    for parameters, labels, error in (
        ({"callback": fails}, y, RuntimeError),
        ({"callback": None}, np.zeros(len(y)), ValueError),
    ):
        clf.set_params(**parameters)
        with pytest.raises(error):
            clf.fit(X[:, ::-1], labels)
        with pytest.raises(NotFittedError):
            clf.predict(X)
        assert (clf.set_params(callback=None).fit(X, y).predict(X) == before).all()


def test_fit_works_outside_the_main_thread(noisy):
    clf = OptimalTreeClassifier(**QUICK)
    thread = threading.Thread(target=clf.fit, args=noisy)
    thread.start()
    thread.join()
    assert clf.objective_ == OptimalTreeClassifier(**QUICK).fit(*noisy).objective_


def test_time_limit_covers_a_fit_too_large_for_the_mip():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 10))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    clf = OptimalTreeClassifier(time_limit=5, random_state=0).fit(X, y)
    # How sharply the limit is kept is measured in benchmarks/run.py core.
    assert clf.status_ in ("time_limit", "stalled")
    assert {state.stage for state in clf.trace_} <= {"search", "done"}
    assert clf.bound_ == 0.0
    assert clf.score(X, y) >= 0.5


def test_nothing_is_printed_unless_asked(noisy, capfd):
    OptimalTreeClassifier(**QUICK).fit(*noisy)
    assert capfd.readouterr() == ("", "")
    OptimalTreeClassifier(**QUICK, verbose=1).fit(*noisy)
    out, err = capfd.readouterr()
    assert out == ""
    assert "objective" in err
    assert "gap" in err.splitlines()[-1]


# ---------------------------------------------------------------- scikit-learn ways


def test_string_labels_and_probabilities(iris, fitted):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = OptimalTreeClassifier(**QUICK).fit(X, names)
    assert clf.classes_.tolist() == sorted(set(names))
    proba = clf.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(1)
    assert (clf.classes_[proba.argmax(axis=1)] == clf.predict(X)).all()
    assert proba == pytest.approx(fitted.predict_proba(X))
    assert (clf.predict_log_proba(X) == np.log(proba)).all()
    assert clf.score(X, names) > 0.9


def test_probabilities_are_smoothed_frequencies():
    X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1]])
    clf = OptimalTreeClassifier(max_depth=1, l1_penalty=0.1, time_limit=None)
    proba = clf.fit(X, [0, 0, 0, 1, 1]).predict_proba([[0.0], [1.0]])
    # Three rows of the shares of all rows, .6 and .4, and one of equal shares.
    assert proba == pytest.approx(np.array([[5.3, 1.7], [2.3, 3.7]]) / [[7], [6]])


def test_smoothing_keeps_the_most_frequent_class_the_most_probable():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n_classes = int(rng.integers(2, 6))
        weight = rng.integers(0, 4, (int(rng.integers(1, 9)), n_classes)) * 0.5
        weight *= rng.integers(1, 30, n_classes)  # some classes are rare
        if not weight.any():
            continue
        most = weight == weight.max(axis=1, keepdims=True)
        label = (most * rng.random(weight.shape)).argmax(axis=1)  # any of them
        proba = smoothed(weight, label, float(rng.uniform(0.1, 3)))
        assert (proba > 0).all()
        assert proba.sum(axis=1) == pytest.approx(1)
        assert (proba.argmax(axis=1) == label).all()
        assert (proba.astype(np.float32).argmax(axis=1) == label).all()


def test_counts_are_training_rows_whatever_their_weights(noisy):
    X, y = np.vstack([noisy[0], noisy[0][:9]]), np.append(noisy[1], noisy[1][:9])
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    clf = OptimalTreeClassifier(**QUICK).fit(X, y, sample_weight=weight)
    count = evaluate(clf, X[weight > 0], y[weight > 0]).node_counts
    assert np.array_equal(clf.fitted_.node_count, count)


def test_weights_equal_repeated_rows(noisy):
    X, y = noisy
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    one = OptimalTreeClassifier(**QUICK).fit(X, y, sample_weight=weight)
    two = OptimalTreeClassifier(**QUICK).fit(X[repeated], y[repeated])
    assert one.objective_ == two.objective_
    assert np.array_equal(one.tree_.coef, two.tree_.coef)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_class_weight_moves_the_errors(noisy):
    X, y = noisy
    plain = OptimalTreeClassifier(**QUICK, class_weight=None).fit(X, y)
    heavy = OptimalTreeClassifier(**QUICK, class_weight={1: 20.0}).fit(X, y)
    missed = [(clf.predict(X)[y == 1] != 1).sum() for clf in (plain, heavy)]
    assert missed[1] <= missed[0]
    assert heavy.certificate_.cost >= heavy.certificate_.errors


def test_frames_of_pandas_and_polars(iris):
    X, y = iris
    pandas = OptimalTreeClassifier(**QUICK).fit(X, y)
    frame = pl.DataFrame(X.to_dict(orient="list"))
    polars = OptimalTreeClassifier(**QUICK).fit(frame, pl.Series(y.to_list()))
    assert polars.feature_names_in_.tolist() == list(X.columns)
    assert (polars.predict(frame) == pandas.predict(X)).all()
    with pytest.raises(ValueError, match="feature names"):
        pandas.predict(X.rename(columns={X.columns[0]: "other"}))


def test_clone_grid_search_pipeline_pickle(noisy, fitted, iris, tmp_path):
    X, y = noisy
    assert clone(fitted).get_params() == fitted.get_params()
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), OptimalTreeClassifier(**QUICK)),
        {"optimaltreeclassifier__l1_penalty": [1.0, 10.0]},
        cv=2,
    ).fit(X, y)
    assert grid.best_score_ > 0.5
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.predict(iris[0]), fitted.predict(iris[0]))
    joblib.dump(fitted, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib")
    assert loaded.objective_ == fitted.objective_


def test_apply_and_decision_path(iris, fitted):
    X, _ = iris
    leaf, path = fitted.apply(X), fitted.decision_path(X)
    assert set(leaf) <= set(np.flatnonzero(fitted.tree_.is_leaf))
    assert path.shape == (len(X), fitted.tree_.n_nodes)
    assert (path[np.arange(len(X)), leaf] == 1).all()
    assert fitted.get_depth() <= 2
    assert fitted.get_n_leaves() == fitted.tree_.n_leaves


def test_tree_is_in_the_units_of_the_user(noisy):
    X, y = noisy
    factor, shift = np.array([1e6, 1.0, 1e-3, 50.0]), np.array([0.0, 1e4, 0.0, -7.0])
    clf = OptimalTreeClassifier(**QUICK).fit(X * factor + shift, y)
    tree = clf.tree_
    assert clf.certificate_.errors == (clf.predict(X * factor + shift) != y).sum()
    back = replace(
        tree, coef=tree.coef * factor, threshold=tree.threshold - tree.coef @ shift
    )
    problem = Problem.from_data(X, y, 2)
    score = objective_of(clf).evaluate(problem, back)
    assert score.objective == pytest.approx(clf.objective_, rel=1e-6)


# -------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 0}, "max_depth"),
        ({"solver": "cbc"}, "solver"),
        ({"formulation": "best"}, "formulation"),
        ({"l1_penalty": -1.0}, "l1_penalty"),
        ({"slack_penalty": 1.0}, "slack_penalty \\* margin must be at least 1"),
        ({"margin": 1e-6, "slack_penalty": 1e7}, "margin"),
        ({"time_limit": -1}, "time_limit"),
        ({"init": "mine"}, "init"),
        ({"class_weight": "heavy"}, "class_weight"),
    ],
)
def test_bad_parameters(noisy, parameters, message):
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(**parameters).fit(*noisy)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinity_is_refused(noisy, bad):
    X, y = noisy
    X = X.copy()
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"x\[1\].*infinity.*row 4"):
        OptimalTreeClassifier(**QUICK).fit(X, y)


def test_bad_data(noisy):
    X, y = noisy
    clf = OptimalTreeClassifier(**QUICK)
    with pytest.raises(ValueError, match="at least 2 classes, got one class"):
        clf.fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="0 sample"):
        clf.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="3 values, but X has 80 rows"):
        clf.fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match=r"got -1.0 in row 1 \(.*negative"):
        clf.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match=r"got nan in row 1 \("):
        clf.fit(X, y, sample_weight=np.full(len(y), np.nan))
    with pytest.raises(ValueError, match="All sample weights are zero"):
        clf.fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="overflows float64"):
        clf.fit(np.where(X > 0, 1.7e308, -1.7e308), y)
    with pytest.raises(ValueError, match="continuous"):
        clf.fit(X, np.linspace(0, 1, len(y)))


def test_odd_but_allowed_data(noisy):
    X, y = noisy
    constant = np.column_stack([X, np.full(len(y), 3.0)])
    assert OptimalTreeClassifier(**QUICK).fit(constant, y).score(constant, y) > 0.6
    twice = np.vstack([X, X])
    clf = OptimalTreeClassifier(**QUICK).fit(twice, np.concatenate([y, 1 - y]))
    assert clf.certificate_.errors >= len(y)
    assert clf.bound_ >= len(y)
    assert OptimalTreeClassifier(**QUICK).fit([[0.0], [1.0]], [0, 1]).score(
        [[0.0], [1.0]], [0, 1]
    ) in (0.5, 1.0)
    huge = OptimalTreeClassifier(**QUICK).fit(X * 1e300, y)
    assert huge.score(X * 1e300, y) > 0.6


def test_init_tree_must_fit(noisy):
    X, y = noisy
    deep = OptimalTreeClassifier(
        max_depth=2, l1_penalty=0.01, max_iter=20, solver="search", time_limit=None
    ).fit(X, y)
    assert deep.get_depth() == 2
    with pytest.raises(ValueError, match="depth 2 does not fit into depth 1"):
        OptimalTreeClassifier(max_depth=1, init=deep.tree_).fit(X, y)
    wild = replace(deep.tree_, label=np.full_like(deep.tree_.label, 7))
    with pytest.raises(ValueError, match="The tree predicts class 7, but the data"):
        OptimalTreeClassifier(max_depth=2, init=wild).fit(X, y)
    with pytest.raises(ValueError, match="reads 4 features, but the data have 2"):
        OptimalTreeClassifier(init=deep.tree_).fit(X[:, :2], y)
