"""Points and structures of the proofs over routes."""

from __future__ import annotations

import numpy as np
import pytest

from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.proof.routes.structures import structure_of, structures
from miptree.proof.routes.units import route_problem

OBJECTIVE = Svm1Objective(20.0, 8.0, 0.05)


def mirrored(nested):
    """The canonical one of all mirror images of a structure."""
    if not isinstance(nested, tuple):
        return nested
    return tuple(sorted(map(mirrored, nested), key=repr))


@pytest.mark.parametrize(("n_labels", "depth", "count"), [
    (2, 1, 3), (3, 1, 6), (2, 2, 6), (3, 2, 21), (2, 3, 21), (3, 3, 231), (7, 2, 406),
])  # fmt: skip
def test_number_of_structures(n_labels, depth, count):
    found = [one.nested for one in structures(range(n_labels), depth)]
    assert len(found) == count
    assert len({repr(mirrored(one)) for one in found}) == count


def test_sides_labels_and_symmetry():
    one = structure_of((((0, 1), 2), (0, 1)))
    assert one.label.tolist() == [0, 1, 2, 0, 1]
    assert one.side.tolist() == [
        [-1, -1, -1, 1, 1], [-1, -1, 1, 0, 0], [-1, 1, 0, 0, 0], [0, 0, 0, -1, 1],
    ]  # fmt: skip
    assert one.left_of_root == 0b111
    assert not one.is_symmetric
    assert structure_of(((0, 1), (0, 1))).is_symmetric
    assert structure_of(4).n_splits == 0


def test_rows_of_equal_x_become_one_point():
    X = np.array([[0.0, 1], [2, 3], [0, 1], [0, 1], [2, 5]])
    y, weight = np.array([0, 1, 1, 0, 2]), np.array([1.0, 2, 3, 4, 5])
    problem = Problem.from_data(X, y, 4, weight)
    route = route_problem(problem, OBJECTIVE)
    assert route.n_points == 3
    assert (np.diff(route.first_row) > 0).all()
    where = {tuple(problem.X[row]): k for k, row in enumerate(route.first_row)}
    k = where[0.0, 1.0]
    assert route.cost[k].tolist() == [3.0, 5.0, 8.0, 8.0]
    assert route.C[k] == 8.0
    assert route.labels.tolist() == [0, 1, 2]
    assert route.rho == pytest.approx(0.4)
    assert route.distance[where[2.0, 3.0], where[2.0, 5.0]] == 0.5
    assert route.least_split == pytest.approx(0.8)


def test_class_costs_allow_every_label():
    cost = np.array([[0.0, 1, 3], [4, 0, 1]])
    problem = Problem.from_data(np.array([[0.0], [1]]), np.array([0, 1]), 3, None, cost)
    route = route_problem(problem, OBJECTIVE)
    assert route.labels.tolist() == [0, 1, 2]
    assert route.cost.tolist() == [[0, 1, 3], [4, 0, 1]]


def test_part_of_the_rows():
    problem = Problem.from_data(np.arange(4.0)[:, None], np.array([0, 1, 0, 2]), 3)
    route = route_problem(problem, OBJECTIVE, np.array([3, 0]), share=0.25)
    assert route.X.ravel().tolist() == [0.0, 1.0]
    assert route.first_row.tolist() == [0, 3]
    assert route.labels.tolist() == [0, 2]
    assert route.rho == pytest.approx(0.1)
