"""The tree as an SQL CASE expression.

Written for SQLite, DuckDB and PostgreSQL: standard quotes (a MySQL server needs its
modes ANSI_QUOTES and NO_BACKSLASH_ESCAPES), NULL for a missing value.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from miptree.data import Value
from miptree.export._rules import (
    Atom,
    Bound,
    Branch,
    Leaf,
    Member,
    Missing,
    Model,
    Rules,
    Steps,
    rules_of,
)
from miptree.export.text import indented, split_text
from miptree.utils.decimals import shortest_decimal

_LARGEST_POWER = 62
"""2**62 is the largest power of two that every database reads exactly."""
_MOST_PLACES = 15
"""10**15 is a power of ten that every database reads exactly."""


def export_sql(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
) -> str:
    """Write a tree as an SQL expression whose value is the class of a row.

    It predicts as ``predict`` does, to the last bit: numbers that a decimal cannot
    give exactly are written as a quotient with a power of two, since databases differ
    in how they round decimals. The expression is NULL where ``predict`` would refuse
    the row (``missing="error"``, ``unknown="error"``), as far as the tree looks.
    SQLite reads sums of up to about 990 terms, by its own limit, and takes the name of
    a column that is not there for a text: see that all are. The NaN of DuckDB and
    PostgreSQL is a number to them, and not NULL: give ``NULLIF(x, 'NaN')``. Categories
    that are numbers must be numbers in the table as well: SQLite finds no text in them.

    Parameters
    ----------
    model : OptimalTreeClassifier or ObliqueTree
    feature_names : sequence of str, optional
        Names of the columns, by default the classifier's.
    class_names : sequence, optional
        What the expression gives for each class, by default the classifier's labels.

    Returns
    -------
    str
        For example for ``SELECT *, <expression> AS prediction FROM rows``.

    Examples
    --------
    >>> import numpy as np
    >>> from miptree.tree import HeapTree, ObliqueTree
    >>> heap = HeapTree(np.array([[1.5, -1.0]]), np.array([3.0]), np.array([0, 1]))
    >>> tree = ObliqueTree.from_heap(heap)
    >>> print(export_sql(tree, ["width", "height"], ["low", "high"]))
    CASE
    WHEN "width" IS NULL OR "height" IS NULL THEN NULL
    ELSE
      CASE -- 1.5 width - 1 height <= 3
      WHEN 1.5e0 * CAST("width" AS DOUBLE PRECISION)
        - 1e0 * CAST("height" AS DOUBLE PRECISION) <= 3e0
      THEN 'low'
      ELSE 'high'
      END
    END
    """
    rules = rules_of(model, feature_names, class_names)
    body = _lines(rules, rules.root)
    refused = _refusals(rules)
    if refused:
        when = f"WHEN {' OR '.join(refused)} THEN NULL"
        body = ["CASE", when, "ELSE", *indented(body, 2), "END"]
    return "\n".join(body)


def _lines(rules: Rules, node: Branch | Leaf) -> list[str]:
    if isinstance(node, Leaf):
        return [_literal(rules.classes[node.label])]
    member, yes, no = node.question
    if node.bound is not None:
        when = [_is_within(rules, node.bound)]
    elif member is not None:
        when = [_is_member(rules, member)]
    else:
        when = _sum(rules, node)
    return [
        f"CASE -- {split_text(rules, node)}",
        f"WHEN {when[0]}",
        *indented(when[1:], 2),
        *_after("THEN", _lines(rules, yes)),
        *_after("ELSE", _lines(rules, no)),
        "END",
    ]


def _after(word: str, lines: list[str]) -> list[str]:
    return [f"{word} {lines[0]}"] if len(lines) == 1 else [word, *indented(lines, 2)]


def _sum(rules: Rules, branch: Branch) -> list[str]:
    """Write the comparison, a term on each line or on more."""
    lines = []
    for coef, atom in branch.terms:
        first, *others = _term(rules, atom)
        sign = "-" if coef < 0 else "+"
        lines += [f"{sign} {_number(abs(coef))} * {first}", *indented(others, 2)]
    lines = lines or ["+ 0e0"]
    lines[0] = lines[0].removeprefix("+ ")
    lines[-1] += f" <= {_number(branch.threshold)}"
    return lines


def _term(rules: Rules, atom: Atom) -> list[str]:
    if isinstance(atom, Member):
        return [f"CASE WHEN {_is_member(rules, atom)} THEN 1e0 ELSE 0e0 END"]
    if isinstance(atom, Steps):
        return _steps(rules, atom)
    name = _identifier(rules.name(atom.column))
    if isinstance(atom, Missing):
        return [f"CASE WHEN {name} IS NULL THEN 1e0 ELSE 0e0 END"]
    if not rules.refuses_missing:
        name = f"COALESCE({name}, {_number(atom.fill)})"
    return [f"CAST({name} AS DOUBLE PRECISION)"]


def _steps(rules: Rules, steps: Steps) -> list[str]:
    """Count the cut points that a number reaches, the highest first."""
    name = _identifier(rules.name(steps.column))
    number = f"CAST({name} AS DOUBLE PRECISION)"
    lines = [
        f"WHEN {number} >= {_number(cut)} THEN {count}e0"
        for count, cut in reversed(list(enumerate(steps.cuts, start=1)))
    ]
    if not rules.refuses_missing:
        lines.insert(0, f"WHEN {name} IS NULL THEN {steps.of_missing}e0")
    return ["CASE", *lines, "ELSE 0e0 END"]


def _is_within(rules: Rules, bound: Bound) -> str:
    """Compare with a cut point; without a number that is not true."""
    name = _identifier(rules.name(bound.column))
    operator = "<" if bound.is_below else ">="
    test = f"CAST({name} AS DOUBLE PRECISION) {operator} {_number(bound.cut)}"
    if bound.missing_too and not rules.refuses_missing:
        return f"{test} OR {name} IS NULL"
    return test


def _is_member(rules: Rules, member: Member) -> str:
    name = _identifier(rules.name(member.column))
    values = ", ".join(_literal(value) for value in member.present)
    tests = [f"{name} IN ({values})"] if values else []
    tests += [f"{name} IS NULL"] if member.has_missing else []
    return f"({' OR '.join(tests)})" if len(tests) > 1 else tests[0]


def _refusals(rules: Rules) -> list[str]:
    """List the conditions under which ``predict`` would refuse a row."""
    found = []
    for column in rules.used:
        if rules.refuses_missing:
            found.append(f"{_identifier(rules.name(column))} IS NULL")
        if rules.refuses_unknown and rules.is_category(column):
            found.append(f"NOT {_is_member(rules, rules.known(column))}")
    return found


# ------------------------------------------------------------------------ literals


def _identifier(name: str) -> str:
    return '"' + _without_nul(name).replace('"', '""') + '"'


def _literal(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    return "'" + _without_nul(value).replace("'", "''") + "'"


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError(
            f"SQL cannot write {text!r}, which holds a NUL character. Rename it."
        )
    return text


def _number(value: float) -> str:
    """Write a float64 so that every database reads the same float64."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    decimal = f"{size:.15g}"
    if Fraction(decimal) == Fraction(size) and "e" not in decimal:
        return f"{sign}{decimal}e0"
    # A decimal would have to be rounded, and SQLite, for one, does not always round to
    # the nearest float64. A whole number below 2**53 and a power of ten are exact, and
    # so their quotient is rounded once; a power of two does for all other numbers.
    digits, exponent = shortest_decimal(size)
    if digits < 2**53 and -_MOST_PLACES <= exponent < 0:
        return f"(CAST({sign}{digits} AS DOUBLE PRECISION) / {10**-exponent}e0)"
    whole, divisor = size.as_integer_ratio()
    shift = 1 - divisor.bit_length()
    while whole.bit_length() > 53:
        whole, shift = whole >> 1, shift + 1
    operator, left = ("*", shift) if shift > 0 else ("/", -shift)
    text = f"CAST({sign}{whole} AS DOUBLE PRECISION)"
    while left > 0:
        step = min(left, _LARGEST_POWER)
        text, left = f"{text} {operator} {2**step}e0", left - step
    return f"({text})"
