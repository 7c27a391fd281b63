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
    Branch,
    Leaf,
    Member,
    Missing,
    Model,
    Rules,
    rules_of,
)
from miptree.export.text import indented, split_text

_LARGEST_POWER = 62
"""2**62 is the largest power of two that every database reads exactly."""


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
    when = _sum(rules, node) if member is None else [_is_member(rules, member)]
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
    """Write the comparison, a term on each line."""
    lines = [
        f"{'-' if coef < 0 else '+'} {_number(abs(coef))} * {_term(rules, atom)}"
        for coef, atom in branch.terms
    ] or ["+ 0e0"]
    lines[0] = lines[0].removeprefix("+ ")
    lines[-1] += f" <= {_number(branch.threshold)}"
    return lines


def _term(rules: Rules, atom: Atom) -> str:
    if isinstance(atom, Member):
        return f"CASE WHEN {_is_member(rules, atom)} THEN 1e0 ELSE 0e0 END"
    name = _identifier(rules.name(atom.column))
    if isinstance(atom, Missing):
        return f"CASE WHEN {name} IS NULL THEN 1e0 ELSE 0e0 END"
    if not rules.refuses_missing:
        name = f"COALESCE({name}, {_number(atom.fill)})"
    return f"CAST({name} AS DOUBLE PRECISION)"


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
    # the nearest float64. A whole number below 2**53 and a power of two are exact.
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
