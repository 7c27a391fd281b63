"""Proofs under constraints: bounds that no tree which keeps the rules falls below."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _data import MIP_SOLVERS, close, examples, random_heap, solve
from _ruled_brute_force import RuledBruteForce
from miptree import OptimalTreeClassifier, verify_model
from miptree.certificate.checks import objective_of
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FalsePositiveRateParity,
    FixedSplit,
    MaxCost,
    MaxRate,
    MinLeaf,
    MinRate,
    Monotone,
    Signs,
    TruePositiveRateParity,
)
from miptree.constraints.effective import effective_constraints
from miptree.constraints.errors import ImpossibleConstraintsError
from miptree.constraints.parity import Parity
from miptree.constraints.placed import placed_splits
from miptree.constraints.population import Population
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data.groups import RowGroups
from miptree.data.problem import Problem
from miptree.mip.formulations import FORMULATIONS, CountFormulation
from miptree.mip.formulations.ruled import RuledFormulation
from miptree.mip.solvers import Limits, get_solver
from miptree.objective import Svm1Objective
from miptree.proof import prove_errors
from miptree.proof.routes import prove_objective

OBJECTIVE = Svm1Objective(slack_penalty=10.0, l1_penalty=0.2, margin=0.1)


# -------------------------------------------- rows that only groups tell apart


def in_groups(seed, n_classes=2):
    """Few points with many rows, as one problem without and one with groups."""
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(10, 2)).astype(float)
    y = rng.permutation(np.arange(10) % n_classes)
    groups = RowGroups.of(rng.choice(list("ab"), 10), None, np.ones(10))
    together = Problem.from_data(X, y, n_classes)
    return together, Problem.from_data(X, y, n_classes, groups=groups)


@given(st.integers(0, 500), st.sampled_from([*FORMULATIONS, "count"]))
@examples(25)
def test_rows_that_only_groups_tell_apart_change_no_mip(seed, name):
    formulation = {**FORMULATIONS, "count": CountFormulation}[name]
    together, apart = (
        solve(formulation(problem, OBJECTIVE, 1).model).objective
        for problem in in_groups(seed, n_classes=2 + seed % 2)
    )
    assert apart == pytest.approx(together, abs=close(together))


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_only_groups_tell_apart_change_no_proof(seed):
    found = []
    for problem in in_groups(seed):
        clock = Clock()
        errors = prove_errors(
            problem, 0.1, 2, np.inf, clock=clock, max_nodes=2000
        ).bound.value
        proof = prove_objective(
            problem, OBJECTIVE, 1, 1e6, clock=clock, offer=lambda tree: 1e6
        )
        found.append((errors, proof.bound.value))
    assert found[0] == pytest.approx(found[1], rel=1e-6)


# ------------------------------------------------------- the MIP against brute force


def drawn(rng, depth):
    """One constraint of any kind, on two columns and two classes."""
    bound, label = float(rng.choice([0.0, 0.1, 0.2, 0.34, 0.5])), int(rng.integers(2))
    versus = str(rng.choice(["overall", "pairs"]))
    node = int(rng.integers(2**depth - 1))
    column, (one, two) = int(rng.integers(2)), rng.choice([-1, 1], 2).tolist()
    parity = {"difference_bound": bound, "versus": versus}
    coefficients = dict(enumerate(rng.normal(size=2).tolist()))
    kinds = (
        lambda: DemographicParity(**parity),
        lambda: EqualizedOdds(**parity),
        lambda: ErrorRateParity(**parity),
        lambda: TruePositiveRateParity(**parity),
        lambda: FalsePositiveRateParity(**parity),
        lambda: MaxRate(label, bound),
        lambda: MinRate(label, bound),
        lambda: MaxRate(label, bound, on="negatives"),
        lambda: MinRate(label, 1 - bound, on="positives"),
        lambda: MaxCost(float(rng.integers(1, 4))),
        lambda: MinLeaf(rows=int(rng.integers(2, 4))),
        lambda: AllowFeatures([column], depth=int(rng.integers(depth))),
        lambda: AllowFeatures([column], node=node),
        lambda: FixedSplit(node, coefficients, float(0.3 * rng.normal())),
        lambda: Monotone({0: one}, label),
        lambda: Monotone({0: one, 1: two}, label),
        lambda: Signs({column: one}, label),
        lambda: Signs({0: one, 1: two}, label),
    )
    return kinds[rng.integers(len(kinds))]()


def ready(constraints, problem):
    names = tuple(f"x[{j}]" for j in range(problem.n_features))
    found = effective_constraints(constraints, names, problem.groups)
    labels = tuple(range(problem.n_classes))
    rows = Population(problem.y, problem.count, problem.groups, labels)
    fixed = placed_splits(found, problem, names)
    return Rules(found, rows, names, names, problem.scaled, fixed).ready()


def compared(seed, depth, decades=0, solver="highs"):
    """The optimum of the MIP, that of brute force, and whether the rows are exact.

    Weights are spread over so many decades.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 8) if depth == 1 else rng.integers(4, 6))
    has_ties = seed % 3 == 0
    X = rng.integers(-2, 3, (n, 2)) if has_ties else rng.normal(size=(n, 2))
    y, groups = rng.permutation(np.arange(n) % 2), rng.permutation(np.arange(n) % 2)
    constraints = [drawn(rng, depth) for _ in range(1 + seed % 2)]
    kinds = [type(constraint) for constraint in constraints]
    penalties = [(10.0, 0.2, 0.1), (100.0, 0.1, 0.01), (10.0, 1.0, 0.1)]
    objective = Svm1Objective(*penalties[seed % len(penalties)])
    given = RowGroups.of(groups, None, np.ones(n))
    weight = 10.0 ** -np.random.default_rng(seed).uniform(0, decades, n)
    problem = Problem.from_data(X, y, 2, weight, groups=given)
    if kinds.count(Monotone) > 1 or kinds.count(FixedSplit) > 1 or problem.n_rows < n:
        return None  # brute force has one label and one factor, and counts no copies
    try:
        rules = ready(constraints, problem)
    except ValueError as error:
        if "sends all rows to one side" in str(error):
            return None
        raise
    factor = 1.0
    for fixed in (c for c in constraints if isinstance(c, FixedSplit)):
        factor = rules.fixed[0].coef[0] / dict(fixed.coefficients)[0]
    known = problem, objective, constraints, groups[problem.source], factor
    best = RuledBruteForce(*known).optimum(depth)
    mip = RuledFormulation(problem, objective, depth, rules=rules)
    result = get_solver(solver).solve(mip.model, limits=Limits(nodes=50_000))
    assert result.status in ("optimal", "infeasible") or decades > 0
    found = np.inf if result.status == "infeasible" else result.bound
    # The MIP has all multiples of a fixed split, brute force has one of them.
    is_rough = mip.without_rows or has_ties or FixedSplit in kinds or decades
    return found, best, not is_rough


