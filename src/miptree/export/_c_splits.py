"""Splits in C source: what they read of a row, their tests, and the tree of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from miptree.export._c_text import c_comment, c_text
from miptree.export.readable import (
    Atom,
    Bound,
    Branch,
    Leaf,
    Member,
    Missing,
    ReadableTree,
    Steps,
)
from miptree.export.text import indented

# ----------------------------------------------------------------- sets of values


def sets_of(rules: ReadableTree) -> dict[Member, str]:
    """Name the sets of values that cells are compared with."""
    members = [atom for atom in rules.atoms if isinstance(atom, Member)]
    if rules.refuses_unknown:
        members += [rules.known(j) for j in rules.used if rules.is_category(j)]
    return {m: f"values_{k}" for k, m in enumerate(dict.fromkeys(members))}


def array_of(rules: ReadableTree, member: Member, name: str) -> str:
    if not member.present:
        return ""
    if rules.is_text(member.column):
        items = ", ".join(c_text(str(value)) for value in member.present)
        return f"static const char *const {name}[] = {{{items}}};"
    items = ", ".join(repr(float(value)) for value in member.present)
    return f"static const double {name}[] = {{{items}}};"


def cuts_array(column: int, cuts: Sequence[float]) -> str:
    return f"static const double cuts_{column}[] = {{{', '.join(map(repr, cuts))}}};"


def _is_member(rules: ReadableTree, member: Member, sets: dict[Member, str]) -> str:
    cell, name = f"row->x{member.column}", sets[member]
    look_up = "text_in" if rules.is_text(member.column) else "number_in"
    n = len(member.present)
    tests = [f"{look_up}({cell}, {name}, {n})"] if n else []
    tests += [_is_missing(rules, member.column)] if member.has_missing else []
    return f"({' || '.join(tests)})"


def _is_missing(rules: ReadableTree, column: int) -> str:
    cell = f"row->x{column}"
    return f"{cell} == NULL" if rules.is_text(column) else f"isnan({cell})"


# -------------------------------------------------------------------------- the tree


def guard_lines(rules: ReadableTree, sets: dict[Member, str]) -> list[str]:
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


def split_lines(
    rules: ReadableTree,
    node: Branch | Leaf,
    sets: dict[Member, str],
    answer: Callable[[Leaf], str],
) -> list[str]:
    if isinstance(node, Leaf):
        return [f"return {answer(node)}"]
    before, test, yes, no = test_of(rules, node, sets)
    return [
        f"/* {c_comment(node.comment)} */",
        *before,
        f"if ({test}) {{",
        *indented(split_lines(rules, yes, sets, answer)),
        "} else {",
        *indented(split_lines(rules, no, sets, answer)),
        "}",
    ]


def test_of(
    rules: ReadableTree, branch: Branch, sets: dict[Member, str]
) -> tuple[list[str], str, Branch | Leaf, Branch | Leaf]:
    """Write a split: lines before it, its test, and the children for yes and no."""
    member, yes, no = branch.question
    if branch.bound is not None:
        return [], _is_within(rules, branch.bound), yes, no
    if member is not None:
        return [], _is_member(rules, member, sets), yes, no
    before = sum_lines(rules, branch, sets)
    return before, f"score <= {branch.threshold!r}", yes, no


def sum_lines(
    rules: ReadableTree, branch: Branch, sets: dict[Member, str]
) -> list[str]:
    terms = [(repr(coef), _term(rules, atom, sets)) for coef, atom in branch.terms]
    adding = (f"score = plus(score, {coef}, {term});" for coef, term in terms)
    return ["score = 0.0;", *adding]


def _term(rules: ReadableTree, atom: Atom, sets: dict[Member, str]) -> str:
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


def _is_within(rules: ReadableTree, bound: Bound) -> str:
    """Compare with a cut point; with NaN that is not true."""
    cell = f"row->x{bound.column}"
    test = f"{cell} {'<' if bound.is_below else '>='} {bound.cut!r}"
    accepts_nan = bound.missing_too and not rules.refuses_missing
    return f"isnan({cell}) || {test}" if accepts_nan else test
