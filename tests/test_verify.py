from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from _data import MIP_SOLVERS, cases, examples, is_clear, random_heap
from miptree import Certificate, ObliqueTree, OptimalTreeClassifier, verify
from miptree.certificate.certificate import certify
from miptree.certificate.digest import certificate_digest, data_digest, tree_digest
from miptree.certificate.given_data import GivenData
from miptree.certificate.recount import Recount
from miptree.certificate.verification import VerificationError
from miptree.data.problem import Problem
from miptree.mip.solvers import Result
from miptree.objective import Svm1Objective
from miptree.objective.bounds import Bound, combinatorial_bound
from miptree.objective.proved import Bounds
from miptree.search.starts import constant_tree
from miptree.tree import HeapTree
from miptree.utils.exact import Exact

FREE = {
    "any_tree_proved_by",
    "errors_proved_by",
    "objective_proved_by",
    "proof_digest",
    "seconds",
}
"""Fields that only the certificate's own digest protects."""
FIELDS = [field.name for field in fields(Certificate)]


def names_of_wrong(verification):
    return {check.name for check in verification.wrong}


def forged(certificate, **changes):
    """A changed certificate whose digest was computed anew."""
    changed = replace(certificate, **changes)
    return replace(changed, digest=certificate_digest(changed))


# ------------------------------------------------------------------ one honest fit


@pytest.fixture(scope="module")
def fitted():
    """Weighted, with conflicts (bound > 0), errors, slack, and a tree of depth 2."""
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(40, 3)), 1)
    X[:6] = X[6:12]
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, np.where(X[:, 2] > 0, 2, 0))
    y[:12] = (y[:12] + np.repeat([1, 0, 1], 4)) % 3
    weight = rng.integers(1, 4, 40).astype(float)
    clf = OptimalTreeClassifier(solver="search", max_iter=20, random_state=0)
    clf.fit(X, y, weight)
    found = clf.certificate_
    assert clf.tree_.depth == 2
    assert 0 < found.any_tree_bound < found.cost < found.cost_at_margin
    assert found.cost < found.objective
    return clf, X, y, weight


def test_an_honest_certificate_holds(fitted):
    clf, X, y, weight = fitted
    found = verify(clf.certificate_, clf.tree_, X, y, weight)
    assert found.ok, str(found)
    assert found.wrong == ()
    found.raise_if_wrong()
    text = str(found)
    assert text.startswith(f"Verified: all {len(found.checks)} checks hold.")
    assert "40 of 40 rows" in text


def test_rows_may_come_in_any_order_and_with_rows_of_weight_zero(fitted):
    clf, X, y, weight = fitted
    order = np.random.default_rng(0).permutation(len(y))
    X, y, weight = X[order], y[order], weight[order]
    assert verify(clf.certificate_, clf.tree_, X, y, weight).ok
    X, y = np.vstack([X, 1e3 * X[:2]]), np.append(y, y[:2])
    given = (clf.tree_, X, y, np.append(weight, [0, 0]))
    assert verify(forged(clf.certificate_, n_unweighted=2), *given).ok
    found = verify(clf.certificate_, *given)
    assert names_of_wrong(found) == {"rows of weight zero"}


def test_string_labels_and_subsets_of_the_classes(fitted):
    clf, X, y, weight = fitted
    names = np.array(["a", "b", "c"])
    assert verify(clf.certificate_, clf.tree_, X, names[y], weight).ok
    given_classes = verify(
        clf.certificate_, clf.tree_, X, names[y], weight, classes=names
    )
    assert given_classes.ok
    unknown = names[y].astype("U9")
    unknown[3] = "elsewhere"
    found = verify(clf.certificate_, clf.tree_, X, unknown, weight, classes=names)
    assert not found.ok


def test_class_labels_of_a_subset_need_classes():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    tree = ObliqueTree.from_heap(
        HeapTree(np.array([[0.3]]), np.array([0.45]), np.array([1, 2]))
    )
    certificate = honest(Problem.from_data(X, np.array([1, 1, 2, 2]), 3), tree, 1)
    y = np.array(["b", "b", "c", "c"])
    assert verify(certificate, tree, X, y, classes=["a", "b", "c"]).ok
    assert names_of_wrong(verify(certificate, tree, X, y)) == {"tree"}


