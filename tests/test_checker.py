"""The checker of proof files: it confirms what holds and never states what does not."""

import copy
import csv
import gzip
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import miptree.checker
from _cli import run
from _data import examples
from _proofs import Fit, brute_force, lines_of, random_frame, write_lines
from miptree.checker import check_proof, data, nodes, proof_file

RNG = np.random.default_rng(7)
N = 24
CASES = {
    "plain": {},
    "stump": {"depth": 1},
    "penalty": {"penalty": 0.5},
    "three features": {"max_features": 3, "penalty": 1.5},
    "one feature": {"max_features": 1},
    "large leaves": {"min_leaf": 5},
    "weights": {"weight": np.round(3 * RNG.random(N), 1)},
    "long weights": {"weight": np.round(RNG.random(N), 14)},
    "cost matrix": {"costs": [[0, 3], [1.5, 0]], "penalty": 0.1},
    "row costs": {"row_costs": np.round(RNG.random((N, 2)), 2), "max_points": 3},
    "open proof": {"max_evaluations": 1},
    "deeper": {"depth": 3},
    "deeper, large leaves": {"depth": 3, "min_leaf": 3, "penalty": 0.2},
    "deepest": {"depth": 4},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("proofs")


def written(fit, frame, y, folder, name="proof"):
    """Write a proof and its data; return their paths."""
    proof, table = folder / f"{name}.proof", folder / f"{name}.csv"
    fit.write(proof, target="y", force=True)
    frame.assign(y=y).to_csv(table, index=False)
    return proof, table


def states_the_truth(outcome, header, frame):
    cost, least = brute_force(header, frame)
    return outcome.cost == cost and outcome.bound <= min(least, cost)


# ------------------------------------------------------------------- honest proofs


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("with_gaps", [False, True])
def test_an_honest_proof_is_confirmed(folder, name, with_gaps):
    frame, y = random_frame(np.random.default_rng(len(name)), N, with_gaps)
    fit = Fit(frame, y, **CASES[name])
    proof, table = written(fit, frame, y, folder)
    outcome = check_proof(proof, table)
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.sentence.startswith("Checked: the tree costs ")
    assert float(outcome.cost) == pytest.approx(fit.certificate.objective, rel=1e-12)
    header = lines_of(proof)[0]
    if fit.certificate.depth < 3:
        assert states_the_truth(outcome, header, frame)
    if fit.found.is_proved and not fit.points.rounding:
        assert outcome.bound == outcome.cost
        assert outcome.sentence.endswith("costs less.")


@given(seed=st.integers(0, 10**6))
@examples(15)
def test_statements_agree_with_brute_force(folder, seed):
    rng = np.random.default_rng(seed)
    depth = int(rng.integers(1, 4))
    n = int(rng.integers(6, 16 if depth < 3 else 11))
    frame, y = random_frame(rng, n, bool(rng.integers(2)))
    if len(set(y)) == 1:
        return
    frame = frame[list(rng.choice(["a", "b", "c"], int(rng.integers(1, 4)), False))]
    fit = Fit(
        frame,
        y,
        depth=depth,
        max_features=int(rng.integers(1, 4 if depth < 3 else 3)),
        max_points=int(rng.integers(1, 3)),
        penalty=float(rng.choice([0, 0.25, 1])),
        min_leaf=int(rng.integers(1, 4)),
        weight=rng.integers(0, 4, len(y)).astype(float) + (np.arange(len(y)) < 2),
        steps=4,
    )
    proof, table = written(fit, frame, y, folder, "random")
    outcome = check_proof(proof, table)
    header = lines_of(proof)[0]
    cost, least = brute_force(header, frame)
    assert (outcome.exit_code, outcome.cost, outcome.bound) == (0, cost, least)


def test_the_sentence_says_all_that_was_used(folder):
    frame, y = random_frame(np.random.default_rng(3), N)
    fit = Fit(frame, y, penalty=0.5, min_leaf=2, weight=np.full(N, 2.0))
    proof, table = written(fit, frame, y, folder)
    assert check_proof(proof, table).sentence == (
        f"Checked: the tree costs {fit.certificate.objective:g} on these {N} rows "
        "(with the weights of the proof file), and no points tree of depth 2 on the "
        "grid of the proof file with at most 2 features a split, points up to 1 (a "
        "yes/no column beside a number up to 4), at least 2 rows a leaf and a cost of "
        "0.5 for each feature in a split costs less."
    )


def test_labels_may_come_from_the_proof_file_which_is_said(folder):
    frame, y = random_frame(np.random.default_rng(4), N)
    fit = Fit(frame, y)
    fit.write(folder / "no_target.proof", force=True)
    frame.to_csv(folder / "features.csv", index=False)
    outcome = check_proof(folder / "no_target.proof", folder / "features.csv")
    assert outcome.exit_code == 0
    assert "(with the labels of the proof file)" in outcome.sentence
    frame.assign(answer=y).to_csv(folder / "all.csv", index=False)
    outcome = check_proof(folder / "no_target.proof", folder / "all.csv", "answer")
    assert "labels" not in outcome.sentence


def test_gzipped_files_odd_cells_and_blank_lines(folder):
    rng = np.random.default_rng(5)
    frame, y = random_frame(rng, N, with_gaps=True)
    frame["c"] = frame["c"].replace({"x": 'a "quoted", one', "y": "NA", "z": "ü\n"})
    fit = Fit(frame, y)
    fit.write(folder / "odd.proof.gz", target="y", force=True)
    text = "\ufeff" + frame.assign(y=y).to_csv(index=False, quoting=csv.QUOTE_ALL)
    (folder / "odd.csv.gz").write_bytes(gzip.compress((text + "\n\n").encode()))
    outcome = check_proof(folder / "odd.proof.gz", folder / "odd.csv.gz")
    assert outcome.exit_code == 0, outcome.sentence


def test_categories_may_be_numbers_and_truth_values(folder):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "level": pd.Categorical(rng.choice([1.5, 2.0, 7.0], N)),
            "flag": rng.integers(0, 2, N).astype(bool),
            "x": rng.random(N).round(2),
        }
    )
    y = (frame["flag"] ^ (frame["level"].astype(float) > 1.8)).to_numpy()
    fit = Fit(frame, y)
    outcome = check_proof(*written(fit, frame, y, folder))
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.cost == 0


