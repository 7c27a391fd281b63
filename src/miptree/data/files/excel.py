"""Excel files in and out, by openpyxl, which is imported only here."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd

from miptree.data.files.header import filled_width, header_place
from miptree.data.files.notes import Notes


def require_openpyxl() -> Any:
    """Import openpyxl, or say how to install it."""
    try:
        import openpyxl
    except ImportError:
        raise ImportError(
            "Excel files need openpyxl. Run: pip install 'miptree[excel]'"
        ) from None
    return openpyxl


def read_excel(data: bytes, sheet: str | None, notes: Notes) -> pd.DataFrame:
    """Read one sheet; cells keep the types that Excel gave them."""
    openpyxl = require_openpyxl()
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except Exception as error:  # openpyxl and zipfile raise all sorts of them
        raise ValueError(f"is not an Excel file that can be read: {error}") from None
    try:
        rows = _choose_sheet(book, sheet, notes)
    finally:
        book.close()
    above = header_place(rows)
    if above:
        notes.file.append(_lines_above(above))
    if not rows:
        raise ValueError("has no rows.")
    left = min(_first_filled(row) for row in rows[above:])
    table = [row[left:] for row in rows[above:]]
    width = max(filled_width(row) for row in table)
    names = _unique_names(_cells(table[0], width))
    frame = pd.DataFrame([_cells(row, width) for row in table[1:]], columns=names)
    frame = frame.loc[:, [not _is_unnamed_gap(frame, name) for name in names]]
    return frame.infer_objects()


def _choose_sheet(book: Any, sheet: str | None, notes: Notes) -> list[list[Any]]:
    """Return the rows of a sheet that are not blank, of the one asked for if any."""
    names = [s.title for s in book.worksheets]
    if sheet is not None and sheet not in names:
        listed = ", ".join(map(repr, names))
        raise ValueError(f"has no sheet {sheet!r}; it has {listed}.")
    shown = [s for s in book.worksheets if s.sheet_state == "visible"]
    for candidate in [book[sheet]] if sheet else shown or book.worksheets:
        candidate.reset_dimensions()  # files of other programs state wrong ones
        rows = [list(row) for row in candidate.iter_rows(values_only=True)]
        rows = [row for row in rows if filled_width(row)]
        if len(rows) > 1:
            if len(names) > 1 and sheet is None:
                notes.file.append(
                    f"sheet {candidate.title!r} is read, of {len(names)} sheets "
                    "(--sheet to set)"
                )
            return rows
    raise ValueError("has no sheet with rows.")


def _lines_above(number: int) -> str:
    return f"{number} line{'s' * (number != 1)} above the header left out"


def _cells(row: list[Any], width: int) -> list[Any]:
    return [*row, *[None] * width][:width]


def _first_filled(row: list[Any]) -> int:
    return next(j for j, cell in enumerate(row) if cell not in (None, ""))


def _unique_names(header: list[Any]) -> list[str]:
    """Name every column; a name that comes again gets a number, as in CSV files."""
    names: list[str] = []
    for j, cell in enumerate(header):
        name = f"Unnamed: {j}" if cell in (None, "") else str(cell)
        again = sum(other.rpartition(".")[0] == name for other in names)
        names.append(f"{name}.{again + 1}" if name in names else name)
    return names


def _is_unnamed_gap(frame: pd.DataFrame, name: str) -> bool:
    return name.startswith("Unnamed: ") and bool(frame[name].isna().all())


def excel_content(table: pd.DataFrame) -> bytes:
    """Return an Excel file of one sheet.

    A text that begins with "=" stays text: a label must not become a formula.
    """
    openpyxl = require_openpyxl()
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    for row in [table.columns.tolist(), *table.to_numpy(dtype=object).tolist()]:
        sheet.append([_written(openpyxl, sheet, value) for value in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _written(openpyxl: Any, sheet: Any, value: Any) -> Any:
    if not isinstance(value, str):
        return None if pd.isna(value) else value
    illegal = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
    cell = openpyxl.cell.WriteOnlyCell(sheet, illegal.sub("\ufffd", value))
    cell.data_type = "s"
    return cell
