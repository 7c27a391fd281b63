"""Ways in which a solver could call something optimal that is not.

Each was met in a prototype. Two more are kept in test_brute_force.py: slack so cheap
that points on a hyperplane beat errors, and a margin below the solvers' tolerances.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from _brute_force import BruteForce, HardMarginEnumeration
from _data import ALL_SOLVERS, MIP_SOLVERS, close
from miptree.certificate.certificate import certify
from miptree.data.problem import Problem
from miptree.fit.plan import Plan
from miptree.fit.train import train
from miptree.mip.formulations import (
    CompactFormulation,
    CountFormulation,
    FlowFormulation,
    PaperFormulation,
)
from miptree.mip.solvers import Limits, get_solver
from miptree.objective import Svm1Objective
from miptree.objective.bounds import Bound
from miptree.objective.proved import Bounds
from miptree.search.starts import constant_tree

OBJECTIVE = Svm1Objective(1000, 0.1, 0.01)

# ------------------------------------------------------------ symmetry in a solver


def mirrored(swaps_classes: bool, seed: int) -> Problem:
    """Points, their mirror images, and copies: what a solver's symmetry finds."""
    rng = np.random.default_rng(seed)
    corner = rng.integers(1, 3, (2, 2)).astype(float)
    label = np.array([0, 1])
    X, y = [], []
    for flip in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        swapped = swaps_classes and flip[0] * flip[1] < 0
        X.append(corner * flip)
        y.append(1 - label if swapped else label)
    X, y = np.concatenate(X)[:7], np.concatenate(y)[:7]
    copies = [0, 0, 1]
    return Problem.from_data(np.r_[X, X[copies]], np.r_[y, y[copies]], 2)


MODELS = {
    "paper": PaperFormulation,
    "compact": CompactFormulation,
    "mirror images": lambda *given: CompactFormulation(*given, break_symmetry=False),
    "flow": FlowFormulation,
    "count": CountFormulation,
}


@cache
def truths(swaps_classes: bool, depth: int) -> dict[str, float]:
    """Fewest errors at the margin, and least value of (1a) as the MIPs see it."""
    problem = mirrored(swaps_classes, seed=depth)
    return {
        "count": HardMarginEnumeration(problem, OBJECTIVE.margin).fewest(depth),
        "all": BruteForce(problem, OBJECTIVE, strict=False).optimum(depth),
    }


@pytest.mark.parametrize("solver", MIP_SOLVERS)
@pytest.mark.parametrize("swaps_classes", [False, True])
@pytest.mark.parametrize("depth", [1, 2])
def test_symmetric_data_give_no_false_bound(solver, swaps_classes, depth):
    """A solver that takes two points for interchangeable must be right in that."""
    problem, least = mirrored(swaps_classes, depth), truths(swaps_classes, depth)
    for name, formulation in MODELS.items():
        truth = least.get(name, least["all"])
        model = formulation(problem, OBJECTIVE, depth).model
        for nodes in (1, 5000):
            result = get_solver(solver).solve(model, limits=Limits(nodes=nodes))
            assert result.bound <= truth + close(truth), (name, nodes)
        # Solved to the end, the exact models show that the truth above is one.
        if name in ("compact", "count") and result.status == "optimal":
            assert result.objective == pytest.approx(truth, abs=close(truth))


@pytest.mark.parametrize("solver", ALL_SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_symmetric_data_give_no_false_certificate(solver, seed):
    """With starts, and trees handed to the solver on the way."""
    problem = mirrored(seed % 2 == 0, seed)
    plan = Plan(OBJECTIVE, 1, solver=solver, max_iter=2)
    found = train(problem, plan).certificate
    truth = BruteForce(problem, OBJECTIVE, strict=True).optimum(1)
    errors = HardMarginEnumeration(problem, OBJECTIVE.margin).fewest(1)
    assert found.objective_bound <= truth + close(truth)
    assert found.errors_bound <= errors + 1e-9
    assert found.objective >= truth - close(truth)


# -------------------------------------------------------- bounds that a tree refutes


@pytest.mark.parametrize("which", ["any_tree", "errors", "whole"])
def test_a_bound_that_the_tree_refutes_is_discarded(which):
    """Whatever proved it: the recounted tree has the last word."""
    problem = Problem.from_data(np.arange(3.0)[:, None], np.array([0, 1, 0]), 2)
    tree = problem.to_user(constant_tree(problem, 1))
    score = OBJECTIVE.evaluate(problem, tree)
    bounds = dict.fromkeys(("any_tree", "errors", "whole"), Bound(0.5, "a solver"))
    values = {
        "any_tree": score.cost,
        "errors": score.cost_at_margin,
        "whole": score.objective,
    }
    given = (problem, OBJECTIVE, 1, tree, score)
    honest = certify(*given, Bounds(*bounds.values()), 0.0)
    bounds[which] = Bound(values[which] + 1e-3, "a liar")
    found = certify(*given, Bounds(*bounds.values()), 0.0)
    name = {"whole": "objective"}.get(which, which)
    discarded = "discarded, as the tree refutes it: a liar"
    left = 0.0 if which == "any_tree" else 0.5
    expected = {f"{name}_bound": left, f"{name}_proved_by": discarded}
    assert replace(found, digest="") == replace(honest, digest="", **expected)
    assert not found.objective_optimal
    assert not found.errors_optimal
