"""What the questions share: the paper's data, splits, searches and seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from miptree import datasets
from miptree.bench.measure import split_rows
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.search import SearchResult, search
from miptree.tree import ObliqueTree

os.environ.setdefault(
    "MIPTREE_DATA", str(Path(__file__).parents[2] / "shared" / "data")
)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the features (string columns one-hot) and class indices of a data set."""
    data = datasets.load(name)
    y, _ = pd.factorize(data.target, sort=True)
    first = data.frame.iloc[0]
    strings = [name for name in data.categorical if isinstance(first[name], str)]
    frame = pd.get_dummies(data.frame, columns=strings) if strings else data.frame
    return frame.to_numpy(dtype=float), y.astype(np.intp)


class Split(NamedTuple):
    """Training rows, test rows and their labels, in the order of scikit-learn."""

    X: Any
    X_test: Any
    y: Any
    y_test: Any

    @property
    def problem(self) -> Problem:
        """The training part."""
        return problem_of(self.X, self.y, int(self.y_test.max()) + 1)

    def accuracies(self, tree: ObliqueTree) -> tuple[float, float]:
        """Percent of the training and of the test rows that a tree has right."""
        train, test = tree.predict(self.X) == self.y, tree.predict(self.X_test)
        return percent(train), percent(test == self.y_test)


def split_of(X: Any, y: Any, seed: int) -> Split:
    """Split rows 75/25, stratified."""
    return Split(*split_rows(X, y, seed))


def problem_of(X: np.ndarray, y: np.ndarray, n_classes: int = 0) -> Problem:
    """Return the problem of all rows, of at least so many classes."""
    return Problem.from_data(X, y, max(int(y.max()) + 1, n_classes))


def percent(right: np.ndarray) -> float:
    """Percent of the rows that are right."""
    return round(100 * float(np.mean(right)), 3)


def oblique_classes(
    X: np.ndarray, coef: np.ndarray, rng: np.random.Generator, centred: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Label rows by an oblique tree of depth 3 and 4 classes; redraw 5 % of the labels.

    Returns the labels and, before the redrawing, the true ones. The splits are at 0 or,
    unless the rows are ``centred``, at the median of the rows of their node.
    """
    node = np.zeros(len(X), dtype=np.intp)
    for b in range(7):
        here = node == b
        value = X[here] @ coef[b]
        node[here] = 2 * b + 1 + (value > (0 if centred else np.median(value)))
    truth = np.array([0, 1, 2, 3, 1, 0, 3, 2])[node - 7]
    noisy = rng.random(len(X)) < 0.05
    return np.where(noisy, rng.integers(4, size=len(X)), truth), truth


def search_for(
    seconds: float,
    problem: Problem,
    depth: int,
    objective: Svm1Objective | None = None,
    time_source: Callable[[], float] = time.process_time,
    **options: Any,
) -> SearchResult:
    """Search for so many CPU seconds, by default for the fewest errors."""
    return search(
        problem,
        objective,
        depth,
        clock=Clock(seconds, time_source=time_source),
        **options,
    )


def timed(
    work: Callable[[], Any], clock: Callable[[], float] = time.process_time
) -> tuple[Any, float]:
    """Return the answer of a call and its seconds, by default of CPU time."""
    began = clock()
    answer = work()
    return answer, clock() - began
