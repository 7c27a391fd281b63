"""A tree as people read it: in units of the weightiest term, and with few digits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import floor, log10
from types import MappingProxyType

import numpy as np

from miptree.export._gaps import missing_goes_left
from miptree.export._own_splits import own_factors, with_own_numbers
from miptree.export._plain_rule import PlainRule, plain_rule
from miptree.export.describe import is_points_tree, readable
from miptree.export.names import (
    atom_text,
    number_text,
    printable,
    with_printable_names,
)
from miptree.export.readable import (
    Atom,
    Branch,
    Leaf,
    Model,
    Number,
    ReadableTree,
    atom_spreads,
    readable_tree,
)
from miptree.tree import ObliqueTree
from miptree.tree.rounding import ALL_DIGITS, in_units, rounded, units_of
from miptree.utils.arrays import FloatArray, IntArray

DIGITS = 4
"""Significant digits of a tree that was not rounded with its training data."""
ROUNDED = "(Numbers are rounded: training rows very near to a split may differ.)"
_TINY, _MANY_DIGITS = 1e-8, 8
"""Part of a split's weightiest term, and digits of its threshold, beyond which rows on
the split were told apart by one feature; see :mod:`miptree.data.clear_splits`."""

Weights = dict[Atom, float]
"""The spread of what terms read, by which coefficients are compared."""


def shown_rules(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    digits: int | None = None,
) -> tuple[ReadableTree, int, list[str]]:
    """Trace a model's tree back to its columns, with numbers as people read them.

    The parameters are those of :func:`~miptree.export_text`.

    Returns
    -------
    rules : ReadableTree
        Its splits have their terms in the order of coefficient times spread, the
        first with a coefficient of 1, lack those that only tell rows apart that lie on
        the split, and know plain rules. With 17 digits they are as they are. Splits
        that are the user's own have the numbers given.
    digits : int
        How many significant digits of their numbers to show.
    notes : list of str
        What a reader must be told beside: what was rounded or left out.
    """
    rules, digits, notes = _rounded_rules(model, feature_names, class_names, digits)
    return with_printable_names(rules), digits, notes


def _rounded_rules(
    model: Model,
    feature_names: Sequence[str] | None,
    class_names: Sequence[object] | None,
    digits: int | None,
) -> tuple[ReadableTree, int, list[str]]:
    """Trace a model's tree back to its columns, whatever these are called."""
    exact = readable_tree(model, feature_names, class_names)
    if is_points_tree(exact):
        return readable(exact), ALL_DIGITS, []
    if isinstance(model, ObliqueTree):
        return exact, digits or DIGITS, []
    weights = atom_spreads(model)
    if digits is not None and digits >= ALL_DIGITS:
        rules, notes = _for_people(exact, weights, None)
        return rules, digits, notes
    own = own_factors(model)
    unit = units_of(model.tree_, model.fitted_.spread)
    unit[list(own)] = list(own.values())
    short = in_units(model.tree_, unit)
    if digits is not None:
        short = with_own_numbers(model, short)
        rules = readable_tree(model, feature_names, class_names, short)
        rules, notes = _for_people(rules, weights, digits, unit, own=own)
        return rules, digits, notes
    matter = model.fitted_.digits
    needs_all = matter == ALL_DIGITS
    few = _few_digits(short, model.fitted_.spread)
    short = rounded(short, np.where(needs_all, few[:, None], matter))
    short = with_own_numbers(model, short)
    rules = readable_tree(model, feature_names, class_names, short)
    plain = {branch.node: plain_rule(branch) for branch in exact.branches}
    gaps = {branch.node: missing_goes_left(exact, branch) for branch in exact.branches}
    rules, notes = _for_people(rules, weights, ALL_DIGITS, unit, plain, own, gaps)
    needs_all[list(own)] = False
    is_coarse = bool(needs_all[~model.tree_.is_leaf].any())
    return rules, ALL_DIGITS, [*([ROUNDED] if is_coarse else []), *notes]


