"""Rules on the command line: what is written, told and refused."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from _cli import refused, run
from _ruled import biased
from miptree import load_json
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    FixedSplit,
    ForbidFeatures,
    MaxRate,
    MinLeaf,
    MinRate,
    Monotone,
)

PARITY = ["--fair", "demographic-parity:0.05"]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    X, y, groups = biased(60)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(sex=groups)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    table.assign(paid=np.where(y == 1, "yes", "no")).to_csv(path, index=False)
    return path


def test_the_command_line_keeps_rules_and_verifies_them(people, tmp_path):
    out = tmp_path / "model.json"
    result = run(
        *("fit", people, "--target", "paid", "--solver", "search", "--time-limit", 1),
        *("--sensitive", "sex", "--fair", "demographic-parity:0.05:pairs"),
        *("--min-leaf", 10),
        *("--max-rate", "yes:0.9:negatives", "--min-rate", "no:0.1", "--forbid", "c"),
        *("--monotone", "a:+1", "--out", out),
    )
    assert result.exit_code == 0, result.output
    assert "keeps 7 rules" in " ".join(result.output.split())
    assert load_json(out).constraints_ == (
        DemographicParity(difference_bound=0.05, versus="pairs"),
        MinLeaf(rows=10),
        MaxRate("yes", 0.9, on="negatives"),
        MinRate("no", 0.1),
        ForbidFeatures(["c"]),
        Monotone({"a": 1}, "yes"),
        ForbidFeatures(["sex"]),
    )
    assert run("verify", out, people).exit_code == 0
    told = " ".join(run("evaluate", out, people).output.split())
    assert "Rule 2 in training: Every leaf holds" in told
    assert "Rule 1 on these rows: The rates of" in told
    assert "Rule 7 in training: No split uses 'sex': kept." in told
    assert "Rule 2 on these rows" not in told  # it is about training rows
    assert "Rule 7 on these rows" not in told  # it is about the tree
    table = pd.read_csv(people)
    table[table["sex"] == "f"].to_csv(tmp_path / "women.csv", index=False)
    done = run("evaluate", out, tmp_path / "women.csv")
    assert done.exit_code == 0
    assert "not counted on these rows: DemographicParity compares gr" in done.output
    assert "Rule 7 in training" in done.output
    page = tmp_path / "page.html"
    done = run("report", out, people, "--test", people, "--out", page)
    assert done.exit_code == 0, done.output
    found = re.search(r'"rules": (\{.*?"tested": true\})', page.read_text())
    rates = json.loads(found.group(1))["rules"][0]["rates"]
    assert [line[0] for line in rates] == ["'f'", "'m'", "all", "largest difference"]
    assert all(here == there for _, here, there in rates)


def test_rules_count_the_weights_of_new_rows_as_well(people, tmp_path):
    out, page, path = (tmp_path / name for name in ("m.json", "p.html", "heavy.csv"))
    table = pd.read_csv(people)
    table.assign(heavy=1.0 + (table["a"] > 0)).to_csv(path, index=False)
    done = run(
        *("fit", path, "--target", "paid", "--solver", "search", "--time-limit", 1),
        *("--weights", "heavy", "--max-rate", "yes:0.4", "--out", out),
    )
    assert done.exit_code == 0, done.output
    told = run("evaluate", out, path).output.splitlines()
    here = next(line for line in told if "Rule 1 on these rows" in line)
    assert here.replace("on these rows", "in training") in told
    done = run("report", out, path, "--test", path, "--out", page)
    assert done.exit_code == 0, done.output
    found = re.search(r'"rules": (\{.*?"tested": true\})', page.read_text())
    ((_, of_fit, of_test),) = json.loads(found.group(1))["rules"][0]["rates"]
    assert of_fit == of_test
    unweighted = " ".join(run("evaluate", out, people).output.split())
    assert "no column 'heavy' of weights: each of these rows counts 1" in unweighted


def test_weights_of_new_rows_are_read_only_where_rules_count_them(people, tmp_path):
    out, page, path = (tmp_path / name for name in ("m.json", "p.html", "heavy.csv"))
    table = pd.read_csv(people)
    table.assign(heavy=1.0 + (table["a"] > 0)).to_csv(path, index=False)
    gaps = tmp_path / "gaps.csv"
    table.assign(heavy="").to_csv(gaps, index=False)
    fit = ("fit", path, "--target", "paid", "--solver", "search", "--time-limit", 1)
    done = run(*fit, "--weights", "heavy", "--out", out)
    assert done.exit_code == 0, done.output
    done = run("report", out, path, "--test", gaps, "--out", page)
    assert done.exit_code == 0, done.output
    done = run(*fit, "--weights", "heavy", "--min-leaf", 10, "--out", out, "--force")
    assert done.exit_code == 0, done.output
    told = " ".join(run("evaluate", out, people).output.split())
    assert "Rule 1 in training: Every leaf holds" in told
    assert "of weights" not in told


def test_rules_on_splits_are_written_on_the_command_line(people, tmp_path):
    out = tmp_path / "model.json"
    result = run(
        *("fit", people, "--target", "paid", "--solver", "search", "--time-limit", 1),
        *("--allow", "a", "--allow", "b", "--allow-at", "node=2:a", "--drop", "sex"),
        *("--fixed-split", "0:b - 0.5 * a <= -0.25", "--out", out),
    )
    assert result.exit_code == 0, result.output
    assert load_json(out).constraints_[:3] == (
        AllowFeatures(["a", "b"]),
        AllowFeatures(["a"], node=2),
        FixedSplit(0, {"b": 1, "a": -0.5}, -0.25),
    )
    assert run("verify", out, people).exit_code == 0


def test_what_a_rule_costs_is_shown_and_drawn(people, tmp_path):
    given = "trade-off", people, "--target", "paid", "--sensitive", "sex"
    given += "--bounds", "0.2,0.02", "--time-limit", 0.3, "--test", people
    result = run(*given, "--out", tmp_path / "curve.csv")
    assert result.exit_code == 0, result.output
    table = pd.read_csv(tmp_path / "curve.csv")
    assert table["bound"].tolist() == [0.02, 0.2]
    assert (table["value"] <= table["bound"]).all()
    assert (table["value"] == table["test_value"]).all()
    assert "What DemographicParity costs" in result.output
    done = run(*given, "--out", tmp_path / "curve.png")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert "--bounds must be numbers" in refused(*given, "--bounds", "low")
    assert "names the target 'paid'" in refused(*given, "--sensitive", "paid")
    assert "must end in .png" in refused(*given, "--out", tmp_path / "curve.txt")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--allow-at", "root:a"], "--allow-at must be depth= or node="),
        (["--fixed-split", "0:a < 3"], "--fixed-split must be a node, a colon"),
        (["--fixed-split", "0:two * a <= 3"], "such as '0:bmi <= 27'"),
        (PARITY, "name their column with --sensitive"),
        (["--sensitive", "sex", "--fair", "parity:1"], "--fair must be one of"),
        (["--sensitive", "sex", "--fair", "equalized-odds:1:all"], "with :pairs after"),
        (["--control", "sex", "--min-leaf", 5], "--control names groups within which"),
        (["--max-rate", "yes"], "--max-rate must be a label, a colon and a rate"),
        (["--min-rate", "yes:many"], "has 'many' in place of a number"),
        (["--max-rate", "perhaps:0.5"], "names the label 'perhaps'"),
        (["--monotone", "a:up"], "--monotone must be a column, a colon and +1"),
        (["--monotone", "a:+1", "--monotone", "a:-1"], "contradict each other"),
        (["--sensitive", "paid", *PARITY], "--sensitive names the target 'paid'"),
        (["--forbid", "a", "--engine", "dask"], "works without --engine dask"),
        (["--min-leaf", 5, "--style", "points"], "works without --min-leaf"),
        (["--min-leaf", 500], "Proved: no such tree exists"),
    ],
)
def test_wrong_rules_are_one_plain_line(options, words, people):
    assert words in refused("fit", people, "--target", "paid", *options)
