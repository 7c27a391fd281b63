"""Recounts in exact arithmetic: what verify holds certificates against."""

from fractions import Fraction

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from _data import cases, examples, is_clear, random_heap
from _sealed import resealed
from _verified import honest, names_of_wrong
from miptree import ObliqueTree, OptimalTreeClassifier, verify
from miptree.certificate.given_data import GivenData
from miptree.certificate.recount import Recount
from miptree.data.problem import Problem
from miptree.objective.bounds import Bound
from miptree.tree import HeapTree
from miptree.utils.exact import Exact


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4),
    st.floats(allow_nan=False, allow_infinity=False),
)
@examples(200)
def test_exact_scores_are_those_of_fractions(row, coef, threshold):
    product = Exact.of(np.array([row])) @ Exact.of(np.array([coef]).T)
    score = product - Exact.of(np.array([threshold]))
    pairs = zip(row, coef, strict=True)
    expected = sum(Fraction(a) * Fraction(b) for a, b in pairs) - Fraction(threshold)
    assert score.sum() == expected
    for bound in (expected, expected + Fraction(1, 10**400)):
        assert score.is_below(bound).item() == (expected < bound)
        assert score.is_above(bound).item() == (expected > bound)


def test_a_row_that_rounding_sends_to_the_wrong_side_is_told():
    """The float rule and exact arithmetic differ on a hyperplane through a row."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        X = np.round(rng.uniform(0, 1, (4, 3)), 2)
        coef = np.round(rng.uniform(0, 0.3, 3), 2)
        threshold = np.cumsum(X[0] * coef)[-1]
        pairs = zip(coef, X[0], strict=True)
        if sum(Fraction(a) * Fraction(b) for a, b in pairs) > Fraction(threshold):
            break
    y = np.array([0, 1, 0, 1])
    heap = HeapTree(coef[None], np.array([threshold]), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    assert tree.apply(X)[0] == 1  # left, by the float rule
    found = verify(honest(Problem.from_data(X, y, 2), tree, 1), tree, X, y)
    assert "routing" in names_of_wrong(found)
    assert "3 of 4 rows" in str(found)
    assert "on their way: 1." in str(found)
    assert "fragile" in str(found)


@given(cases(kinds=("random", "cart", "polished", "pruned")))
@examples(150)
def test_honest_certificates_of_any_tree_hold(case):
    assume(is_clear(case))
    problem, heap = case.problem, case.heap
    problem = Problem.from_data(problem.X, problem.y, problem.n_classes, problem.weight)
    tree = problem.to_user(heap).prune(problem.X)
    certificate = honest(problem, tree, case.depth, case.objective)
    found = verify(
        certificate,
        tree,
        problem.X,
        problem.y,
        problem.weight,
        classes=range(problem.n_classes),
    )
    assert found.ok, str(found)


@given(cases(kinds=("random", "through rows")))
@examples(60)
def test_recount_equals_a_naive_recount_in_fractions(case):
    problem, objective = case.problem, case.objective
    problem = Problem.from_data(problem.X, problem.y, problem.n_classes, problem.weight)
    tree = problem.to_user(case.heap)
    certificate = honest(problem, tree, case.depth, objective)
    data = GivenData.of(
        problem.X, problem.y, problem.weight, list(range(problem.n_classes))
    )
    recount = Recount(tree, data, certificate)
    leaf, slack, cost = naive_recount(problem, tree, objective.margin)
    assert recount.leaf.tolist() == leaf
    assert recount.slack == slack
    assert recount.cost == cost


def naive_recount(problem, tree, margin):
    X = [[Fraction(v) for v in row] for row in problem.X.tolist()]
    branch = np.flatnonzero(~tree.is_leaf).tolist()
    coef = {b: [Fraction(c) for c in tree.coef[b].tolist()] for b in branch}

    def score(row, b):
        pairs = zip(row, coef[b], strict=True)
        return sum(v * c for v, c in pairs) - Fraction(tree.threshold[b])

    box = {b: max(1, *(abs(score(row, b)) for row in X)) for b in branch}
    leaves, slack, cost = [], Fraction(0), Fraction(0)
    for row, label, weight in zip(X, problem.y, problem.weight, strict=True):
        node = 0
        while node in coef:
            value = score(row, node)
            short = Fraction(str(margin)) - abs(value) / box[node]
            slack += Fraction(weight) * max(Fraction(0), short)
            right = value > 0
            node = int((tree.children_right if right else tree.children_left)[node])
        leaves.append(node)
        cost += Fraction(weight) * int(tree.label[node] != label)
    return leaves, slack, cost


def test_data_far_from_zero():
    X, y = load_iris(return_X_y=True)
    X = X + 1e7
    clf = OptimalTreeClassifier(solver="search", max_iter=5, random_state=0).fit(X, y)
    found = verify(clf.certificate_, clf.tree_, X, y)
    assert found.ok, str(found)


def test_a_tree_outside_the_box_is_told():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    heap = HeapTree(np.array([[8.0]]), np.array([4.0]), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    found = verify(honest(Problem.from_data(X, y, 2), tree, 1), tree, X, y)
    assert names_of_wrong(found) == {"box"}


def test_a_row_of_weight_zero_does_not_widen_the_box():
    X, y, weight = np.array([[0.0], [1.0], [1e12]]), np.array([0, 1, 1]), [1, 1, 0]
    heap = HeapTree(np.array([[2.001]]), np.array([1.0005]), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    problem = Problem.from_data(X, y, 2, np.array(weight))
    found = verify(honest(problem, tree, 1), tree, X, y, weight)
    assert names_of_wrong(found) == {"box"}


def test_a_bound_that_was_discarded_leaves_the_any_tree_bound():
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    problem = Problem.from_data(X, y, 2)
    tree = ObliqueTree.from_heap(
        HeapTree(np.array([[2.0]]), np.array([1.0]), np.array([0, 1]))
    )
    false = Bound(5.0, "a liar")
    certificate = honest(problem, tree, 1, errors=false, whole=false)
    assert certificate.errors_bound == certificate.objective_bound == 1
    assert "a liar" in certificate.errors_proved_by
    assert verify(certificate, tree, X, y).ok


def test_more_classes_than_leaves():
    """Proposition 1 is recomputed: a smaller depth would have a larger bound."""
    X = np.arange(6.0)[:, None]
    y = np.array([0, 0, 0, 1, 1, 2])
    heap = HeapTree(np.array([[0.3]]), np.array([0.75]), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    certificate = honest(Problem.from_data(X, y, 3), tree, 1)
    assert certificate.any_tree_bound == 1
    assert verify(certificate, tree, X, y).ok
    assert not verify(resealed(certificate, depth=2), tree, X, y).ok


def test_a_thousand_rows_are_verified():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 20)), rng.integers(3, size=1000)
    problem = Problem.from_data(X, y, 3)
    tree = problem.to_user(random_heap(problem, 3, rng))
    certificate = honest(problem, tree, 3)
    found = verify(certificate, tree, X, y)
    assert found.ok, str(found)
