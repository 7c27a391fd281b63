import json
import re
import shutil
import subprocess
import sys
from importlib import metadata

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from _cli import RUNNER, refused, run
from _sealed import sealed
from miptree import (
    OptimalTreeClassifier,
    PointsTreeClassifier,
    __version__,
    load_json,
    save_json,
)
from miptree.commands import app
from miptree.commands._tables import labels


def test_demo_shows_tree_baselines_and_certificate():
    result = RUNNER.invoke(app, ["demo", "--time-limit", "5"])
    assert result.exit_code == 0, result.output
    assert any(name in result.output for name in load_wine().feature_names)
    for expected in ("CART", "logistic regression", "test %", "STEP 1", "gap", "terms"):
        assert expected in result.output
    errors = re.search(r"(\d+) of 133", result.output)
    assert errors is not None
    assert int(errors.group(1)) <= 5


def test_solvers_lists_all():
    result = RUNNER.invoke(app, ["solvers"])
    assert result.exit_code == 0
    assert re.search(r"highs\s*.\s*installed", result.output)
    for name in ("scip", "gurobi", "cplex"):
        assert name in result.output


def test_version():
    first, *others = RUNNER.invoke(app, ["--version"]).output.splitlines()
    assert first == f"miptree {__version__}"
    assert others[0].startswith("Python 3.")
    for name in ("numpy", "scikit-learn", "numba", "highspy"):
        assert f"{name} {metadata.version(name)}" in others


