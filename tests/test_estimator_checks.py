"""Every scikit-learn check, none expected to fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from miptree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    PointsTreeClassifier,
)


@parametrize_with_checks(
    [
        OptimalTreeClassifier(max_iter=5, node_limit=1, time_limit=None),
        OptimalTreeClassifier(
            max_iter=5, solver="search", time_limit=None, l1_penalty=0.1
        ),
        OptimalTreeClassifierCV(cv=2, n_repeats=1, time_limit=None),
        PointsTreeClassifier(max_iter=5, max_depth=3, time_limit=None),
        PointsTreeClassifier(
            max_features_per_split=2, feature_penalty=0.1, time_limit=None
        ),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)