def check_against_brute_force(seed, depth):
    found = compared(seed, depth)
    if found is None:
        return
    bound, best, is_exact = found
    assert bound <= best + close(min(best, 1e6))
    if is_exact and np.isfinite(best):
        assert bound == pytest.approx(best, abs=close(best))


@pytest.mark.parametrize("seed", range(16))
def test_the_mip_is_never_above_the_best_that_keeps_them(seed):
    check_against_brute_force(seed, depth=1)


@pytest.mark.parametrize("seed", [100, 101, 102, 1120])
def test_the_mip_is_never_above_the_best_of_depth_two(seed):
    check_against_brute_force(seed, depth=2)


def check_odd_weights(seed, depth):
    solver = MIP_SOLVERS[seed % len(MIP_SOLVERS)]
    found = compared(seed, depth, decades=2 + 2 * (seed % 6), solver=solver)
    if found is not None:
        bound, best, _ = found
        assert bound <= best * (1 + 1e-9) + 1e-14


@pytest.mark.parametrize("seed", range(200, 212))
def test_the_mip_is_never_above_the_best_whatever_the_weights(seed):
    check_odd_weights(seed, depth=1)


@pytest.mark.long
@pytest.mark.parametrize("block", range(12))
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("check", [check_against_brute_force, check_odd_weights])
def test_the_mip_is_never_above_the_best_of_many(check, depth, block):
    size = 50 if depth == 1 else 20
    for seed in range(1000 + size * block, 1000 + size * (block + 1)):
        check(seed, depth)


