"""The tree as Python source that imports nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from miptree._version import __version__
from miptree.export.answers import LEAD, Answers, Output, answers_of, reach_terms
from miptree.export.readable import (
    Atom,
    Bound,
    Branch,
    Leaf,
    Member,
    Model,
    Number,
    ReadableTree,
    Steps,
)
from miptree.export.text import indented

_TERMS_ON_A_LINE = 4

_HELPERS = '''
def _is_missing(value):
    return value is None or value != value


def _number(name, value, fill):
    """The number in a cell, or the one that stands for a missing one."""
    if _is_missing(value):
        if fill is None:
            raise ValueError("Column %r is missing." % (name,))
        return fill
    number = float(value)
    if number in (float("inf"), float("-inf")):
        raise ValueError("Column %r is infinite." % (name,))
    return number


def _number_or_none(name, value):
    return None if _is_missing(value) else _number(name, value, None)


def _steps(number, cuts, missing):
    """How many cuts are not above a number, or what stands for a missing one."""
    return missing if number is None else sum(number >= cut for cut in cuts)


def _value(name, value, is_text, refuse_missing, known):
    """The value of a category, None where it is missing."""
    if _is_missing(value):
        if refuse_missing:
            raise ValueError("Column %r is missing." % (name,))
        return None
    if is_text and not isinstance(value, str):
        raise ValueError("Column %r held text and holds %r." % (name, value))
    if not is_text and isinstance(value, str):
        value = float(value)
    if known is not None and value not in known:
        raise ValueError("Column %r holds the unknown %r." % (name, value))
    return value
'''


_BLURRED = f'''
def _part_right(far):
    """The part of a row that goes right, by how far it is right of a split."""
    return 1.0 / (1.0 + exp(-far)) if far > -700.0 else 0.0


def _own_share(node, reach):
    """Probability of a leaf's class, by the parts of a row that reach the leaves."""
    classes = range(len(SHARES[node]))
    shares = [sum(reach[k] * SHARES[k][c] for k in reach) for c in classes]
    own = shares.pop(LABELS[node])
    if node in LEADERS:
        own = max(own, {LEAD!r} * max(shares, default=0.0))
    return own / (own + sum(shares))
