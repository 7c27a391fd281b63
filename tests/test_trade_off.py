"""What a rule costs: a fit for each bound, each counted by prediction."""

import numpy as np
import pytest

from miptree import OptimalTreeClassifier
from miptree.constraints import (
    DemographicParity,
    MaxRate,
    MinLeaf,
    MinRate,
)
from miptree.plot import plot_trade_off
from miptree.trade_off import trade_off

BUDGET = {"solver": "search", "max_iter": 8, "time_limit": None, "random_state": 0}


def people(n, seed):
    rng = np.random.default_rng(seed)
    groups = rng.choice(["f", "m"], n)
    X = rng.normal(size=(n, 2))
    X[:, 0] += groups == "m"
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0.5).astype(int), groups


def difference(model, X, groups):
    predicted = model.predict(X)
    rates = [predicted[groups == g].mean() for g in ("f", "m")]
    return max(abs(rate - predicted.mean()) for rate in rates)


@pytest.fixture(scope="module")
def found():
    X, y, groups = people(80, 0)
    rules = [MinLeaf(rows=4), DemographicParity(difference_bound=0.5)]
    clf = OptimalTreeClassifier(constraints=rules, **BUDGET)
    bounds = [0.3, 0.01, 0.1]
    fit = {"sensitive_features": groups, "test": people(60, 1)}
    return trade_off(clf, X, y, bounds, **fit)


def test_numbers_are_those_of_predictions(found):
    X, y, groups = people(80, 0)
    others, labels, other_groups = people(60, 1)
    assert [point.bound for point in found.points] == [0.01, 0.1, 0.3]
    for point in found.points:
        model = point.model
        assert point.errors == (model.predict(X) != y).sum()
        assert point.accuracy == pytest.approx(model.score(X, y))
        assert point.test_accuracy == pytest.approx(model.score(others, labels))
        assert point.value == pytest.approx(difference(model, X, groups))
        assert point.value <= point.bound + 1e-12
        assert point.test_value == pytest.approx(
            difference(model, others, other_groups)
        )
    row = found.table()[0]
    assert row["bound"] == 0.01
    assert "test_value" in row


def test_a_looser_bound_never_costs_more(found):
    prices = [point.price for point in found.points]
    assert prices == sorted(prices, reverse=True)
    assert prices[0] > prices[-1] >= 0


def test_the_better_tree_of_a_tighter_bound_is_shown_for_looser_ones(monkeypatch):
    """The fit with the looser bound gets no time to find anything."""
    X, y, _ = people(60, 0)
    fit = OptimalTreeClassifier.fit

    def hurried(clf, *args, **kwargs):
        if clf.constraints[0].bound == 0.7:
            clf = clf.set_params(max_iter=0, max_depth=1, l1_penalty=1000.0)
        return fit(clf, *args, **kwargs)

    monkeypatch.setattr(OptimalTreeClassifier, "fit", hurried)
    clf = OptimalTreeClassifier(constraints=[MaxRate(1, 1.0)], **BUDGET)
    tight, loose = trade_off(clf, X, y, [0.6, 0.7]).points
    assert loose.model is tight.model
    assert (tight.bound, loose.bound) == (0.6, 0.7)
    assert loose.test_value is None


def test_bounds_that_no_tree_keeps_are_told():
    X, y, _ = people(60, 0)
    rules = [MinRate(1, 0.5), MaxRate(1, 0.8)]
    clf = OptimalTreeClassifier(constraints=rules, **BUDGET)
    found = trade_off(clf, X, y, [0.5, 0.9], rule=0)
    assert [point.bound for point in found.points] == [0.5]
    assert "Proved: no such tree exists" in found.failed[0.9]
    with pytest.raises(ValueError, match=r"one of 0 \(MinRate\), 1 \(MaxRate\)"):
        trade_off(clf, X, y, [0.5])
    none = OptimalTreeClassifier(constraints=[MinLeaf(rows=3)], **BUDGET)
    with pytest.raises(ValueError, match="needs a constraint with a bound"):
        trade_off(none, X, y, [0.5])


def test_the_picture_shows_the_numbers(found):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    accuracy, value = plot_trade_off(found)
    training, test = accuracy.lines
    assert training.get_ydata().tolist() == [p.accuracy for p in found.points]
    assert test.get_ydata().tolist() == [p.test_accuracy for p in found.points]
    assert value.lines[1].get_ydata().tolist() == [p.test_value for p in found.points]
    assert value.get_xlabel() == "bound of DemographicParity"
    assert value.get_ylabel() == "difference, as counted"
    pyplot.close("all")
    given = pyplot.subplots(2, 1)[1]
    assert plot_trade_off(found, ax=given)[0] is given[0]
    pyplot.close("all")
