"""Check the proof of the errors: of all trees, and of the tree itself."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from ..data import Rows
from ..outcome import CLOSE, Outcome
from ..routes.recount import misfit, scores_of
from .file import ErrorsProof
from .parts import PartsCheck
from .points import Labelled, labelled
from .roots import RootsCheck
from .sentence import errors_sentence


def errors_outcome(proof: ErrorsProof, rows: Rows, deadline: float) -> Outcome:
    """Recount the tree, bound all others, and say what holds."""
    wrong = misfit(proof.tree, proof.trees.depth, proof.trees.max_features)
    if wrong is not None:
        return Outcome(f"Does not hold: {wrong}", 1)
    points = labelled(proof, rows)
    cost = errors_of_tree(proof, points)
    check = RootsCheck if proof.is_of_roots else PartsCheck
    bound = max(counted(proof, points), check(proof, points, deadline).bound())
    if bound > cost:
        text = "the tree has fewer errors than the proof says of all: this program errs"
        return Outcome(f"Does not hold: {text}.", 1)
    cost_is_right = abs(cost - proof.claimed_cost) <= CLOSE * cost
    is_right = cost_is_right and proof.claimed_bound <= bound * (1 + CLOSE)
    text = errors_sentence(proof, rows, points, (cost, bound), is_right)
    return Outcome(text, 0 if is_right else 1, cost, bound)


def errors_of_tree(proof: ErrorsProof, points: Labelled) -> Fraction:
    """Return what the rows weigh about which the tree is not right.

    A split with a score beyond [-1, 1] counts as its multiple that just fits.
    """
    x = points.unlabelled
    place, is_close = [0] * len(x.place), [False] * len(x.place)
    for number, node in enumerate(proof.tree):
        if node.coef is None:
            continue
        here = [i for i, own in enumerate(place) if own == number]
        if node.subset is not None:
            feature, values = node.subset
            for i in here:
                is_left = int(x.values[i, feature]) in values
                place[i] = node.left if is_left else node.right
            continue
        scores, over = scores_of(x.X, node)
        largest = max(over, *map(abs, scores))
        for i in here:
            is_close[i] |= abs(scores[i]) < proof.trees.least_score * largest
            place[i] = node.left if scores[i] <= 0 else node.right
    wrong = sum(
        weight
        for at, label, weight in zip(
            points.at, points.label, points.weight, strict=True
        )
        if is_close[at] or proof.tree[place[at]].label != label
    )
    return Fraction(wrong, points.unit)


def counted(proof: ErrorsProof, points: Labelled) -> Fraction:
    """Return what rows weigh at least of classes without a leaf, or of equal x.

    A tree is right about no row of a class that no leaf predicts, and about no two rows
    of equal x and values that differ in class.
    """
    n_leaves = 2**proof.trees.depth
    of_class: Counter[int] = Counter()
    of_x: Counter[int] = Counter()
    heaviest: dict[int, int] = {}
    for at, label, weight in zip(points.at, points.label, points.weight, strict=True):
        of_class[label] += weight
        of_x[at] += weight
        heaviest[at] = max(weight, heaviest.get(at, 0))
    without_leaf = sum(sorted(of_class.values(), reverse=True)[n_leaves:])
    in_conflict = of_x.total() - sum(heaviest.values())
    return Fraction(max(without_leaf, in_conflict), points.unit)
