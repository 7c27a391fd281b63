"""Constraints and groups as they are written on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from miptree.commands import _tables
from miptree.commands._split_rules import split_rules
from miptree.constraints import (
    Constraint,
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FalsePositiveRateParity,
    ForbidFeatures,
    MaxRate,
    MinLeaf,
    MinRate,
    Monotone,
    Signs,
    TruePositiveRateParity,
)
from miptree.data.files import TableNote
from miptree.utils.arrays import AnyArray
from miptree.utils.warn import warn

FAIRNESS: dict[str, Callable[..., Constraint]] = {
    "demographic-parity": DemographicParity,
    "true-positive-rate-parity": TruePositiveRateParity,
    "false-positive-rate-parity": FalsePositiveRateParity,
    "equalized-odds": EqualizedOdds,
    "error-rate-parity": ErrorRateParity,
}


@dataclass(frozen=True, kw_only=True)
class GivenRules:
    """Options of ``miptree fit`` about rules, as they were written."""

    sensitive: Sequence[str] = ()
    control: Sequence[str] = ()
    fair: Sequence[str] = ()
    positive: str | None = None
    min_leaf: int | None = None
    max_rate: Sequence[str] = ()
    min_rate: Sequence[str] = ()
    forbid: Sequence[str] = ()
    monotone: Sequence[str] = ()
    allow: Sequence[str] = ()
    allow_at: Sequence[str] = ()
    fixed_split: Sequence[str] = ()
    signs: Sequence[str] = ()

    @property
    def option(self) -> str | None:
        """The first option that was given, None where none was."""
        for name, value in vars(self).items():
            if value not in (None, [], ()):
                return _written(name)
        return None

    @property
    def split_option(self) -> str | None:
        """The first option given of those that are about splits, which look at rows."""
        splits = "forbid", "monotone", "allow", "allow_at", "fixed_split", "signs"
        given = {name: value for name, value in vars(self).items() if value}
        return next((_written(name) for name in given if name in splits), None)

    @property
    def notes(self) -> dict[str, str]:
        """What a model file should remember: the columns of the groups."""
        given = {"sensitive": self.sensitive, "control": self.control}
        return {name: json.dumps(columns) for name, columns in given.items() if columns}

    def refuse_target(self, target: str) -> None:
        """Refuse groups that are the classes: any useful tree treats these apart."""
        if target in self.sensitive:
            raise ValueError(
                f"--sensitive names the target {target!r}. Name the column of groups "
                "that a tree should treat alike; for rates within each class: --fair "
                "equalized-odds."
            )

    def constraints(self, labels: AnyArray) -> list[Constraint]:
        """Return the constraints that the options ask for."""
        kind, positive = labels.dtype.kind, None
        found: list[Constraint] = []
        if self.positive is not None:
            positive = _tables.read_label(self.positive, kind)
        found += [_fairness(text, positive) for text in self.fair]
        is_fair = any(not isinstance(rule, ErrorRateParity) for rule in found)
        about = {"--fair": is_fair, "--monotone": self.monotone, "--signs": self.signs}
        asking = [option for option, is_given in about.items() if is_given]
        if asking and self.positive is None:
            _tell_positive(labels, asking)
        if self.positive is not None and not asking:
            raise ValueError(
                f"--positive names the label that {', '.join(about)} are about: give "
                "one of these, other than --fair error-rate-parity, or leave it out."
            )
        if self.fair and not self.sensitive:
            raise ValueError(
                "--fair compares groups: name their column with --sensitive."
            )
        if self.control and not self.fair:
            raise ValueError(
                "--control names groups within which --fair compares others: give "
                "--fair, too, or leave it out."
            )
        if self.min_leaf is not None:
            found.append(MinLeaf(rows=self.min_leaf))
        found += [MaxRate(*_rate(text, "--max-rate", kind)) for text in self.max_rate]
        found += [MinRate(*_rate(text, "--min-rate", kind)) for text in self.min_rate]
        if self.forbid:
            found.append(ForbidFeatures(self.forbid))
        kinds: tuple[type[Monotone | Signs], ...] = (Monotone, Signs)
        for kind_of_rule, texts in zip(kinds, (self.monotone, self.signs), strict=True):
            if texts:
                option = f"--{kind_of_rule.__name__.lower()}"
                label = _second(labels, positive, option)
                found.append(kind_of_rule(_directions(texts, option), label))
        return found + split_rules(self.allow, self.allow_at, self.fixed_split)

    def groups(self, table: pd.DataFrame) -> dict[str, Any]:
        """Return the arguments of ``fit`` for the groups."""
        given = {
            "sensitive_features": self.sensitive,
            "control_features": self.control,
        }
        return {
            name: _tables.columns_of(table, columns)
            for name, columns in given.items()
            if columns
        }


def _written(name: str) -> str:
    """Return an option as it is written."""
    return f"--{name.replace('_', '-')}"


def _fairness(text: str, positive: Any) -> Constraint:
    """Read a fairness rule such as demographic-parity:0.05 or ...:0.05:pairs."""
    name, colon, bound = text.partition(":")
    bound, _, versus = bound.partition(":")
    if name not in FAIRNESS or not colon or versus not in ("", "overall", "pairs"):
        raise ValueError(
            f"--fair must be one of {', '.join(FAIRNESS)}, a colon and the largest "
            "difference, such as demographic-parity:0.05, or with :pairs after it "
            f"to compare the groups with each other, got {text!r}."
        )
    number = _number(bound, "--fair", text)
    return FAIRNESS[name](
        difference_bound=number, positive_label=positive, versus=versus or "overall"
    )


def _rate(text: str, option: str, kind: str) -> tuple[Any, float, str]:
    """Read a limit on a rate such as yes:0.1 or yes:0.05:negatives."""
    parts: Sequence[str] = text.split(":")
    if len(parts) not in (2, 3):
        raise ValueError(
            f"{option} must be a label, a colon and a rate, such as yes:0.1; "
            f"yes:0.1:negatives counts rows of other classes, got {text!r}."
        )
    on = parts[2] if len(parts) == 3 else "all"
    return _tables.read_label(parts[0], kind), _number(parts[1], option, text), on


def _direction(text: str, option: str) -> tuple[str, int]:
    """Read a direction such as income:+1."""
    name, _, sign = text.rpartition(":")
    if not name or sign not in ("+1", "1", "-1"):
        raise ValueError(
            f"{option} must be a column, a colon and +1 or -1, such as income:+1, got "
            f"{text!r}."
        )
    return name, int(sign)


def _directions(texts: Sequence[str], option: str) -> dict[str, int]:
    """Read directions, at most one of each column."""
    signs: dict[str, int] = {}
    for name, sign in (_direction(text, option) for text in texts):
        if signs.setdefault(name, sign) != sign:
            raise ValueError(
                f"{option} names {name!r} with +1 and with -1, which contradict each "
                f"other: leave out one of the two, or --forbid {name!r}, which keeps "
                "both."
            )
    return signs


def _tell_positive(labels: AnyArray, options: Sequence[str]) -> None:
    """Say which label rules are about, as nobody named one: it may be the bad one."""
    classes = np.unique(labels)
    if len(classes) == 2:
        are = "are" if len(options) > 1 else "is"
        warn(
            f"{' and '.join(options)} {are} about the label {classes[1]!s}, the second "
            "one; name another with --positive.",
            TableNote,
        )


def _second(labels: AnyArray, positive: Any, option: str) -> Any:
    """Return the positive label, by default the second of two."""
    if positive is not None:
        return positive
    classes = np.unique(labels).tolist()
    if len(classes) != 2:
        raise ValueError(
            f"{option} needs --positive, as there are {len(classes)} classes."
        )
    return classes[1]


def _number(text: str, option: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{option} {whole!r} has {text!r} in place of a number."
        ) from None


def noted_groups(
    notes: Mapping[str, str | None], table: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the columns of the groups that a model file names."""
    found = {}
    for name in ("sensitive", "control"):
        noted = notes.get(name)
        if noted is not None:
            columns = [str(column) for column in json.loads(noted)]
            found[f"{name}_features"] = _tables.columns_of(table, columns)
    return found
