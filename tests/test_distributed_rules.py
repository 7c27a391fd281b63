"""Distributed fits under constraints: kept on all rows, counted where the rows lie."""

import numpy as np
import pandas as pd
import pytest

from _cli import refused, run
from _kept import is_kept
from _partitioned import quick_model
from miptree import distributed, load_json, save_json, verify_model
from miptree.constraints import (
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FixedSplit,
    ForbidFeatures,
    MaxCost,
    MaxRate,
    MinLeaf,
    MinRate,
    Monotone,
)
from miptree.constraints.errors import ImpossibleConstraintsError, NoTreeFoundError
from miptree.data.groups import RowGroups, joined_groups
from miptree.objective.bounds import COUNTING

dd = pytest.importorskip("dask.dataframe")
FEATURES = ["a", "b", "c"]


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += sex == "m"
    y = (X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=n) > 0.3).astype(int)
    return pd.DataFrame(X, columns=FEATURES).assign(sex=sex, y=y)


def fitted(table, constraints, n_parts=4, **given):
    options = {"sensitive": ["sex"], "max_rows": 200} | given
    model = quick_model(constraints=constraints, l1_penalty=1.0)
    parts = dd.from_pandas(table, npartitions=n_parts)
    return distributed.fit(parts, "y", classifier=model, **options)


@pytest.mark.parametrize(
    "constraints",
    [
        [DemographicParity(difference_bound=0.02), MinLeaf(rows=40)],
        [EqualizedOdds(difference_bound=0.05)],
        [ErrorRateParity(difference_bound=0.01, versus="pairs"), MinRate(1, 0.4)],
        [MaxRate(1, 0.1, on="negatives"), MaxCost(200)],
    ],
)
def test_rules_are_kept_on_all_rows(constraints):
    table = people()
    clf = fitted(table, constraints)
    X, y, sex = table[FEATURES], table["y"].to_numpy(), table["sex"].to_numpy()
    for constraint in constraints:
        assert is_kept(constraint, clf, X, y, sex), constraint
    found = verify_model(clf, X, y, sensitive_features=table["sex"])
    assert found.ok, found
    assert clf.constraints_ == tuple(constraints)
    assert clf.certificate_.free_objective <= clf.certificate_.objective
    assert clf.certificate_.errors < 250


def test_what_counting_proves_is_in_the_bound_of_the_tree():
    table = people()
    clf = fitted(table, [MaxRate(1, 0.2)])
    found = clf.certificate_
    assert found.rules_bound == (table["y"] == 1).sum() - 0.2 * len(table)
    assert (clf.bound_, found.objective_proved_by) == (found.rules_bound, COUNTING)
    assert found.free_bound < found.rules_bound  # which is of trees that keep it
    assert verify_model(clf, table[FEATURES], table["y"]).ok


def test_the_parts_do_not_change_what_is_counted(tmp_path):
    weight = np.random.default_rng(1).choice([0.1, 1.0, 2.5], 600)
    table = people().assign(weight=weight)
    rules = [DemographicParity(difference_bound=0.03), MinLeaf(weight=50.5)]
    clf = fitted(table, rules, n_parts=3, weights="weight")
    given = {"sensitive_features": table["sex"]}
    X, y = table[FEATURES], table["y"]
    assert verify_model(clf, X, y, weight, **given).ok
    save_json(clf, tmp_path / "m.json")
    assert load_json(tmp_path / "m.json").constraints_ == tuple(rules)
    shifted = table.assign(sex=np.roll(table["sex"], 1))["sex"]
    assert not verify_model(clf, X, y, weight, sensitive_features=shifted).ok


@pytest.mark.parametrize(
    "rule",
    [FixedSplit(0, {"a": 1}, 0), Monotone({"a": 1}, 1), ForbidFeatures(["a"])],
)
def test_rules_that_need_more_than_counts_are_refused(rule):
    with pytest.raises(ValueError, match="not supported out of memory, where rates"):
        fitted(people(), [rule])


def test_rules_that_cannot_be_kept_are_told_apart():
    table = people()
    with pytest.raises(ImpossibleConstraintsError, match="Proved: no such tree exists"):
        fitted(table, [MaxRate(1, 0.1), MinRate(1, 0.9)])
    with pytest.raises(NoTreeFoundError, match="The nearest tree: The cost of the err"):
        fitted(table, [MaxCost(1)])
    parity = DemographicParity(difference_bound=0.1)
    with pytest.raises(ValueError, match="fit got no sensitive_features"):
        fitted(table, [parity], sensitive=(), drop=["sex"])
    with pytest.raises(ValueError, match="There is no column 'gender'"):
        fitted(table, [MinLeaf(rows=5)], sensitive="gender")


def test_rules_on_the_command_line(tmp_path):
    table = people()
    table["y"] = np.where(table["y"] == 1, "yes", "no")
    for number, part in enumerate((table[:250], table[250:])):
        part.to_csv(tmp_path / f"{number}.csv", index=False)
    table.to_csv(tmp_path / "all.csv.gz", index=False)
    fit = ["fit", tmp_path / "*.csv", "--target", "y", "--engine", "dask"]
    fair = ["--sensitive", "sex", "--fair", "demographic-parity:0.02"]
    out = tmp_path / "model.json"
    answer = run(*fit, *fair, "--min-leaf", 40, "--time-limit", 0, "--out", out)
    assert answer.exit_code == 0, answer.output
    assert "--fair is about the label yes, the second one" in answer.stderr
    assert "It keeps 2 rules" in answer.stdout
    assert run("verify", out, tmp_path / "all.csv.gz").exit_code == 0
    for option, value in (
        ("--forbid", "a"),
        ("--monotone", "a:+1"),
        ("--allow", "a"),
        ("--allow-at", "depth=0:a"),
        ("--fixed-split", "0:a <= 1"),
    ):
        words = f"{option} works without --engine dask, which keeps rules that need on"
        assert words in refused(*fit, *fair, option, value)
    wrong = refused(*fit, *fair, "--positive", "maybe")
    assert "names the label 'maybe', which is not a class" in wrong
    assert "There is no column 'z'" in refused(*fit[:3], "z", *fit[4:], *fair)
    assert "There is no column 'age'" in refused(*fit, "--sensitive", "age", *fair)
    assert "name their column with --sensitive" in refused(*fit, *fair[2:])


def test_groups_that_are_left_out_are_compared_all_the_same():
    clf = fitted(people(), [DemographicParity(difference_bound=0.1)], drop=["sex", "b"])
    assert "sex" not in clf.feature_names_in_
    (rule,) = clf.certificate_.rules
    assert "of the groups of 'sex'" in rule


def test_groups_of_several_tables_are_joined():
    one = RowGroups.of(np.array(["b", "c"]), None, np.array([0.5, 1.0]))
    two = RowGroups.of(np.array(["a", "b"]), None, np.array([1.0, 0.25]))
    both = joined_groups([one, two])
    assert both.sensitive.names == ("a", "b", "c")
    assert both.sensitive.code.tolist() == [1, 2, 0, 1]
    assert [float(w * both.unit) for w in both.weight] == [0.5, 1.0, 1.0, 0.25]