def _few_digits(tree: ObliqueTree, spread: FloatArray | None) -> IntArray:
    """Return (n_nodes,): digits where rows tell none, four of what scores vary by.

    Numbers far from 0, such as 202406, vary in their last digits only.
    """
    found = np.full(tree.n_nodes, DIGITS)
    if spread is not None:
        varies = (np.abs(tree.coef) * np.where(spread > 0, spread, 1.0)).max(axis=1)
        far = np.maximum(np.abs(tree.threshold), varies) / np.where(varies, varies, 1)
        more = np.ceil(np.log10(np.maximum(far, 1.0))).astype(int)
        found = np.minimum(found + more, ALL_DIGITS)
    return found


def _for_people(
    rules: ReadableTree,
    weights: Weights,
    digits: int | None,
    unit: FloatArray | None = None,
    plain: Mapping[int, PlainRule | None] = MappingProxyType({}),
    own: Collection[int] = (),
    gaps: Mapping[int, bool | None] = MappingProxyType({}),
) -> tuple[ReadableTree, list[str]]:
    """Put terms in order, and leave tiny ones out unless all digits are asked for.

    ``unit`` is what the numbers of each node were divided by, ``plain`` are rules that
    say what exact splits ask, by node. The splits at the nodes ``own`` are the user's,
    and stay as they were given. ``gaps`` tells where rows go that lack the only number
    of a split, by node.
    """
    notes: list[str] = []

    def shown(node: Branch | Leaf) -> Branch | Leaf:
        if isinstance(node, Leaf):
            return node
        if unit is not None and node.node in own:
            left, right = shown(node.left), shown(node.right)
            known = float(unit[node.node])
            return replace(
                node,
                unit=known,
                left=left,
                right=right,
                missing_left=gaps.get(node.node),
            )
        size = {atom: abs(coef) * weights.get(atom, 1.0) for coef, atom in node.terms}
        # Rounded, so that terms of equal weight stay in the order of the columns.
        terms = tuple(
            sorted(node.terms, key=lambda term: -float(f"{size[term[1]]:.6g}"))
        )
        split = replace(node, terms=terms, rule=plain.get(node.node))
        if gaps.get(node.node) is not None and isinstance(terms[0][1], Number):
            split = replace(split, terms=terms[:1], missing_left=gaps[node.node])
        if unit is not None:
            split = _turned(replace(split, unit=float(unit[node.node])))
        if digits is not None and terms and split.rule is None:
            split = _without_tiny(rules, split, size, digits, notes)
        left, right = shown(node.left), shown(node.right)
        return replace(split, left=left, right=right)

    return replace(rules, root=shown(rules.root)), notes


def _turned(node: Branch) -> Branch:
    """Change all signs where the weightiest term has a minus: 'age >= 30' reads better.

    A sum is at most a limit just where its opposite is at least the opposite limit.
    """
    is_sum = node.terms and node.rule is None and node.question.member is None
    if not is_sum or node.terms[0][0] > 0:
        return node
    return replace(
        node,
        terms=tuple((-coef, atom) for coef, atom in node.terms),
        threshold=0.0 - node.threshold,
        unit=-node.unit,
    )


def _without_tiny(
    rules: ReadableTree, node: Branch, size: Weights, digits: int, notes: list[str]
) -> Branch:
    """Leave out the terms that only tell rows apart which lie on the split."""
    largest = max(size.values())
    kept = tuple(term for term in node.terms if size[term[1]] >= _TINY * largest)
    tiny = node.terms[len(kept) :]
    if not tiny:
        return node
    # Of sums that are all decimals, the threshold that was moved a little from one.
    on_split = round(node.threshold, _MANY_DIGITS - 1 - floor(log10(largest)))
    limit = number_text(on_split, digits)
    if f"{node.threshold:.{_MANY_DIGITS}g}" == f"{node.threshold:.{ALL_DIGITS}g}":
        return replace(node, terms=kept)  # the threshold was not moved: no row is on it
    if len(tiny) == 1:
        (coef, atom), ahead = tiny[0], (node.threshold - on_split) / tiny[0][0]
        is_least = "<=" if (coef > 0) == (node.unit > 0) else ">="
        told = f"only where {atom_text(rules, atom)} {is_least} {number_text(ahead, 4)}"
    else:
        names = ", ".join(atom_text(rules, atom) for _, atom in tiny)
        told = f"for some rows only, which {names} tell apart"
    notes.append(
        printable(f"(At node {node.node} a sum of just {limit} is a yes {told}.)")
    )
    return replace(node, terms=kept, threshold=on_split)
