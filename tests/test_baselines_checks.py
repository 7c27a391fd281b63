"""Every scikit-learn check for the baselines, none expected to fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from miptree.baselines import (
    AghaeiTreeClassifier,
    BinOCTClassifier,
    FlowOCTClassifier,
    GreedySVMTreeClassifier,
    OCTClassifier,
    OCTHClassifier,
)

BUDGET = {"node_limit": 0, "time_limit": None}
"""The MIP is built and started from, but no node is solved: seconds, not minutes."""


@parametrize_with_checks(
    [
        OCTHClassifier(**BUDGET),
        OCTClassifier(**BUDGET),
        AghaeiTreeClassifier(**BUDGET),
        BinOCTClassifier(**BUDGET),
        FlowOCTClassifier(**BUDGET),
        GreedySVMTreeClassifier(),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)