def test_bad_option_is_one_plain_message():
    result = RUNNER.invoke(app, ["demo", "--depth", "0"])
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_missing_extra_gives_the_pip_line():
    """A Python without typer: the console script must not end in a traceback."""
    program = (
        "import sys; sys.modules['typer'] = None\nfrom miptree.cli import main\nmain()"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert "pip install 'miptree[cli]'" in run.stderr
    assert "Traceback" not in run.stderr.split("pip install")[0]


@pytest.mark.parametrize("names", [["a", "b"], None])
def test_export_text_names(names):
    from miptree import ObliqueTree, export_text
    from miptree.tree import HeapTree

    heap = HeapTree(
        np.array([[0.0, -2.0], [1.0, 1.0], [0.0, 0.0]]),
        np.array([1.0, 0.5, 1.0]),
        np.array([0, 1, 1, 0]),
    )
    text = export_text(ObliqueTree.from_heap(heap), names, ["low", "high"])
    first, second = names or ["x[0]", "x[1]"]
    lines = text.splitlines()
    assert lines[0] == f"-2 {second} <= 1 (node 0)"
    assert lines[1] == f"├─ yes: {first} + {second} <= 0.5 (node 1)"
    assert lines[2] == "│       ├─ yes: class low (leaf 3)"
    assert lines[-1] == "        └─ no:  class low (leaf 6)"


def test_export_text_refuses_wrong_names():
    from miptree import ObliqueTree, export_text
    from miptree.tree import HeapTree

    tree = ObliqueTree.from_heap(
        HeapTree(np.ones((1, 2)), np.zeros(1), np.array([0, 1]))
    )
    with pytest.raises(ValueError, match="feature_names must have 2 names, got 1"):
        export_text(tree, ["a"])
    with pytest.raises(ValueError, match="at least 2 classes, got 1"):
        export_text(tree, class_names=["a"])


# ------------------------------------------------- fit -> show -> predict -> verify


def iris_table():
    iris = load_iris(as_frame=True)
    table = iris.data.copy()
    table["kind"] = iris.target_names[iris.target]
    table["weight"] = np.where(iris.target == 0, 0.5, 1.0)
    table["id"] = np.arange(len(table))
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Iris in three formats, and a model of it fitted by the command."""
    folder = tmp_path_factory.mktemp("iris")
    table = iris_table()
    table.to_csv(folder / "iris.csv", index=False)
    table.to_csv(folder / "iris.csv.gz", index=False)
    table.to_parquet(folder / "iris.parquet")
    command = ["fit", folder / "iris.csv", "--target", "kind", "--weights", "weight"]
    command += ["--drop", "id", "--time-limit", 3, "--style", "oblique"]
    command += ["--out", folder / "model.json"]
    result = run(*command)
    assert result.exit_code == 0, result.output
    assert re.search(r"class (setosa|virginica)", result.stdout)
    assert "of 150 training rows" in result.stdout
    assert "done" in result.stderr  # progress, out of the way of the answer
    assert "done " not in result.stdout
    return folder


def test_show(folder):
    result = run("show", folder / "model.json")
    assert result.exit_code == 0
    assert "├─ yes:" in result.stdout
    assert "petal" in result.stdout
    summary = load_json(folder / "model.json").certificate_.summary
    assert f"\n{summary} The tree misclassifies" in result.stdout
    assert "proved optimal" not in result.stdout
    result = run("show", folder / "model.json", "--details")
    assert "proved optimal" in result.stdout
    assert result.stdout.count("The tree misclassifies") == 2


def test_show_says_where_no_proof_was_tried(folder, tmp_path):
    assert "No proof was tried" not in run("show", folder / "model.json").stdout
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = OptimalTreeClassifier(solver="search", max_iter=3, time_limit=None)
    save_json(clf.fit(X, y), tmp_path / "m.json")
    said = " ".join(run("show", tmp_path / "m.json").stdout.split())
    assert "Nothing useful is proved: another tree" in said
    assert "No proof was tried: `miptree fit` with --style points" in said


@pytest.mark.parametrize("name", ["iris.csv", "iris.csv.gz", "iris.parquet"])
def test_verify_holds_on_the_training_data(folder, name):
    result = run("verify", folder / "model.json", folder / name)
    assert result.exit_code == 0, result.output
    assert "Verified: all" in result.stdout
    assert "150 of 150 rows" in result.stdout
    assert "as it was written" in result.stdout


@pytest.mark.parametrize("end", [".csv", ".csv.gz", ".parquet"])
def test_predict_writes_what_the_model_predicts(folder, tmp_path, end):
    out = tmp_path / f"predicted{end}"
    result = run("predict", folder / "model.json", folder / "iris.csv", "--out", out)
    assert result.exit_code == 0, result.output
    read = pd.read_parquet if end == ".parquet" else pd.read_csv
    clf = load_json(folder / "model.json")
    rows = iris_table()[clf.feature_names_in_]
    assert read(out)["prediction"].tolist() == clf.predict(rows).tolist()
    probability = clf.predict_proba(rows).max(axis=1)
    assert np.allclose(read(out)["probability"], probability, rtol=1e-15)


def test_predict_to_standard_output_and_by_name(folder, tmp_path):
    """Columns in another order, and without the target."""
    table = iris_table().drop(columns=["kind", "weight"])
    table[table.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", folder / "model.json", tmp_path / "new.csv")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "prediction,probability"
    assert result.stdout.splitlines()[1].startswith("setosa,")
    assert len(result.stdout.splitlines()) == 151


def test_files_are_kept_without_force(folder, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("precious")
    predict = ["predict", folder / "model.json", folder / "iris.csv", "--out", out]
    fit = ["fit", folder / "iris.csv", "--target", "kind", "--out", out]
    for command in (predict, fit):
        assert "--force" in refused(*command)
        assert out.read_text() == "precious"
    assert run(*predict, "--force").exit_code == 0
    assert out.read_text().startswith("prediction")


def test_no_command_writes_over_what_it_reads(folder, tmp_path):
    model, data, link = (tmp_path / name for name in ("m.json", "t.csv", "link.csv"))
    shutil.copy(folder / "model.json", model)
    shutil.copy(folder / "iris.csv", data)
    link.symlink_to(data)
    before = model.read_bytes(), data.read_bytes()
    fit, report = ["fit", data, "--target", "kind"], ["report", model, data, "--out"]
    for command in (
        [*fit, "--out", data],
        [*fit, "--proof-log", tmp_path / "." / "t.csv"],
        [*fit, "--proof-log", link],
        ["fit", tmp_path / "t*.csv", *fit[2:], "--engine", "dask", "--out", data],
        ["predict", model, data, "--out", link],
        ["predict", model, data, "--out", model],
        ["export", model, "--to", "sql", "--out", model],
        [*report, model],
        [*report, data],
        ["report", model, folder / "iris.csv", "--test", data, "--out", link],
    ):
        for force in ([], ["--force"]):
            assert "reads and never overwrites" in refused(*command, *force)
    assert (model.read_bytes(), data.read_bytes()) == before


def test_a_model_and_its_proof_are_two_files(folder, tmp_path):
    fit = ["fit", folder / "iris.csv", "--target", "kind"]
    both = ["--out", tmp_path / "n.json", "--proof-log", tmp_path / "." / "n.json"]
    for force in ([], ["--force"]):
        assert "--out and --proof-log name the same" in refused(*fit, *both, *force)
    (tmp_path / "n.json").write_text("precious")
    assert "name the same file" in refused(*fit, *both, "--force")
    assert (tmp_path / "n.json").read_text() == "precious"


def test_plain_columns_and_python_agree(folder):
    """The file written by the command is an ordinary model."""
    clf = load_json(folder / "model.json")
    assert clf.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert clf.feature_names_in_.tolist() == list(load_iris().feature_names)
    metadata = json.loads((folder / "model.json").read_text())["metadata"]
    assert metadata == {"target": "kind", "weights": "weight"}


def tampered(plain, where, how):
    *path, last = where
    place = plain
    for key in path:
        place = place[key]
    place[last] = how(place[last])


@pytest.mark.parametrize(
    ("where", "how"),
    [
        (("certificate", "errors"), lambda value: value + 1),
        (("certificate", "errors_bound"), lambda value: value + 0.25),
        (("certificate", "depth"), lambda value: value + 1),
        (("certificate", "objective_proved_by"), lambda value: "highs on the flow MIP"),
        (("certificate", "seconds"), lambda value: value / 2),
        (("certificate", "digest"), lambda value: value[::-1]),
        (("certificate", "digest"), lambda value: ""),
    ],
)
def test_a_tampered_model_fails_verify(folder, tmp_path, where, how):
    plain = json.loads((folder / "model.json").read_text())
    tampered(plain, where, how)
    (tmp_path / "forged.json").write_text(sealed(plain))
    result = run("verify", tmp_path / "forged.json", folder / "iris.csv")
    assert result.exit_code == 1, result.output
    assert "NOT verified" in result.stdout
    assert "WRONG" in result.stdout


@pytest.mark.parametrize(
    ("where", "how"),
    [
        (("tree", "threshold", 0), lambda value: value + 1e-3),
        (("tree", "threshold", 0), lambda value: float(np.nextafter(value, 9))),
        (("tree", "label", -1), lambda value: (value + 1) % 3),
    ],
)
def test_a_model_with_another_tree_is_refused(folder, tmp_path, where, how):
    plain = json.loads((folder / "model.json").read_text())
    tampered(plain, where, how)
    (tmp_path / "forged.json").write_text(sealed(plain))
    result = run("verify", tmp_path / "forged.json", folder / "iris.csv")
    assert result.exit_code == 2
    assert "the tree is not the one of the certificate" in result.stderr


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("petal width (cm)", 0.25),
        ("kind", "virginica"),
        ("kind", "a new kind"),
        ("weight", 0.75),
    ],
)
def test_tampered_data_fail_verify(folder, tmp_path, column, value):
    table = iris_table()
    table.loc[0, column] = value
    table.to_csv(tmp_path / "iris.csv", index=False)
    result = run("verify", folder / "model.json", tmp_path / "iris.csv")
    assert result.exit_code == 1, result.output


def test_verify_says_first_that_the_table_is_another_one(folder, tmp_path):
    table = iris_table()
    table["petal width (cm)"] += 0.1
    table.to_csv(tmp_path / "iris.csv", index=False)
    result = run("verify", folder / "model.json", tmp_path / "iris.csv")
    head, cause, other, *_ = result.stdout.splitlines()
    assert head.startswith("NOT verified: these are not the data of the fit; ")
    assert cause.startswith("  WRONG data digest: the data are not the rows, labels")
    assert other.startswith("  WRONG ")


def test_a_label_that_is_no_class_fails_verify_whatever_it_weighs(tmp_path):
    table = pd.DataFrame({"x": np.arange(8.0), "label": [0, 0, 1, 0, 1, 1, 0, 1]})
    options = {"max_depth": 1, "solver": "search", "max_iter": 3}
    clf = OptimalTreeClassifier(class_weight="balanced", **options)
    save_json(clf.fit(table[["x"]], table["label"]), tmp_path / "model.json")
    words = table["label"].map({0: "0", 1: "oops"})
    table.assign(label=words).to_csv(tmp_path / "table.csv", index=False)
    files = tmp_path / "model.json", tmp_path / "table.csv"
    result = run("verify", *files, "--target", "label")
    assert result.exit_code == 1, result.output
    assert "NOT verified" in result.output


def test_a_text_too_long_for_a_model_file_is_refused_before_the_fit(tmp_path):
    table = iris_table().assign(notes="short")
    table.loc[3, "notes"] = "long!" * 3000
    table.to_csv(tmp_path / "iris.csv", index=False)
    options = ["--target", "kind", "--out", tmp_path / "model.json"]
    result = run("fit", tmp_path / "iris.csv", *options)
    assert result.exit_code == 2
    assert "'notes' holds a text of 15000 characters" in " ".join(result.output.split())


def test_categories_as_labels():
    for values in ([3, 1, 3], ["b", "a", "b"], [0.5, 1.5, 0.5], [True, False, True]):
        column = pd.Series(values).astype("category")
        read = labels(pd.DataFrame({"y": column}), "y")
        assert read.tolist() == values
        assert read.dtype.kind == np.array(values).dtype.kind


def test_costs_go_with_the_model(tmp_path):
    """They are in the file, so that verify can count and predict say what it means."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    table = X.assign(label=np.where(y == 0, "bad", "good"))
    table.loc[::7, "label"] = "bad"
    table.to_csv(tmp_path / "iris.csv", index=False)
    options = {"solver": "search", "max_iter": 3, "time_limit": None, "max_depth": 1}
    for given in (
        {"cost_matrix": [[0, 10], [1, 0]]},
        {"class_weight": {"bad": 3.0}},
        {"class_weight": "balanced"},
    ):
        clf = OptimalTreeClassifier(**options, **given).fit(X, table["label"])
        save_json(clf, tmp_path / "model.json", force=True)
        loaded = load_json(tmp_path / "model.json")
        (name,) = given
        if given[name] != {"bad": 3.0}:
            assert getattr(loaded, name) == given[name]
        else:
            assert loaded.class_weight == {"bad": 3.0, "good": 1.0}
        files = tmp_path / "model.json", tmp_path / "iris.csv"
        result = run("verify", *files, "--target", "label")
        assert result.exit_code == 0, result.output
        out = tmp_path / f"{name}.csv"
        assert run("predict", *files, "--out", out, "--force").exit_code == 0
        told = pd.read_csv(out)
        proba = clf.predict_proba(X)[:, 0]
        expected = np.where(told["prediction"] == "bad", proba, 1 - proba)
        assert told["probability"].to_numpy() == pytest.approx(expected)


def test_verify_takes_the_names_of_columns(folder, tmp_path):
    table = iris_table().rename(columns={"kind": "species", "weight": "w"})
    table.to_csv(tmp_path / "iris.csv", index=False)
    command = ["verify", folder / "model.json", tmp_path / "iris.csv"]
    assert "no column 'kind'" in refused(*command)
    assert run(*command, "--target", "species", "--weights", "w").exit_code == 0


def test_verify_repeats_a_proof(tmp_path):
    path = tmp_path / "line.csv"
    x = np.arange(10)
    pd.DataFrame({"x": x, "y": [0, 0, 1, 0, 0, 1, 1, 0, 1, 1]}).to_csv(
        path, index=False
    )
    model = tmp_path / "model.json"
    fit = ["fit", path, "--target", "y", "--depth", 1, "--style", "oblique"]
    assert run(*fit, "--time-limit", 10, "--out", model).exit_code == 0
    result = run("verify", model, path, "--resolve-with", "highs")
    assert result.exit_code == 0, result.output
    assert "again" in result.stdout
    assert "abacus" in refused("verify", model, path, "--resolve-with", "abacus")


def test_table_with_categories_and_gaps(tmp_path):
    path, model = tmp_path / "shop.csv", tmp_path / "model.json"
    rows = ["red,1,3,yes", "blue,,1,no", "green,2,1,no", "red,0,2,yes", ",5,2,no"]
    path.write_text("\n".join(["colour,size,code,sold", *rows * 4]))
    options = ["--depth", 1, "--time-limit", 5, "--categorical", "code"]
    options += ["--style", "oblique"]
    fit = run("fit", path, "--target", "sold", *options, "--out", model)
    assert fit.exit_code == 0, fit.output
    assert re.search(r"colour !?= red", fit.stdout)
    assert run("verify", model, path).exit_code == 0
    new = tmp_path / "new.csv"
    new.write_text("colour,size,code\nred,,3\nviolet,1,9\n,,\n")
    found = run("predict", model, new).stdout.splitlines()
    assert [line.split(",")[0] for line in found] == ["prediction", "yes", "no", "no"]


def test_fit_compares_styles_and_takes_the_simplest(folder, tmp_path):
    model = tmp_path / "model.json"
    fit = ["fit", folder / "iris.csv", "--target", "kind", "--drop", "id"]
    options = ["--weights", "weight", "--time-limit", 600, "--out", model]
    result = run(*fit, *options)
    assert result.exit_code == 0, result.output
    assert "The points tree was taken" in result.stdout
    rows = [line.split("│")[1:-1] for line in result.stdout.splitlines() if "│" in line]
    assert [row[0].strip() for row in rows[:5]] == [
        "constant",
        "points, taken",
        "oblique",
        "logistic regression",
        "CART",
    ]
    assert rows[1][3].strip() == "yes"
    assert "20 folds" in result.stderr
    assert isinstance(load_json(model), PointsTreeClassifier)
    assert run("verify", model, folder / "iris.csv").exit_code == 0


def test_fit_can_tune_one_style(folder, tmp_path):
    fit = ["fit", folder / "iris.csv", "--target", "kind", "--tune", "--drop", "id"]
    model = tmp_path / "model.json"
    options = ["--weights", "weight", "--time-limit", 600, "--out", model]
    result = run(*fit, *options, "--style", "oblique")
    assert result.exit_code == 0, result.output
    assert "Of the oblique trees the best one in 20 folds" in result.stdout
    assert run("verify", model, folder / "iris.csv").exit_code == 0
    assert "--tune works without" in refused(*fit, "--selection", "auto")


def test_rare_classes_can_be_made_to_count(folder, tmp_path):
    fit = ["fit", folder / "iris.csv", "--target", "kind", "--time-limit", 1]
    model = tmp_path / "model.json"
    options = ["--class-weight", "balanced", "--solver", "search", "--out", model]
    assert run(*fit, *options).exit_code == 0
    assert load_json(model).class_weight == "balanced"
    assert "--scoring is for --style auto" in refused(
        *fit, "--solver", "search", "--scoring", "balanced_accuracy"
    )
    assert "--scoring must be one of accuracy," in refused(*fit, "--scoring", "beauty")


def test_errors_about_a_class_can_cost_more(folder, tmp_path):
    fit = ["fit", folder / "iris.csv", "--target", "kind", "--time-limit", 1]
    model = tmp_path / "model.json"
    options = ["--solver", "search", "--cost", "virginica:5", "--out", model]
    assert run(*fit, *options).exit_code == 0
    clf = load_json(model)
    wanted = [[5.0 * (kind == "virginica") or 1.0] * 3 for kind in clf.classes_]
    assert np.array_equal(clf.cost_matrix, wanted * (1 - np.eye(3)))
    for wrong in ("virginica", "rose:5", ":5"):
        said = refused(*fit, "--cost", wrong)
        assert "--cost must name a class" in said
        assert "The classes are setosa" in said
    for wrong in ("virginica:x", "virginica:0", "virginica:nan"):
        assert "a number above 0" in refused(*fit, "--cost", wrong)
    assert "--scoring cost needs --cost" in refused(*fit, "--scoring", "cost")
    assert "--cost works without --engine dask" in refused(
        *fit, "--engine", "dask", "--cost", "virginica:5"
    )


def test_an_option_of_one_style_asks_for_it(folder, tmp_path):
    fit = ["fit", folder / "iris.csv", "--target", "kind", "--time-limit", 1]
    for option in (["--solver", "search"], ["--style", "sparse", "--solver", "search"]):
        model = tmp_path / "model.json"
        assert run(*fit, *option, "--out", model, "--force").exit_code == 0
        clf = load_json(model)
        assert isinstance(clf, OptimalTreeClassifier)
        assert clf.max_features_per_split == (4 if "sparse" in option else None)
    refusal = refused(*fit, "--style", "auto", "--solver", "search")
    assert "works without --solver search" in refusal
    assert "auto, points, sparse or oblique" in refused(*fit, "--style", "round")


def test_fit_can_be_told_what_to_prove(tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "model.json"
    path.write_text("a,y\n1,0\n2,1\n3,0\n4,1\n")
    fit = ["fit", path, "--target", "y", "--depth", 1, "--proof", "errors"]
    assert run(*fit, "--time-limit", 5, "--out", model).exit_code == 0
    assert load_json(model).proof == "errors"


def test_compile_says_when_it_is_done():
    result = run("compile")
    assert result.exit_code == 0, result.output
    assert "Searches and proofs are compiled." in result.stdout


# --------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,y\n1,0\n2,1\n", ["--categorical", "z"], "no column 'z'"),
        ("a,b,y\n1,2,0\n2,3,\n", [], "Column 'y' has 1 missing value, in row 2"),
        ("a,b,y\n1,2,0\n2,inf,1\n", [], "Column 'b' holds inf (infinity) in row 2"),
        ("a,b,y\n1,2,0\n2,3,0\n", [], "at least 2 classes"),
        ("a,y\n1,0.25\n2,0.5\n", [], "numbers such as 0.25"),
        ("a,b\n1,2\n2,3\n", [], "no column 'y'; there are 'a', 'b'"),
        ("y\n0\n1\n", [], "No column is left"),
        ("a,y\n", [], "has no rows"),
        ("", [], "is not a CSV table"),
        ("a,y\n1,0,7,8\n1\n1,2,3,4,5,6\n", [], "line 4 has 6 fields where 4 are"),
        ("a,y\n1,0\n2,1\n", ["--drop", "z"], "no column 'z'"),
        ("a,w,y\n1,1,0\n2,-1,1\n", ["--weights", "w"], "negative weight"),
        ("a,w,y\n1,0,0\n2,0,1\n", ["--weights", "w"], "zero"),
        ("a,w,y\n1,x,0\n2,0,1\n", ["--weights", "w"], "Column 'w' holds 'x'"),
        ("a,y\n1,0\n2,1\n", ["--solver", "abacus"], "'abacus'"),
        ("a,y\n1,0\n2,1\n", ["--out", "none/model.json"], "no folder 'none'"),
        ("a,y\n1,0\n2,1\n", ["--proof", "all"], "errors, objective, got 'all'"),
        ("a,y\n1,0\n2,1\n", ["--proof", "errors", "--tune"], "--tune proves nothing"),
        (
            "a,y\n1,0\n2,1\n",
            ["--proof", "errors", "--style", "points"],
            "works without --proof errors",
        ),
    ],
)
def test_bad_tables_are_one_plain_sentence(tmp_path, content, options, message):
    path = tmp_path / "data.csv"
    path.write_text(content)
    command = ["fit", path, "--target", "y", "--time-limit", 1, *options]
    assert message in refused(*command)