# --------------------------------------------------------- tampered certificates

TAMPERED = [
    ("errors", lambda c: c.errors + 1),
    ("errors", lambda c: c.errors - 1),
    ("n_rows", lambda c: c.n_rows + 1),
    ("n_rows", lambda c: c.n_rows - 1),
    ("cost", lambda c: c.cost * (1 + 1e-7)),
    ("cost", lambda c: c.cost - 1),
    ("cost_at_margin", lambda c: c.cost_at_margin * (1 + 1e-7)),
    ("cost_at_margin", lambda c: c.cost_at_margin - 1),
    ("any_tree_bound", lambda c: c.any_tree_bound + 1),
    ("any_tree_bound", lambda c: c.any_tree_bound * (1 - 1e-7)),
    ("errors_bound", lambda c: c.errors_bound + 1),
    ("errors_bound", lambda c: c.errors_bound - 1),
    ("errors_bound", lambda c: c.cost_at_margin),
    ("objective", lambda c: c.objective * (1 + 1e-5)),
    ("objective", lambda c: c.objective * (1 - 1e-5)),
    ("objective_bound", lambda c: c.objective_bound + 1),
    ("objective_bound", lambda c: c.objective_bound - 1),
    ("objective_bound", lambda c: c.objective),
    ("depth", lambda c: 1),
    ("depth", lambda c: 0),
    ("slack_penalty", lambda c: c.slack_penalty * 1.01),
    ("slack_penalty", lambda c: c.slack_penalty * 0.99),
    ("l1_penalty", lambda c: c.l1_penalty * 1.01),
    ("l1_penalty", lambda c: c.l1_penalty * 0.99),
    ("margin", lambda c: c.margin * 1.01),
    ("margin", lambda c: c.margin * 0.99),
    ("tree_digest", lambda c: "0" + c.tree_digest[1:] + "1"),
    ("data_digest", lambda c: c.data_digest[::-1]),
    ("scaling", lambda c: "none"),
    ("max_features", lambda c: 1),
    ("trees", lambda c: "tree"),
    ("objective_terms", lambda c: "errors"),
    ("feature_penalties", lambda c: (0.5,)),
    ("max_points", lambda c: 1),
    ("min_samples_leaf", lambda c: 2),
    ("cost_unit", lambda c: 1.0),
    ("cost_rounding", lambda c: 0.5),
    ("cheapest_error", lambda c: 2 * c.cheapest_error),
    ("error_price", lambda c: 2.0),
    ("has_costs", lambda c: False),
    ("n_unweighted", lambda c: 1),
    ("n_unweighted", lambda c: -1),
    ("n_sampled", lambda c: 5),
    ("rules", lambda c: ("Every leaf holds at least 2 training rows: kept.",)),
    ("free_objective", lambda c: c.objective),
    ("free_bound", lambda c: c.objective_bound),
    ("rules_bound", lambda c: 0.0),
    ("left_out", lambda c: ()),
    ("columns_objective", lambda c: c.objective),
    ("columns_bound", lambda c: c.objective_bound),
    ("best_of_sample", lambda c: True),
]


def test_every_field_is_tampered_with_below():
    assert {name for name, _ in TAMPERED} == set(FIELDS) - FREE - {"digest", "method"}


@pytest.mark.parametrize(("field", "value"), TAMPERED)
def test_numbers_give_a_forged_certificate_away(fitted, field, value):
    clf, X, y, weight = fitted
    tampered = forged(clf.certificate_, **{field: value(clf.certificate_)})
    found = verify(tampered, clf.tree_, X, y, weight)
    assert not found.ok
    assert "certificate digest" not in names_of_wrong(found)
    with pytest.raises(VerificationError, match="NOT verified"):
        found.raise_if_wrong()


