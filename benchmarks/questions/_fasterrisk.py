"""FasterRisk, a peer that needs other versions than ours: it runs in its own Python.

    python -m venv /work/venv-peers && /work/venv-peers/bin/pip install fasterrisk
    MIPTREE_PEERS_PYTHON=/work/venv-peers/bin/python python benchmarks/run.py ...

As a program, this file is what that Python runs: it reads and writes NumPy files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

N_THRESHOLDS = 20
"""Thresholds of a number, at quantiles: about the steps of our grid."""


class FasterRiskScores:
    """One risk score of small whole points for thresholds and categories.

    Parameters
    ----------
    n_features : int
        Most thresholds and categories that get points.
    seconds : float
        Wall seconds after which the fit is given up.
    """

    def __init__(self, n_features: int, seconds: float) -> None:
        self.n_features, self.seconds = n_features, seconds

    def fit(self, X: np.ndarray, y: np.ndarray) -> FasterRiskScores:
        """Learn points for two classes."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"FasterRisk takes two classes, got {len(self.classes_)}.")
        levels = np.linspace(0, 1, N_THRESHOLDS + 2)[1:-1]
        inner = [np.unique(np.quantile(x, levels, method="lower")) for x in X.T]
        self.cuts_ = [c[c < x.max()] for c, x in zip(inner, X.T, strict=True)]
        with tempfile.TemporaryDirectory() as folder:
            given, found = Path(folder) / "given.npz", Path(folder) / "found.npy"
            np.savez(given, X=self._binary(X), y=2.0 * codes - 1, k=self.n_features)
            python = os.environ["MIPTREE_PEERS_PYTHON"]
            command = [python, __file__, str(given), str(found)]
            subprocess.run(
                command, check=True, timeout=self.seconds, capture_output=True
            )
            self.points_ = np.load(found)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class that is more probable."""
        score = self.points_[0] + self._binary(X) @ self.points_[1:]
        return self.classes_[(score > 0).astype(int)]

    def _binary(self, X: np.ndarray) -> np.ndarray:
        columns = [x[:, None] <= cuts for x, cuts in zip(X.T, self.cuts_, strict=True)]
        return np.concatenate(columns, axis=1).astype(float)


def main(given: str, found: str) -> None:
    """Learn the points of a file of rows and write them, the constant first."""
    from fasterrisk.fasterrisk import RiskScoreOptimizer

    data: Any = np.load(given)
    optimizer = RiskScoreOptimizer(X=data["X"], y=data["y"], k=int(data["k"]))
    optimizer.optimize()
    _, constant, points = optimizer.get_models(model_index=0)
    np.save(found, np.append(constant, points))


if __name__ == "__main__":
    main(*sys.argv[1:])
