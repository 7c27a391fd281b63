"""The checker of proof files: it confirms what holds and never states what does not."""

import copy
import csv
import gzip
import hashlib
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
from miptree.checker import (
    check_proof,
    data,
    nodes,
    points_check,
    proof_file,
    values,
)

pytestmark = pytest.mark.usefixtures("bugs_show")

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


@pytest.mark.parametrize("seed", range(4))
def test_depth_3_with_large_leaves(folder, seed):
    rng = np.random.default_rng(seed)
    frame, y = random_frame(rng, 30)
    fit = Fit(frame[["a", "b", "c"]], y, depth=3, min_leaf=2 + seed, penalty=0.1)
    proof, table = written(fit, frame, y, folder, "leaves")
    outcome = check_proof(proof, table)
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.bound == outcome.cost


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_more_classes_than_leaves(folder, depth):
    """The bound of an open proof counts the classes that no leaf predicts."""
    rng = np.random.default_rng(depth)
    frame, _ = random_frame(rng, 60)
    y = rng.integers(0, 2**depth + 3, 60)
    fit = Fit(frame, y, depth=depth, max_evaluations=1)
    proof, table = written(fit, frame, y, folder, "classes")
    outcome = check_proof(proof, table)
    assert outcome.exit_code == 0, outcome.sentence
    fewest = np.sort(np.bincount(y))[:3].sum()
    assert fewest <= outcome.bound <= outcome.cost


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_rounded_costs_are_confirmed(folder, scale):
    """A cheap tree among dear rows: rounding is more than a part of its cost."""
    rng = np.random.default_rng(3)
    frame, y = random_frame(rng, N)
    y = np.where(frame["a"] > 2, "pos", "neg")
    y[:2] = "neg", "pos"
    weight = rng.random(N) * scale
    weight[:2] = rng.random(2) * 1e-8
    fit = Fit(frame, y, weight=weight)
    outcome = check_proof(*written(fit, frame, y, folder, "rounded"))
    assert fit.certificate.cost_rounding > 0
    assert outcome.exit_code == 0, outcome.sentence


def test_a_claim_beyond_rounding_is_not_confirmed(folder):
    rng = np.random.default_rng(5)
    frame, y = random_frame(rng, N)
    fit = Fit(frame, y, weight=rng.random(N))
    proof, table = written(fit, frame, y, folder, "claims")
    lines, bound = lines_of(proof), fit.certificate.objective_bound
    for excess, words in [(0.0, "Checked: the tree"), (1e-6, "Does not hold as")]:
        write_lines(proof, put(lines, (0, "claim", "bound"), bound + excess))
        assert check_proof(proof, table).sentence.startswith(words)


def test_rounding_that_explains_a_claim_is_told(folder):
    """Rows of 1e12 beside an error of about 1e-5: rounding is a part of 1e-9 of it."""
    frame = pd.DataFrame({"a": [0.0, 0.0, 1.0, 1.0]})
    fit = Fit(frame, [0, 1, 1, 1], depth=1, weight=[1e12 / 7, 1.1e-5 / 7, 1, 1e12 / 3])
    proof, table = written(fit, frame, [0, 1, 1, 1], folder, "told")
    lines = lines_of(proof)
    lines[0]["claim"]["bound"] = lines[0]["claim"]["cost"]
    write_lines(proof, lines)
    outcome = check_proof(proof, table)
    assert outcome.exit_code == 0, outcome.sentence
    assert outcome.bound < outcome.cost
    assert "more by no more than rounding of the costs explains" in outcome.sentence


def test_the_sentence_says_all_that_was_used(folder):
    frame, y = random_frame(np.random.default_rng(3), N)
    fit = Fit(frame, y, penalty=0.5, min_leaf=2, weight=np.full(N, 2.0))
    proof, table = written(fit, frame, y, folder)
    assert check_proof(proof, table).sentence == (
        f"Checked: the tree costs {fit.certificate.objective:g} on these {N} rows "
        "labelled by 'y' (with the weights of the proof file), and no points tree of "
        "depth 2 on the grid of the proof file with at most 2 features a split, points "
        "up to 1 (1 or 4 for a yes/no column beside one number, such as 4 smoker=yes + "
        "age; the same for values of one category), at least 2 rows a leaf and a "
        "cost of 0.5 for each feature in a split costs less."
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
    assert done.exit_code == 1
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
    assert codes == {0, 1}


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
        words = "Does not hold as claimed: the file claims that its tree costs "
        assert outcome.sentence.startswith(words)
        assert (
            "not shown. With these data the proof shows only that the tree costs "
            in (outcome.sentence)
        )
        assert outcome.sentence.endswith("with their rows in the same order?")


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

HEADER = '{"format":"miptree-proof"}\n'


def refused(proof, table, words, code=1, **more):
    outcome = check_proof(proof, table, **more)
    assert outcome.exit_code == code
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
        assert check_proof(folder / "harmed.proof", table).exit_code == 1
    (folder / "harmed.proof").write_bytes(content[:-200])
    refused(folder / "harmed.proof", table, "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "no proof file, which begins with a line of JSON"),
        ("a,b\n1,2\n", "The fit writes one: miptree fit --proof-log FILE"),
        ('{\n "format": "miptree-model"\n}\n', "this is no proof file, which"),
        ('{"format":"miptree-proof",', "cut off or damaged: its last line is not"),
        (HEADER + '{"digest":' + "[" * 100_000 + "\n", "too deeply"),
        (HEADER + '{"digest":"x"}\n', "does not fit its digest"),
        (HEADER + '{"digest":\n', "damaged: it holds a line that is not JSON"),
        (HEADER * 3, "cut off or damaged: its last line is not"),
    ],
)
def test_what_is_no_proof_is_refused(small, folder, text, words):
    (folder / "none.proof").write_text(text)
    refused(folder / "none.proof", small[2], words)


