"""Encoding of a frame with categories as a matrix of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from miptree.utils.arrays import FloatArray

if TYPE_CHECKING:
    import pandas as pd

ENCODINGS = {
    "frame": "the frame itself, whose categories the method knows by their dtype",
    "codes": "every column as one number, as the paper's d suggests",
    "nominal": "as codes, and categories of more than two values also as one-hot",
}


class Encoder:
    """Encoding learnt from training rows, applied to any rows.

    Text becomes its place among the sorted training values, -1 if it was not there; a
    value not seen in training has no one-hot column.

    Parameters
    ----------
    kind : {"frame", "codes", "nominal"}
        See :data:`ENCODINGS`.
    """

    def __init__(self, kind: str) -> None:
        if kind not in ENCODINGS:
            raise ValueError(f"encoding must be one of {[*ENCODINGS]}, got {kind!r}.")
        self.kind = kind

    def fit(self, frame: pd.DataFrame) -> Encoder:
        """Learn the values of the categorical columns."""
        self.values_ = {
            name: sorted(frame[name].dropna().unique().tolist())
            for name in frame.columns
            if frame[name].dtype == "category"
        }
        return self

    def transform(self, frame: pd.DataFrame) -> FloatArray | pd.DataFrame:
        """Encode rows."""
        if self.kind == "frame":
            return frame
        columns: list[FloatArray] = []
        for name in frame.columns:
            values = self.values_.get(name)
            if values is None:
                columns.append(frame[name].to_numpy(dtype=np.float64))
                continue
            given = frame[name].astype(object)
            columns.append(_codes(given, values))
            if self.kind == "nominal" and len(values) > 2:
                columns += [(given == v).to_numpy(dtype=np.float64) for v in values]
        return np.column_stack(columns)


def _codes(given: pd.Series, values: list[object]) -> FloatArray:
    if values and isinstance(values[0], str):
        place = {value: i for i, value in enumerate(values)}
        return np.array([place.get(value, -1) for value in given], dtype=np.float64)
    return given.to_numpy(dtype=np.float64)
