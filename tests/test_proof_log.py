"""Proof files of oblique trees: what is written, and what is said where nothing is."""

import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import miptree.estimator
from _cli import refused, run
from _proofs import lines_of
from miptree import OptimalTreeClassifier
from miptree.fit import proof_log, unlogged
from miptree.fit.proof_log import ProofTooLargeError, line, write_lines
from miptree.fit.routes_log import data_rows
from miptree.fit.trace_lines import event_lines
from miptree.fit.unlogged import why_unproved
from miptree.objective.bounds import ROUTES, Bound
from miptree.proof.routes.places import place_of
from miptree.proof.routes.result import Part, RoutesProof
from miptree.proof.routes.structures import structure_of
from miptree.proof.routes.trace import (
    BOX_RIGHT,
    BRANCH,
    CLOSE,
    ENVELOPE,
    HARD,
    LEMMA,
    MARGIN,
    Trace,
)
from miptree.proof.routes.units import route_problem

QUICK = {"max_iter": 5, "node_limit": 0, "time_limit": None, "random_state": 0}


def frame():
    """Rows of which some are alike, of weight 0, or without a number or a category."""
    X = pd.DataFrame(
        {
            "a": [1.0, 2.0, 1.0, 0.0, 1.0, np.nan, 3.0],
            "b": ["x", "y", "x", "z", "x", "y", None],
        }
    )
    y = pd.Series(["p", "q", "q", "p", "p", "q", "p"], name="kind")
    return X, y, np.array([0.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0])


def trace_of(events, entries, fixed=-1):
    """The trace of (kind, point, masks, number of entries) and rows of entries."""
    kind, point, masks, n_entries = zip(*events, strict=True)
    rows = np.array(entries, dtype=np.int64).reshape(-1, 5)
    packed = [(place_of.py_func(*row[:4]), row[4]) for row in rows.tolist()]
    return Trace(
        fixed,
        np.array(kind, dtype=np.int8),
        np.array(point),
        np.concatenate([[0], np.cumsum([len(m) for m in masks])]),
        np.array([m for some in masks for m in some], dtype=np.intp),
        np.concatenate([[0], np.cumsum(n_entries)]),
        np.array(packed, dtype=np.int64).reshape(-1, 2),
    )


TRACE = trace_of(
    [
        (LEMMA, 0, [], 2),
        (BRANCH, 1, [1, 2], 0),
        (CLOSE, -1, [], 3),
        (CLOSE, -1, [], 0),
    ],
    [  # point, split, kind, partner, multiplier
        (0, 0, MARGIN, -1, 5),
        (1, 0, HARD, -1, 6),
        (0, 0, ENVELOPE, 2, 1 << 40),
        (2, 0, BOX_RIGHT, -1, 7),
        (1, 0, ENVELOPE, -1, 8),
    ],
    fixed=1,
)


# -------------------------------------------------------------------------- writing


def test_events_are_written_in_their_order():
    number = np.array([10, 20, 30])
    assert list(event_lines(TRACE, number)) == [
        '["l",[0,0,10,5,0,1,20,6]]\n',
        '["b",20,1,2]\n',
        f'["c",[0,3,30,7],[0,10,{1 << 40},30,0,20,8,-1]]\n',
        '["c",[],[]]\n',
    ]


def test_lemmas_rest_on_no_envelope():
    lemma = trace_of([(LEMMA, 0, [], 1)], [(0, 0, ENVELOPE, -1, 5)])
    with pytest.raises(ValueError, match="may not rest on envelopes"):
        list(event_lines(lemma, np.arange(3)))


def test_a_point_is_called_by_its_first_row_in_the_data():
    X, y, weight = frame()
    clf = OptimalTreeClassifier(categorical_encoding="onehot")
    problem, _ = clf._problem_of(*clf._rows(X, y, weight))
    numbers = data_rows(problem)
    assert sorted(set(numbers.tolist())) == [1, 2, 3, 5, 6]  # row 0 has no weight
    for row, first in enumerate(numbers):
        same = np.flatnonzero(problem.same_x == problem.same_x[row])
        assert first == problem.source[same].min()


