"""What the checker takes for shown of pairs, lemmas and sides: all ways are tried.

Pairs are made up here, without any geometry: whatever is too near to each other, no
choice of points that count and of sides may be cheaper than what is accepted.
"""

import itertools
import time
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from miptree.checker.errors.cases import Cases, Lemma
from miptree.checker.errors.choice import Choice
from miptree.checker.errors.file import Trees
from miptree.checker.errors.pairs import Pair, Pairs
from miptree.checker.values import Refused

N_POINTS = 5


class MadeUp:
    """Pairs of points of two or three classes."""

    def __init__(self, rng, n_classes=2):
        self.rng = rng
        self.label = rng.integers(0, n_classes, N_POINTS).tolist()
        self.weight = rng.integers(1, 4, N_POINTS).tolist()
        self.known = {}
        for name in range(int(rng.integers(2, 8))):
            order = rng.permutation(N_POINTS).tolist()
            a = int(rng.integers(1, 3))
            left, right = order[:a], order[a : a + int(rng.integers(1, 3))]
            classes = {self.label[i] for i in left}, {self.label[i] for i in right}
            two = sorted(classes[0] | classes[1])
            is_of_two = max(map(len, classes)) == 1 and len(two) == 2
            self.known[name] = Pair(
                sum(1 << i for i in left),
                sum(1 << i for i in right),
                (*left, *right),
                tuple(two) if is_of_two else None,
                bool(rng.random() < 0.4),
            )

    def get(self, name):
        if name not in self.known:
            raise Refused("no pair")
        return self.known[name]

    def point(self, name):
        return name

    def fewest(self, pairs):
        """Return the least that points weigh one of which is in every pair."""
        sets = [pair.left | pair.right for pair in pairs]
        return min(
            sum(self.weight[i] for i in chosen)
            for size in range(N_POINTS + 1)
            for chosen in itertools.combinations(range(N_POINTS), size)
            if all(any(own >> i & 1 for i in chosen) for own in sets)
        )

    def node(self, names, depth=0):
        """Return cases at random, some of them good."""
        rng = self.rng
        chosen = rng.permutation(names)[: int(rng.integers(1, 4))].tolist()
        if depth > 3 or rng.random() < 0.4:
            return chosen
        pair = self.known[chosen[0]]
        points = [i for i in pair.points if rng.random() < 0.9]
        return [chosen[0], *([i, self.node(names, depth + 1)] for i in points)]


def accepted(check, *given):
    try:
        check(*given)
    except Refused:
        return False
    return True


@pytest.mark.parametrize("first", range(0, 3000, 1000))
def test_no_cases_show_more_than_pairs_cost(first):
    n_shown = 0
    for seed in range(first, first + 1000):
        rng = np.random.default_rng(seed)
        pairs = MadeUp(rng)
        names = list(pairs.known)
        lemmas = []
        for _ in range(int(rng.integers(3))):
            some = [n for n in names if rng.random() < 0.5]
            points = 0
            for name in some:
                points |= pairs.known[name].left | pairs.known[name].right
            least = pairs.fewest([pairs.known[n] for n in some])
            lemmas.append(Lemma((0, 1), points, least))
        cost = pairs.fewest(pairs.known.values())
        for _ in range(10):
            check = Cases(
                pairs, pairs.weight, lambda pair: True, lemmas, time.monotonic() + 60
            )
            allowed = int(rng.integers(0, cost + 2))
            if accepted(check.check, pairs.node(names), allowed):
                n_shown += 1
                assert allowed < cost, seed
    assert n_shown > 500


def search(choice, pairs, lemmas, rng):
    """Let a choice end where it may, and divide where it may not."""
    while not choice.is_done:
        ends = [(choice.part, pair) for pair in pairs.known.values()]
        both = itertools.product([None, *lemmas], repeat=2)
        ends += [(choice.count, two) for two in both]
        order = rng.permutation(len(ends)).tolist()
        if rng.random() < 0.9 and any(accepted(*ends[k]) for k in order):
            continue
        if rng.random() < 0.5 and counts_more(choice, pairs, rng):
            continue
        placed = choice.on[0] | choice.on[1]
        left = [i for i in range(N_POINTS) if not placed >> i & 1]
        if not left:
            return False
        choice.divide(int(rng.choice(left)))
    return True


def counts_more(choice, pairs, rng):
    """Try to end a case by all three splits."""

    def end(node, most):
        check = Cases(
            pairs, pairs.weight, choice.is_conflict, (), time.monotonic() + 60
        )
        check.check(node, most)
        choice.count_more(most + 1)

    names = list(pairs.known)
    return any(
        accepted(end, pairs.node(names), int(rng.integers(0, 3))) for _ in range(5)
    )


