"""Figures of a section: mean ranks, scatter of test accuracies, set by set."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from miptree.bench.methods import label_of
from miptree.bench.page import write_page
from miptree.bench.results import OURS, Section
from miptree.bench.stats import compare, critical_difference, mean_ranks
from miptree.utils.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ON_SETS = (OURS, "miptree-tuned", "cart", "paper: S1O", "paper: S1O-DS")
"""Columns in the figure set by set, as in the paper's figures 1-3."""


def write_figures(section: Section, folder: Path) -> list[Path]:
    """Write the PNG figures and the interactive page of a section."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in (("ranks", ranks), ("scatter", scatter), ("sets", sets)):
        path = folder / f"{section.slug}-{name}.png"
        write_atomic(path, _png(draw(section)), force=True)
        written.append(path)
    page = folder / f"{section.slug}.html"
    write_page(section, page)
    return [*written, page]


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    # Without a date and a version inside, the same data give the same file.
    figure.savefig(buffer, dpi=110, bbox_inches="tight", metadata={"Software": None})
    return buffer.getvalue()


def _figure(width: float, height: float, **options: Any) -> tuple[Figure, Any]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Figures need matplotlib. Run: pip install 'miptree[bench]'"
        ) from error
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(**options)


def ranks(section: Section) -> Figure:
    """Draw mean ranks over the pairs that all methods completed, with Nemenyi's bar."""
    methods = list(section.methods)
    table = np.column_stack([section.accuracies(method) for method in methods])
    table = table[np.isfinite(table).all(axis=1)]
    figure, axes = _figure(7, 0.8 + 0.32 * len(methods))
    if not len(table) or len(methods) < 2:
        return _nothing(figure, axes, "no pair that two methods completed")
    rank = mean_ranks(table)
    order = np.argsort(-rank)
    place = np.arange(len(order))
    axes.plot(rank[order], place, "o", color="tab:blue")
    axes.set_yticks(place, [label_of(methods[k]) for k in order])
    width = critical_difference(len(methods), len(table))
    best = rank.min()
    axes.axvspan(best, best + width, color="tab:blue", alpha=0.12, lw=0)
    axes.set_xlabel(
        f"mean rank over {len(table)} pairs (1 is best); shaded: not significantly "
        "worse\nthan the best by Nemenyi's test, 5 %"
    )
    axes.grid(axis="x", alpha=0.3)
    return figure


def scatter(section: Section) -> Figure:
    """Draw our test accuracy against every other one, a point for each pair."""
    others = section.others
    if OURS not in section.methods or not others:
        return _nothing(*_figure(4, 1), f"nothing to compare {OURS} with")
    columns = min(4, len(others))
    rows = -(-len(others) // columns)
    figure, grid = _figure(2.6 * columns, 2.8 * rows, nrows=rows, ncols=columns)
    ours = section.accuracies(OURS)
    for axes in np.ravel(grid)[len(others) :]:
        axes.axis("off")
    for axes, other in zip(np.ravel(grid), others, strict=False):
        _against(axes, ours, section.accuracies(other), label_of(other))
    return figure


def _against(axes: Axes, ours: np.ndarray, theirs: np.ndarray, label: str) -> None:
    both = np.isfinite(ours) & np.isfinite(theirs)
    low = min([*ours[both], *theirs[both], 95.0]) - 3
    axes.plot([low, 101], [low, 101], color="0.7", lw=1)
    axes.plot(theirs[both], ours[both], "o", ms=4, alpha=0.7)
    found = compare(ours, theirs)
    told = f"{found.wins} won, {found.ties} tied, {found.losses} lost"
    axes.set_title(told, fontsize=9)
    axes.set(xlabel=label, ylabel=label_of(OURS), xlim=(low, 101), ylim=(low, 101))
    axes.set_aspect("equal")


def sets(section: Section) -> Figure:
    """Draw the test accuracy set by set, as in the paper's figures 1-3."""
    figure, axes = _figure(8, 1.2 + 0.22 * len(section.pairs))
    place = np.arange(len(section.pairs))[::-1]
    shown = [column for column in _ON_SETS if column in section.columns]
    for column, marker in zip(shown, "osvD^", strict=False):
        style = {"mfc": "none"} if column.startswith("paper") else {}
        values = section.accuracies(column)
        axes.plot(values, place, marker, ms=5, label=label_of(column), **style)
    axes.set_yticks(place, [str(pair) for pair in section.pairs], fontsize=8)
    axes.set_xlabel("test accuracy, %")
    axes.grid(alpha=0.3)
    if shown:
        axes.legend(fontsize=8, loc="lower left")
    return figure


def _nothing(figure: Figure, axes: Axes, why: str) -> Figure:
    axes.axis("off")
    axes.text(0.5, 0.5, why, ha="center")
    return figure
