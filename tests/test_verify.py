"""What verify finds: honest certificates, and those that were tampered with."""

from dataclasses import fields, replace

import numpy as np
import pytest

from _sealed import resealed
from _verified import honest, names_of_wrong
from miptree import Certificate, ObliqueTree, OptimalTreeClassifier, verify
from miptree.certificate.digest import data_digest, tree_digest
from miptree.certificate.verification import VerificationError
from miptree.data.problem import Problem
from miptree.tree import HeapTree

FREE = {
    "any_tree_proved_by",
    "errors_proved_by",
    "objective_proved_by",
    "proof_digest",
    "seconds",
}
"""Fields that only the certificate's own digest protects."""
FIELDS = [field.name for field in fields(Certificate)]


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
    assert verify(resealed(clf.certificate_, n_unweighted=2), *given).ok
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
    tampered = resealed(clf.certificate_, **{field: value(clf.certificate_)})
    found = verify(tampered, clf.tree_, X, y, weight)
    assert not found.ok
    assert "certificate digest" not in names_of_wrong(found)
    with pytest.raises(VerificationError, match="NOT verified"):
        found.raise_if_wrong()


def test_a_certificate_cannot_be_passed_off_as_a_baselines(fitted):
    clf, X, y, weight = fitted
    given = (resealed(clf.certificate_, method="OCT"), clf.tree_, X, y, weight)
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
        found = verify(resealed(tampered), clf.tree_, X, y, weight)
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
            found = verify(resealed(tampered), *given, digest=digest)
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
        assert verify(resealed(found, **change), clf.tree_, X, y, weight).ok


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
    certificate = resealed(clf.certificate_, tree_digest=tree_digest(tree))
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
        certificate = resealed(clf.certificate_, data_digest=digest)
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


# ------------------------------------------------------------ proofs, once more


def test_nothing_to_resolve_and_unknown_solver(fitted):
    clf, X, y, weight = fitted
    plain = verify(clf.certificate_, clf.tree_, X, y, weight)
    again = verify(clf.certificate_, clf.tree_, X, y, weight, resolve_with="highs")
    assert again == plain
    with pytest.raises(ValueError, match="solver must be one of"):
        verify(clf.certificate_, clf.tree_, X, y, weight, resolve_with="abacus")
