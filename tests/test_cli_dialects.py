"""The commands on tables as they come: every way of writing rows gives one answer."""

import gzip
import io
import json
import sys
import warnings

import numpy as np
import openpyxl
import pandas as pd
import pytest

from _cli import RUNNER, refused, run
from miptree import OptimalTreeClassifier, load_json, save_json
from miptree.commands import app
from miptree.commands._fit_rows import ColumnChoice, read_fit_rows
from miptree.data.files import FileOptions, table_content

QUICK = {"max_iter": 50, "solver": "search", "time_limit": None, "random_state": 0}
N = 48


def loans():
    """Loans whose status depends on income and housing alone."""
    k = np.arange(N)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta((k * 37) % 1000, unit="D")
    income = 1000.5 + (k * 977 % 4000)
    housing = np.array(["rent", "own", "free"])[k % 3]
    status = np.where((income < 3000) & (housing == "rent"), "bad", "good")
    return pd.DataFrame(
        {
            "iban": [f"DE{9 * i:010d}" for i in k],
            "income": income,
            "housing": housing,
            "opened": day,
            "status": status,
        }
    )


def euros(number):
    english = f"{number:,.2f}"
    return english.translate(str.maketrans(",.", ".,")) + " €"


def german(frame):
    """The rows as Excel in Germany saves them."""
    shown = frame.assign(
        income=frame["income"].map(euros),
        opened=frame["opened"].dt.strftime("%d.%m.%Y"),
    )
    return shown.to_csv(index=False, sep=";", lineterminator="\r\n").encode("cp1252")


def american(frame):
    shown = frame.assign(
        income=frame["income"].map("${:,.2f}".format),
        opened=frame["opened"].dt.strftime("%m/%d/%Y"),
    )
    return shown.to_csv(index=False).encode()


def excel(frame):
    buffer = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["All loans"])
    for row in [frame.columns.tolist(), *frame.astype(object).to_numpy().tolist()]:
        book.active.append(row)
    book.save(buffer)
    return buffer.getvalue()


WRITERS = {
    "german.csv": german,
    "american.csv.gz": lambda frame: gzip.compress(american(frame)),
    "tabs.tsv": lambda frame: frame.to_csv(index=False, sep="\t").encode("utf-8-sig"),
    "titled.xlsx": excel,
    "typed.parquet": lambda frame: frame.to_parquet(),
}

