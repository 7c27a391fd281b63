"""What the benchmarks share: the paper's data, its 26 pairs, a resumable journal."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results"
DATA = Path(
    os.environ.get("MIPTREE_DATA", Path(__file__).parents[2] / "shared" / "data")
)

PAIRS = [
    *(
        (name, 2)
        for name in (
            "iris",
            "congressional-voting",
            "spectf-heart",
            "breast-cancer-wisconsin",
            "heart-disease-cleveland",
            "image-segmentation",
            "hayes-roth",
            "banknote-authentication",
            "echocardiogram",
            "seeds",
            "dermatology",
            "indian-liver",
            "parkinsons",
            "sonar",
            "haberman-survival",
            "hepatitis",
            "planning-relax",
            "balance-scale",
            "ionosphere",
            "monks-1",
            "monks-2",
            "monks-3",
            "wine",
        )
    ),
    ("dermatology", 3),
    ("heart-disease-cleveland", 3),
    ("image-segmentation", 3),
]
"""The (set, depth) pairs of the paper's tables 1-5."""


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (string columns one-hot) and class indices of a data set."""
    meta = {m["name"]: m for m in json.loads((DATA / "meta.json").read_text())["paper"]}
    frame = pd.read_csv(DATA / "paper" / meta[name]["file"], dtype={"target": str})
    y, _ = pd.factorize(frame.pop("target"), sort=True)
    strings = meta[name]["string_columns"]
    frame = pd.get_dummies(frame, columns=strings) if strings else frame
    return frame.to_numpy(dtype=float), y.astype(np.intp)


class Journal:
    """Append-only JSON lines; a run that has a line is not run again.

    Parameters
    ----------
    path : Path
        The file.
    key : tuple of str
        Fields that name a run.
    """

    def __init__(self, path: Path, key: tuple[str, ...]) -> None:
        self.path, self.key = path, key

    def records(self) -> list[dict[str, Any]]:
        """All finished runs."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def done(self) -> set[tuple[Hashable, ...]]:
        """Keys of the finished runs."""
        return {tuple(record[field] for field in self.key) for record in self.records()}

    def append(self, record: dict[str, Any]) -> None:
        """Write a finished run, so that it survives whatever comes next."""
        self.path.parent.mkdir(exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
