"""What the benchmarks share: the paper's data, its 26 pairs, a resumable journal."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

from miptree import datasets
from miptree.bench.journal import Journal
from miptree.bench.suites import SMALL as PAIRS

__all__ = ["DATA", "PAIRS", "RESULTS", "Journal", "load"]

RESULTS = Path(__file__).parent / "results"
DATA = Path(
    os.environ.setdefault(
        "MIPTREE_DATA", str(Path(__file__).parents[2] / "shared" / "data")
    )
)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (string columns one-hot) and class indices of a data set."""
    data = datasets.load(name)
    y, _ = pd.factorize(data.target, sort=True)
    strings = [
        column
        for column in data.categorical
        if isinstance(data.frame[column].iloc[0], str)
    ]
    frame = pd.get_dummies(data.frame, columns=strings) if strings else data.frame
    return frame.to_numpy(dtype=float), y.astype(np.intp)