SIGNS = {"german.csv": {"sep": ";", "decimal": ","}, "tabs.tsv": {"sep": "\t"}}
"""How answers are written: as the rows are."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The table in many ways, and a model that was fitted to the German one."""
    folder = tmp_path_factory.mktemp("loans")
    for name, write in WRITERS.items():
        (folder / name).write_bytes(write(loans()))
    columns = ColumnChoice("status", None, [], [], [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, y, _, is_plain, _ = read_fit_rows(
            folder / "german.csv", columns, FileOptions()
        )
    assert not is_plain
    assert rows.columns.tolist() == ["income", "housing", "opened"]
    clf = OptimalTreeClassifier(max_depth=2, max_features_per_split=1, **QUICK)
    clf.fit(rows, y)
    assert clf.score(rows, y) == 1
    save_json(
        clf, folder / "model.json", metadata={"target": "status", "weights": None}
    )
    return folder


@pytest.mark.parametrize("name", WRITERS)
def test_a_model_reads_rows_in_every_dialect(folder, name):
    found = run("predict", folder / "model.json", folder / name, "--keep", "iban")
    assert found.exit_code == 0, found.output
    signs = SIGNS.get(name, {})
    answer = pd.read_csv(io.StringIO(found.stdout), **signs)
    assert answer["prediction"].tolist() == loans()["status"].tolist()
    assert answer["probability"].between(0.5, 1).all()
    assert answer["iban"].tolist() == loans()["iban"].tolist()
    counted = run("evaluate", folder / "model.json", folder / name)
    assert "48 of 48 rows right" in counted.stdout
    assert run("verify", folder / "model.json", folder / name).exit_code == 0


def test_columns_of_the_model_are_carried_over_as_they_are_written(tmp_path):
    """Long ids were once shortened, and dates became years."""
    table, model = tmp_path / "data.csv", tmp_path / "model.json"
    ids = [str(12345678901234567890 + 5000 * k) for k in range(20)]
    rows = [f"{ids[k]};{k + 1}.2.2021;{k},50;{'ab'[k > 9]}" for k in range(20)]
    table.write_text("\n".join(["id;day;x;y", *rows]))
    use = ("--target", "y", "--use", "id", "--use", "day", "--depth", 1)
    assert run("fit", table, *use, "--out", model).exit_code == 0
    keep = [part for name in ("x", "id", "day") for part in ("--keep", name)]
    carried = run("predict", model, table, *keep).stdout.split()[1:]
    plain = run("predict", model, table).stdout.split()[1:]
    for k, line in enumerate(carried):
        assert line == f"{k},50;{ids[k]};{k + 1}.2.2021;{plain[k]}"


def test_rows_come_from_standard_input(folder):
    command = ["predict", str(folder / "model.json"), "-"]
    for name in ("german.csv", "american.csv.gz", "titled.xlsx"):
        found = RUNNER.invoke(app, command, input=(folder / name).read_bytes())
        assert found.exit_code == 0, found.output
        assert len(found.stdout.splitlines()) == 1 + N
    found = RUNNER.invoke(app, command, input=b"")
    assert "standard input is not a CSV table: it is empty" in found.stderr


@pytest.mark.parametrize(
    ("rows", "end", "written"),
    [
        ("german.csv", "csv", FileOptions(";", ",", "cp1252")),
        ("german.csv", "tsv", FileOptions("\t", ",", "cp1252")),
        ("tabs.tsv", "csv", FileOptions(",", ".", "utf-8-sig")),
        ("tabs.tsv", "txt", FileOptions("\t", ".", "utf-8-sig")),
        ("titled.xlsx", "csv", FileOptions(",", ".", "utf-8")),
    ],
)
@pytest.mark.parametrize("command", ["predict", "explain"])
def test_answers_are_written_as_the_rows_are(
    folder, tmp_path, command, rows, end, written
):
    out = tmp_path / f"answers.{end}"
    given = [command, folder / "model.json", folder / rows, "--out", out]
    found = run(*given)
    assert found.exit_code == 0, found.output
    text = out.read_bytes().decode(written.encoding)
    assert text.startswith("prediction" if command == "predict" else "row")
    answer = pd.read_csv(io.StringIO(text), sep=written.sep, decimal=written.decimal)
    assert answer["prediction"].tolist() == loans()["status"].tolist()
    assert answer["probability"].between(0.5, 1).all()


def test_a_name_that_an_encoding_lacks_is_written_in_utf_8(tmp_path):
    table, path = pd.DataFrame({"prediction": ["łódź"]}), tmp_path / "a.csv"
    path.write_bytes(table_content(table, path, FileOptions(";", ",", "cp1252")))
    assert path.read_text(encoding="utf-8") == "prediction\nłódź\n"


def test_the_dialect_may_be_told(folder, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("income;housing;opened\n1.500;rent;2020-05-01\n")
    model = folder / "model.json"
    told = run("predict", model, path, "--decimal", ",", "--sep", ";")
    assert told.stdout.splitlines()[1].startswith("bad;0,")
    assert "is 1500." in told.stderr
    assert "--sep must be one character" in refused("predict", model, path, "--sep", "")


# ------------------------------------------------------------- what rows lack or have


def test_new_values_and_gaps_are_counted(folder, tmp_path):
    frame = loans().drop(columns="status").astype({"income": object})
    frame.loc[:2, "housing"] = "boat"
    frame.loc[3, "housing"] = "tent"
    frame.loc[:4, "income"] = "n/a"
    frame.to_csv(tmp_path / "new.csv", index=False)
    found = run("predict", folder / "model.json", tmp_path / "new.csv")
    assert found.exit_code == 0, found.output
    assert "4 of 48 rows hold a value of column 'housing'" in found.stderr
    assert "('boat' 3x, 'tent' 1x)" in found.stderr
    assert "5 cells are read as missing" in found.stderr
    assert "iban" not in found.stderr


def test_a_column_that_no_split_uses_may_lack(folder, tmp_path):
    whole = run("predict", folder / "model.json", folder / "titled.xlsx")
    few = loans().drop(columns=["iban", "opened"])
    few.to_csv(tmp_path / "few.csv", index=False)
    found = run("predict", folder / "model.json", tmp_path / "few.csv")
    assert found.stdout == whole.stdout
    (line,) = found.stderr.splitlines()
    assert "lacks 1 column of the training table: 'opened'. No split uses it" in line
    message = refused("verify", folder / "model.json", tmp_path / "few.csv")
    assert "There is no column 'opened'" in message


def test_columns_that_splits_use_are_asked_for(folder, tmp_path):
    few = loans()[["opened", "income"]].rename(columns={"income": "incomes"})
    few.to_csv(tmp_path / "few.csv", index=False)
    message = refused("predict", folder / "model.json", tmp_path / "few.csv")
    assert "no column 'income', 'housing': the table lacks 2 of the 2" in message
    assert "Is 'incomes' meant?" in message


# ------------------------------------------------------------------------- writing


def test_predictions_go_to_excel_or_nowhere(folder, tmp_path, monkeypatch):
    predict = ["predict", folder / "model.json", folder / "german.csv", "--out"]
    assert run(*predict, tmp_path / "p.xlsx", "--keep", "iban").exit_code == 0
    written = pd.read_excel(tmp_path / "p.xlsx")
    assert written.columns.tolist() == ["iban", "prediction", "probability"]
    assert written["prediction"].tolist() == loans()["status"].tolist()
    assert "ends in .csv" in refused(*predict, tmp_path / "p.xls")
    assert "--keep prediction" in refused(
        *predict, tmp_path / "q.csv", "--keep", "prediction"
    )
    assert "--keep leaf has the name" in refused(
        *predict, tmp_path / "q.csv", "--keep", "leaf", "--explain"
    )
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    message = refused(*predict, tmp_path / "q.xlsx")
    assert "pip install 'miptree[excel]'" in message
    assert not (tmp_path / "q.xlsx").exists()


def test_a_table_is_shown_and_written_plainly(folder, tmp_path):
    plain = tmp_path / "plain.csv"
    found = run("table", folder / "german.csv", "--out", plain)
    assert found.exit_code == 0, found.output
    assert "48 rows, 5 columns" in found.stdout
    assert "text, left out by fit" in found.stdout
    again = run("table", plain)
    assert again.stderr == ""
    assert again.stdout in found.stdout
    assert run("verify", folder / "model.json", plain).exit_code == 0


# ------------------------------------------------------------------------- fitting

FIT = ["--target", "status", "--solver", "search", "--depth", 1, "--time-limit", 10]


def test_a_fit_leaves_out_what_identifies_rows(folder, tmp_path):
    data, model = folder / "german.csv", tmp_path / "model.json"
    options = ["--l1-penalty", 3, "--max-features", 2, "--class-weight", "bad:5"]
    found = run("fit", data, *FIT, *options, "--out", model)
    assert found.exit_code == 0, found.output
    assert "it tells rows apart and says nothing of new ones: 'iban'" in found.stderr
    text = model.read_text()
    assert "iban" not in text
    assert "DE00" not in text
    parameters = load_json(model).get_params()
    assert parameters["l1_penalty"] == 3
    assert parameters["max_features_per_split"] == 2
    assert json.loads(text)["class_weight"] == [5.0, 1.0]


def test_a_fit_without_a_file_says_so(folder):
    found = run("fit", folder / "american.csv.gz", *FIT, "--use", "iban")
    assert found.exit_code == 0, found.output
    assert "will not be saved" in found.stderr
    assert "--out american.json" in found.stderr
    assert "tells rows apart" not in found.stderr
    assert "The model is not saved." in found.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--use", "none"], "no column 'none'"),
        (["--use", "income", "--drop", "income"], "--use names column 'income'"),
        (["--drop", "income", "--drop", "housing", "--drop", "opened"], "Give --use"),
        (["--out", "model.xlsx"], "give a name such as 'model.json'"),
        (["--l1-penalty", "1", "--tune"], "leave out --l1-penalty"),
        (["--l1-penalty", "0", "--style", "points"], "without --l1-penalty 0.0"),
        (["--engine", "dask", "--sep", ";"], "leave out --sep"),
        (["--class-weight", "bad"], "--class-weight must name a class and its weight"),
        (["--class-weight", "bad:0"], "--class-weight must give a number above 0"),
        (["--class-weight", "balanced", "--class-weight", "bad:2"], "balanced alone"),
    ],
)
def test_options_that_cannot_be_are_refused(folder, options, message):
    command = ["fit", folder / "tabs.tsv", "--target", "status", "--time-limit", 1]
    assert message in refused(*command, *options)


def test_a_proof_is_checked_with_the_plain_table(folder, tmp_path):
    proof, plain = tmp_path / "model.proof", tmp_path / "plain.csv"
    fit = ["fit", folder / "titled.xlsx", "--target", "status", "--style", "points"]
    found = run(*fit, "--depth", 1, "--time-limit", 20, "--proof-log", proof)
    assert found.exit_code == 0, found.output
    assert f"miptree table {folder / 'titled.xlsx'} --out titled_plain" in found.stderr
    assert run("check", proof, folder / "titled.xlsx").exit_code == 2
    run("table", folder / "titled.xlsx", "--out", plain)
    assert run("check", proof, plain).exit_code == 0
