"""What the questions on points trees share: fits whose limit is in CPU seconds."""

from __future__ import annotations

import time
import warnings
from functools import cache, partial
from typing import Any
from unittest import mock

import numpy as np

from common import Split, split_of
from miptree import PointsTreeClassifier, datasets
from miptree.control.clock import Clock

CPU_CLOCK = partial(Clock, time_source=time.process_time)


class CpuLimited(PointsTreeClassifier):
    """The same with a time limit in CPU seconds, as other work shares the machine."""

    def fit(self, X: Any, y: Any) -> CpuLimited:
        """Find the best tree."""
        with mock.patch("miptree.estimator_points.Clock", CPU_CLOCK):
            super().fit(X, y)
        return self


def points_tree(limit: float, **parameters: Any) -> CpuLimited:
    """Return a tree of depth 2 that is found on one core."""
    return CpuLimited(max_depth=2, n_jobs=1, time_limit=limit, **parameters)


def rows_of(name: str, split: int) -> Split:
    """Split a set of the paper, its categories told by their dtype."""
    data = datasets.load(name)
    return split_of(data.frame, data.target.to_numpy(dtype=str), split)


def measured_fit(X: Any, y: Any, limit: float, **parameters: Any) -> dict[str, Any]:
    """Fit a tree with its kernels compiled before; return it and its seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns left out, which is recorded
        make_ready()
        points_tree(limit, max_iter=2, **parameters).fit(X, y)
        clf = points_tree(limit, **parameters)
        wall, cpu = time.perf_counter(), time.process_time()
        clf.fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"clf": clf, "cpu": round(cpu, 3), "wall": round(wall, 3)}


@cache
def make_ready() -> None:
    """Compile what a fit uses that chooses its penalty by cross-validation."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(80, 2)), rng.integers(2, size=80)])
    y = (X[:, 0] + X[:, 1] > rng.normal(size=80)).astype(int)
    PointsTreeClassifier(max_features_per_split=3, n_jobs=1, time_limit=None).fit(X, y)


def proved_fields(found: dict[str, Any]) -> dict[str, Any]:
    """Return what a record says of a fit that may be proved."""
    clf = found["clf"]
    return {
        "columns": clf.n_features_in_,
        "directions": len(clf.family_.directions().size),
        "errors": clf.certificate_.errors,
        "bound": clf.bound_,
        "status": clf.status_,
        "roots": clf.n_iter_,
        "left_out": clf.narrowing_,
        "cpu": found["cpu"],
        "wall": found["wall"],
    }
