"""The certificate of a points tree: its sentence, and what verify finds in it."""

import math
import re
from dataclasses import fields, replace

import numpy as np
import pytest

from _proofs import Fit, random_frame
from _sealed import resealed
from miptree import Certificate, verify
from miptree.certificate.points_words import short, told_apart
from miptree.objective.bounds import NO_ERRORS
from miptree.objective.points import INDICATOR_POINTS, PointsObjective
from miptree.objective.tolerance import (
    COST_ROUNDING,
    counted_meets,
    rounded_down,
    rounded_up,
)

FREE = {
    "any_tree_proved_by",
    "errors_proved_by",
    "objective_proved_by",
    "proof_digest",
    "seconds",
}
N = 40


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(2)
    frame, y = random_frame(rng, N, with_gaps=True)
    weight = rng.integers(1, 4, N).astype(float)
    fit = Fit(frame, y, penalty=0.5, weight=weight, min_leaf=2)
    assert fit.certificate.objective_optimal
    assert 0 < fit.certificate.errors < fit.certificate.cost
    return fit, frame, y, weight


def verified(fitted, certificate=None, tree=None, **more):
    fit, frame, y, weight = fitted
    certificate = fit.certificate if certificate is None else certificate
    tree = fit.tree if tree is None else tree
    return verify(certificate, tree, frame, y, weight, table=fit.table, **more)


# ------------------------------------------------------------------------- verify


def test_an_honest_certificate_holds(fitted):
    found = verified(fitted)
    assert found.ok, str(found)
    names = {check.name for check in found.checks}
    assert {"splits", "leaves", "objective", "objective bound", "routing"} <= names
    again = verified(fitted, resolve_with="points")
    assert again.ok, str(again)
    assert again.checks[-1].name == "proof again"


TAMPERED = {
    "errors": lambda c: c.errors - 1,
    "n_rows": lambda c: c.n_rows + 1,
    "cost": lambda c: c.cost - 1,
    "cost_at_margin": lambda c: c.cost_at_margin - 1,
    "any_tree_bound": lambda c: c.any_tree_bound + 1,
    "errors_bound": lambda c: c.errors_bound + 1,
    "objective": lambda c: c.objective - 0.5,
    "objective_bound": lambda c: c.objective_bound + 0.5,
    "depth": lambda c: 1,
    "slack_penalty": lambda c: 1.0,
    "l1_penalty": lambda c: 1.0,
    "margin": lambda c: 0.1,
    "tree_digest": lambda c: c.tree_digest[::-1],
    "data_digest": lambda c: c.data_digest[::-1],
    "scaling": lambda c: "none",
    "max_features": lambda c: 1,
    "trees": lambda c: "tree",
    "objective_terms": lambda c: "errors",
    "feature_penalties": lambda c: (0.4,) * len(c.feature_penalties),
    "max_points": lambda c: 2,
    "min_samples_leaf": lambda c: 3,
    "cost_unit": lambda c: 0.0,
    "cost_rounding": lambda c: -1.0,
    "cheapest_error": lambda c: 0.5 * c.cheapest_error,
    "error_price": lambda c: 2.0,
    "has_costs": lambda c: False,
    "n_unweighted": lambda c: 1,
    "n_sampled": lambda c: 5,
    "rules": lambda c: ("Every leaf holds at least 2 training rows: kept.",),
    "free_objective": lambda c: c.objective,
    "free_bound": lambda c: c.objective_bound,
    "rules_bound": lambda c: 0.0,
    "left_out": lambda c: (),
    "columns_objective": lambda c: c.objective,
    "columns_bound": lambda c: c.objective_bound,
    "best_of_sample": lambda c: True,
}


def test_every_field_is_tampered_with():
    names = {field.name for field in fields(Certificate)}
    assert set(TAMPERED) == names - FREE - {"digest", "method"}


@pytest.mark.parametrize("field", TAMPERED)
def test_numbers_give_a_forged_certificate_away(fitted, field):
    certificate = fitted[0].certificate
    value = TAMPERED[field](certificate)
    assert not verified(fitted, resealed(certificate, **{field: value})).ok
    assert not verified(fitted, replace(certificate, **{field: value})).ok


GRID = ", on the grid of its table"