'''


def export_python(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    output: Output = "class",
) -> str:
    """Write a tree as a Python module that needs nothing but Python 3.

    Its ``predict(row)`` takes one row, a mapping from column names to values (or a
    sequence, where the model has no column names), and gives the class that
    ``model.predict`` gives. None and NaN are missing values. Where ``model.predict``
    would refuse the row, it raises a ValueError, as far as the tree looks.

    Parameters
    ----------
    model : fitted classifier of this package, or ObliqueTree
    feature_names : sequence of str, optional
        Names of the columns, by default the classifier's.
    class_names : sequence, optional
        What ``predict`` gives for each class, by default the classifier's labels.
    output : {"class", "leaf", "probability", "reason"} or sequence, default="class"
        Functions of a row that the module has: ``predict``, ``leaf`` (as
        ``model.apply``), ``probability`` (that of the class by ``predict_proba``, but
        for rounding) and ``reason`` (the sentence of :func:`~miptree.explain`).

    Returns
    -------
    str
        Source code.

    Examples
    --------
    >>> import numpy as np
    >>> from miptree.tree import HeapTree, ObliqueTree
    >>> heap = HeapTree(np.array([[1.5, -1.0]]), np.array([3.0]), np.array([0, 1]))
    >>> source = export_python(ObliqueTree.from_heap(heap), ["width", "height"])
    >>> module = {}
    >>> exec(source, module)
    >>> module["predict"]({"width": 1.0, "height": 2.0})
    0
    """
    answers = answers_of(model, feature_names, class_names, output)
    rules = answers.rules
    columns = ascii([rules.key(column) for column in rules.used])
    blurs = answers.is_blurred and "probability" in answers.outputs
    return "\n".join(
        [
            f'"""Decision tree, written by miptree {__version__}."""',
            "",
            *(["from math import exp", ""] if blurs else []),
            f"COLUMNS = {columns}",
            f"CLASSES = {rules.classes!a}",
            *(f"CUTS{column} = {cuts!r}" for column, cuts in rules.cuts.items()),
            *_constants(answers),
            "",
            _HELPERS,
            *([_BLURRED] if blurs else []),
            *_functions(answers),
            "",
        ]
    )


def _constants(answers: Answers) -> list[str]:
    """Write what the leaves answer, by their nodes."""
    leaves, found = answers.rules.leaves, []
    if not answers.only_class:
        found.append(f"LABELS = {answers.labels!r}")
    if "probability" in answers.outputs and answers.is_blurred:
        shares = {leaf.node: answers.shares(leaf) for leaf in leaves}
        found.append(f"SHARES = {shares!r}")
        found.append(f"LEADERS = {answers.leaders!r}")
    elif "probability" in answers.outputs:
        own = {leaf.node: answers.of_leaf(leaf) for leaf in leaves}
        found.append(f"PROBABILITIES = {own!r}")
    if answers.reasons:
        found.append(f"REASONS = {answers.reasons!a}")
    return found


def _functions(answers: Answers) -> list[str]:
    rules, read = answers.rules, _read_all(answers.rules)
    if answers.only_class:
        return _function(
            "predict",
            "Class of a row, which has a value for each of COLUMNS.",
            [*read, *_lines(rules, rules.root, lambda x: f"CLASSES[{x.label}]")],
        )
    found = _function(
        "leaf",
        "Leaf of a row, which has a value for each of COLUMNS.",
        [*read, *_lines(rules, rules.root, lambda x: str(x.node))],
    )
    if "class" in answers.outputs:
        body = ["return CLASSES[LABELS[leaf(row)]]"]
        found += _function("predict", "Class of a row.", body)
    if "probability" in answers.outputs:
        body = ["return PROBABILITIES[leaf(row)]"]
        body = [*read, *_blurred(answers)] if answers.is_blurred else body
        found += _function("probability", "Probability of the class of a row.", body)
    if "reason" in answers.outputs:
        body = ["return REASONS[leaf(row)]"]
        found += _function("reason", "Why a row has its class.", body)
    return found


def _function(name: str, says: str, body: list[str]) -> list[str]:
    return ["", f"def {name}(row):", f'    """{says}"""', *indented(body), ""]


def _blurred(answers: Answers) -> list[str]:
    """Write the probability where rows near a split count to both sides in part."""
    lines = []
    for branch in answers.rules.branches:
        part, width = f"part{branch.node}", answers.width(branch)
        if width > 0:
            far = f"(score - {branch.threshold!r}) / {width!r}"
            lines += [*_sum(branch), f"{part} = _part_right({far})"]
        else:
            before, test, yes, no = _test(answers.rules, branch)
            ends = [0.0 if side is branch.left else 1.0 for side in (yes, no)]
            lines += [*before, f"{part} = {ends[0]} if {test} else {ends[1]}"]
    reach = [f"    {leaf.node}: {text}," for leaf, text in reach_terms(answers)]
    return [*lines, "reach = {", *reach, "}", "return _own_share(leaf(row), reach)"]


def _read_all(rules: ReadableTree) -> list[str]:
    return [_read(rules, atom) for atom in _cells(rules)]


def _cells(rules: ReadableTree) -> list[Atom]:
    """List one atom for each variable that holds a cell."""
    return list({_variable(atom): atom for atom in rules.atoms}.values())


def _variable(atom: Atom) -> str:
    kind = {"Number": "x", "Missing": "missing", "Member": "value", "Steps": "x"}
    return f"{kind[type(atom).__name__]}{atom.column}"


def _read(rules: ReadableTree, atom: Atom) -> str:
    key = ascii(rules.key(atom.column))
    cell = f"row[{key}]"
    if isinstance(atom, Number):
        fill = None if rules.refuses_missing else atom.fill
        cell = f"_number({key}, {cell}, {fill!r})"
    elif isinstance(atom, Steps) and rules.refuses_missing:
        cell = f"_number({key}, {cell}, None)"
    elif isinstance(atom, Steps):
        cell = f"_number_or_none({key}, {cell})"
    elif isinstance(atom, Member):
        known = rules.known_values(atom.column) if rules.refuses_unknown else None
        is_text = rules.is_text(atom.column)
        cell = f"_value({key}, {cell}, {is_text}, {rules.refuses_missing}, {known!a})"
    else:
        cell = f"_is_missing({cell})"
    return f"{_variable(atom)} = {cell}"


def _lines(
    rules: ReadableTree, node: Branch | Leaf, answer: Callable[[Leaf], str]
) -> list[str]:
    if isinstance(node, Leaf):
        return [f"return {answer(node)}"]
    before, test, yes, no = _test(rules, node)
    return [
        f"# {ascii(node.comment)[1:-1]}",
        *before,
        f"if {test}:",
        *indented(_lines(rules, yes, answer)),
        "else:",
        *indented(_lines(rules, no, answer)),
    ]


def _test(
    rules: ReadableTree, branch: Branch
) -> tuple[list[str], str, Branch | Leaf, Branch | Leaf]:
    """Write a split: lines before it, its test, and the children for yes and no."""
    member, yes, no = branch.question
    if branch.bound is not None:
        return [], _is_within(rules, branch.bound), yes, no
    if member is not None:
        return [], _is_member(member), yes, no
    return _sum(branch), f"score <= {branch.threshold!r}", yes, no


def _sum(branch: Branch) -> list[str]:
    """Write the sum from left to right, some terms on each line."""
    terms = [f"{coef!r} * {_term(atom)}" for coef, atom in branch.terms] or ["0.0"]
    lines = []
    for start in range(0, len(terms), _TERMS_ON_A_LINE):
        part = " + ".join(terms[start : start + _TERMS_ON_A_LINE])
        lines.append(f"score = {'score + ' if start else ''}{part}")
    return lines


def _term(atom: Atom) -> str:
    if isinstance(atom, Steps):
        return f"_steps({_variable(atom)}, CUTS{atom.column}, {atom.of_missing})"
    return _is_member(atom) if isinstance(atom, Member) else _variable(atom)


def _is_within(rules: ReadableTree, bound: Bound) -> str:
    cell = f"x{bound.column}"
    test = f"{cell} {'<' if bound.is_below else '>='} {bound.cut!r}"
    if rules.refuses_missing:
        return test
    if bound.missing_too:
        return f"{cell} is None or {test}"
    return f"{cell} is not None and {test}"


def _is_member(member: Member) -> str:
    return f"({_variable(member)} in {member.values!a})"
