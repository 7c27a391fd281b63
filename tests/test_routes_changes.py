"""Closings that are written as changes of those before, and multipliers with shifts."""

import collections

import numpy as np
import pytest

from _by_root_proofs import RootMutator, random_by_root
from _proofs import checked_with_count
from _route_cases import route_case
from _routes import unfolded
from _routes_changes import changes_of, entries_of, with_changes, with_fewer_bits
from _routes_mutants import Mutator
from _routes_proofs import random_proof, truth
from miptree.checker.routes import check, entries
from miptree.proof.routes.changes import as_changes
from miptree.proof.routes.engine import EXHAUSTED, advance, begin
from miptree.proof.routes.places import place_of
from miptree.proof.routes.structures import structures
from miptree.proof.routes.trace import BOX_LEFT, CHANGE, CLOSE, backward
from miptree.proof.routes.units import route_problem

pytestmark = pytest.mark.usefixtures("bugs_show")

MAKERS = {
    "structures": (random_proof, Mutator),
    "by root": (random_by_root, RootMutator),
}
N_MUTANTS, N_LONG = 60, 1500
TWO_CLOSINGS = np.array(2 * [[CLOSE, -1, 0, 2]])
"""Events as kernels write them: kind, point, masks, entries."""


def traces_of(seed):
    """Give the recorded traces of all structures of a small problem."""
    case = route_case(seed, (16, 24), (2,))
    problem = route_problem(case.problem, case.objective)
    threshold = 0.6 * float(problem.cost.sum(axis=0).min())
    for structure in structures(problem.labels, 2):
        state = begin(problem, structure, threshold, record=True)
        assert advance(state, 100_000) == EXHAUSTED
        yield state.trace()


def test_changes_of_a_trace_say_what_it_said():
    n_changes = 0
    for trace in (one for seed in range(6) for one in traces_of(seed)):
        short = as_changes(trace)
        again = unfolded(short)
        for name in ("kind", "point", "masks_start", "mask", "entries_start"):
            assert np.array_equal(getattr(again, name), getattr(trace, name)), name
        for event in range(trace.n_events):
            both = (one.entries(event, event + 1) for one in (again, trace))
            rows = [sorted(zip(*found, strict=True)) for found in both]
            assert rows[0] == rows[1]
        n_changes += int((short.kind == CHANGE).sum())
    assert n_changes > 50


def test_a_closing_with_two_entries_of_a_kind_is_left_as_it_is():
    for shared in (0, 1):
        places = [place_of.py_func(point, 0, BOX_LEFT, -1) for point in (0, shared)]
        entry = np.column_stack([2 * places, [7, 8, 7, 8]])
        trace = backward(-1, TWO_CLOSINGS, np.zeros(0, dtype=int), entry)
        short = as_changes(trace)
        assert short.kind.tolist() == [CLOSE, CHANGE if shared else CLOSE]
        assert np.array_equal(short.entry, trace.entry[: 2 if shared else 4])


def test_recorded_multipliers_have_few_bits_where_that_suffices():
    bits = []
    for trace in traces_of(4):
        for event in np.flatnonzero(trace.kind == CLOSE).tolist():
            q = trace.entries(event, event + 1).q
            bits += [int(np.bitwise_or.reduce(q))] if len(q) else []
    is_short = [number % (1 << 20) == 0 for number in bits]
    assert np.mean(is_short) > 0.5


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("seed", range(8))
def test_the_checker_finds_the_same(name, seed, tmp_path):
    rng = np.random.default_rng(seed)
    lines, frame, _ = MAKERS[name][0](seed)
    rounded, shifted = with_fewer_bits(lines, rng)
    both = with_changes(shifted, rng)
    assert any(line[0] == "k" for line in both[2:-1]) or name == "by root"
    bounds = [
        checked_with_count(some, frame, tmp_path).bound
        for some in (lines, with_changes(lines, rng), rounded, shifted, both)
    ]
    assert bounds[0] is not None
    assert bounds[1] == bounds[0]
    assert bounds[3] == bounds[2] == bounds[4]
    assert float(bounds[2]) == pytest.approx(float(bounds[0]), abs=1e-4)


