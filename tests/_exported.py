"""Run what the exports write: in databases, in Python, and compiled."""

import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest

from miptree.export.readable import readable_tree


def frame_of(rows):
    """Rows as a table of plain columns, None where missing."""
    if isinstance(rows, np.ndarray):
        rows = pd.DataFrame(rows, columns=[f"x[{j}]" for j in range(rows.shape[1])])
    plain = rows.astype(object)
    return plain.where(rows.notna(), None)


def in_sqlite(selection, rows):
    """What SQLite selects from rows, in their order."""
    table = frame_of(rows)
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"' + str(n).replace('"', '""') + '"' for n in table.columns)
    connection.execute(f"CREATE TABLE t ({names})")
    marks = ", ".join("?" for _ in table.columns)
    connection.executemany(f"INSERT INTO t VALUES ({marks})", table.values.tolist())
    found = connection.execute(f"SELECT {selection} FROM t ORDER BY rowid")
    return found.fetchall()


def in_duckdb(selection, rows):
    """What DuckDB selects from rows, in their order."""
    duckdb = pytest.importorskip("duckdb")
    table = frame_of(rows)
    connection = duckdb.connect()
    kinds = []
    for name in table.columns:
        value = next(v for v in table[name] if v is not None)
        kind = {bool: "BOOLEAN", str: "VARCHAR"}.get(type(value), "DOUBLE")
        kinds.append('"' + str(name).replace('"', '""') + f'" {kind}')
    connection.execute(f"CREATE TABLE t (id BIGINT, {', '.join(kinds)})")
    marks = ", ".join("?" for _ in range(len(kinds) + 1))
    cells = [[i, *row] for i, row in enumerate(table.values.tolist())]
    connection.execute("BEGIN")
    connection.executemany(f"INSERT INTO t VALUES ({marks})", cells)
    found = connection.execute(f"SELECT {selection} FROM t ORDER BY id")
    return found.fetchall()


def _c_program(source, rules, prints):
    """A program that reads rows from standard input, cell by cell."""
    read = []
    for j in rules.used:
        if rules.is_text(j):
            read.append(
                f"if (!fgets(t{j}, sizeof t{j}, stdin)) return 0;"
                f't{j}[strcspn(t{j}, "\\n")] = 0;'
                f'row.x{j} = strcmp(t{j}, "<NULL>") ? t{j} : NULL;'
            )
        else:
            read.append(
                "if (!fgets(line, sizeof line, stdin)) return 0;"
                f"row.x{j} = strtod(line, NULL);"
            )
    buffers = "".join(f"static char t{j}[999];" for j in rules.used)
    return (
        source
        + "\n#include <stdio.h>\n#include <stdlib.h>\n"
        + buffers
        + "int main(void) { static char line[999]; struct miptree_row row;"
        + f"for (;;) {{ {' '.join(read)} {prints} }} }}\n"
    )


def in_c(source, clf, rows, folder, prints):
    """The lines that C code prints for each row, which it finds in ``row``."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (gcc or cc) on this machine")
    rules = readable_tree(clf)
    (folder / "tree.c").write_text(_c_program(source, rules, prints))
    strictly = ["-std=gnu11", "-O3", "-march=native", "-Wall", "-Wextra", "-Werror"]
    strictly += ["-Wno-unused-variable"]  # of this test's reader
    command = [compiler, *strictly, "tree.c", "-o", "tree", "-lm"]
    subprocess.run(command, check=True, cwd=folder, timeout=60)
    lines = []
    for row in frame_of(rows).values.tolist():
        for j in rules.used:
            missing = "<NULL>" if rules.is_text(j) else "nan"
            value = missing if row[j] is None else row[j]
            text = value if isinstance(value, str) else repr(float(value))
            lines.append(text + "\n")
    run = subprocess.run(
        [folder / "tree"],
        input="".join(lines),
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    return run.stdout.splitlines()
