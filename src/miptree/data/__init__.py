"""A table of any kind becomes numbers, then a problem.

Every step after the table sees a matrix of finite numbers, whose first columns are open
to hyperplanes and whose others hold the values of the categorical features, one 0/1
column each, for splits that send a subset of the values of one feature to the left.
"""

from __future__ import annotations

from miptree.data.cells import Cells, Value, is_frame, read_cells
from miptree.data.columns import (
    CategoricalColumn,
    Column,
    DroppedColumn,
    NumericalColumn,
)
from miptree.data.grid import GridColumn, GridSpec
from miptree.data.table import (
    ENCODINGS,
    EmptyTableError,
    Table,
    categorical_mask,
    learn_table,
)

__all__ = [
    "ENCODINGS",
    "CategoricalColumn",
    "Cells",
    "Column",
    "DroppedColumn",
    "EmptyTableError",
    "GridColumn",
    "GridSpec",
    "NumericalColumn",
    "Table",
    "Value",
    "categorical_mask",
    "is_frame",
    "learn_table",
    "read_cells",
]