def test_a_certificate_cannot_be_passed_off_as_a_baselines(fitted):
    clf, X, y, weight = fitted
    given = (forged(clf.certificate_, method="OCT"), clf.tree_, X, y, weight)
    with pytest.raises(TypeError, match="got one of OCT"):
        verify(*given)
    assert not verify(*given, digest=clf.certificate_.digest).ok


NONSENSE = [float("nan"), float("inf"), -1e300, None, [1], True, 10**400]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", NONSENSE)
def test_nonsense_in_a_field_is_caught_without_an_exception(fitted, field, value):
    clf, X, y, weight = fitted
    tampered = replace(clf.certificate_, **{field: value})
    is_same = value is getattr(clf.certificate_, field)
    assert verify(tampered, clf.tree_, X, y, weight).ok == is_same
    if field != "digest":
        found = verify(forged(tampered), clf.tree_, X, y, weight)
        sense = {("seconds", -1e300), ("max_features", None), ("max_points", None)}
        sense |= {("n_sampled", None), ("rules", None), ("free_objective", None)}
        sense |= {("free_bound", None), ("rules_bound", None), ("left_out", None)}
        sense |= {("columns_objective", None), ("columns_bound", None)}
        sense |= {("has_costs", True)}
        assert not found.ok or (field, str(value)) in {(f, str(v)) for f, v in sense}


def other_values(value):
    if value is None:
        return 0, 3
    if isinstance(value, tuple):
        return (*value, 0.0), (*value, 1.0)
    if isinstance(value, str):
        return value + "!", value[:-1], ""
    if isinstance(value, float):
        return value + 1, -value - 1, float(np.nextafter(value, 2 * value + 1))
    return value + 1, -value - 1


@pytest.mark.parametrize("field", FIELDS)
def test_the_digest_catches_every_field(fitted, field):
    """Also what no recomputation can tell: the words, a larger depth."""
    clf, X, y, weight = fitted
    given, digest = (clf.tree_, X, y, weight), clf.certificate_.digest
    assert verify(clf.certificate_, *given, digest=digest).ok
    value = getattr(clf.certificate_, field)
    for other in set(other_values(value)) - {value}:
        tampered = replace(clf.certificate_, **{field: other})
        assert "certificate digest" in names_of_wrong(verify(tampered, *given))
        if field != "digest":
            found = verify(forged(tampered), *given, digest=digest)
            assert "certificate digest" in names_of_wrong(found)


def test_what_only_a_digest_or_a_solver_can_tell(fitted):
    """Documented limits: if one of these is caught one day, say so in ``verify``."""
    clf, X, y, weight = fitted
    found = clf.certificate_
    for change in (
        {"depth": found.depth + 1},
        {"seconds": 0.0},
        {"errors_proved_by": "magic", "errors_bound": found.cost_at_margin},
    ):
        assert verify(forged(found, **change), clf.tree_, X, y, weight).ok


# ------------------------------------------------------------------ tampered trees


def tampered_trees(tree):
    """Every tree that differs in one number."""
    for name in ("children_left", "children_right", "coef", "threshold", "label"):
        array = getattr(tree, name)
        for index in np.ndindex(array.shape):
            others = [np.nextafter(array[index], np.inf)]
            if array.dtype.kind == "i":
                others = [array[index] + 1, array[index] - 1, 0, 10**6]
            for other in others:
                changed = array.copy()
                changed[index] = other
                if changed[index] != array[index]:
                    yield name, index, replace(tree, **{name: changed})


def test_every_tampered_tree_is_caught(fitted):
    clf, X, y, weight = fitted
    seen = set()
    for name, index, tree in tampered_trees(clf.tree_):
        found = verify(clf.certificate_, tree, X, y, weight)
        assert not found.ok, (name, index)
        seen.add(name)
    assert len(seen) == 5


