"""The general sets of the development data, for every method to read."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from common import Split

GENERAL = (
    *("zoo", "lymphography", "autos", "breast-cancer-ljubljana", "horse-colic"),
    *("chronic-kidney-disease", "user-knowledge", "thoracic-surgery"),
    *("early-diabetes", "cylinder-bands", "hcv", "eucalyptus", "vehicle"),
    *("qsar-biodeg", "mice-protein", "contraceptive", "steel-plates-faults"),
    *("obesity", "cardiotocography", "splice", "wilt", "hmeq", "telco-churn"),
    *("room-occupancy", "online-shoppers", "coupon", "dry-bean", "electricity"),
)
MISSING = "(missing)"


@cache
def load_general(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return features, nominal ones as categories, and labels of a general set."""
    folder = Path(os.environ["MIPTREE_DATA"]) / "dev"
    listed = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["dev"]
    told = next(entry for entry in listed if entry["name"] == name)
    text = dict.fromkeys([*told["categorical_columns"], "target"], str)
    frame = pd.read_csv(folder / told["file"], dtype=text)
    target = frame.pop("target")
    for column in told["categorical_columns"]:
        frame[column] = frame[column].astype("category")
    return frame, target


def without_gaps(rows: Split) -> Split:
    """Return rows for methods that cannot read gaps.

    A missing category is a value; a missing number is the median of the training rows,
    and where these have gaps another column says so.
    """
    X, X_test = rows.X.copy(), rows.X_test.copy()
    for name in rows.X.columns:
        for part in (X, X_test):
            _fill(part, name, rows.X[name])
    return rows._replace(X=X, X_test=X_test)


def _fill(part: pd.DataFrame, name: str, trained: pd.Series) -> None:
    given: Any = part[name]
    if isinstance(given.dtype, pd.CategoricalDtype):
        part[name] = given.astype(object).fillna(MISSING).astype("category")
        return
    if trained.isna().any():
        part[f"{name} {MISSING}"] = given.isna().astype(float)
    part[name] = given.fillna(trained.median())
