"""Trees made by hand, and what an explanation says of a row of a frame."""

import copy
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from _models import iris_model, with_tree
from miptree import ObliqueTree
from miptree.data import NumericalColumn, Table
from miptree.data.schema import Schema
from miptree.tree import HeapTree

WHOLE = tuple(NumericalColumn(name, 0.0, False) for name in "abc")


def frame_of(rows, columns):
    return pd.DataFrame(rows, columns=columns)


def hand_made(columns, coef, threshold, labels, classes=("bad", "good")):
    """A classifier with such splits in heap order."""
    clf = copy.copy(iris_model())
    names = np.array([column.name for column in columns], dtype=object)
    heap = HeapTree(np.array(coef, float), np.array(threshold, float), np.array(labels))
    tree = ObliqueTree.from_heap(heap)
    clf.adopt(Schema(Table(tuple(columns)), np.array(classes), names), clf.fitted_)
    return with_tree(clf, tree, np.random.default_rng(0), has_blur=False)


def changed(frame, found):
    """The row of a frame with the changes of an explanation."""
    row = frame.iloc[[found.row]].astype(object)
    for part in found.change.changes:
        row[part.feature] = row[part.feature].astype(object)
        row.iloc[0, list(row.columns).index(part.feature)] = part.after
    return row


@cache
def whole_grid():
    return pd.DataFrame(list(product(range(6), repeat=3)), columns=list("abc"))
