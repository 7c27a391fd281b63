"""How the commands read tables and show things: what the file says, and no crash."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from _cli import refused, run
from miptree import OptimalTreeClassifier, evaluate, load_json, save_json

QUICK = {"max_iter": 50, "solver": "search", "time_limit": None, "random_state": 0}


def saved(folder, X, y):
    """A model of depth 1 in a file, as `miptree fit` would write it."""
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y)
    path = folder / "model.json"
    save_json(clf, path, metadata={"target": "y", "weights": None})
    return path


def line_table(labels):
    """Twenty rows on a line, ten of each label, with a wide gap between them."""
    x = np.r_[0.0:10, 90:100]
    return pd.DataFrame({"x": x}), np.where(x < 10, labels[0], labels[1])


# ------------------------------------------------------------------------- labels


@pytest.mark.parametrize("labels", [(0, 1), (0.0, 1.0), ("0", "1"), ("0", "2+")])
@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_labels_are_compared_by_what_the_file_says(tmp_path, labels, end):
    """A word among numbers, or only numbers of words, change the type of a column."""
    X, y = line_table(labels)
    model = saved(tmp_path, X, y)
    path = tmp_path / f"data.{end}"

    def right(rows):
        rows.to_parquet(path) if end == "parquet" else rows.to_csv(path, index=False)
        return run("evaluate", model, path).stdout

    mixed = X.assign(y=[*y.astype(str)[:-1], "other"])
    found = right(mixed)
    assert "19 of 20 rows right" in found
    assert "other" in found
    assert "is no class of the model" in refused(
        "report", model, path, "--out", tmp_path / "page.html"
    )
    assert run("verify", model, path).exit_code == 1
    assert "10 of 10 rows right" in right(X.assign(y=y)[:10])
    right(X.assign(y=y))
    assert run("verify", model, path).exit_code == 0


def test_whole_numbers_and_truth_values_as_labels(tmp_path):
    X, y = line_table((1, 2))
    model = saved(tmp_path, X, y)
    X.assign(y=y.astype(float)).to_csv(tmp_path / "data.csv", index=False)
    assert "1.0" in (tmp_path / "data.csv").read_text()
    found = run("evaluate", model, tmp_path / "data.csv").stdout
    assert "20 of 20 rows right" in found
    model.unlink()
    model = saved(tmp_path, X, y == 1)
    words = [*np.where(y == 1, "TRUE", "false")[:-1], "perhaps"]
    X.assign(y=words).to_csv(tmp_path / "data.csv", index=False)
    found = run("evaluate", model, tmp_path / "data.csv").stdout
    assert "19 of 20 rows right" in found


def test_leading_zeros_make_classes_and_categories(tmp_path):
    """A fit once took 01 for 1, and proved the tree of the two classes left."""
    table, model = tmp_path / "data.csv", tmp_path / "model.json"
    codes = ["01", "1", "2"] * 10
    rows = [f"{code},{'yes' if code == '01' else 'no'}" for code in codes]
    table.write_text("\n".join(["code,y", *rows]))
    options = ("--style", "points", "--out", model, "--force")
    found = run("fit", table, "--target", "y", "--categorical", "code", *options)
    assert "code = 01" in found.stdout
    table.write_text("\n".join(["x,y", *(f"{k % 3},{codes[k]}" for k in range(30))]))
    run("fit", table, "--target", "y", *options)
    assert load_json(model).classes_.tolist() == ["01", "1", "2"]
    assert "30 of 30 rows right" in run("evaluate", model, table).stdout
    assert {"01", "1", "2"} == {
        line.split(",")[0] for line in run("predict", model, table).stdout.split()[1:]
    }


def test_labels_with_decimal_commas(tmp_path):
    X, y = line_table((1.0, 3.0))
    model = saved(tmp_path, X, y)
    X.assign(y=np.where(X["x"] < 10, "1,0", "3,0")).to_csv(
        tmp_path / "data.csv", index=False, sep=";"
    )
    found = run("evaluate", model, tmp_path / "data.csv").stdout
    assert "20 of 20 rows right" in found


def test_evaluate_in_python_keeps_numbers_beside_words():
    X, y = line_table((0, 1))
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y)
    assert evaluate(clf, X, [*y.tolist()[:-1], "other"]).n_right == 19


# ------------------------------------------------------------------------- tables


def test_a_comma_at_the_end_of_rows_shifts_nothing(tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "model.json"
    path.write_text("a,b,y\n" + "".join(f"{k},7,{k // 5},\n" for k in range(10)))
    fit = ["fit", path, "--target", "y", "--solver", "search", "--depth", 1]
    result = run(*fit, "--time-limit", 2, "--out", model)
    assert result.exit_code == 0, result.output
    assert load_json(model).classes_.tolist() == [0, 1]
    assert result.stdout.startswith(("a <= ", "a >= "))


@pytest.mark.parametrize("rows", ["1,2,0,7\n3,4,1,8\n", "1,2,0,\n3,4,1,8\n"])
def test_rows_longer_than_the_header_are_refused(tmp_path, rows):
    path = tmp_path / "data.csv"
    path.write_text("a,b,y\n" + rows)
    assert "more fields than its header" in refused("fit", path, "--target", "y")


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_text_that_looks_like_numbers_is_text_where_training_had_text(tmp_path, end):
    code = np.array(["0", "1", "2", "x"] * 5)
    y = np.where(np.isin(code, ["0", "x"]), "yes", "no")
    model = saved(tmp_path, pd.DataFrame({"code": code}), y)
    new, path = pd.DataFrame({"code": [0, 1, 2], "y": "no"}), tmp_path / f"new.{end}"
    new.to_parquet(path) if end == "parquet" else new.to_csv(path, index=False)
    found = run("predict", model, path)
    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["yes", "no", "no"]
    assert "2 of 3 rows right" in run("evaluate", model, path).stdout


def test_a_word_among_numbers_is_named_with_its_row(tmp_path):
    model = saved(tmp_path, *line_table(("a", "b")))
    path = tmp_path / "new.csv"
    path.write_text("x\n1\n2\n\noops\n4\n".replace("\n\n", '\n""\n'))
    message = refused("predict", model, path)
    assert "'x' held numbers in training and holds 'oops' in row 4 (row 1" in message
    path.write_text("x;z\n1,5;a\n2,5;b\noops;c\n4,5;d\n")  # with decimal commas
    assert "holds 'oops' in row 3 (row 1" in refused("predict", model, path)


# ------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "dask", "--categorical", "a"], "leave out --categorical"),
        (["--tune", "--solver", "highs"], "leave out --solver highs"),
        (["--tune", "--engine", "dask"], "--tune works without"),
        (["--engine", "spark"], "--engine must be memory or dask"),
    ],
)
def test_options_that_would_be_ignored_are_refused(tmp_path, options, message):
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,0\n2,1\n")
    assert message in refused("fit", path, "--target", "y", *options)


def test_a_tuning_without_a_finished_fold_says_so(tmp_path):
    X, y = line_table(("a", "b"))
    X.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    fit = ["fit", tmp_path / "data.csv", "--target", "y", "--tune"]
    found = run(*fit, "--time-limit", 0)
    assert found.exit_code == 0, found.output
    assert "The time limit left no fold finished" in found.stderr
    assert "unknown, as no fold was finished" in found.stdout
    assert "nan" not in found.stdout


# ------------------------------------------------------------------------ messages


def test_warnings_are_one_plain_line(tmp_path):
    model = saved(tmp_path, *line_table(("a", "b")))
    path = tmp_path / "new.csv"
    path.write_text('x\n1\n""\n')
    found = run("predict", model, path)
    assert found.exit_code == 0
    (line,) = found.stderr.splitlines()
    assert line.startswith("Warning: Column 'x' has 1 missing value,")


def test_one_class_is_told_plainly(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,z\n2,z\n")
    assert refused("fit", path, "--target", "y").endswith("got one class: 'z'.")


def test_a_report_on_rows_of_one_class_says_what_to_do(tmp_path):
    X, y = line_table(("a", "b"))
    model = saved(tmp_path, X, y)
    X.assign(y=y)[:10].to_csv(tmp_path / "data.csv", index=False)
    command = ["report", model, tmp_path / "data.csv", "--out", tmp_path / "p.html"]
    assert "all rows are of class 'a'" in refused(*command)


def fit_in_a_process(folder, arguments, **options):
    """`miptree fit` of a small table with a name that ASCII does not have."""
    X, y = line_table(("größer", "kleiner"))
    X.assign(y=y).to_csv(folder / "data.csv", index=False)
    program = "from miptree.cli import main; main()"
    command = [sys.executable, "-c", program, "fit", "data.csv", "--target", "y"]
    command += ["--solver", "search", *arguments]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def test_a_model_is_saved_though_nobody_reads_the_output(tmp_path):
    process = fit_in_a_process(tmp_path, ["--time-limit", "1", "--out", "model.json"])
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.wait()
    assert "Traceback" not in errors
    assert "Error" not in errors
    assert json.loads((tmp_path / "model.json").read_text())["format"]


def test_a_terminal_without_the_characters_is_no_error(tmp_path):
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    # A busy machine needs seconds to load the kernels.
    options = ["--time-limit", "5", "--out", "model.json"]
    process = fit_in_a_process(tmp_path, options, env=ascii_only)
    shown, errors = process.communicate()
    assert process.returncode == 0, errors
    assert b"|- yes: class " in shown
    assert b"gr\\xf6\\xdfer" in shown
    assert load_json(tmp_path / "model.json").classes_.tolist()[0] == "größer"


def test_a_target_that_names_rows_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,number,y\n" + "".join(f"{k},{k},{k % 2}\n" for k in range(30)))
    message = refused("fit", path, "--target", "number")
    assert "'number' has 30 different values in 30 rows" in message
