"""What the client knows of all rows after a first pass over the partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from miptree.data import Table, learn_table
from miptree.data.limits import Limits, NumbersSeen
from miptree.data.problem import Problem
from miptree.distributed._dask import first_error
from miptree.distributed._frame import Columns, Frame, Summary
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Overview:
    """Ranges, classes and weights of all rows.

    Attributes
    ----------
    columns : Columns
    classes : array of shape (Y,)
        Class labels in order.
    ends : float array of shape (2, d)
        Lowest and highest value of each feature.
    n_rows, n_unweighted : int
        Rows of a weight above zero, and the others.
    has_weights : bool
        Whether some weight is not 1.
    class_weight : float array of shape (Y,)
        Weight of each class.
    class_count : int array of shape (n_partitions, Y)
        Rows of each class in each partition.
    seen : list of list of tuple of NumbersSeen
        Of each class what the partitions that have it show of each feature.
    """

    columns: Columns
    classes: AnyArray
    ends: FloatArray
    n_rows: int
    n_unweighted: int
    has_weights: bool
    class_weight: FloatArray
    class_count: IntArray
    seen: list[list[tuple[NumbersSeen, ...]]]

    @classmethod
    def of(cls, found: Sequence[Summary | str], columns: Columns) -> Overview:
        """Join what is known of the partitions, or raise the first of their errors."""
        first_error(found)
        parts = [part for part in found if isinstance(part, Summary)]
        some = [part for part in parts if part.n_rows]
        if not some:
            raise ValueError("The table has no rows (of a weight above zero).")
        classes = _classes(some, columns.target)
        weight, count = np.zeros(len(classes)), np.zeros((len(parts), len(classes)))
        seen: list[list[tuple[NumbersSeen, ...]]] = [[] for _ in classes]
        for number, part in enumerate(parts):
            if part.n_rows:
                place = np.searchsorted(classes, part.classes)
                weight[place] += part.class_weight
                count[number, place] = part.class_count
                for k, shown in zip(place.tolist(), part.seen, strict=True):
                    seen[k].append(shown)
        low = np.min([part.low for part in some], axis=0)
        high = np.max([part.high for part in some], axis=0)
        return cls(
            columns,
            classes,
            np.stack([low, high]),
            sum(part.n_rows for part in some),
            sum(part.n_unweighted for part in parts),
            any(part.has_weights for part in some),
            weight,
            count.astype(np.intp),
            seen,
        )

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.class_weight.sum())

    def limits(self, class_factor: FloatArray | None = None) -> list[Limits]:
        """Return the limits of each feature in rows that count, as one fit learns them.

        Rows of a class whose weights are multiplied by zero do not.
        """
        counts = np.ones(len(self.classes)) if class_factor is None else class_factor
        kept = [part for k in np.flatnonzero(counts) for part in self.seen[k]]
        return [
            NumbersSeen.joined(of_one).limits() for of_one in zip(*kept, strict=True)
        ]

    def learn_table(self, encoding: str, missing: str, unknown: str) -> Table:
        """Learn from the ends of the ranges what can be learnt from them.

        That is all of the columns but what fills a gap.
        """
        cells = self.columns.cells(self.ends)
        is_truth = [name in self.columns.truths for name in self.columns.features]
        return learn_table(cells, np.ones(2), is_truth, encoding, missing, unknown)

    def frame(
        self, table: Table, costs: FloatArray | None, max_features: int | None
    ) -> Frame:
        """Return what all partitions share."""
        none = np.zeros(0)
        frame = Frame(
            self.columns, self.classes, table, none, none, costs, max_features
        )
        # The scaling of all rows is that of these two.
        both = Problem.from_data(
            frame.numbers(self.ends),
            np.array([0, 1]),
            2,
            value_feature=table.value_feature,
        )
        return replace(frame, offset=both.offset, scale=both.scale)


def _classes(parts: Sequence[Summary], target: str) -> AnyArray:
    """Return the classes of all partitions, at least two, after checks."""
    kinds = {part.classes.dtype.kind in "US" for part in parts}
    if len(kinds) > 1:
        raise ValueError(
            f"Column {target!r} holds text in some partitions and numbers in others. "
            "Convert it to one type."
        )
    classes = np.unique(np.concatenate([part.classes for part in parts]))
    check_classification_targets(np.repeat(classes, 2))  # once is suspicious
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least 2 classes, got one class: {classes[0]!r}."
        )
    return classes
