"""A points tree as steps that a clerk follows: questions, and cards to add up."""

from __future__ import annotations

from dataclasses import dataclass

from miptree.data.columns import show_value
from miptree.export.conditions import Card, Condition
from miptree.export.describe import condition_of
from miptree.export.leaf_words import leaf_text
from miptree.export.names import printable
from miptree.export.readable import Branch, Leaf, Member, ReadableTree
from miptree.export.words import condition_words, part_words, points_words
from miptree.export.wrap import wrapped
from miptree.utils.arrays import IntArray


@dataclass(frozen=True)
class Step:
    """A split with its number.

    Attributes
    ----------
    number : int
        1 at the root, then level by level.
    branch : Branch
    asks : Condition
        What holds for the rows that go left.
    """

    number: int
    branch: Branch
    asks: Condition

    @property
    def answers(self) -> tuple[str, str]:
        """What rows that go left and right have in common."""
        if not isinstance(self.asks, Card):
            return "yes", "no"
        return f"{self.asks.most} or fewer", f"{self.asks.most + 1} or more"


def steps_of(rules: ReadableTree) -> dict[int, Step]:
    """Number the splits of a points tree level by level; keys are nodes."""
    found: dict[int, Step] = {}
    level: list[Branch | Leaf] = [rules.root]
    while level:
        branches = [node for node in level if isinstance(node, Branch)]
        for branch in branches:
            step = Step(len(found) + 1, branch, condition_of(branch))
            found[branch.node] = step
        level = [child for node in branches for child in (node.left, node.right)]
    return found


def card_words(shown: ReadableTree, found: Condition) -> str:
    """Say how many points are asked for on a card, and of which step; else nothing."""
    if not isinstance(found, Card):
        return ""
    for step in steps_of(shown).values():
        asks = step.asks
        if isinstance(asks, Card) and (asks.parts, asks.most) == (
            found.parts,
            found.most,
        ):
            return f"{points_words(found)} in STEP {step.number}"
    return ""


def cards_text(rules: ReadableTree, counts: IntArray | None, width: int | None) -> str:
    """Write a points tree step by step.

    Parameters
    ----------
    rules : ReadableTree
        Turned by :func:`~miptree.export.describe.readable`.
    counts : int array of shape (n_nodes, n_classes) or None
        Training rows of each class at each node.
    width : int or None
        Most characters of a line.
    """
    steps = steps_of(rules)
    goals = goal_words(rules, steps, counts)
    if not steps:
        return f"Always {goals[rules.root.node]}."
    lines = [line for step in steps.values() for line in _lines(rules, step, goals)]
    lines = [*lines[:-1], *rare_values(rules)]
    for note in costs_note(rules, counts):
        lines += ["", note]
    return "\n".join(part for line in lines for part in hung(line, width))


def hung(line: str, width: int | None) -> list[str]:
    """Break a line; what follows stands further right than it begins."""
    text = line.lstrip(" ")
    margin = " " * (len(line) - len(text))
    room = None if width is None else width - len(margin)
    return [margin + part for part in wrapped(text, room, " " * 4)]


def costs_note(
    rules: ReadableTree, counts: IntArray | None, keeps_rules: bool = False
) -> list[str]:
    """Explain leaves whose class is not the most frequent one, if there are such."""
    if counts is None or all(
        counts[leaf.node, leaf.label] == counts[leaf.node].max()
        for leaf in rules.leaves
    ):
        return []
    why = "The tree keeps rules: a leaf has the class that suits them"
    if not keeps_rules:
        why = "Errors differ in cost: a leaf has the class that costs least"
    return [f"{why}, not the most frequent one."]


def goal_words(
    rules: ReadableTree, steps: dict[int, Step], counts: IntArray | None
) -> dict[int, str]:
    """Say for each node what to do on coming there: end with a class, or go on."""
    goals = {leaf.node: leaf_text(rules, leaf, counts) for leaf in rules.leaves}
    return goals | {node: f"go to STEP {step.number}" for node, step in steps.items()}


def _lines(rules: ReadableTree, step: Step, goals: dict[int, str]) -> list[str]:
    head = f"STEP {step.number}  "
    margin = " " * len(head)
    if isinstance(step.asks, Card):
        lines = [f"{head}add up points (0 to {step.asks.total}):"]
        said = [part_words(rules, part) for part in step.asks.parts]
        wide = max(len(name) for name, _ in said)
        lines += [f"{margin}  {name:<{wide}}  {points}" for name, points in said]
    else:
        lines = [f"{head}{condition_words(rules, step.asks)}?"]
    wide = max(len(answer) for answer in step.answers)
    for answer, child in zip(
        step.answers, (step.branch.left, step.branch.right), strict=True
    ):
        lines.append(f"{margin}{answer:<{wide}} -> {goals[child.node]}")
    return [*(printable(line) for line in lines), ""]


def rare_values(rules: ReadableTree) -> list[str]:
    """Name the values that the text calls rare."""
    lines = []
    members = [atom for atom in rules.atoms if isinstance(atom, Member)]
    for j in rules.used:
        rare = getattr(rules.columns[j], "rare", ())
        if any(set(rare) & set(m.values) for m in members if m.column == j):
            values = ", ".join(show_value(value) for value in rare)
            lines.append(printable(f"Rare values of {rules.name(j)}: {values}."))
    return ["", *lines] if lines else []
