"""Why a bound may be believed, in words: what was recomputed, and what is a claim."""

from __future__ import annotations

import re

from miptree.mip.solvers.visible import LOWERED
from miptree.objective.bounds import (
    COUNTING,
    EXHAUSTIVE,
    NO_ERRORS,
    REFUTED,
    ROUTES,
    SAME_ROWS,
    TOO_FEW_LEAVES,
)

COUNTED = (NO_ERRORS, TOO_FEW_LEAVES, SAME_ROWS, COUNTING)
"""Bounds that ``verify`` counts again."""
RECOMPUTED = "by a proof whose every step was recomputed from the data"
_WORDS = {
    NO_ERRORS: "as errors are not negative",
    TOO_FEW_LEAVES: "as there are more classes than leaves",
    SAME_ROWS: "as identical rows differ in class",
}
_SOLVERS = {
    "highs": "HiGHS",
    "scip": "SCIP",
    "gurobi": "Gurobi",
    "cplex": "CPLEX",
    "portfolio": "a portfolio of solvers",
}
"""How solvers are called where their version is not known."""
_ON, _MIP = " on the ", "MIP"
_SOLVER = (
    r"(?:highs|scip|gurobi|cplex|portfolio|(?:HiGHS|SCIP|Gurobi|CPLEX) [0-9][0-9.]*)"
    rf"(?: \({LOWERED}\))?"
)
_DIRECTIONS = r"(?:Monotone|Signs)(?: below the root)?"
_KNOWN = (
    *map(re.escape, COUNTED),
    rf"{EXHAUSTIVE}(?: of all splits of the (?:root|points))?",
    rf"{EXHAUSTIVE} of [0-9]+ disjoint subsets of the rows, whose errors add up",
    rf"{ROUTES}(?:, in [0-9]+ disjoint groups of the rows, whose bounds add up)?",
    rf"{_SOLVER}(?: and {_SOLVER})*(?: \({LOWERED}\))? on the "
    r"(?:(?:count|compact|flow|paper) MIP|MIP of (?P<method>.+)|"
    r"compact MIP with rows for the rules"
    rf"(?: but {_DIRECTIONS}(?: and {_DIRECTIONS})*)?)",
)
_REASON = re.compile(
    rf"(?:{re.escape(REFUTED)})?(?:{'|'.join(_KNOWN)})"
    r"(?:, on [0-9]+ of [0-9]+ distinct rows)?"
)
"""All that a certificate may say of a proof: other words are somebody else's."""


def reason(proved_by: str) -> str:
    """Say why a bound holds, to go after a comma.

    A solver's word is a claim: it left nothing behind by which anybody could check it.

    Parameters
    ----------
    proved_by : str
        What a certificate says of a bound.

    Examples
    --------
    >>> reason("HiGHS 1.15.1 on the flow MIP")
    'as HiGHS 1.15.1 claims of the flow MIP'
    >>> reason("exhaustive search")
    'by exhaustive search'
    """
    if proved_by.startswith(REFUTED):
        return f"as a bound was {proved_by}"
    what, comma, where = proved_by.partition(", on ")
    if comma:  # it is a bound of some of the rows, which holds for all
        return f"{_plain_reason(what)}, proved on {where}"
    return _plain_reason(proved_by)


def is_known(proved_by: str, method: str = "") -> bool:
    """Tell whether a fit of a method, by default one of (1a), says so of a proof.

    Anybody can write a file, but not that a bound was proved in a way of his own.

    Examples
    --------
    >>> is_known("HiGHS 1.15.1 on the flow MIP")
    True
    >>> is_known("a proof that was checked")
    False
    """
    found = _REASON.fullmatch(proved_by)
    return found is not None and found["method"] in (None, method)


def details(proved_by: str) -> str:
    """Say what experts want to know of a proof, to go after other words.

    Examples
    --------
    >>> details("exhaustive search")
    ''
    >>> details("branch and bound over routes")
    '; the proof is a branch and bound over routes'
    """
    if not proved_by.startswith(ROUTES):
        return ""
    n_groups = re.search(r", in (\d+) disjoint groups", proved_by)
    words = f"; the proof is a {ROUTES}"
    if n_groups is not None:
        words += f" of {n_groups[1]} groups of the rows, whose costs add up"
    return words


def is_claim(proved_by: str) -> bool:
    """Tell whether a bound is the word of a solver, which nobody can check."""
    what, _, _ = proved_by.partition(", on ")
    return _ON in what and _MIP in what


def claimant(proved_by: str) -> str | None:
    """Name the solver whose word a bound is; None where it can be checked."""
    if not is_claim(proved_by):
        return None
    solver, _, _ = proved_by.partition(_ON)
    return _SOLVERS.get(solver, solver)


def _plain_reason(proved_by: str) -> str:
    if is_claim(proved_by):
        _, _, model = proved_by.partition(_ON)
        return f"as {claimant(proved_by)} claims of the {model}"
    if proved_by.startswith(ROUTES):  # it may go on with the number of its groups
        return RECOMPUTED
    return _WORDS.get(proved_by, f"by {proved_by}")
