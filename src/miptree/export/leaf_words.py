"""What every form of a tree says of a leaf: class, number, rows, shares of classes."""

from __future__ import annotations

import numpy as np

from miptree.data import Value
from miptree.export.names import printable
from miptree.export.readable import Leaf, ReadableTree
from miptree.utils.arrays import IntArray

_MOST_CLASSES = 6
"""Classes of a leaf that are named one by one."""


def leaf_text(rules: ReadableTree, leaf: Leaf, counts: IntArray | None) -> str:
    """Name the class of a leaf, its number and, where they are known, its rows.

    Parameters
    ----------
    rules : ReadableTree
    leaf : Leaf
    counts : int array of shape (n_nodes, n_classes), optional
        Training rows of each class at each node.
    """
    facts = [f"leaf {leaf.node}"]
    if counts is not None:
        facts.append(rows_text(rules, leaf, counts[leaf.node]))
    return printable(f"class {rules.classes[leaf.label]} ({', '.join(facts)})")


def rows_text(rules: ReadableTree, leaf: Leaf, counts: IntArray) -> str:
    """Count the rows of a leaf, and say whether they are of one class, or of which."""
    n_rows = int(counts.sum())
    if n_rows == 0:
        return "no training rows"
    rows = row_number(n_rows)
    if counts[leaf.label] == n_rows:
        return f"{rows}, pure"
    return printable(f"{rows}: {', '.join(class_shares(rules, counts))}")


def class_shares(rules: ReadableTree, counts: IntArray) -> list[str]:
    """Say how large the parts of the classes are, the largest first."""
    n_rows = int(counts.sum())
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].tolist()
    named = order if len(order) <= _MOST_CLASSES else order[: _MOST_CLASSES - 1]
    said = [
        f"{percent(int(counts[k]), n_rows)} {_class_name(rules.classes[k])}"
        for k in named
    ]
    rest = n_rows - int(counts[named].sum())
    if rest:
        said.append(f"{percent(rest, n_rows)} {len(order) - len(named)} other classes")
    return said


def _class_name(label: Value) -> str:
    """Name a class beside a number: '91 % good', but '91 % class 1'."""
    is_word = isinstance(label, str) and not label[:1].isdigit()
    return str(label) if is_word else f"class {label}"


def row_number(n_rows: int) -> str:
    """Count rows."""
    return f"{n_rows:,} row" + "s" * (n_rows != 1)


def percent(part: int, whole: int) -> str:
    """Write a share; 0 and 100 % are exact."""
    share = 100 * part / whole
    if 0 < share < 1 or 99 < share < 100:
        return "under 1 %" if share < 1 else "over 99 %"
    return f"{share:.0f} %"