def kept_trees(seed, depth):
    """A MIP of weighted rows under constraints, and trees that keep them."""
    rng = np.random.default_rng(seed)
    n, n_classes = 25, 2 + seed % 2
    X, y = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % n_classes)
    weight, groups = rng.choice([0.1, 1.0, 2.5], n), rng.choice(list("abc"), n)
    given = RowGroups.of(groups, None, weight)
    problem = Problem.from_data(X, y, n_classes, weight, groups=given)
    parity = {"difference_bound": 0.3, "positive_label": 1}
    constraints = [drawn(rng, depth), DemographicParity(**parity)][: 1 + seed % 3]
    constraints = [
        replace(c, **parity) if isinstance(c, Parity) else c for c in constraints
    ]
    rules = ready(constraints, problem)
    mip = RuledFormulation(problem, OBJECTIVE, depth, rules=rules)
    trees = []
    for _ in range(6):
        for heap in rules.repaired(problem, random_heap(problem, depth, rng)):
            tree = rules.labelled(problem, problem.to_user(problem.into_box(heap)))
            if tree is not None and rules.keeps(tree, problem.X):
                trees.append(tree)
    return mip, trees


def test_every_tree_that_keeps_rules_is_a_solution_of_their_mip():
    n_trees = 0
    for seed in range(40):
        depth = 1 + seed % 2
        mip, trees = kept_trees(seed, depth)
        for tree in trees:
            x = mip.encode(mip.problem.to_scaled(tree, depth))
            assert max(mip.model.violation(x).values()) <= 1e-7
            value = OBJECTIVE.evaluate(mip.problem, tree).objective
            assert mip.model.objective(x) == pytest.approx(value, rel=1e-6)
        n_trees += len(trees)
    assert n_trees > 200


def test_rules_count_weights_that_are_long_whole_numbers():
    """Weights of any floats are whole multiples of a unit, of more than 64 bits."""
    X, y, weight = np.arange(8.0)[:, None], np.arange(8) % 2, 0.1 ** np.arange(8)
    groups = RowGroups.of(y, None, weight)
    problem = Problem.from_data(X, y, 2, weight, groups=groups)
    rules = ready([Signs({0: 1}, 1), MaxRate(1, 0.3), MinLeaf(weight=1.0)], problem)
    assert RuledFormulation(problem, OBJECTIVE, 1, rules=rules).model.variables


def test_limits_of_coefficients_stay_above_what_tolerances_hide():
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    problem = Problem.from_data(X, y, 2, groups=RowGroups.of(y, None, np.ones(8)))
    rules = ready([Monotone({0: 1}, 1)], problem)
    mip = RuledFormulation(problem, OBJECTIVE, 1, rules=rules, best_value=1e-9)
    coef = mip.model.variables["direction 0"]
    in_rows = mip.model.matrix.tocsc()[:, coef.ravel()].data
    assert np.abs(in_rows).min() >= 0.01


# ------------------------------------------------------------------ proofs of fits


def proved(constraints, X, y, groups, depth, **parameters):
    given = {"slack_penalty": 10.0, "l1_penalty": 0.2, "margin": 0.1, "solver": "highs"}
    given |= {"max_iter": 30, "node_limit": 5000, "time_limit": None, "random_state": 0}
    given |= {"constraints": constraints, "max_depth": depth}
    clf = OptimalTreeClassifier(**(given | parameters))
    return clf.fit(X, y, sensitive_features=groups)


