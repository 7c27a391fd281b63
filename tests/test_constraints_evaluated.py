"""Rules on other rows than those of the training."""

import numpy as np
import pytest

from miptree import OptimalTreeClassifier
from miptree.constraints import ForbidFeatures, MaxCost, MaxRate, MinLeaf, Signs
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
