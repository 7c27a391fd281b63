"""Probabilities of rows near a split, in SQL: selections from one another.

Each names what the next one needs more than once: how far a row is from the splits, the
parts of it that go right, the probabilities of the classes, and that of its own class.
"""

from __future__ import annotations

from miptree.export._sql_numbers import share_text, sql_number
from miptree.export.answers import LEAD, Answers
from miptree.export.readable import Branch, Leaf
from miptree.export.text import indented

FAR = "40e0"
"""Units of blur beyond which a row counts to one side alone: the other part is below
the rounding of a float64, and its product could be too small for a database."""


def blurred_lines(
    answers: Answers, leaf: list[str], far: dict[int, list[str]]
) -> list[str]:
    """Write the probability of a row's class.

    Parameters
    ----------
    answers : Answers
    leaf : list of str
        The expression that gives a row's leaf.
    far : dict from int to list of str
        The expressions that give how far right of each split it is, in its blurs.
    """
    own = _free_start(answers)
    columns = [[*leaf[:-1], f"{leaf[-1]} AS {own}leaf"]]
    columns += [
        [*text[:-1], f"{text[-1]} AS {own}far{node}"] for node, text in far.items()
    ]
    inner = _selection(columns, [])
    parts = ([_part(f"{own}far{node}", node)] for node in far)
    inner = _selection([[f"{own}leaf AS leaf"], *parts], inner, "distances")
    shares = ([_share(answers, k)] for k in range(answers.n_classes))
    inner = _selection([["leaf"], *shares], inner, "parts")
    inner = _selection(_own(answers), inner, "classes")
    found = (
        "CASE WHEN own < least THEN least / (least + others) "
        "ELSE own / (own + others) END"
    )
    lines = _selection([[found]], inner, "shares")
    return [f"({lines[0]}", *lines[1:-1], f"{lines[-1]})"]


def _selection(columns: list[list[str]], inner: list[str], name: str = "") -> list[str]:
    """Write the selection of columns, each of some lines, from an inner selection."""
    listed = [
        line
        for k, column in enumerate(columns)
        for line in [*column[:-1], column[-1] + "," * (k < len(columns) - 1)]
    ]
    lines = ["SELECT", *indented(listed, 2)]
    return [*lines, "FROM (", *indented(inner, 2), f") AS {name}"] if inner else lines


def _free_start(answers: Answers) -> str:
    """Return what no column's name starts with.

    Where a selection reads columns, some databases take its own names for columns.
    """
    names = [answers.rules.name(j) for j in answers.rules.used]
    start = "_"
    while any(name.startswith(start) for name in names):
        start += "_"
    return start


def _part(far: str, node: int) -> str:
    ends = f"WHEN {far} <= -{FAR} THEN 0e0 WHEN {far} >= {FAR} THEN 1e0"
    return f"CASE {ends} ELSE 1e0 / (1e0 + EXP(-{far})) END AS part{node}"


def _share(answers: Answers, label: int) -> str:
    """Write the probability of a class: those of the leaves by the parts of a row."""

    def mixed(node: Branch | Leaf) -> str:
        if isinstance(node, Leaf):
            return share_text(answers.shares(node)[label])
        left, right, part = mixed(node.left), mixed(node.right), f"part{node.node}"
        return f"((1e0 - {part}) * {left} + {part} * {right})"

    return f"{mixed(answers.rules.root)} AS share{label}"


def _own(answers: Answers) -> list[list[str]]:
    """Write the share of the leaf's class, the least it has to be, and the others'."""
    leaves: dict[int, list[int]] = {}
    for node, label in answers.labels.items():
        leaves.setdefault(label, []).append(node)
    own, least, others = [], [], []
    for label, nodes in leaves.items():
        rest = [f"share{k}" for k in range(answers.n_classes) if k != label]
        own.append(f"{_among(nodes)} THEN share{label}")
        others.append(f"{_among(nodes)} THEN {' + '.join(rest) or '0e0'}")
        if leading := [node for node in nodes if node in answers.leaders]:
            most = f"{sql_number(LEAD)} * {_largest(rest)}"
            least.append(f"{_among(leading)} THEN {most}")
    limit = ["CASE", *indented(least, 2), "ELSE 0e0 END AS least"]
    return [
        ["CASE", *indented(own, 2), "END AS own"],
        limit if least else ["0e0 AS least"],
        ["CASE", *indented(others, 2), "END AS others"],
    ]


def _among(nodes: list[int]) -> str:
    return f"WHEN leaf IN ({', '.join(map(str, nodes))})"


def _largest(names: list[str]) -> str:
    """Write the largest of some columns; databases differ in the function's name."""
    if len(names) < 2:
        return names[0] if names else "0e0"
    *first, last = (
        (name, [f"{name} >= {other}" for other in names[k + 1 :]])
        for k, name in enumerate(names)
    )
    cases = " ".join(f"WHEN {' AND '.join(tests)} THEN {name}" for name, tests in first)
    return f"CASE {cases} ELSE {last[0]} END"
