"""The tree as text, in the user's feature names, values and units."""

from __future__ import annotations

from collections.abc import Sequence

from miptree.certificate.points_words import proof_words, told_apart
from miptree.certificate.proved_words import left_to_prove
from miptree.certificate.reasons import is_claim
from miptree.classifiers.predictor import TreePredictor
from miptree.control.clock import End
from miptree.export._gaps import gap_notes
from miptree.export.cards import cards_text, costs_note, rare_values
from miptree.export.conditions import negated
from miptree.export.describe import condition_of, is_points_tree
from miptree.export.leaf_words import leaf_text, row_number
from miptree.export.names import atom_text, number_text, printable, value_names
from miptree.export.readable import Atom, Branch, Leaf, Model, ReadableTree
from miptree.export.shown import DIGITS, shown_rules
from miptree.export.words import condition_words, gap_words
from miptree.export.wrap import wrapped
from miptree.objective.tolerance import rounded_down
from miptree.tree import ObliqueTree
from miptree.utils.arrays import IntArray

_YES, _NO = "├─ yes: ", "└─ no:  "
_ENDED: dict[End, str] = {
    "optimal": "the proof is done",
    "bound": "the bound given is reached",
    "gap_tol": "the gap is as small as asked for",
    "infeasible": "there is no such tree",
    "time_limit": "the time was up",
    "node_limit": "as many nodes as allowed were looked at",
    "max_iter": "the search is done",
    "stalled": "nothing moved any more",
    "unproved": "all is done, and nothing is proved",
    "interrupted": "it was stopped",
}
"""Words for a fit's ``status_``."""


def export_text(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    digits: int | None = None,
    width: int | None = None,
) -> str:
    """Write a tree as indented rules, a points tree as numbered steps.

    Of a fitted classifier the terms of a split are in the order of their weight, which
    is the coefficient times the spread (standard deviation) of its column. The split is
    written in units of the first, whose coefficient is 1. Every leaf has its number,
    its training rows and the shares of the classes.

    Parameters
    ----------
    model : fitted classifier of this package, or ObliqueTree
        A fitted classifier, which knows its columns, values and classes, or a tree.
    feature_names : sequence of str, optional
        Names of the columns, by default the classifier's, or ``x[0]``, ``x[1]``, ...
    class_names : sequence, optional
        Names of the classes, by default those of the classifier, or indices.
    digits : int, optional
        Significant digits shown. By default a classifier shows as few as leave the
        prediction of every training row as it is. Where rows lie so near to a split
        that few digits do not do, as among many rows, it shows 4 and says so in a last
        line; a bare tree shows 4. A tiny coefficient that only tells rows apart which
        lie on a split is told in a last line, too. ``digits=17`` shows all digits
        of the numbers of ``tree_``, in its own units.
    width : int, optional
        Most characters of a line; longer ones are continued on the next. By default
        no line is broken.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from miptree.tree import HeapTree, ObliqueTree
    >>> heap = HeapTree(np.array([[1.5, -1.0]]), np.array([3.0]), np.array([0, 1]))
    >>> print(export_text(ObliqueTree.from_heap(heap), ["width", "height"]))
    1.5 width - height <= 3 (node 0)
    ├─ yes: class 0 (leaf 1)
    └─ no:  class 1 (leaf 2)
    """
    rules, digits, notes = shown_rules(model, feature_names, class_names, digits)
    counts = counts_of(model)
    if is_points_tree(rules):
        return cards_text(rules, counts, width)

    def lines(node: Branch | Leaf, room: int | None) -> list[str]:
        if isinstance(node, Leaf):
            return wrapped(leaf_text(rules, node, counts), room, "  ")
        text = f"{split_text(rules, node, digits)} ({node_text(node, counts)})"
        inside = None if room is None else room - len(_YES)
        yes, no = lines(node.left, inside), lines(node.right, inside)
        return [
            *wrapped(text, room, "│   "),
            f"{_YES}{yes[0]}",
            *(f"│       {line}" for line in yes[1:]),
            f"{_NO}{no[0]}",
            *(f"        {line}" for line in no[1:]),
        ]

    notes = [*rare_values(rules), *gap_notes(rules), *notes, *labels_note(model, rules)]
    said = [line for note in notes for line in wrapped(note, width, " ")]
    return "\n".join([*lines(rules.root, width), *said])


