"""Selectors in a hurry: the race of "auto", the clock, and choices that are checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from joblib import parallel_config

from _data import blobs
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.search.starts import cart_tree
from miptree.selection import (
    AutoSelection,
    BalancedSelection,
    CoverSelection,
    HullSelection,
    Selection,
    SelectionContext,
    Selector,
    StratifiedSelection,
    adapted,
    auto,
    greedy_cover,
    hull_membership,
    leaf_clusters,
    select_rows,
)

# -------------------------------------------------------------------------- auto


def test_auto_keeps_to_its_share() -> None:
    problem, tree = blobs(600)
    found = AutoSelection(share=0.1, max_iter=5).select(problem, tree)
    n_clusters = len(leaf_clusters(problem, tree))
    assert len(found) <= 0.1 * problem.n_rows + n_clusters


def test_auto_hands_its_trees_on_best_first() -> None:
    problem, tree = blobs(400)
    found = AutoSelection(share=0.1, depth=2, max_iter=5).select(problem, tree)
    errors = [(t.predict(problem.X) != problem.y).sum() for t in found.trees]
    assert len(errors) > 3
    assert errors == sorted(errors)
    assert errors[0] <= (tree.predict(problem.X) != problem.y).sum()


def test_auto_takes_the_selection_whose_tree_is_best_on_all_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One candidate sees one class only; without moves on all rows it is lost."""
    monkeypatch.setattr(auto, "_IMPROVE_ITER", 0)
    problem, tree = blobs(400)
    good = StratifiedSelection(0.3)

    class OneClass:
        def select(self, problem, tree, clusters=None):
            clusters = [c for c in clusters if problem.y[c.rows[0]] == 0]
            return good.select(problem, tree, clusters)

    race = AutoSelection(share=0.4, max_iter=20, candidates=(OneClass(), good))
    chosen = race.select(problem, tree)
    assert np.array_equal(chosen.rows, good.select(problem, tree).rows)


def test_auto_of_most_rows_and_of_none_small_enough() -> None:
    problem, tree = blobs(60)
    assert len(AutoSelection(0.9, max_iter=2).select(problem, tree)) > 30
    large = (StratifiedSelection(0.9), StratifiedSelection(0.8))
    found = AutoSelection(0.1, candidates=large).select(problem, tree)
    assert np.array_equal(found.rows, large[1].select(problem, tree).rows)


def test_auto_measures_what_is_trained_on() -> None:
    problem, tree = blobs(200)
    seen = []

    def completed(chosen: Selection) -> Selection:
        seen.append(len(chosen))
        return Selection.of_rows(problem, np.arange(problem.n_rows))

    context = SelectionContext(None, depth=1, completed=completed)
    race = adapted(AutoSelection(0.2, max_iter=3), context)
    found = race.select(problem, tree)
    assert len(seen) == len(found.trees)
    assert {t.depth for t in found.trees} == {1}


# ------------------------------------------------------------------------ the clock


def test_a_hull_that_runs_out_of_time_is_wrong_nowhere() -> None:
    X = np.random.default_rng(0).uniform(size=(2000, 3))
    exact, cut = hull_membership(X), hull_membership(X, clock=Clock(0.0))
    assert cut.n_unsure > 0
    assert not (cut.inside & ~exact.inside).any()
    assert np.isin(exact.extreme, np.flatnonzero(~cut.inside)).all()


@pytest.mark.parametrize(
    "selector",
    [BalancedSelection(), HullSelection(), CoverSelection(), AutoSelection()],
    ids=repr,
)
def test_selectors_without_time_still_choose(selector: Selector) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    problem = Problem.from_data(X, y, 2)
    tree = problem.to_user(cart_tree(problem, 2))
    hull_membership(X[:50])  # compiles
    hurried = adapted(selector, SelectionContext(None, 2, Clock(0.0)))
    found = select_rows(hurried, problem, tree)
    assert len(found) >= len(leaf_clusters(problem, tree))


def test_a_cover_that_runs_out_of_time_still_covers_or_keeps_its_share() -> None:
    X = np.random.default_rng(0).normal(size=(2000, 3))
    kept, weights = greedy_cover(X, 0.5, clock=Clock(0.0))
    assert (np.abs(weights.toarray() @ X - X) <= 0.5 + 1e-7).all()
    assert len(kept) == len(X)
    problem, tree = blobs(1000)
    found = CoverSelection(share=0.05, seconds=0.0).select(problem, tree)
    assert len(found) <= 0.05 * problem.n_rows + len(leaf_clusters(problem, tree))
    assert found.weight.sum() == pytest.approx(problem.weight.sum())


# ----------------------------------------------------------------- what anybody writes


@dataclass(frozen=True)
class Fixed:
    """A selector of given rows and weights."""

    rows: tuple[float, ...]
    weight: tuple[float, ...]

    def select(self, problem, tree, clusters=None):
        rows = np.array(self.rows, dtype=None if self.rows else int)
        return Selection(rows, np.array(self.weight), np.zeros(len(rows), dtype=bool))


@pytest.mark.parametrize(
    ("rows", "weight", "message"),
    [
        ((), (), "Fixed selected no row"),
        ((1, 2), (1.0,), "2 rows with 1 weights"),
        ((1, 30), (1.0, 1.0), "from 0 to 29, got 1 to 30"),
        ((-1, 3), (1.0, 1.0), "from 0 to 29"),
        ((0.5, 3), (1.0, 1.0), "of type float64"),
        ((3, 1, 3), (1.0, 1.0, 1.0), "row 3 more than once"),
        ((1, 2), (1.0, 0.0), "finite weights above 0"),
    ],
)
def test_choices_are_checked(
    rows: tuple[float, ...], weight: tuple[float, ...], message: str
) -> None:
    problem, tree = blobs(30)
    with pytest.raises(ValueError, match=message):
        select_rows(Fixed(rows, weight), problem, tree)


def test_the_printed_rule_may_select_nothing() -> None:
    X = np.random.default_rng(0).uniform(size=(60, 2))
    problem = Problem.from_data(X, (X[:, 0] > 0.5).astype(int), 2)
    tree = problem.to_user(cart_tree(problem, 1))
    with pytest.raises(ValueError, match="HullSelection selected no row"):
        select_rows(HullSelection(eps=10.0, cap=False), problem, tree)


@pytest.mark.parametrize("backend", ["multiprocessing", "loky", "threading"])
def test_any_backend_gives_the_same_rows(backend: str) -> None:
    problem, tree = blobs(200)
    for make in (HullSelection, CoverSelection, BalancedSelection):
        alone = make().select(problem, tree)
        with parallel_config(backend=backend):
            shared = make(n_jobs=2).select(problem, tree)
        assert np.array_equal(alone.rows, shared.rows)
