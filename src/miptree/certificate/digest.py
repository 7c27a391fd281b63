"""SHA-256 of a tree, of its training data and of a certificate."""

from __future__ import annotations

import hashlib
import math
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from miptree.data.problem import Problem
from miptree.tree import ObliqueTree

NUMBERS = "tuple[float, ...]"
"""How a field of several numbers is declared."""
TEXTS = "tuple[str, ...] | None"
"""How a field of several texts, which may be absent, is declared."""


def tree_digest(tree: ObliqueTree) -> str:
    """Return the SHA-256 of a tree's arrays."""
    integers = (tree.children_left, tree.children_right, tree.label)
    return _digest(
        *(array.astype("<i8") for array in integers),
        tree.coef.astype("<f8"),
        tree.threshold.astype("<f8"),
    )


def data_digest(problem: Problem) -> str:
    """Return the SHA-256 of the merged rows, which no order or copying changes."""
    cost, groups = problem.class_cost, problem.groups
    return _digest(
        problem.X.astype("<f8"),
        problem.y.astype("<i8"),
        problem.weight.astype("<f8"),
        *([] if cost is None else [cost.astype("<f8")]),
        *([] if groups is None else [groups.code.astype("<i8")]),
    )


def certificate_digest(certificate: Any) -> str:
    """Return the SHA-256 of a certificate's fields but ``digest``."""
    digest = hashlib.sha256()
    for field in fields(certificate):
        # A limit that is not there is not written, as before there were limits.
        is_absent = field.default is None and getattr(certificate, field.name) is None
        if field.name != "digest" and not is_absent:
            text = _canonical(getattr(certificate, field.name), str(field.type))
            digest.update(f"{field.name}={text!r}\n".encode())
    return digest.hexdigest()


def _canonical(value: Any, kind: str) -> str:
    """Write a value so that the type of number that holds it does not matter."""
    if kind == "str" and isinstance(value, str):
        return value
    if not is_a(value, kind):
        return type(value).__name__
    if kind == "bool":
        return str(bool(value))
    if kind == NUMBERS:
        return ",".join(float(number).hex() for number in value)
    if kind == TEXTS:
        return repr(value)
    is_int = kind.startswith("int")
    return str(value) if is_int else float(value).hex()


def is_a(value: object, kind: str) -> bool:
    """Tell whether a value is text, a truth value or finite numbers, as asked."""
    if kind == "str":
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool | np.bool_)
    if kind == NUMBERS:
        return isinstance(value, tuple) and all(is_a(v, "float") for v in value)
    if kind.endswith(" | None") and value is None:
        return True
    if kind == TEXTS:
        return isinstance(value, tuple) and all(isinstance(v, str) for v in value)
    wanted = Integral if kind.startswith("int") else Real
    if not isinstance(value, wanted) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _digest(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
