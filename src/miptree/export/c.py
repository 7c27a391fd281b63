"""The tree as C source (C99 and later), without any library."""

from __future__ import annotations

from collections.abc import Sequence

from miptree._version import __version__
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

_HEAD = """\
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* The sums below must be rounded as they are written. */
#if defined(__FAST_MATH__) || defined(_M_FP_FAST) \\
    || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "compile with SSE2 arithmetic (-msse2 -mfpmath=sse)"
#endif
"""

_PLUS = """\
/* sum + coef * x; the product is rounded first, never fused into the sum */
static double plus(double sum, double coef, double x)
{
    volatile double term = coef * x;
    return sum + term;
}
"""

_STEPS = """\
/* how many of the ascending cuts are not above x */
static double steps_of(double x, const double *cuts, size_t n)
{
    size_t steps = 0;
    while (steps < n && x >= cuts[steps])
        steps++;
    return (double)steps;
}
"""

_TEXT_IN = """\
static int text_in(const char *value, const char *const *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (value != NULL && strcmp(value, values[i]) == 0)
            return 1;
    return 0;
}
"""

_NUMBER_IN = """\
static int number_in(double value, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (value == values[i])
            return 1;
    return 0;
}
"""


def export_c(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    prefix: str = "miptree",
) -> str:
    """Write a tree as a C function of a row.

    ``miptree_predict(&row)`` gives the index of the class that ``model.predict``
    gives, whose name is in ``miptree_classes``. Numbers are doubles, NaN where missing;
    text is UTF-8, NULL where missing; truth values are 0 and 1. The index is -1 where
    ``model.predict`` would refuse the row, as far as the tree looks.

    Parameters
    ----------
    model : OptimalTreeClassifier or ObliqueTree
    feature_names, class_names : sequence, optional
        Names of the columns and the classes, by default the classifier's.
    prefix : str, default="miptree"
        What the names of function, struct and array begin with, so that a program can
        hold several trees.

    Returns
    -------
    str
        Source code.
    """
    if not (prefix.isascii() and prefix.isidentifier()):
        raise ValueError(f"prefix must be a C identifier, got {prefix!r}.")
    rules = rules_of(model, feature_names, class_names)
    sets = _sets(rules)
    body = _lines(rules, rules.root, sets)
    text = "\n".join([*_guards(rules, sets), *body])
    helpers = {
        "plus(": _PLUS,
        "steps_of(": _STEPS,
        "text_in(": _TEXT_IN,
        "number_in(": _NUMBER_IN,
    }
    names = ",\n    ".join(_text(str(name)) for name in rules.classes)
    return "\n".join(
        [
            f"/* Decision tree, written by miptree {__version__}. */",
            _HEAD,
            *(code for call, code in helpers.items() if call in text),
            *_row_type(rules, prefix),
            f"const char *const {prefix}_classes[] = {{\n    {names}\n}};\n",
            *(_array(rules, member, name) for member, name in sets.items()),
            *(_cuts(column, cuts) for column, cuts in rules.cuts.items()),
            "",
            "/* Index of the class of a row, -1 if it cannot be told. */",
            f"int {prefix}_predict(const struct {prefix}_row *row)",
            "{",
            *(["    double score;"] if "score" in text else []),
            *([] if "row->" in text else ["    (void)row;"]),
            *indented(text.splitlines()),
            "}",
            "",
        ]
    )


def _row_type(rules: Rules, prefix: str) -> list[str]:
    fields = [
        f"    {'const char *' if rules.is_text(j) else 'double '}x{j};"
        f" /* {_comment(rules.name(j))} */"
        for j in rules.used
    ]
    return [f"struct {prefix}_row {{", *(fields or ["    char unused;"]), "};\n"]


# ----------------------------------------------------------------- sets of values


def _sets(rules: Rules) -> dict[Member, str]:
    """Name the sets of values that cells are compared with."""
    members = [atom for atom in rules.atoms if isinstance(atom, Member)]
    if rules.refuses_unknown:
        members += [rules.known(j) for j in rules.used if rules.is_category(j)]
    return {m: f"values_{k}" for k, m in enumerate(dict.fromkeys(members))}


def _array(rules: Rules, member: Member, name: str) -> str:
    if not member.present:
        return ""
    if rules.is_text(member.column):
        items = ", ".join(_text(str(value)) for value in member.present)
        return f"static const char *const {name}[] = {{{items}}};"
    items = ", ".join(repr(float(value)) for value in member.present)
    return f"static const double {name}[] = {{{items}}};"


