"""Rules on the command line: what is said of labels and of trees that are missing."""

import numpy as np
import pandas as pd
import pytest

from _cli import run


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