def test_a_forged_tree_digest_does_not_help(fitted):
    """Whoever changes a tree and its digest is caught by the numbers."""
    clf, X = fitted[:2]
    tree = clf.tree_
    for leaf in np.unique(tree.apply(X)):
        label = tree.label.copy()
        label[leaf] = (label[leaf] + 1) % 3
        assert not forged_tree_holds(fitted, replace(tree, label=label))
    for node in np.flatnonzero(~tree.is_leaf):
        threshold = tree.threshold.copy()
        threshold[node] += 1e-3
        assert not forged_tree_holds(fitted, replace(tree, threshold=threshold))
        coef = tree.coef.copy()
        coef[node] *= 1.01
        assert not forged_tree_holds(fitted, replace(tree, coef=coef))
    swapped = replace(
        tree, children_left=tree.children_right, children_right=tree.children_left
    )
    assert not forged_tree_holds(fitted, swapped)


def forged_tree_holds(fitted, tree):
    clf, X, y, weight = fitted
    certificate = forged(clf.certificate_, tree_digest=tree_digest(tree))
    return verify(certificate, tree, X, y, weight).ok


# ------------------------------------------------------------------- tampered data


def test_tampered_data_are_caught(fitted):
    clf, X, y, weight = fitted

    def holds(X, y, weight):
        return verify(clf.certificate_, clf.tree_, X, y, weight).ok

    for row in range(len(y)):
        label = y.copy()
        label[row] = (label[row] + 1) % 3
        assert not holds(X, label, weight)
        for column in range(X.shape[1]):
            moved = X.copy()
            moved[row, column] = np.nextafter(moved[row, column], 9.0)
            assert not holds(moved, y, weight)
        heavier = weight.copy()
        heavier[row] += 1e-9
        assert not holds(X, y, heavier)
        kept = np.arange(len(y)) != row
        assert not holds(X[kept], y[kept], weight[kept])
    assert not holds(X, y, None)


def test_a_forged_data_digest_does_not_help(fitted):
    clf, X, y, weight = fitted
    for row in range(len(y)):
        label = y.copy()
        label[row] = (label[row] + 1) % 3
        digest = data_digest(Problem.from_data(X, label, 3, weight))
        certificate = forged(clf.certificate_, data_digest=digest)
        found = verify(certificate, clf.tree_, X, label, weight)
        before = clf.tree_.predict(X[row : row + 1])[0]
        if before in (y[row], label[row]):  # otherwise wrong before and after
            assert "errors" in names_of_wrong(found)


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        (np.ones(3), [0, 1, 1], None, "one label in y for each"),
        (np.ones((3, 1)), [0, 1], None, "one label in y for each"),
        (np.ones((3, 1)), [0, 1, 1], [1, 1], "3 numbers >= 0"),
        (np.ones((3, 1)), [0, 1, 1], [1, -1, 1], "3 numbers >= 0"),
        (np.ones((3, 1)), [0, 1, 1], [0, 0, 0], "one of them above 0"),
        ([[1.0], [np.nan], [2.0]], [0, 1, 1], None, "finite"),
    ],
)
def test_unusable_data_are_a_plain_error(fitted, X, y, weight, message):
    clf = fitted[0]
    with pytest.raises(ValueError, match=message):
        verify(clf.certificate_, clf.tree_, X, y, weight)


def test_another_number_of_columns_is_caught(fitted):
    clf, X, y, weight = fitted
    found = verify(clf.certificate_, clf.tree_, X[:, :2], y, weight)
    assert names_of_wrong(found) == {"tree"}


# ---------------------------------------------------------------- exact arithmetic


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


def honest(problem, tree, depth, objective=None, errors=None, whole=None):
    """Certificate of a tree as the training loop writes it."""
    objective = objective or Svm1Objective(100, 1, 0.01)
    any_tree = combinatorial_bound(problem, depth)
    score = objective.evaluate(problem, tree)
    return certify(
        problem,
        objective,
        depth,
        tree,
        score,
        Bounds(any_tree, errors or any_tree, whole or any_tree, problem.cheapest_error),
        0.5,
    )


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
            short = Fraction(margin) - abs(value) / box[node]
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
    assert not verify(forged(certificate, depth=2), tree, X, y).ok