@pytest.fixture
def with_trace(monkeypatch):
    """Let fits come with a proof, of one or more parts of the rows."""
    without = miptree.estimator.train

    def recorded(problem, plan, *more, bound, n_parts):
        assert plan.record
        groups = [np.flatnonzero(problem.same_x % n_parts == k) for k in range(n_parts)]
        parts = [
            Part(
                problem=route_problem(problem, plan.objective, rows),
                rows=rows,
                share=1.0 / n_parts,
                threshold=bound / n_parts,
                structures=[(structure_of((0, 1)), TRACE)] if n_parts == 1 else [],
            )
            for rows in groups
        ]
        proof = RoutesProof(Bound(bound, ROUTES), parts)
        return replace(without(problem, plan, *more), proof=proof)

    def let(bound=0.25, n_parts=1):
        known = {"bound": bound, "n_parts": n_parts}
        train = partial(recorded, **known)
        monkeypatch.setattr(miptree.estimator, "train", train)

    return let


def test_file_of_a_fit(tmp_path, with_trace):
    with_trace()
    X, y, weight = frame()
    clf = OptimalTreeClassifier(categorical_encoding="onehot", l1_penalty=8.0, **QUICK)
    path = tmp_path / "tree.proof"
    with pytest.warns(UserWarning, match="shows that no tree costs less than 0.25"):
        clf.fit(X, y, weight, proof_log=path)
    header, section, *lines, last = lines_of(path)
    assert header["version"] == 2
    assert header["target"] == "kind"
    assert header["labels"] == [0, 1, 1, 0, 0, 1, 0]
    assert header["weights"] == weight.tolist()
    number, category = header["columns"]
    assert number == {"kind": "number", "name": "a", "fill": 1.0, "has_gaps": True}
    assert category["values"] == ["x", "y", "z", None]
    assert category["is_open"]
    found = clf.certificate_
    assert header["claim"] == {"cost": found.objective, "bound": 0.25}
    assert header["family"] == {
        "kind": "oblique", "depth": 2, "slack_penalty": found.slack_penalty,
        "l1_penalty": 8.0, "margin": found.margin, "max_features": None,
    }  # fmt: skip
    assert len(header["tree"]) == clf.tree_.n_nodes
    assert section == {"section": "routes", "lines": len(lines), "exponent": 32}
    first = sorted({1, 2, 3, 5, 6} & set(range(7)))
    assert lines[0] == ["part", None, [1, 1], 0.25]
    assert lines[1] == ["s", [0, 1]]
    assert lines[2][0] == "f"
    assert lines[2][1] in first
    assert [event[0] for event in lines[3:]] == ["l", "b", "c", "c"]
    assert found.proof_digest == last["digest"]
    assert f"file of digest {last['digest'][:12]}.)" in str(found)
    assert found.signed() == found
    assert clf.fitted_.proof is None


def test_parts_name_their_points(tmp_path, with_trace):
    with_trace(n_parts=2)
    X, y, weight = frame()
    clf = OptimalTreeClassifier(categorical_encoding="onehot", **QUICK)
    with pytest.warns(UserWarning, match="is not in it"):
        clf.fit(X, y, weight, proof_log=tmp_path / "tree.proof")
    parts = [
        line for line in lines_of(tmp_path / "tree.proof")[2:-1] if line[0] == "part"
    ]
    assert sorted(parts[0][1] + parts[1][1]) == [1, 2, 3, 5, 6]
    assert [part[2:] for part in parts] == [[[1, 2], 0.125]] * 2


# ------------------------------------------------------------------ nothing to write


