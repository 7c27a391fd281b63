"""Every scikit-learn check for the baselines."""

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


def expected_to_fail(estimator):
    """Name the checks that a baseline fails by what it is."""
    if not isinstance(estimator, AghaeiTreeClassifier):
        return {}
    reason = "Errors are all that counts: it splits for rows that weigh next to nothing"
    return {"check_class_weight_classifiers": reason}


@parametrize_with_checks(
    [
        OCTHClassifier(**BUDGET),
        OCTClassifier(**BUDGET),
        AghaeiTreeClassifier(**BUDGET),
        BinOCTClassifier(**BUDGET),
        FlowOCTClassifier(**BUDGET),
        GreedySVMTreeClassifier(),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_sklearn_check(estimator, check):
    check(estimator)
