"""The three formulations: equations, Theorems 1 and 2, agreement, trees in and out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from _brute_force import recount
from _data import (
    MIP_SOLVERS,
    cases,
    close,
    examples,
    is_clear,
    objectives,
    problems,
    random_problem,
    solve,
)
from miptree.mip.formulations import (
    FORMULATIONS,
    CompactFormulation,
    FlowFormulation,
    PaperFormulation,
)
from miptree.mip.formulations.tree_variables import Routes
from miptree.objective import Svm1Objective
from miptree.tree import ObliqueTree

OBJECTIVE = Svm1Objective(1000, 0.1, 0.01)
CLEAR = cases(problems((3, 20), 3, 5), kinds=("random", "polished", "pruned"))


def optimum(formulation, solver="highs"):
    return solve(formulation.model, solver).objective


# ---------------------------------------------------------------------- equations


def block_sizes(model):
    return {tag: rows.stop - rows.start for tag, rows in model.blocks.items()}


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_paper_rows_are_tagged_with_their_equations(depth):
    problem = random_problem(0, 11, 2, 3, "distinct")
    n, L, B = 11, 2**depth, 2**depth - 1
    pairs = depth * L // 2  # (l, b) with b in A_L(l), and as many in A_R(l)
    model = PaperFormulation(problem, OBJECTIVE, depth, add_cuts=False).model
    assert block_sizes(model) == {
        "(1b)": 2 * n,
        "(1c)": n,
        "(1d)": 2 * n * L,
        "(1e)": 2 * n * L,
        "(1f)": n * B,
        "(1g)": n * pairs,
        "(1h)": n * pairs,
        "(1i)": n * pairs,
        "(1j)": n * pairs,
        "(1k)": n,
    }
    assert model.n_rows == sum(block_sizes(model).values())
    assert model.n_variables == n * (2 + 2 * L + 3 * B) + L + B * (2 * 2 + 1)


def test_paper_variables_are_as_printed():
    problem = random_problem(0, 11, 2, 3, "distinct")
    model = PaperFormulation(problem, OBJECTIVE, 2).model
    integer = {k for k, index in model.variables.items() if model.integer[index].all()}
    free = {k for k, i in model.variables.items() if np.isneginf(model.lower[i]).all()}
    assert integer == {"e", "c"}
    assert free == {"y_hat", "w", "g"}
    assert set(model.lower[model.variables["u"]]) == {1}
    assert set(model.upper[model.variables["u"]]) == {3}


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_compact_and_flow_have_the_expected_rows(depth):
    problem = random_problem(0, 11, 2, 2, "distinct")
    n, L, B = 11, 2**depth, 2**depth - 1
    routing = {"(1g)+(1h)": n * B, "(1i)+(1j)": n * B, "box": n * B}
    order = {"sibling order": L // 2 * 2}
    order |= {"subtree order": 2 * 2} if depth == 3 else {}
    compact = CompactFormulation(problem, OBJECTIVE, depth).model
    expected = {"one class": L, "(1b)-(1e)": n * L, "(1k)": n, "Prop 1 (1)": L}
    expected |= {"wrong": n}
    expected |= {"Prop 1 (2)": L} if depth == 1 else {}
    assert block_sizes(compact) == {**expected, **routing, **order}
    flow = FlowFormulation(problem, OBJECTIVE, depth).model
    expected = {"one class": L, "right in l": n * L, "routed or wrong": n}
    assert block_sizes(flow) == {**expected, **routing, **order}


def test_objective_is_1a_with_weights():
    problem = random_problem(4, 9, 2, 3, "distinct", "random")
    model = PaperFormulation(problem, OBJECTIVE, 2).model
    index, weight = model.variables, problem.weight
    assert np.array_equal(model.cost[index["c"]], weight)
    assert np.allclose(model.cost[index["m"]], 1000 * weight[:, None])
    assert set(model.cost[index["h+"]].flat) == {0.1}
    assert set(model.cost[index["h-"]].flat) == {0.1}
    priced = np.concatenate([index[k].ravel() for k in ("c", "m", "h+", "h-")])
    assert not np.delete(model.cost, priced).any()


def test_routes_are_the_ancestors_of_each_leaf():
    routes = Routes.of_depth(2)  # nodes 1, 2, 3 and leaves 4, 5, 6, 7 of the paper
    assert routes.left.tolist() == [
        [True, True, False, False],
        [True, False, False, False],
        [False, False, True, False],
    ]
    assert routes.right.tolist() == [
        [False, False, True, True],
        [False, True, False, False],
        [False, False, False, True],
    ]


# ---------------------------------------------------------------------- agreement


@pytest.mark.parametrize("solver", MIP_SOLVERS)
@examples(8)
@given(
    problem=problems((5, 8), 3),
    objective=objectives,
    depth=st.sampled_from([1, 2]),
)
def test_paper_and_compact_agree_and_flow_is_below(solver, problem, objective, depth):
    paper, compact, flow = (
        optimum(formulation(problem, objective, depth), solver)
        for formulation in (PaperFormulation, CompactFormulation, FlowFormulation)
    )
    assert paper == pytest.approx(compact, abs=close(compact))
    assert flow <= compact + close(compact)


@pytest.mark.skipif(len(MIP_SOLVERS) < 2, reason="needs HiGHS and SCIP")
@pytest.mark.parametrize("formulation", [CompactFormulation, FlowFormulation])
@examples(12)
@given(
    problem=problems((9, 12), 3, 4),
    objective=objectives,
    depth=st.sampled_from([1, 2]),
)
def test_solvers_agree(formulation, problem, objective, depth):
    made = formulation(problem, objective, depth)
    first, second = (optimum(made, solver) for solver in MIP_SOLVERS)
    assert first == pytest.approx(second, abs=close(second))


@pytest.mark.parametrize("solver", MIP_SOLVERS)
def test_formulations_agree_at_depth_three(solver):
    problem = random_problem(8, 5, 1, 3, "distinct")
    paper, compact, flow = (
        optimum(FORMULATIONS[name](problem, OBJECTIVE, 3), solver)
        for name in ("paper", "compact", "flow")
    )
    assert paper == pytest.approx(compact, abs=close(compact))
    assert flow <= compact + close(compact)


def test_flow_can_be_strictly_below():
    """A point that is wrong, and lacks margin too, pays for the margin in (1a) only."""
    problem = random_problem(2, 7, 1, 2, "distinct")
    objective = Svm1Objective(100, 10, 0.01)
    compact = optimum(CompactFormulation(problem, objective, 1))
    assert optimum(FlowFormulation(problem, objective, 1)) < compact - 1e-3


# ----------------------------------------------------------------------- theorems


@examples(12)
@given(
    problem=problems((4, 7), 2, 4),
    objective=objectives,
    depth=st.sampled_from([1, 2]),
)
def test_theorem_1_labels_may_be_continuous(problem, objective, depth):
    model = PaperFormulation(problem, objective, depth, add_cuts=False).model
    integer = model.integer.copy()
    integer[model.variables["u"]] = True
    assert integer.sum() == model.integer.sum() + 2**depth
    relaxed = solve(model).objective
    integral = solve(replace(model, integer=integer)).objective
    assert integral == pytest.approx(relaxed, abs=close(relaxed))


def with_big_m(model, big_m):
    """SVM1-ODT with a general M: p <= M (1 - e) in (1g) and (1i)."""
    matrix, upper = model.matrix.copy(), model.row_upper.copy()
    is_e = np.isin(matrix.indices, model.variables["e"])
    row = np.repeat(np.arange(model.n_rows), np.diff(matrix.indptr))
    for tag in ("(1g)", "(1i)"):
        block = model.blocks[tag]
        inside = (row >= block.start) & (row < block.stop)
        assert set(matrix.data[inside & is_e]) == {1.0}
        matrix.data[inside & is_e] = big_m
        upper[block] = big_m
    return replace(model, matrix=matrix, row_upper=upper)


@examples(12)
@given(
    problem=problems((4, 8), 2),
    objective=objectives,
    big_m=st.sampled_from([0.5, 2.0, 5.0]),
    depth=st.sampled_from([1, 2]),
)
def test_theorem_2_big_m_is_a_matter_of_scale(problem, objective, big_m, depth):
    a1, a2 = objective.slack_penalty, objective.l1_penalty
    scaled = Svm1Objective(big_m * a1, big_m * a2, objective.margin / big_m)
    general = with_big_m(PaperFormulation(problem, objective, depth).model, big_m)
    expected = optimum(PaperFormulation(problem, scaled, depth))
    assert solve(general).objective == pytest.approx(expected, abs=close(expected))


def test_theorem_2_needs_the_rescaling():
    problem = random_problem(2, 8, 2, 2, "distinct")
    objective = Svm1Objective(10, 0.1, 0.5)
    model = PaperFormulation(problem, objective, 1).model
    assert solve(with_big_m(model, 5.0)).objective < solve(model).objective - 1e-3


# -------------------------------------------------------------- trees in and out


def value(case, heap):
    problem = case.problem
    tree = ObliqueTree.from_heap(heap)
    scaled = problem.scaled
    return recount(scaled, problem.y, problem.weight, case.objective, tree)


@pytest.mark.parametrize("name", FORMULATIONS)
@examples(60)
@given(case=CLEAR)
def test_round_trip_keeps_the_predictions(name, case):
    assume(is_clear(case))
    formulation = FORMULATIONS[name](case.problem, case.objective, case.depth)
    back = formulation.decode(formulation.encode(case.heap))
    before, after = (
        tree.label[tree.leaf_of(case.problem.scaled)] for tree in (case.heap, back)
    )
    assert np.array_equal(before, after)


@examples(100)
@given(case=cases())
def test_encoded_objective_is_the_recounted_one(case):
    paper = PaperFormulation(case.problem, case.objective, case.depth)
    expected = value(case, case.heap)
    encoded = paper.model.objective(paper.encode(case.heap))
    assert encoded == pytest.approx(expected, abs=1e-9)
    plain = CompactFormulation(case.problem, case.objective, case.depth, False)
    encoded = plain.model.objective(plain.encode(case.heap))
    assert encoded == pytest.approx(expected, abs=1e-9)


@examples(100)
@given(case=cases())
def test_encoded_objective_without_mirror_images(case):
    expected = value(case, case.heap)
    compact = CompactFormulation(case.problem, case.objective, case.depth)
    encoded = compact.model.objective(compact.encode(case.heap))
    assert encoded <= expected + 1e-9
    label = case.heap.label
    if (label[0::2] != label[1::2]).all():
        assert encoded == pytest.approx(expected, abs=1e-9)
    flow = FlowFormulation(case.problem, case.objective, case.depth)
    assert flow.model.objective(flow.encode(case.heap)) <= encoded + 1e-9


@pytest.mark.parametrize("name", ["paper", "compact"])
@examples(40)
@given(case=CLEAR)
def test_round_trip_keeps_the_objective(name, case):
    assume(is_clear(case))
    formulation = FORMULATIONS[name](case.problem, case.objective, case.depth)
    x = formulation.encode(case.heap)
    encoded = formulation.model.objective(x)
    assert value(case, formulation.decode(x)) == pytest.approx(encoded, abs=1e-9)


@examples(40)
@given(case=CLEAR)
def test_a_denied_error_violates_the_model(case):
    for name in ("paper", "compact"):
        formulation = FORMULATIONS[name](case.problem, case.objective, case.depth)
        x = formulation.encode(case.heap)
        c = formulation.model.variables["c"]
        assume((x[c] == 1).any())
        x[c[np.argmax(x[c])]] = 0.0
        assert max(formulation.model.violation(x).values()) > 0.1


@examples(40)
@given(case=CLEAR, row=st.integers(0, 99), shift=st.integers(1, 7))
def test_a_row_in_the_wrong_leaf_violates_the_model(case, row, shift):
    assume(is_clear(case))
    for formulation in (
        PaperFormulation(case.problem, case.objective, case.depth),
        CompactFormulation(case.problem, case.objective, case.depth, False),
    ):
        x = formulation.encode(case.heap)
        e = formulation.model.variables["e"][row % case.problem.n_rows]
        moved = np.roll(x[e], shift)
        assume(not np.array_equal(moved, x[e]))
        x[e] = moved
        x[formulation.model.variables["c"]] = 1.0
        found = formulation.model.violation(x)
        tags = ("(1g)", "(1i)", "(1g)+(1h)", "(1i)+(1j)")
        assert max(found.get(tag, 0.0) for tag in tags) > 1e-9


@pytest.mark.parametrize("name", FORMULATIONS)
def test_solution_decodes_to_a_tree_of_its_value(name):
    problem = random_problem(11, 10, 2, 3, "distinct", "random")
    formulation = FORMULATIONS[name](problem, OBJECTIVE, 2)
    result = solve(formulation.model)
    tree = ObliqueTree.from_heap(problem.into_box(formulation.decode(result.x)))
    found = recount(problem.scaled, problem.y, problem.weight, OBJECTIVE, tree)
    if name == "flow":  # a relaxation
        assert found >= result.objective - 1e-5
    else:
        assert found == pytest.approx(result.objective, abs=1e-5)
