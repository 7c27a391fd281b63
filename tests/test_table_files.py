"""Files of rows as people have them: what is read, what is said, what is refused."""

import bz2
import gzip
import io
import lzma
import re
import sys
import warnings
import zipfile
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import openpyxl
import pandas as pd
import pytest
from pandas.api.types import is_numeric_dtype

from miptree.data.files import (
    FileOptions,
    Roles,
    TableNote,
    identifying_columns,
    read_file,
    read_table,
    refuse_format,
    table_content,
)
from miptree.data.files.dates import read_date_column
from miptree.data.files.numbers import read_number, read_number_column

PLAIN = (
    "name,income,age,y\n"
    "Jürgen,1234.5,30,yes\nAnna,999,41,no\nBea,,52,no\nCarl,20000.25,63,yes\n"
)
GERMAN = (
    "name;income;age;y\n"
    "Jürgen;1234,5;30;yes\nAnna;999;41;no\nBea;;52;no\nCarl;20000,25;63;yes\n"
)
EUROS = (
    "name;income;age;y\nJürgen;1.234,50 €;30;yes\nAnna;999,00 €;41;no\n"
    "Bea;-;52;no\nCarl;20.000,25 €;63;yes\n"
)
TRUTH = pd.DataFrame(
    {
        "name": ["Jürgen", "Anna", "Bea", "Carl"],
        "income": [1234.5, 999.0, np.nan, 20000.25],
        "age": [30, 41, 52, 63],
        "y": ["yes", "no", "no", "yes"],
    }
)