@pytest.mark.parametrize(
    "words",
    [
        lambda trees: trees.replace(GRID, ", or of any other kind" + GRID),
        lambda trees: trees.replace("1 or 4 for", "any points for"),
        lambda trees: trees.replace("; the same for values of one category", ""),
        lambda trees: trees.replace(GRID, ", on 99 of 8 grid columns"),
        lambda trees: trees + ".",
    ],
)
def test_words_are_compared_wholly(fitted, words):
    certificate = fitted[0].certificate
    changed = words(certificate.trees)
    assert changed != certificate.trees
    found = verified(fitted, resealed(certificate, trees=changed))
    assert [check.name for check in found.wrong] == ["settings"]


def test_terms_are_those_of_the_data(fitted):
    certificate = fitted[0].certificate
    terms = certificate.objective_terms.removeprefix("cost of ")
    found = verified(fitted, resealed(certificate, objective_terms=terms))
    assert [check.name for check in found.wrong] == ["settings"]
    plain = resealed(certificate, objective_terms=terms, has_costs=False)
    found = verified(fitted, plain)
    assert [check.name for check in found.wrong] == ["costs"]


def test_rounding_cannot_be_made_up(fitted):
    certificate = fitted[0].certificate
    lower = {"objective_bound": certificate.any_tree_bound, "cost_rounding": 100.0}
    found = verified(fitted, resealed(certificate, **lower))
    assert "rounding" in {check.name for check in found.wrong}
    rng = np.random.default_rng(4)
    frame, y = random_frame(rng, N)
    weight = rng.random(N)
    fit = Fit(frame, y, weight=weight)
    assert fit.certificate.cost_rounding > 0
    assert verify(fit.certificate, fit.tree, frame, y, weight, table=fit.table).ok


def test_a_depth_that_no_points_tree_has_fails_its_check(fitted):
    certificate = fitted[0].certificate
    trees = certificate.trees.replace("depth 2", "depth 5")
    found = resealed(certificate, depth=5, trees=trees)
    assert not verified(fitted, found, resolve_with="points").ok


def test_signs_and_chosen_columns_may_be_named():
    frame, y = random_frame(np.random.default_rng(6), N)
    d = len(Fit(frame, y, depth=1).family.steps)
    fit = Fit(
        frame, y, signs=(1,) + (0,) * (d - 1), allowed=(True,) * 2 + (False,) * (d - 2)
    )
    assert "the signs that were given, on 2 of" in fit.certificate.trees
    assert verify(fit.certificate, fit.tree, frame, y, table=fit.table).ok


def test_trees_outside_of_the_family_are_noticed(fitted):
    tree = fitted[0].tree
    root = int(np.flatnonzero(tree.coef[0])[0])
    for change in (0.5, 7.0):
        coef = tree.coef.copy()
        coef[0, root] = change
        found = verified(fitted, tree=replace(tree, coef=coef))
        assert "splits" in {check.name for check in found.wrong}
    threshold = tree.threshold.copy()
    threshold[0] = -1.0
    found = verified(fitted, tree=replace(tree, threshold=threshold))
    assert "leaves" in {check.name for check in found.wrong}


def test_what_verify_needs_for_points_trees(fitted):
    fit, frame, y, weight = fitted
    with pytest.raises(ValueError, match=r"table=clf\.table_"):
        verify(fit.certificate, fit.tree, frame, y, weight)
    with pytest.raises(ValueError, match='give "points"'):
        verified(fitted, resolve_with="highs")


# ----------------------------------------------------------------------- sentences


def test_the_sentence_of_a_proved_tree(fitted):
    found = fitted[0].certificate
    assert str(found) == (
        f"The tree misclassifies {found.errors} of {N} training rows, which cost "
        f"{found.cost:g}. With 0.5 for each feature in a split that is "
        f"{found.objective:g} in all, and no points tree of its kind costs less (its "
        "kind: depth 2 with at most 2 features a split, points up to 1 (1 or 4 for a "
        "yes/no column beside one number, such as 4 smoker=yes + age; the same for "
        "values of one category), at least 2 rows a leaf, on the grid of "
        "its table; proved by all root splits; counted in units of 0.5)."
    )


