"""Whether the certificate of a points tree is about the model's own parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from miptree.audit.settings import check_words, compare_parameters
from miptree.certificate.certificate import Certificate
from miptree.certificate.check import Check
from miptree.certificate.points_checks import KnownFamily
from miptree.certificate.points_sense import family_of
from miptree.classifiers.points_parameters import given_penalty, points_rules
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.fit.points_data import PointsData
from miptree.objective.bounds import EXHAUSTIVE
from miptree.points.alternatives import features_used
from miptree.points.family import Family
from miptree.tree import ObliqueTree


def points_data(clf: Any, rows: TrainingRows, problem: Problem) -> PointsData:
    """Return rows and family as a fit with the model's parameters has them."""
    table, rules = clf.table_, points_rules(clf, rows)
    if clf.certificate_.n_sampled is not None:
        # How many splits could be gone through, the rows of the sample decided.
        family = family_of(clf.certificate_, table)
        family = replace(family, signs=rules.signs_of(table))
        return PointsData(table, problem, family, "", rules)
    data = rules.data(table, problem)
    asked = clf.restriction_
    if asked is None:
        return data
    names = [column.name for column in table.columns]
    family, words = asked.narrowed(data.family), asked.words(names)
    return replace(data, family=family, restriction=words, asked=asked)


def known_family(data: PointsData) -> KnownFamily:
    """Return the family in which the tree was the best."""
    most = None if data.asked is None else data.asked.most_features
    return KnownFamily(data.family, most)


def check_points(clf: Any, rows: TrainingRows, data: PointsData) -> Iterator[Check]:
    """Check the parameters that a certificate of a points tree follows from."""
    certificate: Certificate = clf.certificate_
    yield check_words(certificate, data.problem)
    yield _check_proofs(certificate)
    yield _check_penalties(clf, rows, data)
    yield compare_parameters(certificate, _wanted(clf, data))
    yield _check_restriction(clf.tree_, data.family, known_family(data).most_features)


def _wanted(clf: Any, data: PointsData) -> dict[str, Any]:
    """Return the fields of a certificate that the parameters come to."""
    if clf.certificate_.n_sampled is not None:
        given = {
            "max_features": clf.max_features_per_split,
            "max_points": clf.max_points,
            "min_samples_leaf": clf.min_samples_leaf,
            "depth": clf.max_depth,
        }
        return {name: value for name, value in given.items() if value != "auto"}
    penalty = np.array(clf.certificate_.feature_penalties)
    objective = data.objective(data.points_problem(penalty), penalty)
    wanted = {**objective.certified(), "depth": clf.max_depth}
    if data.asked is not None and data.asked.most_features is not None:
        # Found with a price of features, which the costs were counted with.
        del wanted["cost_unit"], wanted["cost_rounding"]
    return wanted


def _check_proofs(certificate: Certificate) -> Check:
    """Check what is said to prove the other bounds."""
    first = certificate.any_tree_proved_by
    ok = certificate.errors_proved_by == first
    ok &= certificate.objective_proved_by in (first, EXHAUSTIVE)
    found = "the bounds name what may have proved them."
    if not ok:
        found = "a bound names what does not prove such bounds."
    return Check("proofs", ok, found)


def _check_penalties(clf: Any, rows: TrainingRows, data: PointsData) -> Check:
    """Check the penalties of the grid columns; "auto" is one for all of them."""
    mine = np.array(clf.certificate_.feature_penalties)
    given = given_penalty(clf, rows)
    if given is None:
        ok = bool((mine == mine[:1]).all())
        found = (
            "chosen in folds, the same for all columns (the choice is not repeated)."
        )
        if not ok:
            found = "chosen in folds, but not the same for all columns."
        return Check("feature penalties", ok, found)
    ok = np.array_equal(mine, data.column_penalty(given))
    found = f"those of the certificate are {'' if ok else 'not '}those given."
    return Check("feature penalties", ok, found)


def _check_restriction(tree: ObliqueTree, family: Family, most: int | None) -> Check:
    """Check that a tree is among those that it was the best of."""
    found = "the tree is one of those that it was compared with."
    ok = most is None or features_used(tree) <= most
    if family.at_root and not tree.is_leaf[0]:
        used = np.array(family.at_root)[np.flatnonzero(tree.coef[0])]
        ok &= bool((used >= 0).all() and (used > 0).any())
    if not ok:
        found = "the tree is not one of those that it was compared with."
    return Check("kind of tree", ok, found)
