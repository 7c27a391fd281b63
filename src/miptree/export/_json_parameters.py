"""The parameters of an estimator in a model file: plain values, and named columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from miptree.data.named import by_column, column_index
from miptree.export._json_values import (
    MalformedError,
    a_float,
    a_list,
    a_text,
    an_int,
    an_object,
    exact_keys,
    texts,
)
from miptree.points.alternatives import Restriction

BY_COLUMN = ("units", "signs", "feature_penalty")
"""Parameters that may give a value for each of some columns of X."""
COLUMN_LISTS = ("categorical_features", "sensitive_features")
"""Parameters that may list columns of X."""


def plain_value(value: Any) -> Any:
    """Return a NumPy number as Python's."""
    return value.item() if isinstance(value, np.generic) else value


# ------------------------------------------------------------------------- writing


def plain_parameters(clf: BaseEstimator, names: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that JSON can hold; columns are told by their names."""
    plain = {}
    for parameter, value in clf.get_params().items():
        if parameter == "constraints":
            continue  # they have an entry of their own
        value = plain_value(value)
        is_number = isinstance(value, (int, float)) and bool(np.isfinite(value))
        if value is None or isinstance(value, str) or is_number:
            plain[parameter] = value
        elif parameter in BY_COLUMN and isinstance(value, Mapping):
            found = by_column(value, names, parameter)
            plain[parameter] = {names[j]: plain_value(v) for j, v in found.items()}
        elif parameter in COLUMN_LISTS:
            plain[parameter] = _listed(value, names, parameter)
    return plain


def _listed(given: Any, names: Sequence[str], parameter: str) -> list[str]:
    """Return the names of columns that are given by name, position or a mask."""
    entries = [plain_value(entry) for entry in given]
    if entries and all(isinstance(entry, bool) for entry in entries):
        return [name for name, is_in in zip(names, entries, strict=True) if is_in]
    return [names[column_index(entry, names, parameter)] for entry in entries]


def plain_restriction(
    restriction: Restriction | None, names: Sequence[str]
) -> dict[str, Any] | None:
    """Return what was asked of an alternative tree, None of any other."""
    if restriction is None:
        return None
    first = restriction.first
    return {
        "without": [names[j] for j in sorted(restriction.without)],
        "first": None if first is None else names[first],
        "not_first": [names[j] for j in sorted(restriction.not_first)],
        "most_features": restriction.most_features,
    }


# ------------------------------------------------------------------------- reading


def read_parameter(parameter: str, given: object) -> Any:
    """Return a parameter as an estimator takes it."""
    if isinstance(given, dict) and parameter in BY_COLUMN:
        for name, value in given.items():
            if parameter == "signs":
                if value not in (1, -1, "+", "-") or isinstance(value, (bool, float)):
                    raise MalformedError(f'"signs" of "{name[:60]}" is no sign')
            elif a_float(value, parameter) < 0:
                raise MalformedError(f'"{parameter}" has a number below 0')
        return given
    if isinstance(given, list) and parameter in COLUMN_LISTS:
        return texts(given, parameter, len(given))
    if isinstance(given, (list, dict)):
        raise MalformedError(f'parameter "{parameter}" is not a plain value')
    if isinstance(given, float):
        a_float(given, parameter)
    return given


def check_named(clf: Any, names: Sequence[str]) -> None:
    """Refuse parameters that name columns which are not there."""
    for parameter in (*BY_COLUMN, *COLUMN_LISTS):
        given = getattr(clf, parameter, None)
        if isinstance(given, (dict, list)):
            for name in given:
                _place(name, names, parameter)
            if len(set(given)) < len(given):
                raise MalformedError(f'"{parameter}" names a column twice')


def _place(name: object, names: Sequence[str], where: str) -> int:
    if a_text(name, where) not in names:
        raise MalformedError(f'"{where}" names a column that is not there')
    return names.index(str(name))


def read_restriction(given: object, names: Sequence[str]) -> Restriction | None:
    """Return what was asked of an alternative tree, None of any other."""
    if given is None:
        return None
    given = an_object(given, "restriction")
    wanted = {"without", "first", "not_first", "most_features"}
    exact_keys(given, wanted, '"restriction"')
    first, most = given["first"], given["most_features"]
    return Restriction(
        _places(given["without"], names, "without"),
        None if first is None else _place(first, names, "first"),
        _places(given["not_first"], names, "not_first"),
        None if most is None else an_int(most, "most_features", low=0),
    )


def _places(given: object, names: Sequence[str], where: str) -> frozenset[int]:
    found = [_place(name, names, where) for name in a_list(given, where, 0)]
    if found != sorted(set(found)):
        raise MalformedError(f'"{where}" has columns twice, or not in order')
    return frozenset(found)
