"""The tree as Python source that imports nothing."""

from __future__ import annotations

from collections.abc import Sequence

from miptree._version import __version__
from miptree.export._rules import (
    Atom,
    Bound,
    Branch,
    Leaf,
    Member,
    Model,
    Number,
    Rules,
    Steps,
    rules_of,
)
from miptree.export.text import indented, split_text

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


def export_python(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
) -> str:
    """Write a tree as a Python module that needs nothing but Python 3.

    Its ``predict(row)`` takes one row, a mapping from column names to values (or a
    sequence, where the model has no column names), and gives the class that
    ``model.predict`` gives. None and NaN are missing values. Where ``model.predict``
    would refuse the row, it raises a ValueError, as far as the tree looks.

    Parameters
    ----------
    model : OptimalTreeClassifier or ObliqueTree
    feature_names : sequence of str, optional
        Names of the columns, by default the classifier's.
    class_names : sequence, optional
        What ``predict`` gives for each class, by default the classifier's labels.

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
    rules = rules_of(model, feature_names, class_names)
    columns = ascii([rules.key(column) for column in rules.used])
    return "\n".join(
        [
            f'"""Decision tree, written by miptree {__version__}."""',
            "",
            f"COLUMNS = {columns}",
            f"CLASSES = {rules.classes!a}",
            *(f"CUTS{column} = {cuts!r}" for column, cuts in rules.cuts.items()),
            "",
            _HELPERS,
            "",
            "def predict(row):",
            '    """Class of a row, which has a value for each of COLUMNS."""',
            *indented([_read(rules, atom) for atom in _cells(rules)]),
            *indented(_lines(rules, rules.root)),
            "",
        ]
    )


def _cells(rules: Rules) -> list[Atom]:
    """List one atom for each variable that holds a cell."""
    return list({_variable(atom): atom for atom in rules.atoms}.values())


def _variable(atom: Atom) -> str:
    kind = {"Number": "x", "Missing": "missing", "Member": "value", "Steps": "x"}
    return f"{kind[type(atom).__name__]}{atom.column}"


def _read(rules: Rules, atom: Atom) -> str:
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


def _lines(rules: Rules, node: Branch | Leaf) -> list[str]:
    if isinstance(node, Leaf):
        return [f"return CLASSES[{node.label}]"]
    member, yes, no = node.question
    before: list[str] = []
    if node.bound is not None:
        test = _is_within(rules, node.bound)
    elif member is not None:
        test = _is_member(member)
    else:
        before, test = _sum(node), f"score <= {node.threshold!r}"
    return [
        f"# {ascii(split_text(rules, node))[1:-1]}",
        *before,
        f"if {test}:",
        *indented(_lines(rules, yes)),
        "else:",
        *indented(_lines(rules, no)),
    ]


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


def _is_within(rules: Rules, bound: Bound) -> str:
    cell = f"x{bound.column}"
    test = f"{cell} {'<' if bound.is_below else '>='} {bound.cut!r}"
    if rules.refuses_missing:
        return test
    if bound.missing_too:
        return f"{cell} is None or {test}"
    return f"{cell} is not None and {test}"


def _is_member(member: Member) -> str:
    return f"({_variable(member)} in {member.values!a})"