def test_a_thousand_rows_are_verified():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 20)), rng.integers(3, size=1000)
    problem = Problem.from_data(X, y, 3)
    tree = problem.to_user(random_heap(problem, 3, rng))
    certificate = honest(problem, tree, 3)
    found = verify(certificate, tree, X, y)
    assert found.ok, str(found)


# ------------------------------------------ bounds claimed for a class too large


def forged_margin():
    """No tree has fewer than 1 error at margin .2, but one at margin .1 has."""
    X, y = np.array([[0.0], [0.3], [1.0]]), np.array([0, 1, 1])
    heap = HeapTree(np.array([[1 / 0.65]]), np.array([1.0]), np.array([0, 1]))
    problem = Problem.from_data(X, y, 2)
    return X, y, heap, problem, Svm1Objective(100, 1, 0.2), {"margin": 0.1}


def forged_features(max_features):
    """A split of one feature has an error, one of two features has none."""
    X = np.array([[0, 0.5], [0.5, 1], [0.5, 0], [1, 0.5]])
    y = np.array([0, 0, 1, 1])
    heap = HeapTree(np.array([[4, 0]]) / 3, np.array([1 / 3]), np.array([0, 1]))
    problem = replace(Problem.from_data(X, y, 2), max_features=1)
    change = {"max_features": max_features}
    return X, y, heap, problem, Svm1Objective(100, 1, 0.01), change


@pytest.mark.parametrize(
    "case", [forged_margin(), forged_features(None), forged_features(2)]
)
def test_a_solver_tells_a_bound_that_is_claimed_for_a_larger_class(case):
    """Nothing else does: documented in ``verify``."""
    X, y, heap, problem, objective, change = case
    tree = ObliqueTree.from_heap(heap)
    proved = Bound(1.0, "a solver")
    certificate = honest(problem, tree, 1, objective, errors=proved)
    assert verify(certificate, tree, X, y, resolve_with="highs").ok
    found = forged(certificate, **change)
    assert verify(found, tree, X, y).ok
    again = verify(found, tree, X, y, resolve_with="highs")
    assert names_of_wrong(again) == {"errors bound again"}
    assert "below the 1 claimed" in str(again)


def test_a_penalty_that_costs_the_tree_nothing_is_not_told():
    """Documented in ``verify``: a constant tree has no 1-norm."""
    X, y = np.arange(3.0)[:, None], np.array([0, 1, 0])
    problem = Problem.from_data(X, y, 2)
    tree = problem.to_user(constant_tree(problem, 1)).prune(X)
    certificate = honest(problem, tree, 1)
    assert verify(forged(certificate, l1_penalty=5.0), tree, X, y).ok


