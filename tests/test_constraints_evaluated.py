"""Rules on other rows than those of the training."""

import numpy as np
import pytest

from miptree import OptimalTreeClassifier
from miptree.constraints import (
    DemographicParity,
    ForbidFeatures,
    MaxCost,
    MaxRate,
    MinLeaf,
    Monotone,
    Signs,
)
from miptree.evaluate import evaluate_rules


def fitted(rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)
    parameters = {"solver": "search", "max_iter": 5, "random_state": 0, "max_depth": 1}
    return OptimalTreeClassifier(constraints=[rule], **parameters).fit(X, y), X, y


@pytest.mark.parametrize("rule", [MinLeaf(rows=40), MaxCost(50), Signs({0: 1}, 1)])
def test_what_is_about_training_rows_is_not_counted_on_others(rule):
    clf, X, y = fitted(rule)
    (finding,) = evaluate_rules(clf, X[:9], 1 - y[:9])
    (said,) = clf.certificate_.rules
    assert finding.kept
    assert finding.sentence.startswith(f"In training: {said}")
    assert finding.sentence.endswith("training rows, and is not counted on these.")


def test_other_rules_are_counted_there():
    clf, X, y = fitted(MaxRate(1, 0.5))
    here = clf.predict(X) == 1
    (finding,) = evaluate_rules(clf, X[here], y[here])
    assert not finding.kept
    assert "NOT kept, it is" in finding.sentence
    clf, X, y = fitted(ForbidFeatures([1]))
    assert evaluate_rules(clf, X[:5], y[:5])[0].sentence == clf.certificate_.rules[0]


def test_groups_of_which_no_two_are_compared_are_told():
    groups = np.repeat(["f", "m"], 20)
    X, y = np.arange(40.0)[:, None], np.arange(40) > 18
    rule = DemographicParity(difference_bound=0.1)
    clf = OptimalTreeClassifier(
        constraints=[rule], max_depth=1, solver="search", max_iter=2, random_state=0
    )
    words = "nothing is compared, as nowhere are rows of two groups"
    clf.fit(X, y, sensitive_features=groups, control_features=groups)
    assert words in clf.certificate_.rules[0]
    control = np.arange(40) % 2
    clf.fit(X, y, sensitive_features=groups, control_features=control)
    assert words not in clf.certificate_.rules[0]


def test_an_order_of_leaves_is_called_sufficient():
    clf, _, _ = fitted(Monotone({0: +1}, 1))
    assert "order of the leaves (sufficient for that, not nec" in str(clf.certificate_)
