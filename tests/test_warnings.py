"""Where a warning points: to the user's line, whatever lies between."""

import linecache

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from miptree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    PointsTreeClassifier,
)
from miptree.data import table
from miptree.tuning import CartTree

LIKE_AN_ID = "like an id"
CLASSIFIERS = [
    OptimalTreeClassifier(solver="search", time_limit=None, max_iter=2),
    PointsTreeClassifier(max_depth=1, feature_penalty=1.0, time_limit=None),
    OptimalTreeClassifierCV(
        max_depth=1, candidates=[CartTree()], cv=2, n_repeats=1, sparsity=None,
        time_limit=None, random_state=0,
    ),
]  # fmt: skip


def with_an_id() -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of which one column is a text of its own in each."""
    size = np.arange(60.0)
    frame = pd.DataFrame({"size": size, "id": [f"no. {k:02}" for k in range(60)]})
    return frame, (size > 25).astype(int)


def lines_told(found: pytest.WarningsRecorder) -> list[tuple[str, str]]:
    """Return file and line of the warnings of the id column."""
    return [
        (one.filename, linecache.getline(one.filename, one.lineno))
        for one in found
        if LIKE_AN_ID in str(one.message)
    ]


@pytest.mark.parametrize("clf", CLASSIFIERS, ids=lambda clf: type(clf).__name__)
def test_a_warning_of_the_data_names_the_line_that_fits(clf) -> None:
    X, y = with_an_id()
    with pytest.warns(UserWarning, match=LIKE_AN_ID) as found:
        clf.fit(X, y)
    told = lines_told(found)
    assert told
    for file, line in told:
        assert (file, line.strip()) == (__file__, "clf.fit(X, y)")


def test_scikit_learn_may_stand_between() -> None:
    X, y = with_an_id()
    model = make_pipeline(FunctionTransformer(), CLASSIFIERS[0])
    with pytest.warns(UserWarning, match=LIKE_AN_ID) as found:
        cross_val_predict(model, X, y)
    told = lines_told(found)
    assert len(told) == 5
    for file, line in told:
        assert (file, line.strip()) == (__file__, "cross_val_predict(model, X, y)")


def test_where_no_line_is_the_users_a_warning_names_what_warns() -> None:
    fit = delayed(CLASSIFIERS[0].fit)
    with pytest.warns(UserWarning, match=LIKE_AN_ID) as found:
        Parallel(n_jobs=2, prefer="threads")(fit(*with_an_id()) for _ in range(2))
    told = lines_told(found)
    assert len(told) == 2
    assert {file for file, _ in told} == {table.__file__}