def test_a_forged_limit_of_features_is_told_and_not_solved():
    X = np.array([[0, 0.5], [0.5, 1], [0.5, 0], [1, 0.5]])
    y, problem = np.array([0, 0, 1, 1]), Problem.from_data(X, np.array([0, 0, 1, 1]), 2)
    heap = HeapTree(np.array([[1.0, -1.0]]), np.zeros(1), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    certificate = honest(problem, tree, 1, whole=Bound(0.1, "a solver"))
    found = verify(
        forged(certificate, max_features=1), tree, X, y, resolve_with="highs"
    )
    assert names_of_wrong(found) == {"features"}


# ------------------------------------------------------------ proofs, once more


@pytest.fixture(scope="module")
def small():
    """Ten rows on a line, noisy; one split gets two wrong and the tree gets four."""
    X = np.arange(10.0)[:, None]
    y = np.array([0, 0, 1, 0, 0, 1, 1, 0, 1, 1])
    heap = HeapTree(np.array([[0.1]]), np.array([0.15]), np.array([0, 1]))
    return X, y, ObliqueTree.from_heap(heap), Problem.from_data(X, y, 2)


@pytest.mark.parametrize("solver", MIP_SOLVERS)
def test_resolving_confirms_true_bounds(small, solver):
    X, y, tree, problem = small
    certificate = honest(
        problem, tree, 1, errors=Bound(2.0, "a solver"), whole=Bound(2.1, "a solver")
    )
    found = verify(certificate, tree, X, y, resolve_with=solver)
    assert found.ok, str(found)
    assert [check.name for check in found.checks[-2:]] == [
        "errors bound again",
        "objective bound again",
    ]


@pytest.mark.parametrize("solver", MIP_SOLVERS)
def test_resolving_refutes_false_bounds(small, solver):
    """Bounds that agree with everything but the truth."""
    X, y, tree, problem = small
    false = Bound(3.0, "a solver")
    certificate = honest(problem, tree, 1, errors=false, whole=false)
    assert certificate.cost == 3
    assert verify(certificate, tree, X, y).ok
    found = verify(certificate, tree, X, y, resolve_with=solver)
    assert names_of_wrong(found) == {"errors bound again", "objective bound again"}
    assert "below the 3 claimed" in str(found)


def test_resolving_catches_a_larger_depth(small):
    """No tree of depth 1 gets below 2; one of depth 3 does."""
    X, y, tree, problem = small
    certificate = honest(problem, tree, 1, errors=Bound(2.0, "a solver"))
    deeper = forged(certificate, depth=3)
    assert verify(deeper, tree, X, y).ok
    found = verify(deeper, tree, X, y, resolve_with="highs")
    assert names_of_wrong(found) == {"errors bound again"}


def test_a_solver_that_finds_no_tree_at_all_confirms_nothing(small, monkeypatch):
    X, y, tree, problem = small
    certificate = honest(problem, tree, 1, errors=Bound(2.0, "a solver"))
    nothing = Result("infeasible", None, np.inf, np.inf, 0, 0.0, "Liar 1.0")
    monkeypatch.setattr("miptree.certificate.resolve._solve", lambda *_: nothing)
    found = verify(certificate, tree, X, y, resolve_with="highs")
    assert names_of_wrong(found) == {"errors bound again"}
    assert "claims that there is no tree at all; this is one" in str(found)


def test_a_depth_beyond_reason_is_not_solved(small):
    X, y, tree, problem = small
    certificate = honest(problem, tree, 1, errors=Bound(2.0, "a solver"))
    absurd = forged(certificate, depth=10**9)
    found = verify(absurd, tree, X, y, resolve_with="highs")
    assert names_of_wrong(found) == {"proofs again"}


def test_resolving_without_time_confirms_nothing():
    X, y = load_iris(return_X_y=True)
    clf = OptimalTreeClassifier(solver="search", max_iter=2, random_state=0).fit(X, y)
    problem = Problem.from_data(X, y, 3)
    certificate = honest(problem, clf.tree_, 2, errors=Bound(1.0, "a solver"))
    found = verify(
        certificate, clf.tree_, X, y, resolve_with="highs", resolve_seconds=0
    )
    assert "neither confirmed nor refuted" in str(found)
    assert not found.ok


def test_nothing_to_resolve_and_unknown_solver(fitted):
    clf, X, y, weight = fitted
    plain = verify(clf.certificate_, clf.tree_, X, y, weight)
    again = verify(clf.certificate_, clf.tree_, X, y, weight, resolve_with="highs")
    assert again == plain
    with pytest.raises(ValueError, match="solver must be one of"):
        verify(clf.certificate_, clf.tree_, X, y, weight, resolve_with="abacus")


def test_a_real_proof_is_confirmed_by_another_solver():
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(14, 2)), 1)
    y = (X[:, 0] > 0).astype(int) ^ (rng.random(14) < 0.3)
    clf = OptimalTreeClassifier(
        max_depth=1, slack_penalty=1000, l1_penalty=0.1, time_limit=None, random_state=0
    ).fit(X, y)
    assert clf.certificate_.objective_optimal
    assert clf.certificate_.objective_proved_by != clf.certificate_.any_tree_proved_by
    found = verify(clf.certificate_, clf.tree_, X, y, resolve_with=MIP_SOLVERS[-1])
    assert found.ok, str(found)
    assert "again" in found.checks[-1].name