def node_text(node: Branch, counts: IntArray | None) -> str:
    """Name a split by its number and, where they are known, count its rows."""
    name = f"node {node.node}"
    if counts is None:
        return name
    return f"{name}, {row_number(int(counts[node.node].sum()))}"


def counts_of(model: Model) -> IntArray | None:
    """Return the training rows of each class at each node, of a bare tree none."""
    return None if isinstance(model, ObliqueTree) else model.fitted_.node_count


def labels_note(model: Model, rules: ReadableTree) -> list[str]:
    """Explain leaves of sums whose class is not the most frequent one, if any."""
    if isinstance(model, ObliqueTree):
        return []
    found = model.fitted_.certificate
    if not (found.rules or found.has_costs):
        return []
    return costs_note(rules, counts_of(model), bool(found.rules))


def split_text(
    rules: ReadableTree,
    branch: Branch,
    digits: int = DIGITS,
    goes_left: bool = True,
    is_alone: bool = True,
) -> str:
    """Say on one line what holds for rows that go left or, if asked, right.

    Unless it stands alone, brackets tell an 'or' from an 'and' beside it.
    """
    if branch.rule is not None:
        rule = branch.rule if goes_left else branch.rule.negated()
        return rule.words(rules, is_alone)
    if is_points_tree(rules):
        condition = condition_of(branch)
        return condition_words(rules, condition if goes_left else negated(condition))
    if branch.subset is not None:
        within, member = branch.subset
        if not goes_left:
            within = "in" if within == "not in" else "not in"
        values = ", ".join(value_names(rules, member))
        return printable(f"{rules.name(member.column)} {within} {{{values}}}")
    text = ""
    for coef, atom in branch.terms:
        text += (
            f" {'-' if coef < 0 else '+'} {term_text(rules, abs(coef), atom, digits)}"
        )
    text = text.removeprefix(" + ") if text.startswith(" + ") else "-" + text[3:]
    threshold = number_text(branch.threshold, digits)
    operators = ("<=", ">") if branch.unit > 0 else (">=", "<")
    operator = operators[not goes_left]
    gap = (
        ""
        if branch.missing_left is None
        else gap_words(branch.missing_left == goes_left)
    )
    return printable(f"{text if branch.terms else 0} {operator} {threshold}{gap}")


def term_text(rules: ReadableTree, coef: float, atom: Atom, digits: int) -> str:
    """Write a term of a sum; a coefficient of 1 goes without saying."""
    number, name = number_text(coef, digits), atom_text(rules, atom)
    return {"1": name, "-1": f"-{name}"}.get(number, f"{number} {name}")


def certificate_facts(clf: TreePredictor) -> dict[str, str]:
    """Say what a fit found and proved: the name of each fact, and the fact."""
    found = clf.certificate_
    rows = f"{found.n_rows:,}"
    if found.n_unweighted:
        rows = f"those {rows} of {found.n_rows + found.n_unweighted:,} with a weight"
    facts = {"errors on the training rows": f"{found.errors:,} of {rows}"}
    if found.n_sampled is not None:
        best = "proved" if found.best_of_sample else "not proved"
        facts["splits chosen for a sample of"] = f"{found.n_sampled:,} rows"
        facts["the best for that sample"] = best
    least = "no tree that keeps the margin has fewer than"
    if found.has_costs:
        facts["what they cost"] = f"{found.cost:.6g}"
        least = "no tree that keeps the margin has a lower cost than"
    if not found.method:  # which has no margin
        facts[least] = rounded_down(found.errors_bound)
    value, below = told_apart(found.objective, found.objective_bound)
    kind = "tree of its kind" if found.method else "tree"
    kind += " that keeps the rules" if found.is_of_ruled_trees else ""
    proved = "claimed" if is_claim(found.objective_proved_by) else "proved"
    if found.proof_digest:
        facts["digest of the proof file"] = found.proof_digest[:12]
    return facts | {
        "objective, recounted by prediction": value,
        f"no {kind} is below": below,
        "gap": left_to_prove(found),
        f"{proved} optimal": "yes" if found.objective_optimal else "no",
        f"{proved} by": proof_words(found),
        "why the fit ended": f"{_ENDED[clf.status_]}, after {clf.fit_time_:.1f} s",
    }


def indented(lines: Sequence[str], by: int = 4) -> list[str]:
    """Move lines of code to the right."""
    return [" " * by + line for line in lines]
