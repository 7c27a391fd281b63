"""Prediction on Dask collections."""

from __future__ import annotations

from typing import Any

from miptree.classifiers.table_classifier import TableClassifier
from miptree.distributed._files import open_table


def predict(clf: TableClassifier, data: Any) -> Any:
    """Predict the class of every row of a Dask DataFrame, lazily.

    Parameters
    ----------
    clf : OptimalTreeClassifier or PointsTreeClassifier
        Fitted, on a table with column names or without.
    data : dask DataFrame or str
        The table, or a pattern of Parquet or CSV files. Columns are found by name;
        others are ignored.

    Returns
    -------
    dask Series
        Predicted labels, partitioned and indexed as the table.
    """
    names = getattr(clf, "feature_names_in_", None)
    table = open_table(data, names)
    if names is not None:
        missing = [name for name in names if name not in table.columns]
        if missing:
            raise ValueError(f"There is no column {missing[0]!r} to predict from.")
        table = table[list(names)]
    return table.map_partitions(_predict_part, clf, meta=_meta(clf))


def _predict_part(part: Any, clf: TableClassifier) -> Any:
    import pandas as pd

    if not len(part):
        return _meta(clf)
    known = hasattr(clf, "feature_names_in_")
    predicted = clf.predict(part if known else part.to_numpy())
    return pd.Series(predicted, index=part.index, name="prediction")


def _meta(clf: TableClassifier) -> Any:
    import pandas as pd

    return pd.Series(clf.classes_[:0], name="prediction")