def zipped(*members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def excel(*rows, sheets=()):
    """Rows of cells as the first sheet of an Excel file, and further sheets."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for name, more in sheets:
        sheet = book.create_sheet(name)
        for row in more:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def arrow(kind):
    buffer = io.BytesIO()
    getattr(TRUTH, f"to_{kind}")(buffer)
    return buffer.getvalue()


def cells(text, sep=","):
    return [line.split(sep) for line in text.splitlines()]


TYPED = [TRUTH.columns.tolist(), *TRUTH.astype(object).to_numpy().tolist()]
TYPED[3][1] = None
TITLED = [["Loans", "2024"], [], *([None, None, *row] for row in TYPED)]

AWKWARD = {
    "plain.csv": (PLAIN.encode(), []),
    "plain.csv.gz": (gzip.compress(PLAIN.encode()), []),
    "plain.csv.bz2": (bz2.compress(PLAIN.encode()), []),
    "plain.csv.xz": (lzma.compress(PLAIN.encode()), []),
    "plain.zip": (zipped(("a/", ""), ("a/b.csv", PLAIN), ("__MACOSX/b", "x")), []),
    "windows-lines.csv": (PLAIN.replace("\n", "\r\n").encode(), []),
    "old-mac-lines.csv": (PLAIN.replace("\n", "\r").encode(), []),
    "mark.csv": (PLAIN.encode("utf-8-sig"), []),
    "spaces.csv": (PLAIN.replace("income,", " income ,").encode(), ["spaces in names"]),
    "padded.csv": (
        PLAIN.replace("yes", "yes ").encode(),
        ["Spaces around texts are left out: 2 in column 'y'"],
    ),
    "empty-end.csv": (PLAIN.encode() + b",,,\n" * 3, ["3 empty rows at the end"]),
    "gaps-above.csv": (
        b"Bank;;;31.12.2024\n" + GERMAN.encode(),
        ["1 line above the header left out"],
    ),
    "tabs.tsv": (PLAIN.replace(",", "\t").encode("utf-8-sig"), []),
    "tabs.txt": (PLAIN.replace(",", "\t").encode(), ["separated by tab"]),
    "pipes.txt": (PLAIN.replace(",", "|").encode(), ["separated by |"]),
    "german.csv": (GERMAN.encode(), ["separated by ;", "decimal commas"]),
    "windows.csv": (GERMAN.encode("cp1252"), ["read as cp1252"]),
    "unicode.txt": (GERMAN.encode("utf-16"), ["read as utf-16"]),
    "unmarked.txt": (GERMAN.encode("utf-16-le"), ["read as utf-16-le"]),
    "told.csv": (b"sep=;\n" + GERMAN.encode(), ["decimal commas"]),
    "titled.csv": (
        b"Loans of 2024\n\n" + GERMAN.encode(),
        ["2 lines above the header left out"],
    ),
    "euros.csv": (
        EUROS.encode("cp1252"),
        [
            "1 cell is read as missing",
            "'-' 1x in column 'income'",
            "'1.234,50 €'",
            "is 1234.5.",
        ],
    ),
    "dollars.csv": (
        PLAIN.replace("1234.5,", '"$1,234.50",').replace("Bea,", "Bea,n/a").encode(),
        ["'n/a' 1x", "'$1,234.50' in column 'income' is 1234.5."],
    ),
    "swiss.csv": (
        PLAIN.replace("1234.5,", "1'234.50,").replace("Bea,", "Bea,?").encode(),
        ["'?' 1x", "\"1'234.50\" in column 'income' is 1234.5."],
    ),
    "french.csv": (
        GERMAN.replace("20000,25", "20\u202f000,25").encode(),
        ["column 'income' is 20000.25."],
    ),
    "quoted-commas.csv": (
        PLAIN.replace("1234.5", '"1234,5"').replace("20000.25", '"20000,25"').encode(),
        ["decimal commas"],
    ),
    "excel.xlsx": (excel(*TYPED), []),
    "texts.xlsx": (excel(*cells(EUROS, ";")), ["'1.234,50 €' in column 'income'"]),
    "titled.xlsx": (excel(*TITLED), ["1 line above the header left out"]),
    "sheets.xlsx": (
        excel(sheets=[("loans", TYPED), ("notes", [["a", "b"], [1, 2]])]),
        ["sheet 'loans' is read, of 3 sheets"],
    ),
    "really-text.xlsx": (PLAIN.encode(), []),
    "a.parquet": (arrow("parquet"), []),
    "a.feather": (arrow("feather"), []),
    "nameless": (arrow("parquet"), []),
}


def reading(path, *given):
    """A table and the sentences that its reader is told."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        table = read_table(path, *given)
    return table, [str(warning.message) for warning in told]


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_files_are_one_table(tmp_path, name):
    content, expected = AWKWARD[name]
    (tmp_path / name).write_bytes(content)
    table, told = reading(tmp_path / name)
    pd.testing.assert_frame_equal(table, TRUTH, check_dtype=False)
    assert table["age"].dtype == np.int64
    for part in expected:
        assert part in " ".join(told)
    assert bool(told) == bool(expected)


REFUSED = {
    "empty.csv": (b" \n", "is empty"),
    "header.csv": (b"a,b\n", "has no rows"),
    "two.zip": (
        zipped(("a.csv", PLAIN), ("b.csv", PLAIN)),
        "holds 2: 'a.csv', 'b.csv'",
    ),
    "broken.gz": (gzip.compress(PLAIN.encode())[:-20], "cannot be unpacked"),
    "broken.zip": (zipped(("a.csv", PLAIN))[:-30], "cannot be unpacked"),
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as .xlsx"),
    "page.xls": (b"<html><table>", "open it in Excel and save it as .xlsx"),
    "calc.ods": (zipped(("mimetype", "x"), ("content.xml", "x")), "OpenDocument"),
    "broken.xlsx": (zipped(("xl/workbook.xml", "x")), "not an Excel file that can"),
    "empty-rows.csv": (b"a,b\n,\n,\n", "has no rows"),
    "empty.xlsx": (excel(), "no sheet with rows"),
    "records.json": (b'[{"a": 1}]', "is JSON"),
    "text.parquet": (PLAIN.encode(), "is not a Parquet file"),
    "broken.parquet": (b"PAR1nonsense", "is not a Parquet file that can be read"),
    "longer.csv": (b"a,b\n1,2,3\n4,5,6\n", "more fields than its header"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_with_a_word(tmp_path, name):
    content, expected = REFUSED[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(expected)) as error:
        read_table(tmp_path / name)
    assert name in str(error.value)


# ------------------------------------------------------------------------- options


def test_what_is_given_is_not_guessed(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("größe;b\n1.234;2\n5.678;3\n".encode("cp850"))
    table, told = reading(path, FileOptions(";", "comma", "cp850"))
    assert table.columns.tolist() == ["größe", "b"]
    assert table["größe"].tolist() == [1234, 5678]
    assert "--" not in " ".join(told)
    table, told = reading(path, FileOptions(encoding="cp850"))
    assert table["größe"].tolist() == [1.234, 5.678]
    assert "Numbers such as 1.234 are read with a decimal point" in " ".join(told)


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        ("1.234 950", 1234),
        ("1.234 950 1500", 1.234),
        ("1.234 1.5", 1.234),
        ("1,234 950", 1234),
        ("1,234 950 1500", 1.234),
        ("1,234 1,5", 1.234),
        ("$1,234 $2,345", 1234),  # no money has thousandths
        ("1.234€ 2.345€", 1234),
        ("$1,234 $1,5", 1.234),
        ("1,234%", 0.01234),
    ],
)
def test_thousands_are_told_from_thousandths(tmp_path, cells, value):
    path = tmp_path / "a.csv"
    path.write_text("a;b\n" + "".join(f"{cell};1\n" for cell in cells.split()))
    table, _ = reading(path)
    assert table["a"].tolist()[0] == value


@pytest.mark.parametrize(
    ("seps", "cell", "sign", "other"),
    [("; \t |", "1.234", "point", "comma"), (";", "1,234", "comma", "point")],
)
def test_numbers_that_may_be_thousands_are_told(tmp_path, seps, cell, sign, other):
    path = tmp_path / "a.txt"
    for sep in seps.split(" "):
        path.write_text(f"a{sep}b\n{cell}{sep}2\n")
        table, told = reading(path)
        assert table["a"].tolist() == [1.234]
        assert f"such as {cell} are read with a decimal {sign}," in " ".join(told)
        assert f"If they are thousands, say --decimal {other}." in " ".join(told)
        table, told = reading(path, FileOptions(decimal=other))
        assert table["a"].tolist() == [1234]
        assert "such as" not in " ".join(told)


@pytest.mark.parametrize("sep", ["\t", "|"])
def test_commas_beside_tabs_and_bars_are_about_thousands(tmp_path, sep):
    path = tmp_path / "a.txt"
    path.write_text(f"a{sep}b\n45,000{sep}2\n52,000{sep}3\n")
    table, told = reading(path)
    assert table["a"].tolist() == [45_000, 52_000]
    assert "such as 45,000 are read as thousands," in " ".join(told)
    assert "have a decimal comma, say --decimal comma." in " ".join(told)
    table, _ = reading(path, FileOptions(decimal="comma"))
    assert table["a"].tolist() == [45, 52]
    path.write_text(f"a{sep}b\n45,000{sep}2\n950{sep}3\n")
    table, told = reading(path)
    assert table["a"].tolist() == [45_000, 950]
    assert "such as" not in " ".join(told)  # the file tells


def test_a_column_alone_may_have_decimal_commas(tmp_path):
    (tmp_path / "a.csv").write_text('x\n1,5\n""\n2,25\n')
    table, _ = reading(tmp_path / "a.csv")
    assert table["x"].fillna(-1).tolist() == [1.5, -1, 2.25]


def test_a_comma_in_a_text_makes_no_header(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tb\n1\trent\n2\town, free\n3\tx|y\n")
    assert read_table(tmp_path / "a.tsv")["b"].tolist() == ["rent", "own, free", "x|y"]


def test_a_header_with_gaps_is_no_title(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(excel(["a", None, "y"], ["u", "v", "w"]))
    assert read_table(tmp_path / "a.xlsx").columns.tolist() == ["a", "Unnamed: 1", "y"]


def test_a_sheet_is_asked_for_by_name(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_bytes(
        excel(["a", "b"], [1, 2], sheets=[("other", [["c", "d"], [3, 4]])])
    )
    assert read_table(path, FileOptions(sheet="other")).columns.tolist() == ["c", "d"]
    with pytest.raises(ValueError, match="no sheet 'none'; it has 'Sheet', 'other'"):
        read_table(path, FileOptions(sheet="none"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ";;"}, "--sep must be one character"),
        ({"decimal": "x"}, "--decimal must be"),
        ({"encoding": "klingon"}, "--encoding 'klingon' is unknown"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        FileOptions(**options)


def test_a_wrong_encoding_is_said(tmp_path):
    (tmp_path / "a.csv").write_bytes("ä,b\n1,2\n".encode("cp1252"))
    with pytest.raises(ValueError, match="not in the encoding utf-8: byte 1 is 0xe4"):
        read_table(tmp_path / "a.csv", FileOptions(encoding="utf-8"))


def test_names_are_on_one_line_unless_known_otherwise(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('" a\n b", c\n1,2\n')
    assert reading(path)[0].columns.tolist() == ["a b", "c"]
    known = Roles(numbers=frozenset((" c",)))
    assert reading(path, FileOptions(), known)[0].columns.tolist() == ["a b", " c"]
    path.write_text("a, a\n1,2\n")
    assert read_table(path).columns.tolist() == ["a", " a"]


# ------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("1.234,50 €", ",", 1234.5),
        ("EUR 1.234", ",", 1234),
        ("-$1,234.50", ".", -1234.5),
        ("$-5", ".", -5),
        ("(1,234)", ".", -1234),
        ("12,34,567", ".", 1234567),
        ("5-", ".", -5),
        ("\u22125", ".", -5),
        ("4.35 %", ".", 0.0435),
        ("1.234,\u2013", ",", 1234),
        ("1,5e3", ",", 1500),
        (".5", ".", 0.5),
        ("0,123", ".", None),
        ("1,2345", ".", None),
        ("1.234.56", ",", None),
        ("(5", ".", None),
        ("--5", ".", None),
        ("€", ",", None),
        ("+", ",", None),
        ("5 km", ",", None),
        ("€5 EUR", ",", None),
        ("1_000", ".", None),
        ("(" + 90 * " " + "x", ".", None),
    ],
)
def test_numbers_as_people_write_them(text, decimal, value):
    found = read_number(text, decimal)
    assert (None if found is None else found.value) == value


def test_a_column_of_the_other_decimal_sign_is_read_by_it():
    assert read_number_column(["1.5", "2.25"], ",").values["2.25"] == 2.25
    assert read_number_column(["1.5", "2,25"], ",") is None


def test_signs_of_gaps_are_gaps_among_numbers_only(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c,d\n1,?,-,?\n?,x,+,n/a\n-,y,-,?\nNaN,x,+,?\n")
    table, told = reading(path)
    assert np.isnan(table["a"]).tolist() == [False, True, True, True]
    assert table["b"].tolist() == ["?", "x", "y", "x"]
    assert table["c"].tolist() == ["-", "+", "-", "+"]
    assert table["d"].tolist() == ["?", "n/a", "?", "?"]
    (sentence,) = told
    assert "3 cells are read as missing" in sentence


def test_a_word_that_spoils_a_column_of_numbers_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n?,1\n" + 6 * "2,x\n" + "3 or 4,1\n")
    table, told = reading(path)
    assert table["a"].tolist()[-1] == "3 or 4"
    (sentence,) = told
    assert "1 of its 9 cells is no number: '3 or 4' in row 9 (row 1 is" in sentence
    assert not reading(path, FileOptions(), Roles(labels=frozenset("a")))[1]


def test_numbers_of_different_units_stay_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n5 €,5 %,0\n7 $,7,7 $\n")
    table, told = reading(path)
    assert table["a"].tolist() == ["5 €", "7 $"]
    assert table["b"].tolist() == ["5 %", "7"]
    assert table["c"].tolist() == [0, 7]
    assert sum("numbers of different units" in sentence for sentence in told) == 2
    with pytest.raises(ValueError, match="'a' holds numbers of different units, '5 €'"):
        reading(path, FileOptions(), Roles(numbers=frozenset("a")))


def test_truth_values_of_other_languages(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b;c\nWAHR;TRUE;wahr\nFALSCH;?;unklar\n")
    table, told = reading(path)
    assert table["a"].dtype == bool
    assert table["a"].tolist() == [True, False]
    assert table["b"].tolist() == [True, None]
    assert table["c"].tolist() == ["wahr", "unklar"]
    assert "'?' 1x in column 'b'" in " ".join(told)
    assert "column 'a' holds truth values" in " ".join(told)
    table, _ = reading(path, FileOptions(), Roles(labels=frozenset("a")))
    assert table["a"].tolist() == ["WAHR", "FALSCH"]


def test_labels_are_plain_numbers_or_names(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,5 €,2024-01-01\n?,7 €,2024-01-02\n")
    table, told = reading(path, FileOptions(), Roles(labels=frozenset("abc")))
    assert table["a"].tolist() == ["1", "?"]
    (sentence,) = told
    assert "Column 'a' holds '?' among numbers: a class or category" in sentence
    assert table["b"].tolist() == ["5 €", "7 €"]
    assert table["c"].tolist() == ["2024-01-01", "2024-01-02"]


@pytest.mark.parametrize("sep", [",", ";"])
def test_labels_with_leading_zeros_are_names(tmp_path, sep):
    """01 and 1 are two classes; as numbers they were one."""
    path = tmp_path / "a.csv"
    text = "a,b,c\n01,1,007\n1,2,12\n2,30,\n"
    path.write_text(text.replace(",", sep))
    for file in (FileOptions(), FileOptions(decimal=",")):
        table, _ = reading(path, file, Roles(labels=frozenset("abc")))
        assert table["a"].tolist() == ["01", "1", "2"]
        assert table["b"].tolist() == [1, 2, 30]
        assert table["b"].dtype == np.int64
        assert table["c"].tolist()[:2] == ["007", "12"]
        assert pd.isna(table["c"][2])


def test_labels_that_are_one_number_are_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,1.5,1e400\n1.0,2.5,x\n2,0.5,y\n")
    table, told = reading(path, FileOptions(), Roles(labels=frozenset("abc")))
    assert table["a"].tolist() == [1, 1, 2]
    assert told == [
        "Column 'a' holds '1' and '1.0', which are the same number: they count as one "
        "class or category."
    ]
    assert table["b"].tolist() == [1.5, 2.5, 0.5]
    assert table["c"].tolist() == ["1e400", "x", "y"]


def test_labels_in_excel_keep_their_zeros(tmp_path):
    path = tmp_path / "a.xlsx"
    pd.DataFrame({"a": ["01", 1, 2], "x": [1, 2, 3]}).to_excel(path, index=False)
    table, _ = reading(path, FileOptions(), Roles(labels=frozenset("a")))
    assert table["a"].tolist() == ["01", "1", "2"]


def test_types_of_a_file_are_kept_unless_numbers_are_needed(tmp_path):
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame({"a": ["1", "2,5"], "b": ["1", "2"]})
    frame["c"] = [Decimal("1.5"), None]
    frame.to_parquet(path)
    table, _ = reading(path, FileOptions(), Roles(numbers=frozenset("a")))
    assert table["a"].tolist() == [1.0, 2.5]
    assert table["b"].tolist() == ["1", "2"]
    assert table["c"].fillna(-1).tolist() == [1.5, -1]


def test_columns_of_no_interest_are_not_looked_at(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,5 €\n?,-\n")
    roles = Roles(text=frozenset(("z",)), numbers=frozenset("a"), are_all=True)
    table, told = reading(path, FileOptions(), roles)
    assert table["b"].tolist() == ["5 €", "-"]
    assert len(told) == 1


def test_whole_numbers_of_any_length_are_numbers_or_text(tmp_path):
    """Found by fuzzing: pandas leaves those of more than 64 bits as they are."""
    path, long = tmp_path / "a.csv", 99999999999999999999990
    path.write_text(f"a,b,y\n{long},{'9' * 400},{long}\n5,1,{long + 1}\n,2,\n")
    table, _ = reading(path, FileOptions(), Roles(labels=frozenset("y")))
    assert table["a"].tolist()[:2] == [1e23, 5.0]
    assert np.isnan(table["a"][2])
    assert table["b"].tolist()[:2] == ["9" * 400, "1"]
    assert table["y"].tolist()[:2] == [str(long), str(long + 1)]


def test_text_stays_as_it_is_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n007,1\n08,2\n")
    table, _ = reading(path, FileOptions(), Roles(text=frozenset("a")))
    assert table["a"].tolist() == ["007", "08"]
    (tmp_path / "a.xlsx").write_bytes(excel(["a", "b"], [7, 1], [date(2024, 5, 1), 2]))
    table, _ = reading(tmp_path / "a.xlsx", FileOptions(), Roles(text=frozenset("a")))
    assert table["a"].tolist() == ["7", "2024-05-01"]


# --------------------------------------------------------------------------- dates


@pytest.mark.parametrize(
    "text",
    [
        "2021-07-02",
        "2021/7/2",
        "2.7.2021",
        "02.07.21",
        "2 Jul 2021",
        "2. Juli 2021",
        "July 2, 2021",
        "02-JUL-2021",
        "2021-07-02T00:00:00Z",
        "02.07.2021 00:00",
    ],
)
def test_dates_as_people_write_them(text):
    assert read_date_column([text]).values[text] == 2021 + round(182 / 365, 6)


def test_the_order_of_day_and_month_is_found_out():
    assert read_date_column(["02/01/2020", "31/12/2020"]).values["02/01/2020"] < 2020.01
    assert read_date_column(["02/01/2020", "12/31/2020"]).values["02/01/2020"] > 2020.08
    assert read_date_column(["31/12/2020", "12/31/2020"]) is None
    assert read_date_column(["30.02.2020"]) is None
    assert read_date_column(["Dec-2015", "0000-00-00"]).missing == {"0000-00-00"}


def test_dates_are_the_same_numbers_from_every_file(tmp_path):
    days = [date(2020, 1, 1), date(2020, 7, 1), date(2024, 12, 31)]
    text = "day,b\n" + "".join(f"{day:%d.%m.%Y},1\n" for day in days) + "-,1\n"
    (tmp_path / "a.csv").write_text(text)
    moments = [datetime(d.year, d.month, d.day) for d in days]
    (tmp_path / "a.xlsx").write_bytes(excel(["day", "b"], *([d, 1] for d in moments)))
    pd.DataFrame({"day": days}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"day": moments}).to_feather(tmp_path / "a.feather")
    expected = [2020.0, 2020.497268, 2024.997268]
    for end in ("csv", "xlsx", "parquet", "feather"):
        table, told = reading(tmp_path / f"a.{end}")
        assert table["day"].tolist()[:3] == expected
        assert "read as years with a fraction" in " ".join(told)


def test_dates_that_may_be_two_days_are_not_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n01/02/2020,1\n03/04/2020,2\n")
    table, told = reading(path)
    assert table["a"].tolist() == ["01/02/2020", "03/04/2020"]
    assert "Write dates as 2024-12-31" in told[0]
    with pytest.raises(ValueError, match="day or month may come first"):
        reading(path, FileOptions(), Roles(numbers=frozenset("a")))


# --------------------------------------------------------------------- identifiers


@pytest.mark.parametrize("n_digits", [18, 20])
@pytest.mark.parametrize("has_gap", [False, True])
def test_ids_longer_than_a_float_identify_rows(tmp_path, n_digits, has_gap):
    """As float64 they were a few different numbers, and the root of a tree."""
    path = tmp_path / "a.csv"
    numbers = [str(10**n_digits + 30 * k) for k in range(200)]
    if has_gap:
        numbers[7] = ""
    rows = [f"{number},{k % 7}" for k, number in enumerate(numbers)]
    path.write_text("\n".join(["account_id,x", *rows]))
    table, _ = reading(path)
    found = identifying_columns(table)
    assert list(found) == ["account_id"]
    assert found["account_id"].startswith("named like an id, ")
    assert is_numeric_dtype(table["x"])
    wanted = Roles(numbers=frozenset(("account_id",)))
    assert is_numeric_dtype(reading(path, FileOptions(), wanted)[0]["account_id"])


def test_columns_that_identify_rows_are_found():
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "counter": rng.permutation(n) + 17,
            "steps": 5 * np.arange(n)[::-1],
            "IBAN": [f"DE{k // 2}" for k in range(n - 20)]
            + [f"X{k}" for k in range(20)],
            "customerId": rng.permutation(10**6)[:n],
            "Vertragsnummer": rng.permutation(10**6)[:n],
            "remark": [f"text {k % (n - 3)}" for k in range(n)],
            "income": rng.permutation(10**6)[:n],
            "grid": np.linspace(0, 1, n),
            "number of loans": np.arange(n) % 5,
            "valid": np.arange(n) % 2 == 0,
            "purpose": ["car", "home", "boat"] * 20,
            "age": rng.integers(18, 90, n),
        }
    )
    found = identifying_columns(frame)
    assert list(found) == frame.columns[:6].tolist()
    assert found["counter"] == "whole numbers from 17 to 76 in equal steps"
    assert found["remark"] == "text, 57 different values in 60 rows"
    assert list(identifying_columns(frame, frame.columns[1:])) == ["counter"]


def test_of_few_rows_only_the_name_tells():
    frame = pd.DataFrame({"id": range(8), "a": range(8), "b": list("abcdefgh")})
    assert list(identifying_columns(frame)) == ["id"]


# ------------------------------------------------------------------------- writing


@pytest.mark.parametrize(
    "end", ["csv", "tsv", "csv.gz", "tsv.gz", "xlsx", "parquet", "feather"]
)
def test_what_is_written_is_read_again(tmp_path, end):
    path = tmp_path / f"a.{end}"
    frame = TRUTH.assign(name=["=1+1", "a,b", "c\td", "1;2"])
    path.write_bytes(table_content(frame, path))
    table, _ = reading(path, FileOptions(), Roles(text=frozenset(("name", "y"))))
    pd.testing.assert_frame_equal(table, frame, check_dtype=False)


def test_a_label_is_no_formula_in_excel(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_bytes(table_content(pd.DataFrame({"=x": ["=1+1", "\x07"]}), path))
    found = openpyxl.load_workbook(path).active
    assert [cell.data_type for cell in found["A"]] == ["s", "s", "s"]
    assert found["A2"].value == "=1+1"


@pytest.mark.parametrize("name", ["a.xls", "a.json", "a.zip", "a.parquet.gz"])
def test_other_formats_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="ends in \\.csv"):
        refuse_format(tmp_path / name)


def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"pip install 'miptree\[excel\]'"):
        refuse_format(tmp_path / "a.xlsx")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'miptree\[cli\]'"):
        refuse_format(tmp_path / "a.feather")
    refuse_format(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("a,b\n1,x\n", True),
        ("a, b\n1,x\n", False),
        ("a,b\n\u22121,x\n", False),
        ("a,b\n1,x\n  ,y\n", False),
        ("a,b\n1,x \n", False),
        ("a;b\n1;x\n", False),
    ],
)
def test_what_another_program_reads_the_same_is_plain(tmp_path, text, is_plain):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read_file(tmp_path / "a.csv").is_plain == is_plain


def test_notes_are_no_worries(tmp_path):
    (tmp_path / "a.csv").write_text(GERMAN)
    with pytest.warns(TableNote, match=r"a\.csv: fields are separated by ;"):
        read_table(tmp_path / "a.csv")
