"""Rules on the command line: what is said of labels and of trees that are missing."""

import numpy as np
import pandas as pd
import pytest

from _cli import refused, run
from miptree import OptimalTreeClassifier, load_json
from miptree.constraints import ErrorRateParity, Signs

ERRORS = "--fair", "error-rate-parity:0.9"


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 60)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).assign(sex=sex)
    table["paid"] = np.where(table["a"] + (sex == "m") > 0.5, "yes", "no")
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    return path


def test_a_tree_that_was_not_found_is_not_said_not_to_be_there(people):
    options = "--target", "paid", "--sensitive", "sex", "--time-limit", 0
    rule = "--fair", "error-rate-parity", "--bounds", "0"
    result = run("trade-off", people, *options, *rule)
    assert result.exit_code == 2
    assert "With a bound of 0: No tree" in result.stderr
    assert "is not proved" in result.stderr
    assert "there is no tree" not in result.stderr
    assert "Error: None of the bounds gave a tree" in result.stderr
    assert "accuracy" not in result.stdout


def fit_of(people, *options):
    given = "--target", "paid", "--solver", "search", "--time-limit", 0.3
    result = run("fit", people, *given, "--sensitive", "sex", *options)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_a_rule_on_errors_is_about_no_label(people):
    words = "is about the label yes"
    assert words not in fit_of(people, "--fair", "error-rate-parity:0.9")
    assert f"--fair {words}" in fit_of(people, "--fair", "equalized-odds:0.9")
    both = fit_of(people, "--fair", "error-rate-parity:0.9", "--monotone", "a:+1")
    assert f"--monotone {words}" in both
    assert "--fair" not in both


def test_a_rule_on_errors_takes_no_label_that_is_not_there():
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    rule = ErrorRateParity(difference_bound=0.5, positive_label="zzz")
    clf = OptimalTreeClassifier(constraints=[rule], solver="search", max_iter=1)
    with pytest.raises(ValueError, match="names the label 'zzz', which is not a class"):
        clf.fit(X, y, sensitive_features=y)


def test_signs_are_written_as_directions_are(people, tmp_path):
    out = tmp_path / "model.json"
    given = "--signs", "a:+1", "--signs", "b:-1", "--out", out
    told = fit_of(people, *given, "--positive", "no")
    assert load_json(out).constraints_[0] == Signs({"a": 1, "b": -1}, "no")
    assert "raising 'a' leads to the side with less of 'no'" in told
    assert "--signs is about the label yes" in fit_of(people, "--signs", "a:+1")
    words = "--signs names 'a' with +1 and with -1"
    fit = "fit", people, "--target", "paid"
    assert words in refused(*fit, "--signs", "a:+1", "--signs", "a:-1")
    assert "works without --signs" in refused(
        *fit, "--signs", "a:+1", "--style", "points"
    )


@pytest.mark.parametrize(
    "rule", [[], ["--sensitive", "sex", *ERRORS], ["--min-leaf", 3]]
)
def test_a_label_that_no_rule_is_about_is_refused(people, rule):
    given = "fit", people, "--target", "paid", "--positive", "yes", *rule
    assert "--positive names the label that --fair, --monotone, " in refused(*given)
