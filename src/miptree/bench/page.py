"""The interactive page of a section: one HTML file that needs nothing else."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from miptree.bench.footnotes import notes_of
from miptree.bench.methods import METHODS, label_of
from miptree.bench.results import Cell, Section
from miptree.utils.files import write_atomic


def write_page(section: Section, path: Path) -> None:
    """Write the page of a section."""
    template = files("miptree.bench").joinpath("page.html").read_text("utf-8")
    # "</script>" inside a string would end the script.
    data = json.dumps(page_data(section)).replace("</", "<\\/")
    write_atomic(path, template.replace("/*DATA*/", data).encode(), force=True)


def page_data(section: Section) -> dict[str, Any]:
    """Return all that the page shows, as plain data."""
    return {
        "title": f"{section.suite} suite, at most {section.limit:g} s a fit"
        + (", official test parts" if section.part == "official" else ""),
        "columns": [
            {"id": c, "label": label_of(c), "printed": c not in METHODS}
            for c in section.columns
        ],
        "pairs": [str(pair) for pair in section.pairs],
        "notes": ["; ".join(notes_of(section, p)) for p in section.pairs],
        "test": {c: _plain(section.accuracies(c)) for c in section.columns},
        "cells": {
            method: [_cell(section.cell(pair, method)) for pair in section.pairs]
            for method in section.methods
        },
    }


def _plain(values: np.ndarray) -> list[float | None]:
    return [round(float(v), 3) if np.isfinite(v) else None for v in values]


def _cell(cell: Cell) -> list[dict[str, Any]]:
    shown = ("split", "status", "test", "train", "wall", "cpu", "fit_status", "error")
    return [
        {"at": f"{line.file}:{line.number}"}
        | {key: line.record[key] for key in shown if key in line.record}
        for line in cell.lines
    ]
