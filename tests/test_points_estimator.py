"""The classifier of points trees: parameters, tables, files and the command line."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV

from _cli import refused, run
from _sealed import sealed
from miptree import (
    PointsTreeClassifier,
    distill,
    load_json,
    prediction_costs,
    save_json,
    verify,
)
from miptree.certificate.digest import tree_digest
from miptree.fit import points_family
from miptree.tuning import points_penalty

QUICK = {"feature_penalty": 0.5, "max_features_per_split": 2, "time_limit": None}


def credit(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Incomes, ages with gaps, and two categories; the first three matter."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.integers(8, 60, n) * 100.0,
            "age": rng.integers(18, 80, n).astype(float),
            "home": rng.choice(["own", "rent", "free"], n),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    score = frame["income"] / 1000 + frame["age"].fillna(90) / 25
    y = np.where((score > 4.5) ^ (frame["home"] == "own"), "good", "bad")
    return frame, y


@pytest.fixture(scope="module")
def fitted() -> tuple[PointsTreeClassifier, pd.DataFrame, np.ndarray]:
    frame, y = credit()
    return PointsTreeClassifier(**QUICK).fit(frame, y), frame, y


def test_what_is_reported_is_recounted(fitted) -> None:
    clf, frame, y = fitted
    found = clf.certificate_
    assert clf.status_ == "optimal"
    assert found.errors == (clf.predict(frame) != y).sum()
    branch = ~clf.tree_.is_leaf
    coef, threshold = clf.tree_.coef[branch], clf.tree_.threshold[branch]
    assert (coef == np.round(coef)).all()
    assert (threshold == np.round(threshold)).all()
    used = np.count_nonzero(coef, axis=1)
    assert used.max() <= 2
    assert clf.objective_ == found.errors + 0.5 * used.sum()
    assert clf.bound_ == clf.objective_
    assert (clf.feature_penalty_, clf.penalty_chosen_) == (0.5, "given")
    assert clf.family_.max_features == 2
    assert clf.narrowing_ == ""
    assert clf.n_iter_ > 0
    assert "at most 2 features a split" in str(found)


def test_verified_by_the_certificate(fitted) -> None:
    clf, frame, y = fitted
    given = clf.certificate_, clf.tree_, frame, y
    assert verify(*given, table=clf.table_, classes=clf.classes_).ok
    other = np.where(np.arange(len(y)) == 3, "good", y)
    other[4] = "bad"
    assert not verify(*given[:3], other, table=clf.table_, classes=clf.classes_).ok


def test_rows_twice_are_rows_of_weight_two() -> None:
    frame, y = credit(80)
    twice = np.arange(80) % 3 == 0
    weighted = PointsTreeClassifier(**QUICK).fit(frame, y, 1.0 + twice)
    repeated = PointsTreeClassifier(**QUICK).fit(
        pd.concat([frame, frame[twice]]), np.concatenate([y, y[twice]])
    )
    assert weighted.objective_ == repeated.objective_
    assert np.array_equal(weighted.tree_.coef, repeated.tree_.coef)
    assert np.array_equal(weighted.tree_.threshold, repeated.tree_.threshold)
    auto = [
        PointsTreeClassifier(max_features_per_split=1, time_limit=None).fit(*given)
        for given in (
            (frame, y, 1.0 + twice),
            (pd.concat([frame, frame[twice]]), np.concatenate([y, y[twice]])),
        )
    ]
    assert auto[0].feature_penalty_ == auto[1].feature_penalty_


def test_costs_decide() -> None:
    """Costs beyond all errors: nobody may be called good who is bad."""
    frame, y = credit(120)
    plain = PointsTreeClassifier(max_depth=1, **QUICK).fit(frame, y)
    costs = [[0, 50], [1, 0]]  # rows: bad, good
    careful = PointsTreeClassifier(max_depth=1, cost_matrix=costs, **QUICK)
    careful.fit(frame, y)
    wrong = [
        int(((c.predict(frame) == "good") & (y == "bad")).sum())
        for c in (plain, careful)
    ]
    assert wrong[1] < wrong[0]
    weighted = PointsTreeClassifier(
        max_depth=1, class_weight={"bad": 50, "good": 1}, **QUICK
    ).fit(frame, y)
    assert weighted.objective_ == careful.objective_
    assert weighted.certificate_.cost == careful.certificate_.cost


def test_a_leaf_of_more_rows_than_there_are_is_refused() -> None:
    frame, y = credit(40)
    weight = np.arange(40) % 2
    words = "min_samples_leaf is 21, but there are 20 rows"
    with pytest.raises(ValueError, match=words):
        PointsTreeClassifier(min_samples_leaf=21, **QUICK).fit(frame, y, weight)


def test_min_samples_leaf_holds() -> None:
    frame, y = credit(120)
    clf = PointsTreeClassifier(min_samples_leaf=25, **QUICK).fit(frame, y)
    assert np.bincount(clf.apply(frame))[clf.tree_.is_leaf].min() >= 25
    assert "at least 25 rows a leaf" in str(clf.certificate_)


def test_units_and_signs_are_kept() -> None:
    frame, y = credit(150)
    clf = PointsTreeClassifier(
        units={"income": 1000}, signs={"income": 1, "age": "-"}, **QUICK
    ).fit(frame, y)
    income = clf.table_.columns[0]
    assert income.unit == 1000
    assert all(cut % 1000 == 0 for cut in income.cuts)
    both = clf.tree_.coef[:, :1] * clf.tree_.coef[:, 1:3]
    assert (both <= 0).all()
    by_place = PointsTreeClassifier(units={0: 1000}, signs={0: 1, 1: -1}, **QUICK).fit(
        frame, y
    )
    assert np.array_equal(by_place.tree_.coef, clf.tree_.coef)


def test_costs_of_measuring() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    dear = {name: 40.0 for name in X.columns if "petal" in name}
    given = QUICK | {"feature_penalty": dear}
    clf = PointsTreeClassifier(max_depth=1, **given).fit(X, y)
    used = clf.tree_.coef.any(axis=0)
    assert not used[2:].any()
    assert clf.feature_penalty_["petal length (cm)"] == 40
    assert clf.feature_penalty_["sepal length (cm)"] == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 0}, "max_depth of PointsTreeClassifier is 1 to 4, got 0"),
        ({"max_depth": 5}, "max_depth of PointsTreeClassifier is 1 to 4, got 5"),
        ({"max_depth": 0}, "max_depth"),
        ({"max_features_per_split": 4}, "max_features_per_split"),
        ({"max_points": 6}, "max_points"),
        ({"grid_steps": 1}, "grid_steps"),
        (
            {"units": {"wage": 10}},
            "units names 'wage'.* there are 'income', 'age', 'home'",
        ),
        ({"units": {"home": 10}}, "'home', which holds categories"),
        ({"units": {"age": -1}}, "-1 for 'age'"),
        ({"signs": {9: 1}}, "signs names 9"),
        ({"signs": {"age": 2}}, "signs gives 2 for 'age'"),
        ({"signs": {"home": 1}}, "'home', a category of 3 values"),
        ({"feature_penalty": {"wage": 1}}, "feature_penalty names 'wage'"),
        ({"feature_penalty": {"age": -1}}, "gives -1 for 'age'"),
        ({"feature_penalty": {"age": 1, 1: 2}}, "'age' twice"),
        ({"feature_penalty": -1}, "feature_penalty"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"missing": "error"}, "'age' has .* missing values"),
    ],
)
def test_bad_parameters_are_said_in_a_sentence(parameters, message) -> None:
    frame, y = credit(60)
    clf = PointsTreeClassifier(**(QUICK | parameters))
    with pytest.raises(ValueError, match=message):
        clf.fit(frame, y)


def test_unknown_values_at_predict(fitted) -> None:
    clf, frame, y = fitted
    new = frame[:3].assign(home="castle")
    assert len(clf.predict(new)) == 3
    strict = PointsTreeClassifier(unknown="error", **QUICK).fit(frame, y)
    with pytest.raises(ValueError, match="castle"):
        strict.predict(new)


def test_columns_of_one_value_leave_one_leaf() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = PointsTreeClassifier().fit(np.ones((20, 2)), [0, 1] * 10)
    assert clf.get_n_leaves() == 1
    assert clf.status_ == "optimal"


# ----------------------------------------------------------------- what is left open


def test_what_is_left_open_is_narrowed_aloud(monkeypatch) -> None:
    X, y = load_wine(return_X_y=True)
    quick = {"feature_penalty": 1.0, "max_iter": 3, "max_depth": 1}
    assert PointsTreeClassifier(**quick).fit(X, y).family_.max_features == 3
    monkeypatch.setattr(points_family, "MANY_DIRECTIONS", 500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pairs = PointsTreeClassifier(**quick).fit(X, y)
    assert pairs.family_.max_features == 2
    assert pairs.narrowing_.startswith("Splits add up at most 2 features")
    assert "at most 2 features a split" in str(pairs.certificate_)
    monkeypatch.setattr(points_family, "MOST_COUNTS", 100 * len(y))
    with pytest.warns(UserWarning, match="10 of 13 grid columns"):
        few = PointsTreeClassifier(**quick).fit(X, y)
    assert "Splits use the 10 of 13 grid columns" in few.narrowing_
    assert sum(few.family_.allowed) == 10
    assert "on 10 of 13 grid columns" in str(few.certificate_)
    assert len(few.family_.directions().size) <= 100
    # Columns that tell the classes apart stay, here flavanoids and proline.
    assert few.family_.allowed[6]
    assert few.family_.allowed[12]
    with pytest.warns(UserWarning, match="grid columns"):
        asked = PointsTreeClassifier(max_features_per_split=3, **quick).fit(X, y)
    assert asked.family_.max_features == 3


def test_directions_are_counted_without_listing_them() -> None:
    frame, y = credit(60)
    for k, points in [(1, 1), (2, 1), (2, 3), (3, 1), (3, 2)]:
        clf = PointsTreeClassifier(
            max_features_per_split=k, max_points=points, max_iter=1, feature_penalty=1.0
        ).fit(frame, y)
        family = clf.family_
        most = points_family.n_directions(family, np.array(family.columns))
        listed = len(family.directions().size)
        assert listed <= most <= 2 * listed


def test_a_penalty_is_chosen_inside_the_training_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (120, 4)).astype(float)
    y = (X[:, 0] > 5) ^ (rng.random(120) < 0.25)
    clf = PointsTreeClassifier(max_features_per_split=2, time_limit=None).fit(X, y)
    least = points_penalty.SMALLEST_SHARE * 120
    chosen = clf.feature_penalty_ / least
    assert min(abs(chosen - m) for m in points_penalty.MULTIPLES) < 0.1
    assert chosen > 0.5  # labels with so much noise ask for a small tree
    assert "cross-validation in 5 folds" in clf.penalty_chosen_
    again = PointsTreeClassifier(max_features_per_split=2, time_limit=None).fit(X, y)
    assert again.feature_penalty_ == clf.feature_penalty_
    order = rng.permutation(120)
    mixed = PointsTreeClassifier(max_features_per_split=2, time_limit=None)
    mixed.fit(X[order], y[order])
    assert mixed.feature_penalty_ == clf.feature_penalty_


def test_a_penalty_must_be_clearly_better_than_the_usual_one() -> None:
    usual = points_penalty.MULTIPLES.index(points_penalty.USUAL)
    losses = np.full((5, 5), 0.2)
    assert points_penalty.best_place(losses) == usual
    losses[:, 4] -= 1.9 * points_penalty.PULL
    assert points_penalty.best_place(losses) == usual
    losses[:, 4] -= 0.2 * points_penalty.PULL
    assert points_penalty.best_place(losses) == 4
    losses[:, 0] = losses[:, 4]
    assert points_penalty.best_place(losses) == 4  # of equal ones fewer features


def test_without_time_or_rows_for_folds_the_usual_penalty() -> None:
    frame, y = credit(100)
    hasty = PointsTreeClassifier(time_limit=0).fit(frame, y)
    assert hasty.feature_penalty_ == pytest.approx(0.66)
    assert "time was too short" in hasty.penalty_chosen_
    assert hasty.status_ in ("time_limit", "optimal")
    few = PointsTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    assert "too few" in few.penalty_chosen_


# ----------------------------------------------------------- scikit-learn, files, stops


def test_pickles_and_clones_leave_the_rows_behind(fitted) -> None:
    clf, frame, _ = fitted
    assert clf._training.data.problem.n_rows > 0
    loaded = pickle.loads(pickle.dumps(clf))
    assert not hasattr(loaded, "_training")
    assert np.array_equal(loaded.predict(frame), clf.predict(frame))
    assert clone(clf).get_params() == clf.get_params()


def test_a_grid_search_over_its_parameters() -> None:
    X, y = load_iris(return_X_y=True)
    grid = {"max_depth": [1, 2], "feature_penalty": [0.5]}
    search = GridSearchCV(PointsTreeClassifier(**QUICK), grid, cv=3).fit(X, y)
    assert search.best_params_["max_depth"] == 2
    assert search.best_score_ > 0.9


def test_a_model_file_predicts_and_knows_its_penalty(fitted, tmp_path) -> None:
    clf, frame, _ = fitted
    save_json(clf, tmp_path / "model.json")
    loaded = load_json(tmp_path / "model.json")
    assert isinstance(loaded, PointsTreeClassifier)
    assert np.array_equal(loaded.predict(frame), clf.predict(frame))
    assert loaded.feature_penalty_ == 0.5
    assert loaded.certificate_ == clf.certificate_


def test_a_changed_model_file_is_refused(fitted, tmp_path) -> None:
    path = tmp_path / "model.json"
    save_json(fitted[0], path)
    text = path.read_text()
    numbers = {"kind": "numbers", "name": "age", "fill": 3.0, "marks_missing": False}
    plain = json.loads(text)
    plain["table"]["columns"][1] = numbers
    path.write_text(sealed(plain))
    with pytest.raises(ValueError, match="not a model"):
        load_json(path)
    plain = json.loads(text)
    plain["estimator"] = "OptimalTreeClassifier"
    path.write_text(sealed(plain))
    with pytest.raises(ValueError, match="not a model"):
        load_json(path)


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("coef", 0.5),
        ("coef", 1e300),
        ("threshold", 0.5),
        ("threshold", 1e300),
        ("every coef", 1.0),
        ("cuts", []),
    ],
)
def test_a_model_file_has_splits_of_its_family(fitted, tmp_path, entry, value) -> None:
    """Even where the digests were computed anew."""
    clf, path = fitted[0], tmp_path / "model.json"
    save_json(clf, path)
    plain = json.loads(path.read_text())
    coef, threshold = clf.tree_.coef.copy(), clf.tree_.threshold.copy()
    if entry == "coef":
        coef[0, np.flatnonzero(coef[0])[0]] = value
    elif entry == "every coef":
        coef[0] = value
    elif entry == "threshold":
        threshold[0] = value
    else:
        for column in plain["table"]["columns"]:
            column |= {"cuts": value} if "cuts" in column else {}
    tree = replace(clf.tree_, coef=coef, threshold=threshold)
    plain["tree"] |= {"coef": coef.tolist(), "threshold": threshold.tolist()}
    signed = replace(clf.certificate_, tree_digest=tree_digest(tree)).signed()
    digests = {"tree_digest": signed.tree_digest, "digest": signed.digest}
    plain["certificate"] |= digests
    path.write_text(sealed(plain))
    with pytest.raises(ValueError, match=r"not one of the family|limits of the family"):
        load_json(path)


def test_a_distilled_points_tree() -> None:
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(20, max_depth=2, random_state=0).fit(X, y)
    tree = distill(forest, X, style="points", **QUICK)
    same = tree.predict(X) == forest.predict(X)
    assert tree.fidelity_.train == pytest.approx(same.mean())
    assert tree.fidelity_.train > 0.95
    costs = prediction_costs(forest, X)
    place = np.searchsorted(tree.classes_, tree.predict(X))
    assert tree.certificate_.cost == pytest.approx(
        costs[np.arange(len(X)), place].sum()
    )
    found = verify(
        tree.certificate_,
        tree.tree_,
        X,
        forest.predict(X),
        row_costs=costs,
        classes=tree.classes_,
        table=tree.table_,
    )
    assert found.ok
    with pytest.raises(ValueError, match='style must be "oblique" or "points"'):
        distill(forest, X, style="round")


def test_a_callback_stops_the_fit() -> None:
    X, y = load_wine(return_X_y=True)
    stages = []

    def stop(state) -> bool:
        stages.append(state.stage)
        return state.stage == "folds"

    clf = PointsTreeClassifier(max_depth=2, callback=stop, time_limit=None)
    with pytest.warns(UserWarning, match="interrupted"):
        clf.fit(X, y)
    assert clf.status_ == "interrupted"
    assert stages[-1] == "done"
    assert clf.certificate_.errors < 60  # a tree, though a short search
    assert clf.bound_ <= clf.objective_


def test_a_budget_leaves_a_valid_bound() -> None:
    X, y = load_wine(return_X_y=True)
    given = {"feature_penalty": 0.0, "max_features_per_split": 2, "time_limit": None}
    part = PointsTreeClassifier(max_iter=2, **given).fit(X, y)
    whole = PointsTreeClassifier(**given).fit(X, y)
    assert part.status_ == "max_iter"
    assert whole.status_ == "optimal"
    assert part.bound_ <= whole.objective_ <= part.objective_


# ---------------------------------------------------------------------- command line


def test_the_command_line_fits_points_trees(tmp_path) -> None:
    frame, y = credit(100)
    data, model = tmp_path / "credit.csv", tmp_path / "model.json"
    frame.assign(y=y).to_csv(data, index=False)
    given = ("--target", "y", "--style", "points", "--depth", 1)
    result = run("fit", data, *given, "--out", model, "--details")
    assert result.exit_code == 0, result.output
    assert "its kind: depth 1" in " ".join(result.output.split())
    assert run("show", model).exit_code == 0
    assert run("verify", model, data).exit_code == 0
    predicted = run("predict", model, data)
    assert predicted.stdout.startswith("prediction,probability")
    for option in ("--tune", "--solver=highs", "--selection=auto"):
        assert "--style points works without" in refused("fit", data, *given, option)
    assert "sparse or oblique" in refused("fit", data, "--target", "y", "--style", "x")


def test_a_proof_file_is_written_once(tmp_path) -> None:
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "proof"
    clf = PointsTreeClassifier(max_depth=1, **QUICK)
    clf.fit(X, y, proof_log=path)
    content = path.read_bytes()
    with pytest.raises(FileExistsError, match="exists already"):
        clf.fit(X, y, proof_log=path)
    assert path.read_bytes() == content
    clf.fit(X, y, proof_log=path, force=True)


def test_columns_that_teach_nothing():
    constant = pd.DataFrame({"c": [1.0] * 10})
    clf = PointsTreeClassifier(feature_penalty=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clf.fit(constant, [0, 1] * 5).tree_.n_nodes == 1
    with pytest.raises(ValueError, match="X has no columns"):
        clf.fit(pd.DataFrame(index=range(4)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="X has 2 columns 'c'"):
        clf.fit(pd.concat([constant, constant], axis=1), [0, 1] * 5)