@pytest.mark.parametrize(
    "number",
    [
        "NaN",
        "1e999999999",
        "1e99999999999999999999",
        "9" * 50,
        "1" + "0" * 60 + ".5",
        "-Infinity",
    ],
)
def test_numbers_that_are_traps_are_refused(small, folder, number):
    text = json.dumps({"digest": "x"}).replace('"x"', number)
    (folder / "trap.proof").write_text(HEADER + text + "\n")
    refused(folder / "trap.proof", small[2], "proof file holds")


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ([0, 1, 1.0], "a class twice"),
        ([0, 2**53, 2**53 + 1], "too large"),
        ([0, 1, None], "texts or numbers"),
    ],
)
def test_classes_differ_as_labels_are_read(small, folder, classes, words):
    lines = copy.deepcopy(small[0])
    lines[0]["classes"] = classes
    write_lines(folder / "classes.proof", lines)
    refused(folder / "classes.proof", small[2], words)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"cuts": ["@"]}, "'cuts' of the proof file holds a number that is too large"),
        ({"fill": "@"}, "'fill' of the proof file holds a number that is too large"),
        ({"kind": ["x"]}, "unknown kind"),
        ({"kind": {}}, "unknown kind"),
    ],
)
def test_odd_columns_are_refused(small, folder, column, words):
    lines = copy.deepcopy(small[0])
    lines[0]["columns"][0] |= column
    text = "".join(json.dumps(line) + "\n" for line in lines[:-1])
    text = text.replace('"@"', "1e390")
    digest = {"digest": hashlib.sha256(text.encode()).hexdigest()}
    (folder / "column.proof").write_text(text + json.dumps(digest) + "\n")
    refused(folder / "column.proof", small[2], words)


@pytest.mark.parametrize("missing", ["a\0b", "nowhere", "."])
def test_a_file_that_is_none_is_a_bad_call(small, folder, missing):
    refused(folder / missing, small[2], "cannot be read", 2)
    refused(folder / "small.proof", folder / missing, "cannot be read", 2)


def test_data_that_are_no_table_are_a_bad_call(small, folder):
    proof, table = folder / "small.proof", folder / "odd.csv"
    packed = gzip.compress(small[2].read_bytes())
    for content in (b"\xff\xfe\x00", b"", b"a,b\n", packed[:-9], b'"' * 200_000):
        table.write_bytes(content)
        refused(proof, table, "The data '", 2)
    refused(proof, small[2], "no column 'z' to be the target", 2, target="z")


def test_a_packed_proof_that_is_damaged_is_said_to_be(small, folder):
    content = gzip.compress((folder / "small.proof").read_bytes())
    middle = len(content) // 2
    other_sum = content[:-8] + bytes(4) + content[-4:]
    for harmed in (content[:middle], other_sum, content[:9] + b"?" + content[10:90]):
        (folder / "packed.proof").write_bytes(harmed)
        text = "is damaged or cut off: what is packed in it cannot be unpacked."
        refused(folder / "packed.proof", small[2], text)


def test_a_bad_call_is_said_on_standard_error(small, folder):
    done = run("check", folder / "nowhere", small[2])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "cannot be read: No such file" in " ".join(done.stderr.split())


def test_the_last_net_is_a_sentence(small, folder, monkeypatch):
    def fail(*_):
        raise OverflowError("surprise")

    monkeypatch.undo()  # the net that `bugs_show` takes away
    monkeypatch.setattr(points_check, "Family", fail)
    refused(folder / "small.proof", small[2], "cannot read (OverflowError)")


def test_values_are_counted_before_they_are_made(small, folder, monkeypatch):
    lines, _, table = small
    with monkeypatch.context() as few:
        few.setattr(values, "MAX_ITEMS", 1000)
        write_lines(folder / "bomb.proof", [[proof_file.FORMAT] * 1001, {}])
        refused(folder / "bomb.proof", table, "more than 1000 values", 2)
    with monkeypatch.context() as few:
        few.setattr(proof_file, "MAX_LINES", 1000)
        (folder / "bomb.proof").write_bytes(b"\n" * 2000)
        refused(folder / "bomb.proof", table, "lines", 2)
    many = put(lines, (0, "columns", 2, "values"), [str(k) for k in range(2000)])
    write_lines(folder / "bomb.proof", many)
    refused(folder / "bomb.proof", table, "'values' of the proof file")
    monkeypatch.setattr(data, "MAX_CELLS", 10)
    refused(folder / "small.proof", table, "columns of numbers", 2)


def test_files_and_work_have_limits(small, folder, monkeypatch):
    _, _, table = small
    proof = folder / "small.proof"
    refused(proof, table, "longer than allowed", 2, minutes=0.0)
    monkeypatch.setattr(nodes, "MAX_ANCHORS", 3)
    refused(proof, table, "anchors", 2)
    monkeypatch.setattr(proof_file, "MAX_BYTES", 100)
    refused(proof, table, "bytes", 2)
    monkeypatch.undo()
    monkeypatch.setattr(data, "MAX_BYTES", 10)
    refused(proof, table, "bytes", 2)


def test_data_that_do_not_fit_are_refused(small, folder):
    table = small[2]
    proof = folder / "small.proof"
    given = pd.read_csv(table)
    for words, other in [
        ("13 rows", given.iloc[:-1]),
        ("in the proof file it is", given.assign(y=given["y"].iloc[0])),
        ("seem to be in another order", given[::-1]),
        ("no column 'b'", given.drop(columns="b")),
        ("which is no number", given.assign(a="word")),
    ]:
        other.to_csv(folder / "other.csv", index=False)
        refused(proof, folder / "other.csv", words)