def test_an_open_proof_says_so(fitted):
    found = replace(fitted[0].certificate, objective_bound=1.5)
    assert not found.objective_optimal
    assert found.gap == pytest.approx(1 - 1.5 / found.objective)
    least = f"{math.ceil(1000 * found.gap) / 10:g} %"
    assert "; no points tree of its kind costs less than 1.5, so the best is" in str(
        found
    )
    assert f"at most {least} below it (its kind: depth 2 " in str(found)
    early = replace(found, objective_proved_by="exhaustive search")
    assert "; bound by an unfinished search; counted" in str(early)


def test_rounding_is_told_and_never_hides_an_optimum():
    rng = np.random.default_rng(4)
    frame, y = random_frame(rng, N)
    fit = Fit(frame, y, weight=rng.random(N))
    found = fit.certificate
    assert found.cost_rounding > 0
    assert found.objective_optimal
    assert "costs were rounded to units of" in str(found)
    coarse = replace(found, objective_bound=found.objective * (1 - 1e-6))
    assert not coarse.objective_optimal
    assert coarse.gap > 0
    assert "; bound by " in str(coarse)


def test_a_unit_is_never_lost_in_a_tolerance():
    assert counted_meets(1e12, 1e12, 0.5, 0.0)
    assert not counted_meets(1e12, 1e12 - 0.5, 0.5, 0.0)
    assert not counted_meets(1e6, 1e6 - 0.5, 0.5, 0.0)
    # Where costs were rounded, no more than what that may hide.
    assert counted_meets(1e6, 1e6 - 1e-7, 1e-9, 1e-7)
    assert not counted_meets(1e6, 1e6 - 3e-7, 1e-9, 1e-7)
    assert [short(26.240000000000002), short(1 / 3)] == ["26.24", "0.333333"]
    assert [short(1234567.5), short(41.0)] == ["1234567.5", "41"]
    assert told_apart(1e7, 1e7 - 0.5) == ("10000000", "9999999.5")


def test_no_more_is_said_of_a_bound_than_is_proved(fitted):
    assert told_apart(13.23, 8.338399) == ("13.23", "8.33839")
    assert told_apart(25.111463, 25.111458) == ("25.111463", "25.111458")
    assert told_apart(61.0, 61.0) == ("61", "61")
    assert [rounded_down(2.9999999999999996), rounded_down(0.0)] == ["3", "0"]
    for number in (96.1, 0.3, 7.7, 1234.56):
        assert rounded_down(number * (1 - COST_ROUNDING)) == str(number)
        assert rounded_up(number * (1 + COST_ROUNDING)) == str(number)
    sampled = {"n_sampled": 10, "n_rows": 200, "any_tree_proved_by": NO_ERRORS}
    for bound, said in ((8.33839912345, "8.33839"), (1234567.5, "1234567.5")):
        found = replace(fitted[0].certificate, any_tree_bound=bound, **sampled)
        assert f"errors cost at least {said}, " in str(found)
    assert [rounded_up(8.33831111), rounded_up(61.0)] == ["8.33832", "61"]


def test_plain_errors_read_plainly():
    objective = PointsObjective((0.0, 0.0), 1, 1, 1)
    assert objective.terms == "errors"
    assert objective.trees == (
        "points tree of depth 1 with at most 1 feature a split, on the grid of its "
        "table"
    )
    several = PointsObjective(
        (0.5, 2.0),
        3,
        2,
        3,
        5,
        is_plain=False,
        is_mixed=True,
        has_signs=True,
        n_allowed=1,
    )
    assert several.terms == "cost of errors + 0.5 to 2 for each feature in a split"
    assert several.trees == (
        "points tree of depth 3 with at most 2 features a split, points up to 3 (1 to "
        "5 or 10 for a yes/no column beside one number of 1 a step, such as 10 "
        "smoker=yes + age), at least 5 rows a leaf, the signs that were given, "
        "on 1 of 2 grid columns"
    )


@pytest.mark.parametrize("most", INDICATOR_POINTS)
def test_the_words_for_points_of_indicators_name_their_numbers(most):
    objective = PointsObjective((0.0, 0.0), 1, 2, most, is_mixed=True)
    said = re.search(r"\((.*) for a yes/no column", objective.trees)
    whole = re.sub(
        r"(\d+) to (\d+)",
        lambda ends: " ".join(map(str, range(int(ends[1]), int(ends[2]) + 1))),
        said[1],
    )
    assert tuple(map(int, re.findall(r"\d+", whole))) == INDICATOR_POINTS[most]
