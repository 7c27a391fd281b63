"""Forged proofs of oblique trees: what a liar would write, and is not believed."""

import time

import numpy as np
import pandas as pd
import pytest

from _proofs import checked
from miptree.checker import values
from miptree.checker.routes import case, closings, walk
from miptree.checker.routes import check as routes_check

pytestmark = pytest.mark.usefixtures("bugs_show")

N = 40
N_WRONG = 20


def forgery(*lines):
    """A constant tree on rows that one split separates, and lines that tell lies."""
    x = np.arange(N) / N
    y = (x >= 0.5).astype(int)
    header = {
        "format": "miptree-proof",
        "version": 2,
        "written_by": "a liar",
        "columns": [{"kind": "number", "name": "x", "fill": 0, "has_gaps": False}],
        "is_named": True,
        "classes": [0, 1],
        "target": "y",
        "labels": y.tolist(),
        "weights": None,
        "costs": None,
        "row_costs": None,
        "family": {
            "kind": "oblique",
            "depth": 1,
            "slack_penalty": 100,
            "l1_penalty": 1,
            "margin": 0.01,
            "max_features": None,
        },
        "tree": [{"class": 0}],
        "claim": {"cost": N_WRONG, "bound": N_WRONG},
    }
    lines = [["part", None, [1, 1], N_WRONG], *lines]
    section = {"section": "routes", "lines": len(lines), "exponent": 32}
    return [header, section, *lines, {"digest": ""}], pd.DataFrame({"x": x, "y": y})


@pytest.mark.parametrize("shape", [[True, False], [False, True], [0, True], [0, 1]])
def test_labels_that_are_truth_values_are_no_mask_of_the_costs(tmp_path, shape):
    """NumPy would read [true, false] as "the costs of the first class only"."""
    outcome = checked(*forgery(["s", shape], ["c", [], []]), tmp_path)
    assert outcome.exit_code == 1
    assert outcome.bound is None or outcome.bound < 1


def test_the_bound_of_lines_that_prove_nothing_is_small(tmp_path):
    outcome = checked(*forgery(), tmp_path)
    assert outcome.exit_code == 1
    assert outcome.bound < 1


def test_closings_of_too_many_numbers_are_left(tmp_path, monkeypatch):
    lines, frame = forgery(["s", [0, 1]], ["c", [0, 2, 0, 1] * 1000, []])
    monkeypatch.setattr(values, "MAX_ITEMS", 2000)
    outcome = checked(lines, frame, tmp_path)
    assert outcome.exit_code == 2
    assert "more than 2000 values" in outcome.sentence
    monkeypatch.undo()
    monkeypatch.setattr(closings, "MOST_NUMBERS", 500)
    outcome = checked(lines, frame, tmp_path)
    assert outcome.exit_code == 2
    assert "too many entries" in outcome.sentence


@pytest.mark.parametrize("line", ["part", "s"])
def test_the_deadline_counts_for_every_part_and_structure(tmp_path, monkeypatch, line):
    asked = []
    monkeypatch.setattr(routes_check, "check_time", asked.append)
    more = [["part", [i], [1, 100], 1.0] for i in range(9)]
    proofs = [["s", [0, 1]], ["c", [], []]] * 9
    lines, frame = forgery(*proofs)
    if line == "part":
        lines[2:-1] = more
        lines[1]["lines"] = len(more)
    checked(lines, frame, tmp_path)
    assert len(asked) >= 9
    assert all(deadline > time.monotonic() for deadline in asked)


def test_columns_that_the_proof_leaves_out_are_told(tmp_path):
    lines, frame = forgery()
    lines[0]["claim"]["bound"] = 0
    assert "may use the one column has" in checked(lines, frame, tmp_path).sentence
    more = frame.assign(z=frame["x"], id=range(N))
    words = "may use 1 of 3 columns has"
    assert words in checked(lines, more, tmp_path).sentence
    category = {"kind": "category", "name": "z", "values": [7], "rare": []}
    lines[0]["columns"].append({**category, "is_open": True})
    assert "the proof file does not list" in checked(lines, more, tmp_path).sentence
    rare = sorted(set(frame["x"].tolist()))
    lines[0]["columns"][1] |= {"values": [], "rare": rare}
    words = (
        "use 2 of 3 columns, 1 of them as categories "
        f"({len(rare)} rare values are not told apart)"
    )
    outcome = checked(lines, more, tmp_path)
    assert words in outcome.sentence
    assert outcome.exit_code == 0


@pytest.mark.parametrize("limit", ["MOST_LEVELS", "MOST_DEEP"])
def test_branches_do_not_lie_in_each_other_without_end(tmp_path, monkeypatch, limit):
    lines, frame = forgery(["s", [0, 1]], *[["b", 0, 3]] * 60)
    assert checked(lines, frame, tmp_path).exit_code == 1
    monkeypatch.setattr(case, limit, 50)
    outcome = checked(lines, frame, tmp_path)
    assert outcome.exit_code == 2
    assert "too deep" in outcome.sentence


def test_lemmas_are_worked_out_before_they_are_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(walk, "MOST_NODES", 10)
    seen = []
    evaluate = walk.lemma_values
    monkeypatch.setattr(
        walk, "lemma_values", lambda *a: seen.append(a[3].n_nodes) or evaluate(*a)
    )
    lines, frame = forgery(["s", [0, 1]], ["b", 0, 3], *[["l", [0, 0, 0, 1]]] * 60)
    assert checked(lines, frame, tmp_path).exit_code == 1
    assert seen[0] == 11


def test_labels_are_no_feature(tmp_path):
    lines, frame = forgery()
    lines[0]["columns"][0]["name"] = "y"
    outcome = checked(lines, frame, tmp_path)
    assert outcome.exit_code == 1
    assert "reads the labels, 'y', as well" in outcome.sentence
