"""Proofs under constraints: bounds that no tree which keeps the rules falls below."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _data import close, examples, solve
from miptree.control.clock import Clock
from miptree.data.groups import RowGroups
from miptree.data.problem import Problem
from miptree.mip.formulations import FORMULATIONS, CountFormulation
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
