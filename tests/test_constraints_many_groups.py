"""Many groups compared with each other: k rates say what k * k pairs say."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _data import examples
from _kept import difference
from miptree import OptimalTreeClassifier
from miptree.constraints import DemographicParity, EqualizedOdds, best_labels, parity
from miptree.constraints.best_labels import best_labels as find_labels
from miptree.constraints.best_labels import keeps
from miptree.constraints.counting import least_cost
from miptree.constraints.impossible import sides_of, why_impossible
from miptree.constraints.limit import Spread
from miptree.constraints.population import Population
from miptree.constraints.rules import Rules
from miptree.data.groups import RowGroups
from miptree.data.labels import plain_costs
from miptree.data.problem import Problem
from miptree.mip.formulations.ruled import RuledFormulation
from miptree.mip.solvers import Limits, get_solver
from miptree.objective import Svm1Objective
from miptree.tree import HeapTree

OBJECTIVE = Svm1Objective(slack_penalty=10.0, l1_penalty=0.2, margin=0.1)
PAIRED, SPREAD = 10**9, 1
"""Groups up to which pairs are compared: always, or never."""


def limits_of(most, constraints, rows, monkeypatch):
    """The limits of rules, of rows that know none yet."""
    monkeypatch.setattr(parity, "MOST_PAIRED", most)
    rows = Population(rows.y, rows.count, rows.groups, rows.classes)
    found = [limit for rule in constraints for limit in rule.limits(rows)]
    assert any(isinstance(limit, Spread) for limit in found) == (most == SPREAD)
    return rows, found


@st.composite
def cases(draw):
    """Rows of at least four groups in four leaves, and a rule on their differences."""
    n, rng = 40, np.random.default_rng(draw(st.integers(0, 10**6)))
    groups = np.append(np.arange(4), rng.integers(0, draw(st.integers(4, 6)), n - 4))
    y = np.append(np.tile([0, 1], 2), rng.random(n - 4) < 0.3 + 0.1 * groups[4:])
    weight = rng.choice([1.0, 0.7, 2.0], n) if draw(st.booleans()) else np.ones(n)
    both = RowGroups.of(groups, None, weight)
    bound = draw(st.sampled_from([0.0, 0.1, 0.3, 0.5]))
    kind = draw(st.sampled_from([DemographicParity, EqualizedOdds]))
    rule = kind(difference_bound=bound, versus="pairs")
    rows = Population(y.astype(int), np.ones(n, dtype=int), both, (0, 1))
    return rows, [rule], rng.integers(0, 4, n), weight


@given(cases())
@examples(60)
def test_labels_and_bounds_are_those_of_pairs(case):
    rows, rules, leaf, weight = case
    with pytest.MonkeyPatch.context() as patch:
        paired_rows, paired = limits_of(PAIRED, rules, rows, patch)
        cost, row_cost = np.zeros((4, 2)), plain_costs(rows.y, weight, 2)
        np.add.at(cost, leaf, row_cost)
        tally = paired_rows.tally(leaf, 4)
        labels = [np.array(one) for one in product((0, 1), repeat=4)]
        kept = [keeps(label, tally, paired) for label in labels]
        wanted = find_labels(cost, tally, paired)
        least = least_cost(rules, paired_rows, row_cost, False)
        is_impossible = why_impossible(rules, paired_rows) is not None

        new_rows, spread = limits_of(SPREAD, rules, rows, patch)
        assert [keeps(label, tally, spread) for label in labels] == kept
        found = [find_labels(cost, tally, spread)]
        patch.setattr(best_labels, "MOST_VECTORS", 0)
        found.append(find_labels(cost, tally, spread))
        total = [cost[np.arange(4), label].sum() for label in (wanted, *found)]
        assert total[0] == pytest.approx(total[1])
        assert keeps(found[1], tally, spread)
        assert total[2] >= total[0] - 1e-9  # its limits are a little tighter
        again = least_cost(rules, new_rows, row_cost, False)
        assert again == pytest.approx(least, abs=1e-6)
        assert again <= total[0] + 1e-9
        assert (why_impossible(rules, new_rows) is not None) == is_impossible


@pytest.mark.parametrize("seed", range(4))
def test_the_mip_has_the_optimum_of_pairs(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    groups, X = np.repeat(np.arange(3), 4), rng.normal(size=(12, 2))
    y = (X[:, 0] + 0.5 * groups + 0.3 * rng.normal(size=12) > 0.5).astype(int)
    both = RowGroups.of(groups, None, np.ones(12))
    problem = Problem.from_data(X, y, 2, np.ones(12), groups=both)
    rule = DemographicParity(difference_bound=0.3, versus="pairs")
    values = []
    for most in (PAIRED, SPREAD):
        rows = Population(problem.y, problem.count, problem.groups, (0, 1))
        rows, _ = limits_of(most, [rule], rows, monkeypatch)
        rules = Rules([rule], rows, ("a", "b"), ("a", "b"), problem.scaled).ready()
        mip = RuledFormulation(problem, OBJECTIVE, 1, rules=rules)
        result = get_solver("highs").solve(mip.model, limits=Limits(nodes=50_000))
        assert result.status == "optimal"
        values.append(result.objective)
        for coef in rng.normal(size=(5, 1, 2)) / 9:
            heap = problem.into_box(HeapTree(coef, np.zeros(1), np.array([0, 1])))
            tree = rules.labelled(problem, problem.to_user(heap))
            x = mip.encode(problem.to_scaled(tree, 1))
            assert max(mip.model.violation(x).values()) <= 1e-7
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_many_groups_in_many_others_are_compared_in_little_memory():
    rng = np.random.default_rng(5)
    n = 3000
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    groups, control = rng.integers(0, 100, n), rng.integers(0, 20, n)
    rule = DemographicParity(difference_bound=0.3, versus="pairs")
    both = RowGroups.of(groups, control, np.ones(n))
    rows = Population(y, np.ones(n, dtype=int), both, (0, 1))
    sides = sides_of([rule], rows)
    assert len(sides) <= 2 * 100 * 20  # there are 99,000 pairs
    assert sum(side.sum.whole.size for side in sides) <= 4 * rows.n_cells
    clf = OptimalTreeClassifier(
        constraints=[rule], max_depth=2, solver="search", max_iter=1, random_state=0
    ).fit(X, y, sensitive_features=groups, control_features=control)
    hits = clf.predict(X) == 1
    for there in (control == c for c in range(20)):
        assert difference(groups, there, hits, "pairs") <= 0.3 + 1e-9