def test_bad_files_are_one_plain_sentence(folder, tmp_path):
    model, data = folder / "model.json", folder / "iris.csv"
    assert "none.csv" in refused("fit", tmp_path / "none.csv", "--target", "y")
    assert "none.json" in refused("show", tmp_path / "none.json")
    assert "is not a model" in refused("show", data)
    assert "is not a model" in refused("predict", data, data)
    assert "is not a model" in refused("verify", data, data)
    for name in ("bad.csv.gz", "bad.parquet", "bad.csv"):
        (tmp_path / name).write_bytes(b"\x00\xff\xfe nonsense")
        refused("fit", tmp_path / name, "--target", "y")
        refused("predict", model, tmp_path / name)
    (tmp_path / "narrow.csv").write_text("a,b\n1,2\n")
    assert "no column 'sepal" in refused("predict", model, tmp_path / "narrow.csv")


@pytest.mark.parametrize(
    "command", ["fit", "predict", "show", "verify", "export", "evaluate", "report"]
)
def test_help_has_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: miptree {command} " in result.output


def test_labels_that_look_like_missing_values(tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "model.json"
    path.write_text("a,y\n1,NA\n2,NA\n3,None\n4,None\n")
    fit = ["fit", path, "--target", "y", "--time-limit", 1, "--solver", "search"]
    assert run(*fit, "--depth", 1, "--out", model).exit_code == 0
    assert load_json(model).classes_.tolist() == ["NA", "None"]
    assert run("verify", model, path).exit_code == 0


def test_hostile_names_do_not_steer_the_terminal(folder, tmp_path):
    plain = json.loads((folder / "model.json").read_text())
    names = ["\x1b[2Jone\n", "[red]two", "three\x07", "four"]
    plain["feature_names"] = names
    for column, name in zip(plain["table"]["columns"], names, strict=True):
        column["name"] = name
    plain["classes"]["values"] = ["\x1b]0;a", "b", "c"]
    (tmp_path / "model.json").write_text(sealed(plain))
    result = run("show", tmp_path / "model.json", "--details")
    assert result.exit_code == 0
    assert not set("\x1b\x07") & set(result.stdout)


# ------------------------------------------------------------------------- export


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("sql", "CASE"),
        ("python", "def predict(row):"),
        ("c", "int miptree_predict("),
        ("dot", "digraph tree {"),
        ("text", "├─ yes:"),
        ("rules", "IF "),
        ("json", '"format": "miptree-model"'),
    ],
)
def test_export(folder, tmp_path, form, expected):
    command = ["export", folder / "model.json", "--to", form]
    shown = run(*command)
    assert shown.exit_code == 0, shown.output
    assert expected in shown.stdout
    out = tmp_path / "model"
    assert run(*command, "--out", out).exit_code == 0
    assert out.read_text() == shown.stdout
    assert "--force" in refused(*command, "--out", out)


