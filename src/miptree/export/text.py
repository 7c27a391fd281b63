"""The tree as text, in the user's feature names, values and units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.certificate.points_words import proof_words
from miptree.certificate.reasons import is_claim
from miptree.classifiers.predictor import TreePredictor
from miptree.export._conditions import negated
from miptree.export._describe import condition_of, is_points_tree, readable
from miptree.export._names import printable, value_names
from miptree.export._own_splits import own_splits, with_own_numbers
from miptree.export._rules import (
    Atom,
    Branch,
    Leaf,
    Member,
    Missing,
    Model,
    Rules,
    Steps,
    rules_of,
)
from miptree.export._words import condition_words
from miptree.export.cards import cards_text
from miptree.objective.tolerance import percent
from miptree.tree import ObliqueTree
from miptree.tree.rounding import ALL_DIGITS, rounded
from miptree.utils.arrays import IntArray

_DIGITS = 4
"""Significant digits of a tree that was not rounded with its training data."""


ROUNDED = "(Numbers are rounded: training rows very near to a split may differ.)"
TIED = "(A tiny coefficient only decides between rows that would lie on the split.)"
_TINY, _MANY_DIGITS = 1e-8, 8
"""Part of a split's largest coefficient, and digits of its threshold, beyond which rows
on the split were told apart by one feature; see :mod:`miptree.data.clear_splits`."""


def export_text(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    digits: int | None = None,
) -> str:
    """Write a tree as indented rules, a points tree as numbered steps.

    Parameters
    ----------
    model : OptimalTreeClassifier, baseline of ``miptree.baselines``, or ObliqueTree
        A fitted classifier, which knows its columns, values and classes, or a tree.
    feature_names : sequence of str, optional
        Names of the columns, by default the classifier's, or ``x[0]``, ``x[1]``, ...
    class_names : sequence, optional
        Names of the classes, by default those of the classifier, or indices.
    digits : int, optional
        Significant digits shown. By default a classifier shows as few as leave the
        prediction of every training row as it is. Where rows lie so near to a split
        that few digits do not do, as among many rows, it shows 4 and says so in a last
        line; a bare tree shows 4. ``digits=17`` shows all.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from miptree.tree import HeapTree, ObliqueTree
    >>> heap = HeapTree(np.array([[1.5, -1.0]]), np.array([3.0]), np.array([0, 1]))
    >>> print(export_text(ObliqueTree.from_heap(heap), ["width", "height"]))
    1.5 width - 1 height <= 3
    ├─ yes: class 0
    └─ no:  class 1
    """
    rules, digits, is_coarse = shown_rules(model, feature_names, class_names, digits)
    if is_points_tree(rules):
        return cards_text(rules, counts_of(model))

    def lines(node: Branch | Leaf) -> list[str]:
        if isinstance(node, Leaf):
            return [printable(f"class {rules.classes[node.label]}")]
        yes, no = lines(node.left), lines(node.right)
        return [
            split_text(rules, node, digits),
            f"├─ yes: {yes[0]}",
            *(f"│       {line}" for line in yes[1:]),
            f"└─ no:  {no[0]}",
            *(f"        {line}" for line in no[1:]),
        ]

    notes = [ROUNDED] if is_coarse else []
    return "\n".join([*lines(rules.root), *notes, *([TIED] if has_ties(model) else [])])


def has_ties(model: Model) -> bool:
    """Tell whether a split of a classifier tells rows apart that would lie on it."""
    if isinstance(model, ObliqueTree):
        return False
    size, digits = np.abs(model.tree_.coef), model.fitted_.digits[:, 1]
    is_tiny = (size > 0) & (size < _TINY * size.max(axis=1, keepdims=True))
    return bool((is_tiny.any(axis=1) & (digits > _MANY_DIGITS)).any())


def shown_rules(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    digits: int | None = None,
) -> tuple[Rules, int, bool]:
    """Trace a model's tree back to its columns, with numbers as people read them.

    The parameters are those of :func:`export_text`.

    Returns
    -------
    rules : Rules
    digits : int
        How many significant digits of their numbers to show.
    is_coarse : bool
        Whether a split is shown with fewer digits than its training rows need.
    """
    exact = rules_of(model, feature_names, class_names)
    if is_points_tree(exact):
        return readable(exact), ALL_DIGITS, False
    if isinstance(model, ObliqueTree):
        return exact, digits or _DIGITS, False
    shown, is_coarse = model.tree_, False
    if digits is None:
        matter = model.fitted_.digits
        needs_all = matter == ALL_DIGITS
        shown = rounded(shown, np.where(needs_all, _DIGITS, matter))
        needs_all[list(own_splits(model))] = False
        is_coarse = bool(needs_all[~shown.is_leaf].any())
    shown = with_own_numbers(model, shown)
    rules = rules_of(model, feature_names, class_names, shown)
    return rules, digits or ALL_DIGITS, is_coarse


def counts_of(model: Model) -> IntArray | None:
    """Return the training rows of each class at each node, of a bare tree none."""
    return None if isinstance(model, ObliqueTree) else model.fitted_.node_count


def split_text(
    rules: Rules, branch: Branch, digits: int = _DIGITS, goes_left: bool = True
) -> str:
    """Say on one line what holds for rows that go left or, if asked, right."""
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
        sign = "-" if coef < 0 else "+"
        text += f" {sign} {number_text(abs(coef), digits)} {atom_text(rules, atom)}"
    text = text.removeprefix(" + ") if text.startswith(" + ") else "-" + text[3:]
    threshold = number_text(branch.threshold, digits)
    operator = "<=" if goes_left else ">"
    return printable(f"{text if branch.terms else 0} {operator} {threshold}")


def number_text(number: float, digits: int) -> str:
    """Write a number with so many significant digits, fewer where they are exact."""
    text = f"{number:.{min(digits, 15)}g}"
    exact = digits <= 15 or float(text) == number
    return text if exact else f"{number:.{digits}g}"


def atom_text(rules: Rules, atom: Atom) -> str:
    """Name what an atom reads."""
    name = rules.name(atom.column)
    if isinstance(atom, Missing):
        return f"{name} missing"
    if isinstance(atom, Steps):
        return f"(steps of {name})"
    if isinstance(atom, Member):
        return f"{name}={'|'.join(value_names(rules, atom))}"
    return name


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
        facts[least] = f"{found.errors_bound:.6g}"
    kind = "tree of its kind" if found.method else "tree"
    kind += " that keeps the rules" if found.is_of_ruled_trees else ""
    proved = "claimed" if is_claim(found.objective_proved_by) else "proved"
    if found.proof_digest:
        facts["digest of the proof file"] = found.proof_digest[:12]
    return facts | {
        "objective, recounted by prediction": f"{found.objective:.6g}",
        f"no {kind} is below": f"{found.objective_bound:.6g}",
        "gap": percent(found.gap),
        f"{proved} optimal": "yes" if found.objective_optimal else "no",
        f"{proved} by": proof_words(found),
        "status": f"{clf.status_}, after {clf.fit_time_:.1f} s",
    }


def indented(lines: Sequence[str], by: int = 4) -> list[str]:
    """Move lines of code to the right."""
    return [" " * by + line for line in lines]
