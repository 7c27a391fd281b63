"""Other points trees of nearly the same cost, and what trees cost without a column."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

from _cli import refused, run
from _models import iris_model
from miptree import (
    PointsTreeClassifier,
    export_text,
    load_json,
    report_html,
    save_json,
    verify,
)
from miptree.control.clock import Clock
from miptree.fit.points_data import PointsData
from miptree.fit.restricted import PointsFit
from miptree.points import Directions, Family, PointsProblem, solve
from miptree.points.alternatives import Restriction, Sketch, most_different
from miptree.tree import ObliqueTree

ENDLESS = {"time_limit": None}


def credit(n: int = 60, seed: int = 1) -> tuple[pd.DataFrame, np.ndarray]:
    """A small table in which income and age say nearly the same."""
    rng = np.random.default_rng(seed)
    income = rng.integers(1, 6, n).astype(float)
    frame = pd.DataFrame(
        {
            "income": income,
            "age": np.clip(income + rng.integers(-1, 2, n), 1, 5),
            "home": rng.choice(["own", "rent", "free"], n),
            "debts": rng.integers(0, 4, n).astype(float),
        }
    )
    good = (income > 2) ^ ((frame["home"] == "own") & (frame["debts"] > 1))
    return frame, np.where(good ^ (rng.random(n) < 0.1), "good", "bad")


def points_tree(**given) -> PointsTreeClassifier:
    chosen = {"feature_penalty": 0.5, "max_features_per_split": 2, **ENDLESS}
    return PointsTreeClassifier(**chosen | given)


@pytest.fixture(scope="module")
def fitted() -> tuple[PointsTreeClassifier, pd.DataFrame, np.ndarray]:
    frame, y = credit()
    return points_tree().fit(frame, y), frame, y


# ------------------------------------------------------------------------ by force


def splits_of(data: PointsData, by_source: np.ndarray) -> list[tuple]:
    """List all splits of rows on their grid: who goes left, price, columns of X."""
    directions: Directions = data.family.directions()
    grid, source, found = data.problem.X, data.family.source, []
    for f in range(len(directions.size)):
        columns, points = directions.card(f)
        value = grid[:, columns] @ np.array(points)
        used = [source[j] for j in columns]
        price = by_source[used].sum()
        found += [
            (value <= t, price, frozenset(used), len(columns))
            for t in np.unique(value)[:-1]
        ]
    return found


def least_cost(data, by_source, without=(), first=None, not_first=(), most=99) -> float:
    """Return the least cost of a tree of depth 2 by trying every pair of splits."""
    problem, splits = data.problem, splits_of(data, by_source)
    splits = [split for split in splits if not split[2] & set(without)]
    cost = problem.class_cost
    if cost is None:
        right = problem.y[:, None] == np.arange(problem.n_classes)
        cost = np.where(right, 0.0, problem.weight[:, None])

    masks = np.array([split[0] for split in splits], dtype=float).reshape(-1, len(cost))
    price = np.array([split[1] for split in splits])
    size = np.array([split[3] for split in splits])

    def below(rows) -> dict[int, float]:
        """Return the least cost of a leaf or split by its number of features."""
        here = cost * rows[:, None]
        left, total = masks @ here, here.sum(axis=0)
        by_split = left.min(axis=1) + (total - left).min(axis=1) + price
        found = {int(n): by_split[size == n].min() for n in np.unique(size)}
        return {0: total.min()} | found

    if first is None:
        whole = below(np.ones(len(cost), dtype=bool))
        best = min(c for n, c in whole.items() if n <= most)
    else:
        best = np.inf
    for left, own, used, n in splits:
        is_asked = first is None or first in used
        if n > most or not is_asked or used & set(not_first):
            continue
        of_left, of_right = below(left), below(~left)
        pairs = [(a, b) for a in of_left for b in of_right if n + a + b <= most]
        best = min([best, *(own + of_left[a] + of_right[b] for a, b in pairs)])
    return best


def data_of(clf: PointsTreeClassifier) -> PointsData:
    return clf._training.data


# -------------------------------------------------------------------------- engine


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 2, 3]))
def test_first_splits_are_limited(seed: int, depth: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 10)), int(rng.integers(1, 4 if depth < 3 else 3))
    steps = rng.integers(1, 4, d)
    grid, y = rng.integers(0, steps + 1, (n, d)), rng.integers(0, 2, n)
    penalty = np.full(d, [0.0, 0.3][int(rng.integers(2))])
    family = Family(
        tuple(steps.tolist()), tuple(range(d)), (False,) * d,
        at_root=tuple(rng.integers(-1, 2, d).tolist()),
    )  # fmt: skip
    problem = PointsProblem.of(
        grid, y, 2, np.ones(n), None, np.ones(n, dtype=int), family, penalty
    )
    splits = []
    for f in range(len(problem.directions.size)):
        columns, points = problem.directions.card(f)
        asked = [family.at_root[j] for j in columns]
        may_be = min(asked) >= 0 and max(asked) >= max(0, *family.at_root, 0)
        value = grid[:, columns] @ np.array(points)
        price = penalty[list(columns)].sum()
        splits += [(value <= t, price, may_be) for t in np.unique(value)[:-1]]

    def best(rows: np.ndarray, depth: int, is_root: bool) -> float:
        least = float(np.bincount(y[rows], minlength=2).min())
        for left, price, may_be in splits if depth else []:
            if may_be or not is_root:
                parts = [best(rows & s, depth - 1, False) for s in (left, ~left)]
                least = min(least, price + sum(parts))
        return least

    found = solve(problem, depth, Clock())
    assert found.is_proved
    least = best(np.ones(n, dtype=bool), depth, True)
    assert problem.in_user_units(found.cost) == pytest.approx(least)
    tree = ObliqueTree.from_heap(found.heap).prune(grid.astype(float))
    asked = np.array(family.at_root)[tree.coef[0] != 0]
    assert tree.n_nodes == 1 or (
        asked.min() >= 0 and asked.max() == max(0, *family.at_root, 0)
    )


def test_most_different_ones_come_first() -> None:
    def sketch(columns, predicted, cost=1.0) -> Sketch:
        return Sketch(frozenset(columns), np.array(predicted), cost)

    first = sketch({0, 1}, [0, 0, 1, 1])
    others = [
        sketch({0, 1}, [0, 0, 1, 1]),  # the first tree again
        sketch({0, 1}, [0, 1, 1, 1]),
        sketch({2, 3}, [0, 0, 1, 1], cost=2.0),
        sketch({2, 3}, [0, 0, 1, 1], cost=1.5),  # the same, but cheaper
        sketch({0, 2}, [0, 0, 1, 1]),
    ]
    assert most_different(first, others, np.ones(4), 9) == [3, 4, 1]
    assert most_different(first, others, np.ones(4), 1) == [3]


# ---------------------------------------------------------------------- necessity


@pytest.mark.parametrize("weighted", [False, True])
def test_needs_are_those_by_force(weighted: bool) -> None:
    frame, y = credit(30)
    extra = {"cost_matrix": [[0, 3], [1, 0]]} if weighted else {}
    weight = np.arange(30) % 4 * 0.5 + 0.5 if weighted else None
    clf = points_tree(**extra).fit(frame, y, weight)
    found = clf.necessity([0, "age", "home", "debts"])
    free = np.zeros(4)
    for column, need in enumerate(found):
        least = least_cost(data_of(clf), free, without={column})
        assert (need.bound, need.cost) == (pytest.approx(least),) * 2
        assert need.is_proved
        assert need.is_plain is not weighted
    assert found.with_all.cost == pytest.approx(least_cost(data_of(clf), free))
    worse = {n.feature for n in found if n.cost > found.with_all.cost}
    assert set(found.needed) == worse
    assert worse
    word = "has errors that cost" if weighted else "makes fewer than"
    assert word in str(found[0])
    assert str(found[0]).startswith("Without income no such tree ")


def test_a_need_that_is_not_proved(fitted) -> None:
    clf, _, _ = fitted
    exact = clf.necessity()
    used = np.array(clf.table_.open_sources)[clf.tree_.coef.any(axis=0)]
    names = [clf.table_.columns[source].name for source in sorted(set(used.tolist()))]
    assert [need.feature for need in exact] == names
    short = clf.necessity(max_iter=1)
    for need, best in zip(short, exact, strict=True):
        assert need.bound <= best.bound <= best.cost <= need.cost
    open_needs = [need for need in short if not need.is_proved]
    assert all("the best one found makes" in str(need) for need in open_needs)


def test_no_time_proves_little() -> None:
    frame, y = credit()
    clf = points_tree(feature_penalty=0, max_iter=1).fit(frame, y)
    for need in clf.necessity(time_limit=0):
        assert need.bound <= need.cost
        assert str(need.feature) in str(need)


def test_the_docs_say_what_is_printed() -> None:
    wine = load_wine(as_frame=True)
    clf = points_tree(feature_penalty=1).fit(wine.data, wine.target)
    said = str(clf.necessity(["flavanoids", "proline", "ash"]))
    assert said in (Path(__file__).parents[1] / "docs" / "points.md").read_text()


# -------------------------------------------------------------------- alternatives


@pytest.mark.parametrize("weighted", [False, True])
def test_alternatives_are_the_best_of_their_kind(weighted: bool) -> None:
    frame, y = credit(40)
    extra = {"cost_matrix": [[0, 3], [1, 0]]} if weighted else {}
    weight = np.arange(40) % 4 * 0.5 + 0.5 if weighted else None
    clf = points_tree(**extra).fit(frame, y, weight)
    data = data_of(clf)
    names, by_source = list(frame), np.full(4, 0.5)
    found = clf.alternatives(within=0.15)
    assert len(found) >= 3
    assert found.is_complete
    total = data.problem.worst_class_cost.sum()
    assert found.limit == clf.objective_ + 0.15 * total
    rows, codes = np.arange(40), (y == "good").astype(int)
    costs = np.array(extra.get("cost_matrix", [[0, 1], [1, 0]]))[codes]
    costs = costs * (1 if weight is None else weight[:, None])
    for other in found:
        tree, certificate = other.tree, other.classifier.certificate_
        predicted = other.classifier.predict(frame)
        uses = np.count_nonzero(tree.coef[~tree.is_leaf])
        errors = costs[rows, (predicted == "good").astype(int)].sum()
        assert other.cost == pytest.approx(errors + 0.5 * uses)
        assert other.errors == (predicted != y).sum()
        assert other.cost <= found.limit
        assert other.agreement == (predicted == clf.predict(frame)).mean()
        kept = {names[s] for s in np.array(data.family.source)[tree.coef.any(axis=0)]}
        assert set(other.features) == kept
        least = least_cost(data, by_source, **asked(other.restriction, names))
        assert other.is_proved
        assert other.bound == pytest.approx(least)
        assert other.restriction in str(certificate)
        assert verify(
            certificate, tree, frame, y, weight, table=clf.table_, classes=clf.classes_,
            cost_matrix=extra.get("cost_matrix"),
        ).ok  # fmt: skip


def asked(words: str, names: list[str]) -> dict:
    """Read a restriction: what brute force is asked for."""
    said = words.replace(",", "").split()
    columns = {names.index(word) for word in said if word in names}
    if words.startswith("without"):
        return {"without": columns}
    if words.startswith("with at most"):
        return {"most": int(said[3])}
    first = names.index(said[5])
    return {"first": first, "not_first": columns - {first}}


def test_alternatives_differ(fitted) -> None:
    clf, frame, _ = fitted
    found = clf.alternatives(within=0.1)
    kinds = {other.restriction.split()[0] for other in found}
    assert kinds == {"without", "with"}
    shown = {
        (other.features, tuple(other.classifier.predict(frame))) for other in found
    }
    assert len(shown) == len(found)
    few = clf.alternatives(2, within=0.1)
    assert [other.restriction for other in few] == [o.restriction for o in found[:2]]
    assert clf.alternatives(within=0.1, max_iter=5).items  # deterministic and short
    narrow = clf.alternatives(within=0)
    assert all(other.cost == clf.objective_ for other in narrow)


def test_a_tree_of_few_features_is_the_best_one(fitted) -> None:
    clf, _, _ = fitted
    fit = PointsFit(data_of(clf), np.full(4, 0.5))
    for price in (0.7, 2.0, 5.0):
        fitted_tree = fit.best_of_few(price, Clock()).fitted
        n = np.count_nonzero(fitted_tree.tree.coef)
        least = least_cost(fit.data, fit.by_source, most=n)
        assert fitted_tree.certificate.objective == pytest.approx(least)
        assert fitted_tree.status == "optimal"
        assert f"with at most {n} feature" in fitted_tree.certificate.trees


def test_known_bounds_are_used(fitted) -> None:
    clf, _, _ = fitted
    fit = PointsFit(data_of(clf), np.full(4, 0.5), 1, 1)
    only = Restriction(without=frozenset({3}))
    short = fit.best(only, Clock()).fitted.certificate
    known = replace(fit, least=clf.bound_).best(only, Clock()).fitted.certificate
    assert short.objective_bound < clf.bound_ <= known.objective_bound


def test_an_alternative_is_a_classifier(fitted, tmp_path) -> None:
    clf, frame, _ = fitted
    found = clf.alternatives(within=0.1)
    other = found[0].classifier
    assert export_text(other) != export_text(clf)
    save_json(other, tmp_path / "other.json")
    again = load_json(tmp_path / "other.json")
    assert (again.predict(frame) == other.predict(frame)).all()
    assert again.certificate_ == other.certificate_
    assert pickle.loads(pickle.dumps(other)).certificate_ == other.certificate_
    with pytest.raises(ValueError, match="does not hold its training rows"):
        other.alternatives()


def test_the_table_of_alternatives(fitted) -> None:
    clf, _, _ = fitted
    found = clf.alternatives(within=0.1)
    title, heads, *lines = str(found).splitlines()
    assert title.startswith("Other trees of cost up to ")
    assert heads.split()[:2] == ["cost", "errors"]
    assert len(lines) == len(found)
    assert repr(found) == str(found)
    for line, other in zip(lines, found, strict=True):
        assert ", ".join(other.features) in line
        assert other.restriction in line
        assert line.endswith("proved")
    assert found[0].restriction in str(found[0])
    hurried = clf.alternatives(time_limit=0)
    assert str(hurried).startswith("No other tree was found of cost up to ")
    assert str(hurried).endswith("There was no time to look for all of them.")
    assert not hurried


def test_a_loaded_classifier_is_given_its_rows(fitted) -> None:
    clf, frame, y = fitted
    loaded = pickle.loads(pickle.dumps(clf))
    with pytest.raises(ValueError, match="Give X and y, the rows of the fit"):
        loaded.necessity()
    assert str(loaded.necessity(X=frame, y=y)) == str(clf.necessity())
    assert str(loaded.alternatives(X=frame, y=y)) == str(clf.alternatives())
    with pytest.raises(ValueError, match="digest differs"):
        loaded.alternatives(X=frame, y=y[::-1])
    with pytest.raises(ValueError, match="columns or classes differ"):
        loaded.alternatives(X=frame.rename(columns={"age": "years"}), y=y)
    with pytest.raises(ValueError, match="give both, or none"):
        loaded.alternatives(X=frame)
    assert (loaded.predict(frame) == clf.predict(frame)).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n": 0}, "n must be a whole number >= 1, got 0"),
        ({"within": -1}, "within must be a finite number >= 0, got -1"),
        ({"within": np.inf}, "within must be a finite number >= 0, got inf"),
        ({"time_limit": -1}, "must be >= 0 or None"),
    ],
)
def test_bad_questions(fitted, given, said) -> None:
    with pytest.raises(ValueError, match=said):
        fitted[0].alternatives(**given)
    with pytest.raises(ValueError, match="names 'wage', which is no column"):
        fitted[0].necessity(["wage"])


def test_a_tree_of_one_column() -> None:
    frame, y = credit()
    clf = points_tree(max_depth=1).fit(frame[["income"]], y)
    only = clf.necessity()[0]
    assert only.cost == min((y == "good").sum(), (y == "bad").sum())
    found = clf.alternatives(within=1.0)
    assert [other.features for other in found] == [()]
    assert export_text(found[0].classifier)


# -------------------------------------------------------- report and command line


def test_the_report_lists_what_was_found(fitted) -> None:
    clf, frame, y = fitted
    found, needs = clf.alternatives(3, within=0.1), clf.necessity()
    page = report_html(clf, frame, y, alternatives=found, necessity=needs)
    pattern = r'<script type="application/json" id="facts">(.*?)</script>'
    facts = json.loads(re.search(pattern, page, flags=re.DOTALL).group(1))
    head, *lines = facts["others"]["table"]
    assert head[1] == "cost"
    assert [line[5] for line in lines] == [other.restriction for other in found]
    assert facts["others"]["needs"] == str(needs).splitlines()
    plain = report_html(clf, frame, y)
    assert '"others": null' in plain


def test_the_command_lists_both(fitted, tmp_path) -> None:
    clf, frame, y = fitted
    model, data = tmp_path / "model.json", tmp_path / "credit.csv"
    save_json(clf, model, metadata={"target": "class"})
    frame.assign(**{"class": y}).to_csv(data, index=False)
    found = run("alternatives", model, data, "--within", "0.1", "--number", "2")
    assert found.exit_code == 0, found.output
    expected = [str(clf.alternatives(2, within=0.1)), "", str(clf.necessity())]
    assert found.stdout.split() == "\n".join(expected).split()
    out = tmp_path / "page.html"
    assert run("report", model, data, "--out", out, "--alternatives").exit_code == 0
    assert "Without income no such tree" in out.read_text()


def test_the_command_reads_labels_that_are_numbers(tmp_path) -> None:
    frame, y = credit(40)
    clf = points_tree().fit(frame, (y == "good").astype(int))
    model, data = tmp_path / "model.json", tmp_path / "credit.csv"
    save_json(clf, model, metadata={"target": "class"})
    frame.assign(**{"class": (y == "good").astype(int)}).to_csv(data, index=False)
    found = run("alternatives", model, data, "--number", "1", "--time-limit", "0")
    assert found.exit_code == 0, found.output


def test_the_command_wants_a_points_tree(tmp_path) -> None:
    save_json(iris_model(), tmp_path / "m.json", metadata={"target": "y"})
    iris = load_iris(as_frame=True)
    rows = iris.data.assign(y=iris.target_names[iris.target])
    rows.to_csv(tmp_path / "iris.csv", index=False)
    said = refused("alternatives", tmp_path / "m.json", tmp_path / "iris.csv")
    assert "The model is no points tree" in said