def _cuts(column: int, cuts: Sequence[float]) -> str:
    return f"static const double cuts_{column}[] = {{{', '.join(map(repr, cuts))}}};"


def _is_member(rules: Rules, member: Member, sets: dict[Member, str]) -> str:
    cell, name = f"row->x{member.column}", sets[member]
    look_up = "text_in" if rules.is_text(member.column) else "number_in"
    n = len(member.present)
    tests = [f"{look_up}({cell}, {name}, {n})"] if n else []
    tests += [_is_missing(rules, member.column)] if member.has_missing else []
    return f"({' || '.join(tests)})"


def _is_missing(rules: Rules, column: int) -> str:
    cell = f"row->x{column}"
    return f"{cell} == NULL" if rules.is_text(column) else f"isnan({cell})"


# -------------------------------------------------------------------------- the tree


def _guards(rules: Rules, sets: dict[Member, str]) -> list[str]:
    """Write tests that return -1 for rows that ``predict`` refuses."""
    found = []
    for column in rules.used:
        tests = [_is_missing(rules, column)] if rules.refuses_missing else []
        if not rules.is_category(column):
            tests.append(f"isinf(row->x{column})")
        elif rules.refuses_unknown:
            tests.append(f"!{_is_member(rules, rules.known(column), sets)}")
        found += [f"if ({' || '.join(tests)})", "    return -1;"] if tests else []
    return found


def _lines(rules: Rules, node: Branch | Leaf, sets: dict[Member, str]) -> list[str]:
    if isinstance(node, Leaf):
        name = _comment(str(rules.classes[node.label]))
        return [f"return {node.label}; /* {name} */"]
    member, yes, no = node.question
    before: list[str] = []
    if node.bound is not None:
        test = _is_within(rules, node.bound)
    elif member is not None:
        test = _is_member(rules, member, sets)
    else:
        terms = [(repr(coef), _term(rules, atom, sets)) for coef, atom in node.terms]
        adding = (f"score = plus(score, {coef}, {term});" for coef, term in terms)
        before, test = ["score = 0.0;", *adding], f"score <= {node.threshold!r}"
    return [
        f"/* {_comment(split_text(rules, node))} */",
        *before,
        f"if ({test}) {{",
        *indented(_lines(rules, yes, sets)),
        "} else {",
        *indented(_lines(rules, no, sets)),
        "}",
    ]


def _term(rules: Rules, atom: Atom, sets: dict[Member, str]) -> str:
    cell = f"row->x{atom.column}"
    if isinstance(atom, Member):
        return _is_member(rules, atom, sets)
    if isinstance(atom, Missing):
        return f"(isnan({cell}) ? 1.0 : 0.0)"
    if isinstance(atom, Steps):
        steps = f"steps_of({cell}, cuts_{atom.column}, {len(atom.cuts)})"
        if rules.refuses_missing or atom.of_missing == 0:  # as many as NaN reaches
            return steps
        return f"(isnan({cell}) ? {atom.of_missing}.0 : {steps})"
    if rules.refuses_missing:
        return cell
    return f"(isnan({cell}) ? {atom.fill!r} : {cell})"


def _is_within(rules: Rules, bound: Bound) -> str:
    """Compare with a cut point; with NaN that is not true."""
    cell = f"row->x{bound.column}"
    test = f"{cell} {'<' if bound.is_below else '>='} {bound.cut!r}"
    accepts_nan = bound.missing_too and not rules.refuses_missing
    return f"isnan({cell}) || {test}" if accepts_nan else test


# ---------------------------------------------------------------------------- text


def _text(value: str) -> str:
    """Write a string literal; three octal digits cannot run into what follows."""
    if "\0" in value:
        raise ValueError(f"A C string cannot hold the NUL character of {value!r}.")
    plain = set(range(32, 127)) - set(b'"\\?')
    text = "".join(chr(b) if b in plain else f"\\{b:03o}" for b in value.encode())
    return f'"{text}"'


def _comment(text: Value) -> str:
    """Make text such that it cannot end its comment."""
    plain = str(text).encode("ascii", "backslashreplace").decode()
    plain = "".join(c if c.isprintable() else " " for c in plain)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")
