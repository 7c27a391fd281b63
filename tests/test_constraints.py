"""The constraints by themselves: their arguments, their counting, the best labels."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from _data import examples
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FalsePositiveRateParity,
    FixedSplit,
    ForbidFeatures,
    MaxCost,
    MaxRate,
    MinLeaf,
    MinRate,
    TruePositiveRateParity,
    best_labels,
)
from miptree.constraints.best_labels import best_labels as find_labels
from miptree.constraints.best_labels import keeps
from miptree.constraints.constraint import TreeOnRows
from miptree.constraints.counting import least_cost
from miptree.constraints.impossible import why_impossible
from miptree.constraints.monotone import Order
from miptree.constraints.population import Population
from miptree.constraints.rules import Rules
from miptree.data.groups import RowGroups, read_groups, whole_weights
from miptree.data.labels import plain_costs
from miptree.data.problem import Problem
from miptree.fit.cuts import best_cut
from miptree.objective.leaf_labels import leaf_cost
from miptree.tree import HeapTree, ObliqueTree

PARITIES = [
    DemographicParity,
    TruePositiveRateParity,
    FalsePositiveRateParity,
    EqualizedOdds,
    ErrorRateParity,
]


def population(y, groups=None, control=None, weight=None, n_classes=2):
    y = np.asarray(y)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    found = RowGroups.of(groups, control, weight)
    return Population(y, np.ones(len(y), dtype=int), found, tuple(range(n_classes)))


def stump(label):
    heap = HeapTree(np.array([[1.0]]), np.array([0.0]), np.array(label))
    return ObliqueTree.from_heap(heap)


# ------------------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MaxRate(1, 1.5), r"bound of MaxRate must be a number in \[0, 1\]"),
        (lambda: MinRate(1, "x"), r"bound of MinRate must be a number in \[0, 1\]"),
        (lambda: MaxRate(1, 0.5, on="some"), "on of MaxRate must be one of 'all'"),
        (lambda: MaxCost(-1), "bound of MaxCost must be a finite number >= 0"),
        (lambda: MaxCost(1, [[0, 1]]), "a row and a column for each class"),
        (lambda: MaxCost(1, [[0, 1], [1]]), "costs of MaxCost must be a table of num"),
        (lambda: MaxCost(1, "ab"), "costs of MaxCost must be a table of numbers"),
        (lambda: MinLeaf(), "MinLeaf needs rows or weight"),
        (lambda: MinLeaf(rows=3, weight=2.0), "MinLeaf needs rows or weight"),
        (lambda: MinLeaf(rows=0.5), "rows of MinLeaf must be a whole number"),
        (lambda: MinLeaf(weight=-1), "weight of MinLeaf must be a finite number > 0"),
        (lambda: ForbidFeatures([]), "ForbidFeatures names no column"),
        (lambda: AllowFeatures("a", depth=0, node=0), "a depth or a node, not both"),
        (lambda: AllowFeatures("a", node=-1), "node of AllowFeatures must be a whole"),
        (lambda: FixedSplit(0.5, {"a": 1}, 0), "node of FixedSplit must be a whole"),
        (lambda: FixedSplit(0, {"a": 0}, 0), "no coefficient but 0"),
        (lambda: FixedSplit(0, {"a": np.nan}, 0), "coefficient of 'a' of FixedSplit"),
        (lambda: FixedSplit(0, {"a": 1}, "b"), "the threshold of FixedSplit must be"),
        (
            lambda: DemographicParity(difference_bound=-0.1),
            "difference_bound of DemographicParity must be a number",
        ),
        (
            lambda: EqualizedOdds(difference_bound=0.1, versus="all"),
            "versus of EqualizedOdds must be 'overall' or 'pairs'",
        ),
    ],
)
def test_wrong_arguments_are_told_in_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_what_depends_on_the_data_is_told_in_a_sentence():
    rows = population([0, 1, 1])
    with pytest.raises(ValueError, match="names the label 7, which is not a class"):
        MaxRate(7, 0.5).limits(rows)
    with pytest.raises(ValueError, match="fit got no sensitive_features"):
        DemographicParity(difference_bound=0.1).limits(rows)
    with pytest.raises(ValueError, match="all rows are of one group, 'a'"):
        DemographicParity(difference_bound=0.1).limits(
            population([0, 1], np.array(["a", "a"]))
        )
    three = population([0, 1, 2], np.array(["a", "b", "a"]), n_classes=3)
    with pytest.raises(ValueError, match="needs a positive_label, as there are 3"):
        DemographicParity(difference_bound=0.1).limits(three)
    with pytest.raises(ValueError, match="of which there are no rows"):
        MaxRate(1, 0.5, on="positives").limits(population([0, 0], n_classes=2))


# --------------------------------------------------------------------------- groups


def test_missing_values_are_a_group_and_columns_combine():
    code, names, _ = read_groups(np.array(["b", None, "a"], object), 3, "A")
    assert names == ("(missing)", "a", "b")
    assert code.tolist() == [2, 0, 1]
    both = read_groups(np.array([["a", "x"], ["a", "y"], ["a", "x"]]), 3, "A")
    assert both.names == ("a, x", "a, y")
    assert both.code.tolist() == [0, 1, 0]


def test_groups_of_a_wrong_length_or_too_many_are_refused():
    with pytest.raises(ValueError, match="A has 2 values, but X has 3 rows"):
        read_groups(["a", "b"], 3, "A")
    with pytest.raises(ValueError, match="got 'sex': give the column itself"):
        read_groups("sex", 3, "A")
    with pytest.raises(ValueError, match="A has 200 different groups"):
        read_groups(np.arange(200), 200, "A")
    with pytest.raises(ValueError, match=r"A: Column .* holds inf"):
        read_groups([1.0, np.inf], 2, "A")


@pytest.mark.parametrize("weight", [[1.0, 2.0, 3.0], [0.1, 0.7, 1 / 3], [1e-9, 1e9, 1]])
def test_whole_weights_are_exact(weight):
    whole, unit = whole_weights(np.array(weight))
    written = [Fraction(repr(w)) for w in weight]
    assert [Fraction(int(w)) * unit for w in whole] == written


def test_ten_rows_of_seven_tenths_weigh_seven():
    rows = population([0, 1] * 5, weight=[0.7] * 10)
    assert why_impossible([MinLeaf(weight=7)], rows) is None
    assert "do not" in why_impossible([MinLeaf(weight=7.001)], rows)


def test_identical_rows_of_different_groups_are_not_merged():
    X, y = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    X[3] = 1.0
    groups = RowGroups.of(np.array(["a", "b", "a", "a"]), None, np.ones(4))
    together = Problem.from_data(X, y, 2)
    apart = Problem.from_data(X, y, 2, groups=groups)
    assert (together.n_rows, apart.n_rows) == (2, 3)
    assert sorted(apart.groups.weight.tolist()) == [1, 1, 2]
    assert apart.groups.take(apart.groups.weight == 2).code.tolist() == [0]


# ------------------------------------------------------------------------- counting


@pytest.mark.parametrize("constraint", PARITIES)
@pytest.mark.parametrize("versus", ["overall", "pairs"])
def test_parities_agree_with_fairlearn(constraint, versus):
    metrics = pytest.importorskip("fairlearn.metrics")
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(2, size=(2, 60))
    groups, weight = rng.choice(list("abc"), 60), rng.choice([0.3, 1.0, 2.5], 60)
    rows = population(y, groups, weight=weight)
    view = TreeOnRows(stump([0, 1]), predicted + 1, rows, ("x",))
    limits = constraint(difference_bound=0, versus=versus).limits(rows)
    values = [abs(limit.value(view.tally, view.tree.label)) for limit in limits]
    method = "to_overall" if versus == "overall" else "between_groups"
    given = {"sensitive_features": groups, "sample_weight": weight, "method": method}
    wanted = {
        DemographicParity: lambda: metrics.demographic_parity_difference,
        TruePositiveRateParity: lambda: metrics.true_positive_rate_difference,
        FalsePositiveRateParity: lambda: metrics.false_positive_rate_difference,
        EqualizedOdds: lambda: metrics.equalized_odds_difference,
        ErrorRateParity: lambda: metrics.make_derived_metric(
            metric=lambda y_true, y_pred, sample_weight: np.average(
                y_true != y_pred, weights=sample_weight
            ),
            transform="difference",
            sample_param_names=["sample_weight"],
        ),
    }[constraint]()(y, predicted, **given)
    assert float(max(values)) == pytest.approx(wanted)


def test_limits_are_worked_out_once_for_the_same_rows():
    rule, y = DemographicParity(difference_bound=0.1), [0, 1, 0, 1]
    rows, others = population(y, list("aabb")), population(y, list("abab"))
    assert rule.limits(rows) is rule.limits(rows)
    assert DemographicParity(difference_bound=0.2).limits(rows)[0].upper == Fraction(
        1, 5
    )
    assert rule.limits(others) is not rule.limits(rows)


def test_control_groups_are_compared_within():
    y, predicted = np.zeros(8, int), np.array([1, 1, 0, 0, 1, 1, 0, 0])
    groups = np.array(list("abababab"))
    control = np.array(list("ccccdddd"))
    rows = population(y, groups, control, n_classes=2)
    view = TreeOnRows(stump([0, 1]), predicted + 1, rows, ("x",))
    finding = DemographicParity(difference_bound=0.0).check(view)
    assert finding.kept
    assert "'a' in 'c' 1 of 2 = 0.5" in finding.sentence
    skewed = TreeOnRows(stump([0, 1]), np.array([1, 0, 1, 0, 0, 1, 0, 1]) + 1, rows, ())
    assert not DemographicParity(difference_bound=0.4).check(skewed).kept


def test_of_many_groups_those_farthest_apart_are_listed():
    groups = np.array(list("abcdefgh" * 2))
    rows = population([0] * 16, groups, n_classes=2)
    leaf = np.where(groups == "d", 2, 1)
    view = TreeOnRows(stump([0, 1]), leaf, rows, ("x",))
    sentence = DemographicParity(difference_bound=0.9).check(view).sentence
    assert "by 0.875 at most" in sentence
    assert "'d' 2 of 2 = 1; " in sentence
    left_out = "; all 2 of 16 = 0.125, not listed: 2 groups between the lowest and the"
    assert left_out in sentence
    assert sum(f"{group!r}" in sentence for group in "abcdefgh") == 6


def test_a_bound_is_the_decimal_that_was_written():
    rows = population([0] * 10)  # 3 of 10 is 0.3, and the float 0.3 is a little less
    view = TreeOnRows(stump([0, 1]), np.array([2] * 3 + [1] * 7), rows, ("x",))
    assert MaxRate(1, 0.3).check(view).kept
    assert not MaxRate(1, 0.2999999).check(view).kept
    assert MinRate(1, 0.3).check(view).kept
    assert MaxRate(1, 0.3).check(view).sentence == (
        "The rate of 1 on all rows is at most 0.3: kept, it is 3 of 10 = 0.3."
    )


def test_small_leaves_and_forbidden_columns_are_seen():
    rows = population([0] * 10)
    view = TreeOnRows(stump([0, 1]), np.array([2] * 3 + [1] * 7), rows, ("age",))
    assert MinLeaf(rows=3).check(view).kept
    assert not MinLeaf(rows=4).check(view).kept
    assert MinLeaf(weight=3).check(view).kept
    assert not ForbidFeatures("age").check(view).kept
    assert ForbidFeatures("sex").check(view).kept


def test_another_split_than_the_fixed_one_is_seen():
    rows, leaf = population([0] * 4), np.array([1, 1, 2, 2])
    view = TreeOnRows(stump([0, 1]), leaf, rows, ("age",), ("age",))
    assert FixedSplit(0, {"age": 7}, 0).check(view).kept
    assert FixedSplit(0, {"age": 0.1}, -0.0).check(view).kept
    for other in (
        FixedSplit(0, {"age": -1}, 0),
        FixedSplit(0, {"age": 1}, 1e-300),
        FixedSplit(0, {"age": 1, "size": 1e-300}, 0),
        FixedSplit(0, {"size": 1}, 0),
        FixedSplit(1, {"age": 1}, 0),
    ):
        both = TreeOnRows(two_columns(), leaf, rows, NAMES, NAMES)
        assert not other.check(both).kept, other
    assert FixedSplit(0, {"age": 1}, 0).check(both).kept
    assert not FixedSplit(0, {"size": 1}, 0).check(view).kept


NAMES = ("age", "size")


def two_columns():
    heap = HeapTree(np.array([[1.0, 0.0]]), np.array([0.0]), np.array([0, 1]))
    return ObliqueTree.from_heap(heap)


# ---------------------------------------------------------------------- best labels


@st.composite
def label_cases(draw):
    n_classes, n_leaves = draw(st.sampled_from([(2, 4), (3, 3), (4, 2)]))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = int(rng.integers(12, 40))
    y = np.append(rng.integers(n_classes, size=n), np.arange(n_classes))
    groups = np.append(rng.choice(list("ab"), n), ["a", "b", "a", "b"][:n_classes])
    weight = rng.choice([0.1, 1.0, 0.7], len(y)) if draw(st.booleans()) else None
    rows = population(y, groups, weight=weight, n_classes=n_classes)
    bound = draw(st.sampled_from([0.0, 0.05, 0.2, 0.5]))
    label = draw(st.integers(0, n_classes - 1))
    parity = draw(st.sampled_from(PARITIES))
    constraints = [
        parity(difference_bound=bound, positive_label=label),
        draw(
            st.sampled_from(
                [MaxRate(0, 0.5), MinRate(1, 0.4, on="positives"), MaxCost(9)]
            )
        ),
    ]
    leaf = rng.integers(n_leaves, size=len(y))
    cost = rng.integers(0, 9, (n_leaves, n_classes)).astype(float)
    return rows, constraints, leaf, cost


@given(label_cases())
@examples(120)
def test_best_labels_are_those_of_brute_force(case):
    rows, constraints, leaf, cost = case
    limits = [m for constraint in constraints for m in constraint.limits(rows)]
    tally = rows.tally(leaf, len(cost))
    found = find_labels(cost, tally, limits)
    values = [
        sum(cost[l, k] for l, k in enumerate(label))
        for label in product(range(rows.n_classes), repeat=len(cost))
        if keeps(np.array(label), tally, limits)
    ]
    assert (found is None) == (not values)
    if found is not None:
        assert keeps(found, tally, limits)
        assert cost[np.arange(len(cost)), found].sum() == min(values)


def test_the_mip_finds_the_same_labels(monkeypatch):
    rng = np.random.default_rng(3)
    y, groups = rng.integers(2, size=200), rng.choice(list("ab"), 200)
    rows, leaf = population(y, groups), rng.integers(8, size=200)
    limits = DemographicParity(difference_bound=0.013).limits(rows)
    tally = rows.tally(leaf, 8)
    weight = np.array([np.bincount(y[leaf == l], minlength=2) for l in range(8)])
    cost = (weight.sum(axis=1, keepdims=True) - weight).astype(float)
    by_trying = find_labels(cost, tally, limits)
    monkeypatch.setattr(best_labels, "MOST_VECTORS", 10)
    by_mip = find_labels(cost, tally, limits)
    leaves = np.arange(8)
    assert cost[leaves, by_mip].sum() == cost[leaves, by_trying].sum()


def test_leaves_without_rows_add_no_choices():
    rng = np.random.default_rng(1)
    y, filled = rng.integers(2, size=60), np.array([3, 40, 77, 126])
    rows, few = population(y, rng.choice(list("ab"), 60)), rng.integers(4, size=60)
    limits = DemographicParity(difference_bound=0.05).limits(rows)
    cost = rng.integers(0, 9, (128, 2)).astype(float)
    found = find_labels(cost, rows.tally(filled[few], 128), limits)
    best = find_labels(cost[filled], rows.tally(few, 4), limits)
    np.testing.assert_array_equal(found[filled], best)
    empty = np.delete(np.arange(128), filled)
    np.testing.assert_array_equal(found[empty], cost[empty].argmin(axis=1))


@pytest.mark.parametrize("most", [100_000, 1])
def test_labels_in_order_are_those_of_brute_force(most, monkeypatch):
    monkeypatch.setattr(best_labels, "MOST_VECTORS", most)
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, leaf = rng.integers(3, size=30), rng.integers(4, size=30)
        rows, cost = (
            population(y, n_classes=3),
            rng.integers(0, 9, (4, 3)).astype(float),
        )
        limits = MaxRate(0, 0.7).limits(rows)
        pairs = rng.permutation(4)
        orders = [Order(pairs[0], pairs[1], 2), Order(pairs[2], pairs[1], 2)]
        tally = rows.tally(leaf, 4)
        found = find_labels(cost, tally, limits, orders)
        values = [
            cost[np.arange(4), label].sum()
            for label in product(range(3), repeat=4)
            if keeps(np.array(label), tally, limits)
            and all(label[a] != k or label[b] == k for a, b, k in orders)
        ]
        assert cost[np.arange(4), found].sum() == min(values)
        assert all(found[a] != k or found[b] == k for a, b, k in orders)


# -------------------------------------------------------------------- contradictions


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ([MaxRate(1, 0.2), MinRate(1, 0.5)], "ones miss a limit by 0.15"),
        ([MaxRate(1, 0.2), MinRate(1, 0.5)], "contradict each other"),
        ([MinLeaf(rows=50)], "at least 50 training rows, but all 20 rows"),
        ([MaxCost(3, [[1, 1], [1, 1]])], "cannot be kept by any predictions"),
        ([MaxRate(1, 0.5), MinRate(1, 0.5)], None),
        ([DemographicParity(difference_bound=0.0), MinRate(1, 0.9)], None),
    ],
)
def test_contradictions_are_proved_and_named(constraints, words):
    rows = population([0, 1] * 10, np.array(list("aabb") * 5))
    why = why_impossible(constraints, rows)
    assert why is None if words is None else words in why


@st.composite
def narrow_cases(draw):
    """Cases where the rate of one label has limits that often contradict each other."""
    rows, constraints, leaf, cost = draw(label_cases())
    label = draw(st.sampled_from(rows.classes))
    most = MaxRate(label, draw(st.sampled_from([0.1, 0.3, 0.5])))
    least = MinRate(label, draw(st.sampled_from([0.2, 0.4, 0.6])))
    return rows, [*constraints, most, least], leaf, cost


@given(narrow_cases())
@examples(60)
def test_what_is_called_impossible_is(case):
    rows, constraints, leaf, cost = case
    assume(why_impossible(constraints, rows) is not None)
    limits = [m for constraint in constraints for m in constraint.limits(rows)]
    assert find_labels(cost, rows.tally(leaf, len(cost)), limits) is None


# ----------------------------------------------------------------------------- rules


def test_leaves_that_are_too_small_are_repaired():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 1).astype(int)
    problem = Problem.from_data(X, y, 2, groups=RowGroups.of(None, None, np.ones(20)))
    rows = Population(problem.y, problem.count, problem.groups, (0, 1))
    rules = Rules([MinLeaf(rows=5)], rows, ("x",))
    heap = HeapTree(np.array([[1.0]]), np.array([0.08]), np.array([0, 1]))
    assert not rules.keeps(problem.to_user(heap), problem.X)
    near = [
        problem.to_user(tree).prune(problem.X) for tree in rules.repaired(problem, heap)
    ]
    kept = [tree for tree in near if rules.keeps(tree, problem.X)]
    assert sorted(tree.n_leaves for tree in kept) == [1, 2]
    sizes = [np.bincount(tree.apply(problem.X))[tree.is_leaf].min() for tree in kept]
    assert min(sizes) == 5


def test_repaired_trees_are_inside_the_box():
    """Columns that cancel out do so no more where one of them is not allowed."""
    X = np.column_stack([np.arange(20.0), np.arange(20.0)])
    X[:10, 1] += 1.0
    y = (np.arange(20) < 10).astype(int)
    problem = Problem.from_data(X, y, 2, groups=RowGroups.of(None, None, np.ones(20)))
    rows = Population(problem.y, problem.count, problem.groups, (0, 1))
    names = ("a", "b")
    rules = Rules([AllowFeatures("a", depth=0)], rows, names, names, problem.scaled)
    heap = HeapTree(np.array([[3.0, -3.0]]), np.array([-0.1]), np.array([1, 0]))
    near = rules.repaired(problem, heap)
    assert len(near) == 2
    for tree in near:
        assert np.abs(problem.scaled @ tree.coef[0] - tree.threshold[0]).max() <= 1


@pytest.mark.parametrize("seed", range(5))
def test_the_best_threshold_is_that_of_trying_all(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), rng.integers(2, size=40)
    groups = RowGroups.of(rng.choice(list("ab"), 40), None, np.ones(40))
    problem = Problem.from_data(X, y, 2, groups=groups)
    rows = Population(problem.y, problem.count, problem.groups, (0, 1))
    constraints = [DemographicParity(difference_bound=0.05), MinLeaf(rows=4)]
    rules = Rules(constraints, rows, ("x", "x"))
    heap = HeapTree(
        rng.normal(size=(3, 2)), np.array([0.2, 0.3, 0.1]), np.zeros(4, int)
    )
    heap = problem.into_box(heap)

    def cost_of(tree):
        leaf = tree.leaf_of(problem.scaled)
        sizes = np.bincount(leaf, minlength=4)
        cost = leaf_cost(problem, leaf, 4)
        label = find_labels(cost, rows.tally(leaf, 4), rules.limits)
        if label is None or ((sizes > 0) & (sizes < 4)).any():
            return np.inf
        return cost[np.arange(4), label].sum()

    for node in range(3):
        levels = np.sort(problem.scaled @ heap.coef[node])
        between = [0.5 * (a + b) for a, b in pairwise(levels)]
        tried = []
        for threshold in between:
            tree = heap.copy()
            tree.threshold[node] = threshold
            tried.append(cost_of(tree))
        found = best_cut(problem, rules, heap, node)
        inside = np.inf if found is None else cost_of(found)
        assert inside >= min(tried)
        # Beyond all rows that reach the node a threshold does nothing.
        others = heap.copy()
        others.coef[node], others.threshold[node] = 0.0, 1.0
        nothing = [cost_of(others)]
        others.threshold[node] = -1.0
        nothing.append(cost_of(others))
        assert min(inside, *nothing) == min(*tried, *nothing)


# ------------------------------------------------------------------- bounds by counting


def test_treating_groups_alike_costs_what_their_difference_says():
    """Ten rows of class 1 in one group, ten of class 0 in the other."""
    y, groups = np.repeat([1, 0], 10), np.repeat(["a", "b"], 10)
    rows, cost = population(y, groups), plain_costs(y, np.ones(20), 2)
    equal = [DemographicParity(difference_bound=0.0, versus="pairs")]
    near = [DemographicParity(difference_bound=0.25, versus="pairs")]
    assert least_cost(equal, rows, cost, True) == 10
    assert least_cost(near, rows, cost, True) == 8  # 7.5 errors, in whole ones
    assert least_cost([EqualizedOdds(difference_bound=0.0)], rows, cost, True) == 0


@given(label_cases())
@examples(60)
def test_no_labels_that_keep_limits_cost_less_than_the_bound(case):
    rows, constraints, leaf, cost = case
    weight = rows.groups.weight.astype(float) * float(rows.unit)
    row_cost = plain_costs(rows.y, weight, rows.n_classes)
    bound = least_cost(constraints, rows, row_cost, False)
    tally = rows.tally(leaf, len(cost))
    limits = [m for constraint in constraints for m in constraint.limits(rows)]
    for label in product(range(rows.n_classes), repeat=len(cost)):
        if keeps(np.array(label), tally, limits):
            predicted = np.array(label)[leaf]
            assert row_cost[np.arange(len(leaf)), predicted].sum() >= bound - 1e-9
