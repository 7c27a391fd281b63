"""Options of ``miptree fit`` that do not go together, refused before the work."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from miptree.export._json_values import MAX_TEXT
from miptree.fit.plan import PROOFS
from miptree.points.solve import DEEPEST_TREE
from miptree.tuning import STYLES
from miptree.tuning.scoring import SCORINGS


class Given(NamedTuple):
    """Options that steer how a tree is trained, None or empty where not given."""

    tune: bool
    engine: str
    solver: str | None
    selection: str | None
    categorical: list[str] | None
    categorical_encoding: str | None
    proof: str | None
    proof_log: Path | None
    l1_penalty: float | None
    rule: str | None
    """The first option that was given of those about rules."""
    split_rule: str | None
    """The first of those about rules for splits."""
    depth: int
    time_limit: float
    seed: int
    max_features: int | None
    scoring: str | None
    cost: list[str]
    class_weight: list[str]
    is_saved: bool
    """Whether the model is written to a file."""
    force: bool

    def named(self, *fields: str) -> list[str]:
        """Return those of some options that were given, as they are written."""
        words = {
            "tune": "--tune",
            "engine": f"--engine {self.engine}",
            "solver": f"--solver {self.solver}",
            "selection": f"--selection {self.selection}",
            "categorical_encoding": "--categorical-encoding",
            "proof": f"--proof {self.proof}",
            "proof_log": "--proof-log",
            "l1_penalty": f"--l1-penalty {self.l1_penalty}",
            "rule": str(self.rule),
        }
        given = ((name, getattr(self, name)) for name in fields)
        return [
            words[name]
            for name, value in given
            if value is not None and value is not False and value != "memory"
        ]


def refuse_long_texts(rows: pd.DataFrame) -> None:
    """Refuse a column of texts that a model file could not hold, before the work."""
    for name in rows.select_dtypes(exclude=["number", "bool"]).columns:
        longest = max((len(v) for v in rows[name] if isinstance(v, str)), default=0)
        if longest > MAX_TEXT:
            raise ValueError(
                f"Column {name!r} holds a text of {longest} characters, more than the "
                f"{MAX_TEXT} of a value that a model file can hold: --drop {name!r}."
            )


def checked_style(given: Given, style: str | None) -> str:
    """Refuse options that do not go together; return the style that they ask for."""
    _refuse_together(given)
    _refuse_with_rules(given)
    style = _chosen_style(given, style)
    _refuse_for_style(given, style)
    if given.proof_log is not None:
        _refuse_for_log(given)
    if given.scoring is not None:
        _refuse_scoring(given, style)
    return style


def _refuse_together(given: Given) -> None:
    """Refuse options of which one would be ignored without a word."""
    if given.engine not in ("memory", "dask"):
        raise ValueError(f"--engine must be memory or dask, got {given.engine!r}.")
    if given.tune and given.named("engine", "selection"):
        raise ValueError(
            "--tune works without --engine dask and --selection: it takes a sample "
            "of large tables by itself."
        )
    if given.tune and given.solver is not None:
        raise ValueError(f"--tune calls no solver: leave out --solver {given.solver}.")
    if given.proof not in (None, *PROOFS):
        raise ValueError(
            f"--proof must be one of {', '.join(PROOFS)}, got {given.proof!r}."
        )
    if given.tune and given.l1_penalty is not None:
        raise ValueError("--tune chooses penalties itself: leave out --l1-penalty.")
    if given.tune and given.proof is not None:
        raise ValueError(f"--tune proves nothing: leave out --proof {given.proof}.")
    if given.engine == "dask" and given.categorical:
        raise ValueError(
            "--engine dask reads numbers only: leave out --categorical, and --drop "
            f"{given.categorical[0]!r} or encode it as 0/1 columns."
        )
    if given.engine == "dask" and given.categorical_encoding is not None:
        raise ValueError(
            "--engine dask reads numbers only: leave out --categorical-encoding."
        )


def _refuse_with_rules(given: Given) -> None:
    """Refuse options of fits that do not know rules."""
    if given.rule is None:
        return
    if given.engine == "dask" and given.split_rule is not None:
        raise ValueError(
            f"{given.split_rule} works without --engine dask, which keeps rules that "
            "need only counts of rows: --fair, --min-leaf, --max-rate, --min-rate. "
            "Leave it out, --drop columns that no split may use, or fit a sample of "
            "the rows."
        )
    for wrong in given.named("selection", "proof_log"):
        raise ValueError(
            f"{given.rule} works without {wrong}, which knows no rules. Leave out one "
            "of the two."
        )


STYLE_NAMES = ("auto", *STYLES[1:])
"""Styles that may be asked for."""
_OF_OBLIQUE = (
    "engine",
    "solver",
    "selection",
    "proof",
    "proof_log",
    "l1_penalty",
)
"""Options of oblique trees that are trained in one given way."""


def _chosen_style(given: Given, style: str | None) -> str:
    """Return the style that was asked for; an option of one style asks for it.

    Rules ask for an oblique tree, unless styles are compared under them by --tune.
    """
    if style is None:
        asking = _OF_OBLIQUE if given.tune else (*_OF_OBLIQUE, "rule")
        return "oblique" if given.named(*asking) else "auto"
    if style not in STYLE_NAMES:
        names = f"{', '.join(STYLE_NAMES[:-1])} or {STYLE_NAMES[-1]}"
        raise ValueError(f"--style must be {names}, got {style!r}.")
    return style


def _refuse_for_style(given: Given, style: str) -> None:
    """Refuse options of another style of tree."""
    if style == "auto":
        for wrong in given.named(*_OF_OBLIQUE):
            raise ValueError(
                "--style auto compares trees of all styles by cross-validation, and "
                f"works without {wrong}. Leave it out, or give --style oblique."
            )
    if style != "points":
        return
    if given.depth > DEEPEST_TREE:
        raise ValueError(
            f"--depth of a points tree is {DEEPEST_TREE} at most, got {given.depth}: "
            "leave out --style points for deeper trees."
        )
    own = "tune", "solver", "selection", "proof", "l1_penalty", "rule"
    for wrong in given.named(*own):
        raise ValueError(
            f"--style points works without {wrong}: it goes through all splits by "
            f"itself. Leave out {wrong}."
        )
    if given.categorical_encoding is not None:
        raise ValueError(
            "--style points reads every value of a category as a 0/1 column: leave out "
            "--categorical-encoding."
        )


def _refuse_for_log(given: Given) -> None:
    """Refuse a proof file where nothing is proved of all rows."""
    for wrong in given.named("tune", "engine", "selection"):
        raise ValueError(
            f"--proof-log works without {wrong}, which proves nothing of all rows. "
            f"Leave out {wrong}."
        )
    for option, wrong in (("solver", "search"), ("proof", "errors")):
        if getattr(given, option) == wrong:
            raise ValueError(
                f"--proof-log works without --{option} {wrong}, which proves nothing "
                f"of the objective. Leave out --{option} {wrong}."
            )


def _refuse_scoring(given: Given, style: str) -> None:
    """Refuse to compare trees where there is one, or by what is not known."""
    if style == "points" or not (given.tune or style == "auto"):
        raise ValueError("--scoring is for --style auto and for --tune.")
    if given.scoring not in SCORINGS:
        raise ValueError(
            f"--scoring must be one of {', '.join(SCORINGS)}, got {given.scoring!r}."
        )
    if given.scoring == "cost" and not given.cost:
        raise ValueError("--scoring cost needs --cost, such as --cost yes:5.")
