"""The tree as an SQL CASE expression.

Written for SQLite, DuckDB and PostgreSQL: standard quotes (a MySQL server needs its
modes ANSI_QUOTES and NO_BACKSLASH_ESCAPES), NULL for a missing value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from miptree.data import Value
from miptree.export._sql_blurred import FAR, blurred_lines
from miptree.export._sql_numbers import share_text, sql_number
from miptree.export.answers import Answers, Output, answers_of
from miptree.export.readable import (
    Atom,
    Bound,
    Branch,
    Leaf,
    Member,
    Missing,
    Model,
    ReadableTree,
    Steps,
)
from miptree.export.text import indented

_NAMES = {"class": "prediction"}
"""Names of columns that are not those of their outputs."""


def export_sql(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    output: Output = "class",
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
    model : fitted classifier of this package, or ObliqueTree
    feature_names : sequence of str, optional
        Names of the columns, by default the classifier's.
    class_names : sequence, optional
        What the expression gives for each class, by default the classifier's labels.
    output : {"class", "leaf", "probability", "reason"} or sequence, default="class"
        What the expression gives: the class, the leaf as ``apply`` returns it, the
        probability of the class by ``predict_proba`` (but for rounding; where splits
        are blurred it needs a database with EXP), or the reason in a sentence, that of
        :func:`~miptree.explain`. Of several there is an expression each, with a name.

    Returns
    -------
    str
        For example for ``SELECT *, <expression> AS prediction FROM rows``; of several
        outputs for ``SELECT *, <expressions> FROM rows``, whose columns are
        ``prediction``, ``leaf``, ``probability`` and ``reason``.

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
      CASE -- node 0: 1.5 width - height <= 3
      WHEN 1.5e0 * CAST("width" AS DOUBLE PRECISION)
        - 1e0 * CAST("height" AS DOUBLE PRECISION) <= 3e0
      THEN 'low'
      ELSE 'high'
      END
    END
    """
    answers = answers_of(model, feature_names, class_names, output)
    texts = ["\n".join(_expression(answers, entry)) for entry in answers.outputs]
    if isinstance(output, str):
        return texts[0]
    named = zip(texts, answers.outputs, strict=True)
    return ",\n".join(f"{text} AS {_NAMES.get(entry, entry)}" for text, entry in named)


def _expression(answers: Answers, output: str) -> list[str]:
    """Write one output, NULL where ``predict`` would refuse the row."""
    rules = answers.rules
    if output == "probability" and answers.is_blurred:
        leaf = _lines(rules, rules.root, lambda leaf: str(leaf.node))
        far = {branch.node: _far(answers, branch) for branch in rules.branches}
        body = blurred_lines(answers, leaf, far)
    else:
        body = _lines(rules, rules.root, partial(_answer, answers, output))
    refused = _refusals(rules)
    if not refused:
        return body
    when = f"WHEN {' OR '.join(refused)} THEN NULL"
    return ["CASE", when, "ELSE", *indented(body, 2), "END"]


def _answer(answers: Answers, output: str, leaf: Leaf) -> str:
    if output == "class":
        return _literal(answers.rules.classes[leaf.label])
    if output == "leaf":
        return str(leaf.node)
    if output == "probability":
        return share_text(answers.of_leaf(leaf))
    return _literal(answers.reasons[leaf.node])


def _far(answers: Answers, branch: Branch) -> list[str]:
    """Write how far to the right of a split a row is, in units of its blur."""
    width = answers.width(branch)
    if width == 0:
        inner = replace(branch, left=Leaf(-1, 0), right=Leaf(1, 0))
        return _lines(answers.rules, inner, lambda leaf: f"{leaf.node}e0 * {FAR}")
    score = _score(answers.rules, branch)
    score[0] = f"({score[0]}"
    score[-1] += f" - {sql_number(branch.threshold)}) / {sql_number(width)}"
    return [score[0], *indented(score[1:], 2)]


def _lines(
    rules: ReadableTree, node: Branch | Leaf, answer: Callable[[Leaf], str]
) -> list[str]:
    if isinstance(node, Leaf):
        return [answer(node)]
    member, yes, no = node.question
    if node.bound is not None:
        when = [_is_within(rules, node.bound)]
    elif member is not None:
        when = [_is_member(rules, member)]
    else:
        when = _score(rules, node)
        when[-1] += f" <= {sql_number(node.threshold)}"
    return [
        f"CASE -- {node.comment}",
        f"WHEN {when[0]}",
        *indented(when[1:], 2),
        *_after("THEN", _lines(rules, yes, answer)),
        *_after("ELSE", _lines(rules, no, answer)),
        "END",
    ]


def _after(word: str, lines: list[str]) -> list[str]:
    return [f"{word} {lines[0]}"] if len(lines) == 1 else [word, *indented(lines, 2)]


def _score(rules: ReadableTree, branch: Branch) -> list[str]:
    """Write the sum, a term on each line or on more."""
    lines = []
    for coef, atom in branch.terms:
        first, *others = _term(rules, atom)
        sign = "-" if coef < 0 else "+"
        lines += [f"{sign} {sql_number(abs(coef))} * {first}", *indented(others, 2)]
    lines = lines or ["+ 0e0"]
    lines[0] = lines[0].removeprefix("+ ")
    return lines


def _term(rules: ReadableTree, atom: Atom) -> list[str]:
    if isinstance(atom, Member):
        return [f"CASE WHEN {_is_member(rules, atom)} THEN 1e0 ELSE 0e0 END"]
    if isinstance(atom, Steps):
        return _steps(rules, atom)
    name = _identifier(rules.name(atom.column))
    if isinstance(atom, Missing):
        return [f"CASE WHEN {name} IS NULL THEN 1e0 ELSE 0e0 END"]
    if not rules.refuses_missing:
        name = f"COALESCE({name}, {sql_number(atom.fill)})"
    return [f"CAST({name} AS DOUBLE PRECISION)"]


def _steps(rules: ReadableTree, steps: Steps) -> list[str]:
    """Count the cut points that a number reaches, the highest first."""
    name = _identifier(rules.name(steps.column))
    number = f"CAST({name} AS DOUBLE PRECISION)"
    lines = [
        f"WHEN {number} >= {sql_number(cut)} THEN {count}e0"
        for count, cut in reversed(list(enumerate(steps.cuts, start=1)))
    ]
    if not rules.refuses_missing:
        lines.insert(0, f"WHEN {name} IS NULL THEN {steps.of_missing}e0")
    return ["CASE", *lines, "ELSE 0e0 END"]


def _is_within(rules: ReadableTree, bound: Bound) -> str:
    """Compare with a cut point; without a number that is not true."""
    name = _identifier(rules.name(bound.column))
    operator = "<" if bound.is_below else ">="
    test = f"CAST({name} AS DOUBLE PRECISION) {operator} {sql_number(bound.cut)}"
    if bound.missing_too and not rules.refuses_missing:
        return f"{test} OR {name} IS NULL"
    return test


def _is_member(rules: ReadableTree, member: Member) -> str:
    name = _identifier(rules.name(member.column))
    values = ", ".join(_literal(value) for value in member.present)
    tests = [f"{name} IN ({values})"] if values else []
    tests += [f"{name} IS NULL"] if member.has_missing else []
    return f"({' OR '.join(tests)})" if len(tests) > 1 else tests[0]


def _refusals(rules: ReadableTree) -> list[str]:
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
        return sql_number(value)
    return "'" + _without_nul(value).replace("'", "''") + "'"


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError(
            f"SQL cannot write {text!r}, which holds a NUL character. Rename it."
        )
    return text