def cheapest(choice_classes, pairs):
    """Return the least that counts, whatever the sides of the points."""
    best = np.inf
    for sides in itertools.product((0, 1), repeat=N_POINTS):
        on = [sum(1 << i for i in range(N_POINTS) if sides[i] == k) for k in (0, 1)]
        apart = [
            pair
            for pair in pairs.known.values()
            if (pair.left & on[0] == pair.left and pair.right & on[1] == pair.right)
            or (pair.left & on[1] == pair.left and pair.right & on[0] == pair.right)
        ]
        if any(pair.is_moved for pair in apart):
            continue
        lost = [
            i for i in range(N_POINTS) if pairs.label[i] not in choice_classes[sides[i]]
        ]
        bits = sum(1 << i for i in lost)
        conflicts = [pair for pair in apart if not (pair.left | pair.right) & bits]
        for k in (0, 1):
            conflicts += [
                pair
                for pair in pairs.known.values()
                if pair.classes == choice_classes[k]
                and not (pair.left | pair.right) & ~on[k]
            ]
        cost = sum(pairs.weight[i] for i in lost) + pairs.fewest(conflicts)
        best = min(best, cost)
    return best


def test_no_sides_are_cheaper_than_what_is_accepted():
    n_shown = n_above = 0
    classes = [(0, 1), (0, 2), (1, 2)]
    for seed in range(150):
        rng = np.random.default_rng(seed)
        pairs = MadeUp(rng, n_classes=int(rng.integers(2, 4)))
        of_sides = classes[rng.integers(3)], classes[rng.integers(3)]
        lemmas = [
            Lemma(pair.classes, pair.left | pair.right, pairs.fewest([pair]))
            for pair in pairs.known.values()
            if pair.classes
        ]
        cost = cheapest(of_sides, pairs)
        for allowed in range(int(min(cost, 12)) + 2):
            choice = Choice(of_sides, pairs.label, pairs.weight, allowed)
            if search(choice, pairs, lemmas, rng):
                n_shown += 1
                # The mirror image of a cheaper choice of sides is one as well.
                assert allowed < cost, seed
            else:
                n_above += 1
    assert n_shown > 50
    assert n_above > 50


def test_points_that_count_anyway_are_no_reason_for_others():
    choice = Choice(((0, 1), (0, 2)), [2, 0, 1], [1, 1, 1], 0)
    both = Pair(1, 2, (0, 1), (0, 2), False)
    choice.divide(0)  # left, where its class has no leaf
    choice.divide(1)
    assert not choice.is_conflict(both)  # the two are on one side
    choice = Choice(((0, 1), (0, 2)), [2, 0, 1], [1, 1, 1], 1)
    choice.divide(1)
    choice.divide(0)
    choice.count((None, Lemma((0, 2), 0, 2)))  # so that point 0 is right
    assert choice.without_leaf == 0
    assert not choice.is_conflict(Pair(4, 2, (2, 1), (0, 1), False))
    assert choice.is_conflict(both)  # by the root
    choice = Choice(((1, 2), (0, 1)), [0, 0], [1, 1], 1)
    choice.divide(0)  # left, where its class has no leaf
    choice.divide(1)
    choice.count((None, Lemma((0, 1), 0, 2)))
    assert choice.parts(Pair(1, 2, (0, 1), None, False))
    assert not choice.is_conflict(Pair(1, 2, (0, 1), None, False))


@pytest.mark.parametrize(
    ("distance", "is_moved"),
    [(0.0, True), (0.0249, True), (0.0251, False), (0.19, False)],
)
def test_the_root_keeps_a_margin_over_the_points_and_one(distance, is_moved):
    pairs = three_points(distance)
    pairs.read(["near", 0, [0, 1], [1, 1]])
    assert pairs.get(0).is_moved == is_moved


def test_pairs_that_twice_the_margin_parts_are_refused():
    with pytest.raises(Refused, match="may tell apart"):
        three_points(0.21).read(["near", 0, [0, 1], [1, 1]])


def three_points(distance):
    """Return pairs of three points, two of them so far from each other."""
    points = SimpleNamespace(label=[0, 1, 0], at=[0, 1, 2])
    places = [[round(x * 2**64)] for x in (0.3, 0.3 + distance, 0.9)]
    trees = Trees(2, Fraction(1, 10), None)
    return Pairs(trees, points, places, {0: 0, 1: 1, 2: 2})