def test_without_a_proof_there_is_no_file(tmp_path):
    X, y, _ = frame()
    clf = OptimalTreeClassifier(categorical_encoding="onehot", **QUICK)
    with pytest.warns(UserWarning, match="nodes were used up before .* node_limit"):
        clf.fit(X, y, proof_log=tmp_path / "tree.proof")
    assert clf.get_n_leaves() >= 1
    assert clf.certificate_.proof_digest == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("status", "seconds", "words"),
    [
        ("time_limit", 0.0, r"time was over before .* longer time_limit .* proof="),
        (
            "time_limit",
            45.0,
            r"too short to compile .* once on a machine. Run `mip",
        ),
        ("stalled", 0.0, 'as nothing moved any more, before .* proof="objective"'),
        ("interrupted", 45.0, "the fit was stopped before"),
        ("max_iter", 0.0, "the fit ended before"),
        ("optimal", 45.0, "nothing was left .* as the bound 2.5 holds by exhaustive"),
    ],
)
def test_why_nothing_was_proved_is_told(status, seconds, words, monkeypatch):
    monkeypatch.setattr(unlogged, "seconds_to_compile_routes", lambda: seconds)
    known = {"objective_bound": 2.5, "objective_proved_by": "exhaustive search"}
    fitted = SimpleNamespace(status=status, certificate=SimpleNamespace(**known))
    assert re.search(words, why_unproved(fitted))


def many_classes(n_classes):
    """Rows of so many classes, and a category besides."""
    y = np.arange(2 * n_classes) % n_classes
    return pd.DataFrame({"a": y + 0.0, "b": np.where(y % 2, "x", "z")}), y


def test_what_cannot_be_logged_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(miptree.estimator, "train", None)
    X, y, _ = frame()
    path = tmp_path / "tree.proof"
    wrong = {
        "L1 penalty above 0": {"l1_penalty": 0.0},
        "depth 3 at most, got 4": {"max_depth": 4},
        "works without selection": {"selection": "balanced"},
        'without solver="search", which proves nothing': {"solver": "search"},
        "needs a longer time_limit": {"time_limit": 0.0},
    }
    for text, options in wrong.items():
        with pytest.raises(ValueError, match=text):
            OptimalTreeClassifier(**(QUICK | options)).fit(X, y, proof_log=path)
    for n_classes, depth, advice in (
        (11, 2, "With 11 classes, their costs and splits by .* Give depth 1."),
        (7, 2, 'Give depth 1 or categorical_encoding="onehot" '),
        (70, 1, "Give fewer classes."),
    ):
        cost = 2.0 - 2.0 * np.eye(n_classes)
        cost[0, 1] = 1.0
        clf = OptimalTreeClassifier(max_depth=depth, cost_matrix=cost, **QUICK)
        with pytest.raises(ValueError, match=advice):
            clf.fit(*many_classes(n_classes), proof_log=path)
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="exists already"):
        OptimalTreeClassifier(**QUICK).fit(X[["a"]], y, proof_log=path)
    assert path.read_text() == "mine"


def test_too_large_a_proof_is_not_written(tmp_path, with_trace, monkeypatch):
    with pytest.raises(ProofTooLargeError, match="more than the 1 MB"):
        write_lines(tmp_path / "a.proof", [line(["x" * (1 << 20)])], False, 1 << 20)
    with_trace()
    monkeypatch.setattr(proof_log, "MOST_BYTES", 100)
    X, y, _ = frame()
    clf = OptimalTreeClassifier(**QUICK)
    told = "No proof file was written: it has more than"
    with pytest.warns(UserWarning, match=told) as found:
        clf.fit(X[["a"]], y, proof_log=tmp_path / "tree.proof")
    assert [one.filename for one in found] == [__file__]
    assert clf.certificate_.proof_digest == ""
    assert not list(tmp_path.iterdir())


def test_command_writes_the_file_and_refuses_what_proves_nothing(tmp_path, with_trace):
    with_trace()
    X, y, _ = frame()
    data, path = tmp_path / "data.csv", tmp_path / "tree.proof.gz"
    X[["a"]].assign(kind=y).to_csv(data, index=False)
    command = ["fit", data, "--target", "kind", "--proof-log", path]
    result = run(*command, "--time-limit", 1)
    assert result.exit_code == 0, result.output
    assert "miptree check tells whether it holds" in result.stdout
    assert lines_of(path)[0]["target"] == "kind"
    path.unlink()
    assert "works without --tune" in refused(*command, "--tune")
    for option in (["--selection", "hull"], ["--solver", "search"]):
        wanted = f"works without {' '.join(option)}"
        assert wanted in refused(*command, *option)