def test_export_onnx(folder, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    out = tmp_path / "model.onnx"
    command = ["export", folder / "model.json", "--to", "onnx", "--out", out]
    assert run(*command).exit_code == 0
    clf = load_json(folder / "model.json")
    rows = iris_table()[clf.feature_names_in_]
    found = runtime.InferenceSession(out).run(None, {"X": rows.to_numpy()})
    assert found[0].tolist() == clf.predict(rows).tolist()


# ------------------------------------------------------------- evaluate and report


def test_evaluate(folder, tmp_path):
    result = run("evaluate", folder / "model.json", folder / "iris.csv")
    assert result.exit_code == 0, result.output
    clf, table = load_json(folder / "model.json"), iris_table()
    right = int((clf.predict(table[clf.feature_names_in_]) == table["kind"]).sum())
    assert f"{right} of 150 rows right" in result.stdout
    for name in ("Confusion matrix", "Leaves", *clf.classes_):
        assert name in result.stdout
    table.loc[0, "kind"] = "rose"
    table.to_csv(tmp_path / "rose.csv", index=False)
    other = run("evaluate", folder / "model.json", tmp_path / "rose.csv")
    assert f"{right - 1} of 150 rows right" in other.stdout
    assert "rose" in other.stdout


def test_only_leaves_without_errors_are_said_to_be_right_for_all(folder, tmp_path):
    clf, table = load_json(folder / "model.json"), iris_table()
    table["kind"] = clf.predict(table[clf.feature_names_in_])
    many = pd.concat([table] * 100)
    many.to_csv(tmp_path / "right.csv", index=False)
    result = run("evaluate", folder / "model.json", tmp_path / "right.csv")
    assert result.stdout.count("100.0 %") == len(clf.classes_) + clf.get_n_leaves()
    wrong = many.iloc[:1].assign(kind="rose")
    pd.concat([many, wrong]).to_csv(tmp_path / "wrong.csv", index=False)
    result = run("evaluate", folder / "model.json", tmp_path / "wrong.csv")
    assert result.stdout.count("over 99.9 %") == 1


def test_report(folder, tmp_path):
    out = tmp_path / "page.html"
    command = ["report", folder / "model.json", folder / "iris.csv", "--out", out]
    result = run(*command, "--test", folder / "iris.parquet")
    assert result.exit_code == 0, result.output
    page = out.read_text()
    assert page.startswith("<!doctype html>")
    assert "kind: a decision tree" in page
    assert "--force" in refused(*command)
    assert run(*command, "--force").exit_code == 0
    table = iris_table().drop(columns="kind")
    table.to_csv(tmp_path / "bare.csv", index=False)
    bare = ["report", folder / "model.json", tmp_path / "bare.csv"]
    assert "no column 'kind'" in refused(*bare, "--out", tmp_path / "b.html")


def test_cells_of_no_type_are_one_plain_sentence(tmp_path):
    path = tmp_path / "lists.parquet"
    pd.DataFrame({"a": [[1], [2]], "y": [0, 1]}).to_parquet(path)
    assert "Column 'a'" in refused("fit", path, "--target", "y", "--time-limit", 1)