def test_rare_values_and_columns_without_names_or_cells(folder):
    rng = np.random.default_rng(10)
    n = 120
    frame = pd.DataFrame(
        {
            "c": [f"v{k}" for k in (rng.random(n) ** 3 * 45).astype(int)],
            "nothing": pd.Series([None] * n, dtype=object),
            "x": rng.random(n).round(2),
        }
    )
    y = (frame["x"] > 0.5) ^ (frame["c"] == "v0")
    with pytest.warns(UserWarning, match="Dropped"):
        fit = Fit(frame, y.to_numpy())
    assert any(getattr(column, "rare", ()) for column in fit.table.columns)
    fit.schema = replace(fit.schema, feature_names=None)
    fit.write(folder / "rare.proof", target="y", force=True)
    other = frame.rename(columns={"c": "anything"}).assign(y=y)
    other.to_csv(folder / "rare.csv", index=False)
    outcome = check_proof(folder / "rare.proof", folder / "rare.csv")
    assert outcome.exit_code == 0, outcome.sentence
    other.assign(more=1).to_csv(folder / "rare.csv", index=False)
    refused(folder / "rare.proof", folder / "rare.csv", "3 columns without names")


# ----------------------------------------------------------------------- programs


def test_it_runs_by_itself_with_python_and_numpy_alone(folder):
    frame, y = random_frame(np.random.default_rng(8), N)
    proof, table = written(Fit(frame, y), frame, y, folder)
    source = Path(miptree.checker.__file__).parent
    shutil.copytree(source, folder / "alone", dirs_exist_ok=True)
    code = (
        "import sys; from alone.__main__ import main; code = main(); "
        "assert not {'miptree', 'scipy', 'sklearn', 'pandas'} & set(sys.modules); "
        "sys.exit(code)"
    )
    command = [sys.executable, "-c", code, str(proof), str(table)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == check_proof(proof, table).sentence + "\n"


def test_the_command_has_the_same_sentence_and_exit_code(folder):
    frame, y = random_frame(np.random.default_rng(9), N)
    proof, table = written(Fit(frame, y), frame, y, folder)
    done = run("check", proof, table)
    assert done.exit_code == 0
    assert " ".join(done.stdout.split()) == check_proof(proof, table).sentence
    frame.iloc[:-1].assign(y=y[:-1]).to_csv(table, index=False)
    done = run("check", proof, table)
    assert done.exit_code == 2
    assert "23 rows, the proof is about 24" in " ".join(done.stdout.split())


# ------------------------------------------------------------------------- mutants


@pytest.fixture(scope="module")
def small(folder):
    """A small proof with weights, gaps, categories and penalties, and its parts."""
    rng = np.random.default_rng(11)
    frame, y = random_frame(rng, 14, with_gaps=True)
    frame = frame[["a", "b", "c"]]
    weight = rng.integers(0, 3, 14).astype(float)
    weight[:2] = 1
    fit = Fit(frame, y, weight=weight, penalty=0.5, steps=3, min_leaf=2)
    proof, table = written(fit, frame, y, folder, "small")
    return lines_of(proof), frame, table


def places(value, path=()):
    """Give the path of everything inside a value of JSON."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    if isinstance(value, list):
        for k in range(len(value))[:3]:
            yield from places(value[k], (*path, k))


def changed(value):
    """Give other values in place of one."""
    yield None
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, value - 1, -value, 0, 2 * value, value + 0.25, 1e300)
    elif isinstance(value, str):
        yield from (value + "!", "")
    elif isinstance(value, list) and value:
        yield from (value[:-1], value[1:], [*value, value[-1]], value[::-1], [])
    elif isinstance(value, dict) and value:
        yield dict(list(value.items())[1:])


def put(lines, path, value):
    lines = copy.deepcopy(lines)
    inside = lines
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return lines


def mutants(lines, numbers):
    """Give files that differ in one place of these lines."""
    for number in numbers:
        for path in places(lines[number], (number,)):
            inside = lines
            for key in path:
                inside = inside[key]
            for value in changed(inside):
                if value != inside or type(value) is not type(inside):
                    yield put(lines, path, value)


def test_no_mutant_makes_it_state_something_false(small, folder):
    lines, frame, table = small
    codes, n = tried(lines, (0, 1, 2, 5, len(lines) - 2), frame, table, folder)
    assert n > 500
    assert codes == {0, 1, 2}


def test_no_mutant_of_a_deep_proof_does_either(folder):
    frame, y = random_frame(np.random.default_rng(12), 13)
    frame = frame[["a", "c"]]
    fit = Fit(frame, y, depth=3, min_leaf=2, penalty=0.25, max_features=1)
    proof, table = written(fit, frame, y, folder, "deep")
    lines = lines_of(proof)
    assert any(anchor.left for anchor in fit.found.anchors)
    _, n = tried(lines, range(2, len(lines) - 1)[:8], frame, table, folder)
    assert n > 100


def tried(lines, numbers, frame, table, folder):
    """Check all mutants against brute force; return exit codes and their number."""
    truth, codes, n = {}, set(), 0
    for mutant in mutants(lines, numbers):
        write_lines(folder / "mutant.proof", mutant)
        outcome = check_proof(folder / "mutant.proof", table)
        codes.add(outcome.exit_code)
        n += 1
        if outcome.cost is None:
            assert outcome.sentence.startswith(("Not checked: ", "Does not hold: "))
            continue
        header = {k: v for k, v in mutant[0].items() if k != "claim"}
        key = json.dumps(header)
        if key not in truth:
            truth[key] = brute_force(header, frame)
        cost, least = truth[key]
        assert outcome.cost == cost, mutant[0]
        assert outcome.bound <= min(least, cost), mutant[0]
    return codes, n


def test_a_better_claim_is_not_confirmed(small, folder):
    lines, _, table = small
    for claim in ({"cost": 0.5, "bound": 0.5}, {**lines[0]["claim"], "bound": 1e9}):
        write_lines(folder / "claim.proof", put(lines, (0, "claim"), claim))
        outcome = check_proof(folder / "claim.proof", table)
        assert outcome.exit_code == 1
        assert outcome.sentence.startswith("Does not hold as claimed: the tree costs ")


def test_without_anchors_only_less_is_said(small, folder):
    lines, _, table = small
    full = check_proof(folder / "small.proof", table)
    none = [lines[0], {"section": "points-anchors", "lines": 0}, lines[-1]]
    write_lines(folder / "none.proof", none)
    outcome = check_proof(folder / "none.proof", table)
    assert (outcome.exit_code, outcome.cost) == (1, full.cost)
    assert outcome.bound < full.bound


def test_a_worse_tree_has_a_higher_cost(small, folder):
    lines, _, table = small
    leaf = next(k for k, node in enumerate(lines[0]["tree"]) if "class" in node)
    label = lines[0]["tree"][leaf]["class"]
    other = put(lines, (0, "tree", leaf, "class"), 1 - label)
    write_lines(folder / "worse.proof", other)
    outcome = check_proof(folder / "worse.proof", table)
    full = check_proof(folder / "small.proof", table)
    assert outcome.exit_code == 1
    assert outcome.cost > full.cost
    assert outcome.bound == full.bound


# ----------------------------------------------------------- damaged and hostile files


def refused(proof, table, words, **more):
    outcome = check_proof(proof, table, **more)
    assert outcome.exit_code == 2
    assert outcome.sentence.startswith("Not checked: ")
    assert words in outcome.sentence
    assert "\n" not in outcome.sentence


def test_damage_is_noticed_by_the_digest(small, folder):
    _, _, table = small
    content = (folder / "small.proof").read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.choice(len(content) - 200, 20, replace=False).tolist():
        harmed = bytearray(content)
        harmed[place] ^= 1
        (folder / "harmed.proof").write_bytes(harmed)
        assert check_proof(folder / "harmed.proof", table).exit_code == 2
    (folder / "harmed.proof").write_bytes(content[:-200])
    refused(folder / "harmed.proof", table, "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("\n\n", "not JSON"),
        ("{}\n" + "[" * 100_000 + "\n", "too deeply"),
        ('{"a":1,"a":2}\n{"digest":"x"}\n', "digest"),
        ("{}\n" * 3, "the last line"),
    ],
)
def test_what_is_no_proof_is_refused(small, folder, text, words):
    (folder / "none.proof").write_text(text)
    refused(folder / "none.proof", small[2], words)


@pytest.mark.parametrize(
    "number", ["NaN", "1e999999999", "9" * 50, "1" + "0" * 60 + ".5", "-Infinity"]
)
def test_numbers_that_are_traps_are_refused(small, folder, number):
    text = json.dumps({"digest": "x"}).replace('"x"', number)
    (folder / "trap.proof").write_text("{}\n" + text + "\n")
    refused(folder / "trap.proof", small[2], "proof file holds")


def test_files_and_work_have_limits(small, folder, monkeypatch):
    _, _, table = small
    proof = folder / "small.proof"
    refused(proof, table, "longer than allowed", minutes=0.0)
    monkeypatch.setattr(nodes, "MAX_ANCHORS", 3)
    refused(proof, table, "anchors")
    monkeypatch.setattr(proof_file, "MAX_BYTES", 100)
    refused(proof, table, "bytes")
    monkeypatch.undo()
    monkeypatch.setattr(data, "MAX_BYTES", 10)
    refused(proof, table, "bytes")


def test_data_that_do_not_fit_are_refused(small, folder):
    table = small[2]
    proof = folder / "small.proof"
    given = pd.read_csv(table)
    refused(folder / "missing.proof", table, "cannot be read")
    refused(proof, folder / "missing.csv", "cannot be read")
    for words, other in [
        ("13 rows", given.iloc[:-1]),
        ("has the label", given.assign(y=given["y"][::-1].to_numpy())),
        ("0 columns 'b'", given.drop(columns="b")),
        ("which is no number", given.assign(a="word")),
    ]:
        other.to_csv(folder / "other.csv", index=False)
        refused(proof, folder / "other.csv", words)
    (folder / "other.csv").write_bytes(b"\xff\xfe\x00")
    refused(proof, folder / "other.csv", "cannot be read as CSV")