def survivors(name, seed, n, folder):
    """Check n mutants of a proof by changes; count what came out, and refute."""
    rng = np.random.default_rng(seed)
    maker, mutator_of = MAKERS[name]
    lines, frame, critical = maker(seed)
    lines = with_changes(with_fewer_bits(lines, rng)[1], rng, part=1.0)
    mutator = mutator_of(rng, critical)
    counts = collections.Counter()
    for _ in range(n):
        mutant = mutator.mutant(lines)
        outcome = checked_with_count(mutant, frame, folder)
        counts["refused" if outcome.bound is None else "stated"] += 1
        if outcome.bound is not None:
            assert float(outcome.bound) <= truth(mutant[0], frame) + 1e-6
    return counts


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("seed", range(2))
def test_no_mutant_makes_it_state_something_false(name, seed, tmp_path):
    counts = survivors(name, seed, N_MUTANTS, tmp_path)
    assert min(counts["stated"], counts["refused"]) > N_MUTANTS / 20


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("seed", range(4))
def test_no_mutant_of_many_does(name, seed, tmp_path):
    assert survivors(name, seed, N_LONG, tmp_path)["stated"] > 0


WRONG = {
    "a shift that is too large": (["c", [0, 0, 0, 1], [], 60], "too large"),
    "a shift below 0": (["c", [0, 0, 0, 1], [], -1], "not known"),
    "a shift of a branch": (["b", 0, 1, 2, 3.5], "not known"),
    "an entry of changes that is cut off": (["k", [0, 0, 0], []], "cut off"),
    "changes of a point that is none": (["k", [0, 0, 99, 5], []], "a point 99"),
    "changes of a split that is none": (
        ["k", [9, 0, 0, 5], []],
        "a split that is none",
    ),
    "changes of a kind that is none": (["k", [0, 9, 0, 5], []], "an unknown kind"),
    "changes that are negative": (["k", [0, 0, 0, -5], []], "negative"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_lines_are_refused(wrong, tmp_path):
    lines, frame, _ = random_proof(2)
    place = next(k for k, line in enumerate(lines[2:-1], 2) if line[0] == "c")
    lines[place], text = WRONG[wrong]
    outcome = checked_with_count(lines, frame, tmp_path)
    assert outcome.bound is None
    assert outcome.exit_code == 1
    assert text in outcome.sentence


def test_a_closing_by_changes_may_not_grow_without_end(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines, frame, _ = random_proof(2)
    lines = with_changes(lines, rng, part=1.0)
    assert checked_with_count(lines, frame, tmp_path).bound is not None
    monkeypatch.setattr(entries, "MOST_KEPT", 3)
    outcome = checked_with_count(lines, frame, tmp_path)
    assert outcome.exit_code == 2
    assert "has too many entries" in outcome.sentence


def test_the_time_is_looked_at_line_by_line(tmp_path, monkeypatch):
    """A few bytes of a line of changes may stand for a long closing."""
    lines, frame, _ = random_proof(2)
    n_looks = []
    monkeypatch.setattr(check, "check_time", n_looks.append)
    checked_with_count(lines, frame, tmp_path)
    assert len(n_looks) > len(lines) - 3


def test_the_first_closing_may_be_changes_of_nothing(tmp_path):
    lines, frame, _ = random_proof(3)
    before = checked_with_count(lines, frame, tmp_path)
    for k, line in enumerate(lines[2:-1], 2):
        if line[0] == "s":
            place = next(j for j in range(k, len(lines)) if lines[j][0] in "cb")
            if lines[place][0] == "c":
                lines[place] = changes_of({}, entries_of(lines[place]))
    after = checked_with_count(lines, frame, tmp_path)
    assert after.bound == before.bound