@pytest.mark.parametrize(
    ("constraints", "depth", "n", "seed"),
    [
        ([DemographicParity(difference_bound=0.1)], 1, 20, 0),
        ([MaxRate(1, 0.2)], 1, 20, 1),
        ([MinLeaf(rows=7)], 1, 20, 2),
        ([Monotone({0: -1}, 1)], 1, 20, 3),
        ([Signs({0: -1}, 1)], 1, 20, 4),
        ([AllowFeatures([0], depth=0)], 2, 5, 7),
    ],
)
def test_small_problems_are_proved_under_rules(constraints, depth, n, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), np.arange(n) % 2
    groups = np.array(["a", "b"])[rng.permutation(n) % 2]
    clf = proved(constraints, X, y, groups, depth)
    assert clf.status_ == "optimal"
    assert verify_model(clf, X, y, sensitive_features=groups).ok


def test_a_solver_says_that_no_tree_keeps_the_rules():
    """Counting alone does not tell, but below this split there are two leaves only."""
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    rules = [FixedSplit(0, {0: 1.0}, 1.5), MaxCost(1.0)]
    words = "claims that no tree of depth 1 .*The nearest tree: The cost of the errors"
    with pytest.raises(ImpossibleConstraintsError, match=words):
        proved(rules, X, y, None, 1)
    assert proved(rules, X, y, None, 2).certificate_.errors == 0


@pytest.mark.parametrize(
    ("rules", "parameters"),
    [
        ([MaxRate(1, 0.2)], {}),
        ([AllowFeatures(["a", "kind"], depth=0), MinLeaf(rows=4)], {}),
        ([Monotone({"a": -1}, 1)], {"max_features_per_split": 1}),
        ([MinLeaf(rows=5)], {"max_features_per_split": 1}),
    ],
)
def test_categories_and_few_features_are_proved_under_rules(rules, parameters):
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(16, 2)), columns=["a", "b"])
    X["kind"] = rng.choice(["u", "v", "w"], 16)
    y = ((X["a"] > 0) ^ (X["kind"] == "u")).astype(int)
    clf = proved(rules, X, y, None, 1, **parameters)
    assert clf.status_ == "optimal"
    assert verify_model(clf, X, y, resolve_with="highs").ok


def test_a_mip_without_the_best_tree_known_is_not_believed(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    given = [MaxRate(1, 0.2)], X, y, None, 1
    assert proved(*given).certificate_.is_of_ruled_trees
    build = RuledFormulation.build

    def stricter(self):  # an error in some row might do that
        model = build(self)
        return replace(model, lower=np.where(model.cost > 0, 0.5, model.lower))

    monkeypatch.setattr(RuledFormulation, "build", stricter)
    clf = proved(*given)
    assert "MIP" not in clf.certificate_.objective_proved_by


def test_a_fixed_split_may_be_any_positive_multiple_of_itself():
    """A smaller one keeps the rule and costs less: no bound may be above it."""
    x = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
    X, y = np.column_stack([x, np.arange(10) % 4]).astype(float), np.repeat([0, 1], 5)
    y[[4, 5]] = 1, 0
    clf = OptimalTreeClassifier(
        max_depth=1,
        max_iter=10,
        l1_penalty=1.0,
        margin=0.05,
        random_state=0,
        constraints=[FixedSplit(0, {0: 1.0}, 5.0)],
    ).fit(X, y)
    found, problem = clf.certificate_, Problem.from_data(X, y, 2)
    objective = objective_of(found)
    values = [
        objective.evaluate(
            problem,
            replace(
                clf.tree_,
                coef=part * clf.tree_.coef,
                threshold=part * clf.tree_.threshold,
            ),
        ).objective
        for part in (0.3, 0.5, 0.7, 1.0)
    ]
    assert min(values) < found.objective  # which the search did not find
    assert found.objective_bound <= min(values)
    assert not found.objective_optimal
