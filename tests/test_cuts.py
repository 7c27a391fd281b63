"""Cuts and symmetry breaking: they cut something, but no tree goes lost."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from _brute_force import BruteForce
from _data import (
    Case,
    cases,
    close,
    examples,
    is_clear,
    objectives,
    problems,
    random_heap,
    random_problem,
    solve,
)
from miptree.data.problem import Problem
from miptree.mip.formulations import (
    CompactFormulation,
    CountFormulation,
    FlowFormulation,
    PaperFormulation,
)
from miptree.mip.formulations.symmetry import canonical_image, left_point
from miptree.mip.solvers.highs import MIP_TOLERANCE
from miptree.objective import Svm1Objective
from miptree.objective.leaf_labels import tree_value
from miptree.tree import HeapTree

OBJECTIVE = Svm1Objective(1000, 0.1, 0.01)


def predicted(case: Case, heap: HeapTree) -> np.ndarray:
    return heap.label[heap.leaf_of(case.problem.scaled)]


def lp_bound(formulation) -> float:
    """Optimum of the LP relaxation."""
    model = formulation.model
    return solve(replace(model, integer=np.zeros_like(model.integer))).objective


def rows_of(model, tag):
    """Dense rows, lower and upper bounds of a block."""
    rows = model.blocks[tag]
    matrix = model.matrix[rows].toarray()
    return matrix, model.row_lower[rows], model.row_upper[rows]


# ------------------------------------------------------- no tree is ever cut off


def some_theorem_3_sets(problem: Problem, depth: int, seed: int):
    """Random I with at most one point of each class, and random L."""
    rng = np.random.default_rng(seed)
    for _ in range(5):
        one_each = [rng.choice(np.flatnonzero(problem.y == k)) for k in set(problem.y)]
        size = rng.integers(1, len(one_each) + 1)
        points = rng.choice(one_each, size, replace=False)
        n_leaves = rng.integers(0, 2**depth + 1)
        yield points.tolist(), rng.permutation(2**depth)[:n_leaves].tolist()


def assert_feasible(formulation, heap):
    violated = formulation.model.violation(formulation.encode(heap))
    assert max(violated.values()) <= 1e-9, violated


@examples(150)
@given(case=cases(), seed=st.integers(0, 2**20))
def test_paper_cuts_keep_every_tree(case, seed):
    sets = list(some_theorem_3_sets(case.problem, case.depth, seed))
    formulation = PaperFormulation(
        case.problem, case.objective, case.depth, theorem_3=sets
    )
    assert "Theorem 3" in formulation.model.blocks
    assert_feasible(formulation, case.heap)


@pytest.mark.parametrize("break_symmetry", [True, False])
@pytest.mark.parametrize("formulation", [CompactFormulation, FlowFormulation])
@examples(150)
@given(case=cases())
def test_compact_and_flow_keep_every_tree(formulation, break_symmetry, case):
    made = formulation(case.problem, case.objective, case.depth, break_symmetry)
    assert_feasible(made, case.heap)


def test_the_trees_above_meet_every_cut():
    """With five classes, repeated rows and depth 1 and 2 all families are there."""
    problem = random_problem(1, 20, 2, 5, "grid", "heavy")
    shallow = PaperFormulation(problem, OBJECTIVE, 1).model.blocks
    assert {"Prop 1 (1)", "Prop 1 (2)", "Prop 1 (3)", "same x"} <= set(shallow)
    compact = CompactFormulation(problem, OBJECTIVE, 2).model.blocks
    assert {"Prop 1 (1)", "Prop 1 (2)", "Prop 1 (3)", "same x"} <= set(compact)
    assert "Prop 1 (1)" not in FlowFormulation(problem, OBJECTIVE, 2).model.blocks


# ------------------------------------------------------------ each cut as printed


def five_classes() -> Problem:
    """Classes of weight 1, 2, 3, 4, 5, all at different points."""
    X = np.arange(10.0).reshape(5, 2) ** 1.5
    return Problem.from_data(X, np.arange(5), 5, np.arange(1.0, 6.0))


def test_proposition_1_has_the_sizes_of_the_classes():
    problem = five_classes()
    model = PaperFormulation(problem, OBJECTIVE, 2).model
    e, c = model.variables["e"], model.variables["c"]
    for leaf in range(4):
        matrix, lower, _ = rows_of(model, "Prop 1 (1)")
        assert lower[leaf] == -5
        assert np.array_equal(matrix[leaf, c], problem.weight)
        assert np.array_equal(matrix[leaf, e[:, leaf]], -problem.weight)
        matrix, lower, _ = rows_of(model, "Prop 1 (2)")
        assert lower[leaf] == 1 + 2
        assert np.array_equal(matrix[leaf, c], problem.weight)
        assert np.array_equal(matrix[leaf, e[:, leaf]], problem.weight)
    matrix, lower, _ = rows_of(model, "Prop 1 (3)")
    assert lower.tolist() == [1]
    assert np.array_equal(matrix[0, c], problem.weight)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_parts_of_proposition_1_need_many_classes(depth):
    problem = random_problem(0, 12, 2, 4, "distinct")
    blocks = PaperFormulation(problem, OBJECTIVE, depth).model.blocks
    assert "Prop 1 (1)" in blocks
    assert ("Prop 1 (2)" in blocks) == (2**depth <= 4)
    assert ("Prop 1 (3)" in blocks) == (2**depth < 4)


@pytest.mark.parametrize("formulation", [PaperFormulation, CompactFormulation])
def test_proposition_1_bounds_the_relaxation(formulation):
    # Two leaves for five classes: those of weight 1, 2 and 3 are lost.
    assert lp_bound(formulation(five_classes(), OBJECTIVE, 1)) >= 6 - 1e-6
    assert lp_bound(PaperFormulation(five_classes(), OBJECTIVE, 1, False)) < 1


def test_theorem_3_bounds_the_relaxation():
    sets = [([0, 1, 2, 3, 4], [0, 1])]
    without = PaperFormulation(five_classes(), OBJECTIVE, 1, False)
    assert lp_bound(replace(without, theorem_3=sets)) >= 6 - 1e-6 > lp_bound(without)


def test_theorem_3_row_is_as_printed():
    sets = [([0, 3], [1, 2])]
    model = PaperFormulation(five_classes(), OBJECTIVE, 2, theorem_3=sets).model
    e, c = model.variables["e"], model.variables["c"]
    (row,), lower, upper = rows_of(model, "Theorem 3")
    expected = np.zeros(model.n_variables)
    expected[c[[0, 3]]] = 1
    expected[e[np.ix_([0, 3], [1, 2])]] = -1
    assert np.array_equal(row, expected)
    assert (lower, upper) == (-2, np.inf)


def test_theorem_3_refuses_two_points_of_one_class():
    problem = random_problem(0, 6, 2, 3, "distinct")
    same = np.flatnonzero(problem.y == 1).tolist()
    assert len(same) == 2
    formulation = PaperFormulation(problem, OBJECTIVE, 1, theorem_3=[(same, [0])])
    with pytest.raises(ValueError, match="at most one point of each class"):
        formulation.build()


@pytest.mark.parametrize(
    "formulation", [PaperFormulation, CompactFormulation, FlowFormulation]
)
def test_identical_points_bound_the_relaxation(formulation):
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [2.0]])
    weight = np.array([1.0, 2.0, 4.0, 3.0, 8.0, 1.0])
    problem = Problem.from_data(X, np.array([0, 1, 2, 0, 1, 2]), 3, weight)
    # The lighter points of each place are lost: 1 + 2 at 0 and 3 at 1.
    assert lp_bound(formulation(problem, OBJECTIVE, 2)) >= 6 - 1e-6


# -------------------------------------------------------------- equal optima


@examples(10)
@given(
    problem=problems((4, 6), 2, 5, kinds=("distinct",)),
    objective=objectives,
    depth=st.sampled_from([1, 2]),
)
def test_optimum_is_the_same_without_paper_cuts(problem, objective, depth):
    without = solve(PaperFormulation(problem, objective, depth, False).model).objective
    with_cuts = solve(PaperFormulation(problem, objective, depth).model).objective
    assert with_cuts == pytest.approx(without, abs=close(without))


@examples(10)
@given(problem=problems((4, 8), 2, kinds=("grid",)), objective=objectives)
def test_optimum_without_the_cut_for_identical_points(problem, objective):
    without = solve(PaperFormulation(problem, objective, 1, False).model).objective
    best = BruteForce(problem, objective, strict=False, one_right=False).optimum(1)
    assert without == pytest.approx(best, abs=close(best))
    with_cut = solve(PaperFormulation(problem, objective, 1).model).objective
    assert without <= with_cut + close(with_cut)
    real = BruteForce(problem, objective, strict=True).optimum(1)
    assert with_cut <= real + close(real)


@examples(10)
@given(
    problem=problems((4, 7), 2),
    objective=objectives,
    depth=st.sampled_from([1, 2]),
    seed=st.integers(0, 2**20),
)
def test_optimum_is_the_same_with_theorem_3(problem, objective, depth, seed):
    sets = list(some_theorem_3_sets(problem, depth, seed))
    plain = PaperFormulation(problem, objective, depth)
    expected = solve(plain.model).objective
    found = solve(replace(plain, theorem_3=sets).model).objective
    assert found == pytest.approx(expected, abs=close(expected))


@pytest.mark.parametrize("formulation", [CompactFormulation, FlowFormulation])
@examples(30)
@given(
    problem=problems((4, 8), 2, 4),
    objective=objectives,
    depth=st.sampled_from([1, 2]),
)
def test_optimum_is_the_same_with_mirror_images(formulation, problem, objective, depth):
    broken, whole = (
        solve(formulation(problem, objective, depth, breaks).model).objective
        for breaks in (True, False)
    )
    # HiGHS may take as much slack for nothing in each row of the model.
    free = MIP_TOLERANCE * objective.slack_penalty * depth * problem.weight.sum()
    assert broken == pytest.approx(whole, abs=close(whole) + free)


# ------------------------------------------------------------------ mirror images


def mirror(heap: HeapTree, node: int) -> HeapTree:
    """Negate a hyperplane and swap the subtrees below it, node by node."""
    image, n_branch = heap.copy(), len(heap.threshold)
    image.coef[node], image.threshold[node] = -heap.coef[node], -heap.threshold[node]
    pairs = [(2 * node + 1, 2 * node + 2), (2 * node + 2, 2 * node + 1)]
    for new, old in pairs:
        if old >= n_branch:
            image.label[new - n_branch] = heap.label[old - n_branch]
        else:
            image.coef[new], image.threshold[new] = heap.coef[old], heap.threshold[old]
            pairs += [(2 * new + 1, 2 * old + 1), (2 * new + 2, 2 * old + 2)]
    return image


@examples(80)
@given(case=cases(), nodes=st.lists(st.integers(0, 6), max_size=4))
def test_mirror_images_have_one_objective(case, nodes):
    assume(is_clear(case))
    image = case.heap
    for node in nodes:
        image = mirror(image, node % len(image.threshold))
    assert np.array_equal(predicted(case, image), predicted(case, case.heap))
    value = tree_value(case.problem, case.objective, case.heap)
    assert tree_value(case.problem, case.objective, image) == pytest.approx(value)
    compact = CompactFormulation(case.problem, case.objective, case.depth)
    first, second = (
        compact.model.objective(compact.encode(heap)) for heap in (case.heap, image)
    )
    assert first == pytest.approx(second, abs=1e-9)


@examples(120)
@given(case=cases(), row=st.integers(0, 99))
def test_canonical_image_obeys_the_rules(case, row):
    assume(is_clear(case))
    problem, heap = case.problem, case.heap
    row = row % problem.n_rows if case.depth >= 2 else None
    leaf = heap.leaf_of(problem.scaled)
    image, moved = canonical_image(heap, leaf, problem.n_classes, row)
    assert (image.label[0::2] < image.label[1::2]).all()
    if case.depth == 3:
        assert (image.label[[0, 4]] <= image.label[[2, 6]]).all()
    if row is not None:
        assert moved[row] < len(heap.label) // 2
    assert np.array_equal(moved, image.leaf_of(problem.scaled))
    assert np.array_equal(predicted(case, image), predicted(case, heap))
    before, after = (tree_value(problem, case.objective, t) for t in (heap, image))
    assert after <= before + 1e-9
    if (heap.label[0::2] != heap.label[1::2]).all():
        assert after == pytest.approx(before, abs=1e-9)


def test_both_rules_are_kept_only_from_depth_two():
    problem = random_problem(0, 9, 2, 3, "distinct", "random")
    assert left_point(problem, 1) is None
    row = left_point(problem, 2)
    assert problem.weight[row] == problem.weight.max()
    model = CompactFormulation(problem, OBJECTIVE, 2).model
    assert model.upper[model.variables["e"][row]].tolist() == [1, 1, 0, 0]
    model = CompactFormulation(problem, OBJECTIVE, 1).model
    assert (model.upper[model.variables["e"]] == 1).all()


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_sibling_order_allows_increasing_classes_only(n_classes):
    problem = random_problem(0, 10, 2, n_classes, "distinct")
    model = CompactFormulation(problem, OBJECTIVE, 1).model
    matrix, lower, upper = rows_of(model, "sibling order")
    u = model.variables["u"]
    for left in range(n_classes):
        for right in range(n_classes):
            x = np.zeros(model.n_variables)
            x[[u[0, left], u[1, right]]] = 1.0
            inside = (matrix @ x >= lower).all() and (matrix @ x <= upper).all()
            assert inside == (left < right)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_subtree_order_compares_the_first_leaves_below_inner_nodes(n_classes):
    problem = random_problem(0, 10, 2, n_classes, "distinct")
    for depth in (1, 2):
        blocks = CompactFormulation(problem, OBJECTIVE, depth).model.blocks
        assert "subtree order" not in blocks
    model = CompactFormulation(problem, OBJECTIVE, 3).model
    matrix, lower, upper = rows_of(model, "subtree order")
    u = model.variables["u"]
    for label in product(range(n_classes), repeat=4):
        x = np.zeros(model.n_variables)
        x[u[[0, 2, 4, 6], label]] = 1.0
        inside = (matrix @ x >= lower).all() and (matrix @ x <= upper).all()
        assert inside == (label[0] <= label[1] and label[2] <= label[3])


@pytest.mark.parametrize("formulation", [CompactFormulation, CountFormulation])
def test_optimum_of_depth_three_is_the_same_with_mirror_images(formulation):
    # Seven intervals of three classes need seven leaves.
    y = np.array([0, 1, 2, 0, 2, 1, 0])
    problem = Problem.from_data(np.arange(7.0)[:, None], y, 3)
    broken, whole = (
        solve(formulation(problem, OBJECTIVE, 3, breaks).model).objective
        for breaks in (True, False)
    )
    assert broken == pytest.approx(whole, abs=close(whole))
    without_a_leaf = solve(formulation(problem, OBJECTIVE, 2).model).objective
    assert without_a_leaf > whole + 1


@examples(60)
@given(case=cases(problems((6, 20), 3, 5), kinds=("random", "cart")))
def test_trees_of_depth_four_have_an_image_in_order(case):
    heap = random_heap(case.problem, 4, np.random.default_rng(case.depth))
    image, _ = canonical_image(
        heap, heap.leaf_of(case.problem.scaled), case.problem.n_classes, 0
    )
    label = image.label
    assert (label[0::2] < label[1::2]).all()
    assert (label[0::4] <= label[2::4]).all()
    assert (label[0::8] <= label[4::8]).all()
    assert_feasible(CompactFormulation(case.problem, OBJECTIVE, 4), heap)
