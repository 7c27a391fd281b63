"""Cross-validation without leaks: a fold knows nothing of the rows it holds out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from _tuned import ALL_KINDS, mixed_rows
from miptree.data import Cells
from miptree.data.rows import TrainingRows
from miptree.tuning import Fold, TableRules
from miptree.tuning.evaluate_fold import train_fold
from miptree.tuning.folds import folded_rows
from miptree.tuning.votes import out_of_bag_votes


def scrambled(rows: TrainingRows, held_out: np.ndarray) -> TrainingRows:
    """The same rows, those held out with other cells and labels."""
    a, b, colour, level = (cells for cells in rows.cells)
    numbers = [np.array(cells.numbers) for cells in (a, b, level)]
    for column in numbers:
        column[held_out] = 1000.5 + np.arange(len(held_out))
    values = list(colour.values or [])
    for row in held_out:
        values[row] = "violet"
    y = rows.y.copy()
    y[held_out] = 1 - y[held_out]
    cells = [
        Cells("a", numbers=numbers[0]),
        Cells("b", numbers=numbers[1]),
        Cells("colour", values=values),
        Cells("level", numbers=numbers[2]),
    ]
    return replace(rows, cells=cells, y=y)


def knows_the_rows_held_out(as_levels: bool = False) -> bool:
    """Whether anything learnt for a fold changes with the rows it holds out."""
    rows = mixed_rows()
    fold = Fold(np.arange(0, 40), np.arange(40, 60), seed=3)
    before, after = (
        train_fold(r, fold, TableRules(), ALL_KINDS, 2, as_levels)
        for r in (rows, scrambled(rows, fold.test))
    )
    if before.table != after.table:
        return True
    problem, other = before.part.problem, after.part.problem
    arrays = [(problem.X, other.X), (problem.scaled, other.scaled)]
    for trees, others in zip(before.grown, after.grown, strict=True):
        for tree, twin in zip(trees, others, strict=True):
            arrays += list(zip(tree, twin, strict=True))
    return not all(np.array_equal(one, two) for one, two in arrays)


@pytest.mark.parametrize("as_levels", [False, True])
def test_a_fold_learns_nothing_from_the_rows_it_holds_out(as_levels: bool) -> None:
    assert not knows_the_rows_held_out(as_levels)


@pytest.mark.parametrize("price", [5.0, 2.5])
def test_costs_by_class_neither_copy_nor_weigh_rows_of_folds(price: float) -> None:
    """Costs count with the errors: as weights, too, they would count twice."""
    plain = mixed_rows()
    costly = replace(plain, costs=np.array([[0.0, 1.0], [price, 0.0]]))
    _, problem = TableRules().learn(costly, False)
    found = folded_rows(costly, problem, None, None, 3, 1, 6000, seed=0)
    assert np.allclose(found.rows.weight, 1)
    assert len(found.rows) == len(plain)
    held_out = np.concatenate([fold.test for fold in found.folds])
    assert np.array_equal(np.sort(held_out), np.arange(len(plain)))


def test_a_planted_leak_of_the_table_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    everything: list[TrainingRows] = []
    take = TrainingRows.take

    def leak(self: TrainingRows, rows: np.ndarray) -> TrainingRows:
        everything.append(self)
        return take(self, rows)

    def learn(
        self: TableRules, rows: TrainingRows, as_levels: bool
    ) -> tuple[object, object]:
        table = everything[-1].learn_table(self.encoding, self.missing, "majority")
        return table, rows.problem(table)

    monkeypatch.setattr(TrainingRows, "take", leak)
    monkeypatch.setattr(TableRules, "learn", learn)
    assert knows_the_rows_held_out()


def test_a_planted_leak_of_labels_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    take = TrainingRows.take

    def leak(self: TrainingRows, rows: np.ndarray) -> TrainingRows:
        # The label of a row held out stands in for that of one to train on.
        part = take(self, rows)
        y = part.y.copy()
        y[0] = self.y[-1]
        return replace(part, y=y)

    monkeypatch.setattr(TrainingRows, "take", leak)
    assert knows_the_rows_held_out()


@pytest.mark.parametrize("seed", range(8))
def test_votes_about_a_row_do_not_know_its_label(seed: int) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 3)).astype(np.float32)
    y = (points[:, 0] > 0).astype(np.intp)
    flipped = y.copy()
    flipped[7] = 1 - y[7]
    weight = np.ones(40)
    weight[7] = 1e-9  # so that it hardly counts in the frequencies, half a vote
    found = [
        out_of_bag_votes(points, labels, weight, 2, 2, 1, seed)
        for labels in (y, flipped)
    ]
    # One tree: of several, those that see the row would move the others' draws.
    assert np.allclose(found[0][7], found[1][7], atol=1e-6)
    assert np.isclose(found[0][7].sum(), 1)
