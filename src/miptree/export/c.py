"""The tree as C source (C99 and later), without any library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from miptree._version import __version__
from miptree.export._c_splits import (
    array_of,
    cuts_array,
    guard_lines,
    sets_of,
    split_lines,
    sum_lines,
    test_of,
)
from miptree.export._c_text import c_comment, c_text
from miptree.export.answers import LEAD, Answers, Output, answers_of, reach_terms
from miptree.export.readable import Branch, Leaf, Member, Model, ReadableTree
from miptree.export.text import indented

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


_OWN_SHARE = """
/* probability of a leaf's class, by the parts of a row that reach the leaves */
static double own_share(int leaf, const double *reach)
{
    double own = 0.0, most = 0.0, others = 0.0;
    for (int k = 0; k < N_CLASSES; k++) {
        double share = 0.0;
        for (int i = 0; i < N_LEAVES; i++)
            share += reach[i] * shares[i][k];
        if (k == own_class[leaf]) {
            own = share;
        } else {
            others += share;
            most = share > most ? share : most;
        }
    }
    if (leads[leaf] && own < LEAD * most)
        own = LEAD * most;
    return own / (own + others);
}"""


def export_c(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    prefix: str = "miptree",
    output: Output = "class",
) -> str:
    """Write a tree as a C function of a row.

    ``miptree_predict(&row)`` gives the index of the class that ``model.predict``
    gives, whose name is in ``miptree_classes``. Numbers are doubles, NaN where missing;
    text is UTF-8, NULL where missing; truth values are 0 and 1. The index is -1 where
    ``model.predict`` would refuse the row, as far as the tree looks.

    Parameters
    ----------
    model : fitted classifier of this package, or ObliqueTree
    feature_names, class_names : sequence, optional
        Names of the columns and the classes, by default the classifier's.
    prefix : str, default="miptree"
        What the names of function, struct and array begin with, so that a program can
        hold several trees.
    output : {"class", "leaf", "probability", "reason"} or sequence, default="class"
        Functions of a row that there are: ``miptree_predict``, ``miptree_leaf`` (as
        ``model.apply``; -1 if refused), ``miptree_probability`` (that of the class by
        ``predict_proba``, but for rounding; NaN if refused; where it uses ``exp``, link
        with ``-lm``) and ``miptree_reason`` (the sentence of :func:`~miptree.explain`
        in UTF-8; NULL if refused).

    Returns
    -------
    str
        Source code.
    """
    if not (prefix.isascii() and prefix.isidentifier()):
        raise ValueError(f"prefix must be a C identifier, got {prefix!r}.")
    answers = answers_of(model, feature_names, class_names, output)
    rules = answers.rules
    sets = sets_of(rules)
    functions = _functions(answers, sets, prefix)
    text = "\n".join(functions)
    helpers = {
        "plus(": _PLUS,
        "steps_of(": _STEPS,
        "text_in(": _TEXT_IN,
        "number_in(": _NUMBER_IN,
    }
    names = ",\n    ".join(c_text(str(name)) for name in rules.classes)
    return "\n".join(
        [
            f"/* Decision tree, written by miptree {__version__}. */",
            _HEAD,
            *(code for call, code in helpers.items() if call in text),
            *_row_type(rules, prefix),
            f"const char *const {prefix}_classes[] = {{\n    {names}\n}};\n",
            *(array_of(rules, member, name) for member, name in sets.items()),
            *(cuts_array(column, cuts) for column, cuts in rules.cuts.items()),
            *functions,
            "",
        ]
    )


# ------------------------------------------------------------------------- functions


def _functions(answers: Answers, sets: dict[Member, str], prefix: str) -> list[str]:
    """Write a function for each output; those beside the class look up the leaf."""
    rules, row = answers.rules, f"const struct {prefix}_row *row"
    guards = guard_lines(rules, sets)
    if answers.only_class:
        body = [*guards, *split_lines(rules, rules.root, sets, partial(_label, rules))]
        says = "Index of the class of a row, -1 if it cannot be told."
        return _function(says, f"int {prefix}_predict({row})", body)
    body = [
        *guards,
        *split_lines(rules, rules.root, sets, lambda leaf: f"{leaf.node};"),
    ]
    says = "Leaf of a row, -1 if it cannot be told."
    found = _function(says, f"int {prefix}_leaf({row})", body)
    look_up = f"int leaf = {prefix}_leaf(row);"
    if "class" in answers.outputs:
        found += ["", _by_node("int", "labels", answers.labels, "0")]
        says = "Index of the class of a row, -1 if it cannot be told."
        body = [look_up, "return leaf < 0 ? -1 : labels[leaf];"]
        found += _function(says, f"int {prefix}_predict({row})", body)
    if "probability" in answers.outputs:
        says = "Probability of the class of a row, NaN if it cannot be told."
        before, body = _probability(answers, sets)
        head = f"double {prefix}_probability({row})"
        found += [*before, *_function(says, head, [look_up, *body])]
    if "reason" in answers.outputs:
        texts = {node: c_text(text) for node, text in answers.reasons.items()}
        found += ["", _by_node("char *const", "reasons", texts, "NULL")]
        says = "Why a row has its class, NULL if that cannot be told."
        body = [look_up, "return leaf < 0 ? NULL : reasons[leaf];"]
        found += _function(says, f"const char *{prefix}_reason({row})", body)
    return found


def _function(says: str, head: str, body: list[str]) -> list[str]:
    text = "\n".join(body)
    return [
        "",
        f"/* {says} */",
        head,
        "{",
        *(["    double score;"] if "score = " in text else []),
        *([] if "row->" in text or "(row)" in text else ["    (void)row;"]),
        *indented(body),
        "}",
    ]


def _label(rules: ReadableTree, leaf: Leaf) -> str:
    return f"{leaf.label}; /* {c_comment(str(rules.classes[leaf.label]))} */"


def _by_node(kind: str, name: str, entries: Mapping[int, object], other: str) -> str:
    """Write an array with an entry for each leaf, at the place of its node."""
    listed = [str(entries.get(node, other)) for node in range(max(entries) + 1)]
    lines = indented([f"{entry}," for entry in listed])
    return "\n".join([f"static const {kind} {name}[] = {{", *lines, "};"])


def _probability(
    answers: Answers, sets: dict[Member, str]
) -> tuple[list[str], list[str]]:
    """Write the probability of a leaf's class: arrays and helpers, and the body."""
    rules = answers.rules
    if not answers.is_blurred:
        own = {leaf.node: repr(answers.of_leaf(leaf)) for leaf in rules.leaves}
        arrays = ["", _by_node("double", "probabilities", own, "0.0")]
        return arrays, ["return leaf < 0 ? NAN : probabilities[leaf];"]
    reach = reach_terms(answers)
    leads = {node: int(node in answers.leaders) for node in answers.labels}
    shares = {k: _braced(answers.shares(leaf)) for k, (leaf, _) in enumerate(reach)}
    n_classes = answers.n_classes
    before = ["", _by_node("int", "own_class", answers.labels, "0")]
    before += [_by_node("int", "leads", leads, "0")]
    before += [_by_node("double", f"shares[][{n_classes}]", shares, "")]
    before[-1] = before[-1].replace("[] = ", " = ", 1)
    sizes = {"N_LEAVES": len(reach), "N_CLASSES": n_classes, "LEAD": repr(LEAD)}
    helper = _OWN_SHARE
    for name, size in sizes.items():
        helper = helper.replace(name, str(size))
    body = [f"double {', '.join(f'part{b.node}' for b in rules.branches)};"]
    body += ["if (leaf < 0)", "    return NAN;"]
    body += [line for b in rules.branches for line in _part(answers, b, sets)]
    listed = indented([f"{text}," for _, text in reach])
    body += ["{", "    const double reach[] = {", *indented(listed), "    };"]
    return [*before, helper], [*body, "    return own_share(leaf, reach);", "}"]


def _part(answers: Answers, branch: Branch, sets: dict[Member, str]) -> list[str]:
    """Write the part of a row that goes right at a split."""
    name, width = f"part{branch.node}", answers.width(branch)
    if width > 0:
        far = f"(score - {branch.threshold!r}) / {width!r}"
        sums = sum_lines(answers.rules, branch, sets)
        return [*sums, f"{name} = 1.0 / (1.0 + exp(-({far})));"]
    before, test, yes, no = test_of(answers.rules, branch, sets)
    ends = [0.0 if side is branch.left else 1.0 for side in (yes, no)]
    return [*before, f"{name} = ({test}) ? {ends[0]} : {ends[1]};"]


def _braced(numbers: Sequence[float]) -> str:
    return f"{{{', '.join(map(repr, numbers))}}}"


def _row_type(rules: ReadableTree, prefix: str) -> list[str]:
    fields = [
        f"    {'const char *' if rules.is_text(j) else 'double '}x{j};"
        f" /* {c_comment(rules.name(j))} */"
        for j in rules.used
    ]
    return [f"struct {prefix}_row {{", *(fields or ["    char unused;"]), "};\n"]
