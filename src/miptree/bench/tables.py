"""``docs/results.md``: our numbers beside the paper's, each with its lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from miptree.bench.encoding import ENCODINGS
from miptree.bench.footnotes import notes_of
from miptree.bench.methods import METHODS
from miptree.bench.results import Cell, Section, elapsed, paper_number
from miptree.bench.runner import DEVELOPMENT_SPLITS
from miptree.bench.stats import Comparison, compare
from miptree.bench.suites import Pair

OURS = "miptree"
"""The method that the others are compared with."""
_TITLES = {
    "small": "Small sets: tables 1-5 of the paper",
    "medium": "Medium sets: table 6 of the paper",
    "large": "Large sets: tables 6-8 of the paper",
    "smoke": "Smoke suite",
}


def results_page(sections: Sequence[Section], figures: Collection[str] = ()) -> str:
    """Markdown of all sections.

    Parameters
    ----------
    sections : sequence of Section
        From :func:`~miptree.bench.results.sections`.
    figures : collection of str
        Names of the files that ``miptree bench figures`` has written to ``figures/``
        beside the page.
    """
    text = [_HEAD]
    for section in sections:
        text += _section(section, figures)
    return "\n".join(text).rstrip() + "\n"


def slug(section: Section) -> str:
    """Name of a section in file names."""
    return f"{section.suite}-{section.part}-{section.limit:g}s"


def paper_columns(section: Section) -> list[str]:
    """Methods of the paper with a number in the section."""
    names = ("S1O", "S1O-DS", "CART", "OCT-H", "Fair", "BinOCT")
    return [
        name
        for name in names
        if any(np.isfinite(paper_number(pair, name)) for pair in section.pairs)
    ]


def accuracies(section: Section, column: str) -> np.ndarray:
    """Test accuracy on every pair: of a method, or "paper: <name>"."""
    if column.startswith("paper: "):
        name = column.removeprefix("paper: ")
        return np.array([paper_number(pair, name) for pair in section.pairs])
    return np.array([section.test(pair, column) for pair in section.pairs])


_HEAD = """# Results

Written by `miptree bench tables` from `benchmarks/results/bench-*.jsonl`; do not edit.
Test accuracy in percent (training accuracy in brackets), means over the splits. The
tooltip of every number, and this page's source, name its journal lines, such as
`bench-small.jsonl:17,43`. Columns headed *paper* are the paper's printed numbers
(`miptree/bench/paper.toml`): CPLEX 12.9, 15 minutes to 4 hours, other splits of the
same sets, and settings of which it does not say on what part they were chosen; they are
context, not a comparison on equal splits.

Protocol: 75/25 stratified, `random_state` = split; this package's defaults were chosen
by test accuracy on splits 0-4 of the small sets (*Benchmarks* says what else was seen),
so the sets are not new to it, though parted anew; other settings are chosen on the
training part only; one thread a fit. A dash is a number that is not there; `(k/n)`
marks a cell of which only k of n splits are done, which enters no mean.
"""


def _section(section: Section, figures: Collection[str]) -> list[str]:
    title = _TITLES[section.suite]
    if section.part == "official":
        title += ", official test parts"
    limit = f"at most {section.limit:g} s a fit"
    text = ["", f"## {title}, {limit}", "", _what_was_run(section), ""]
    text += [*_means(section), "", *_comparisons(section), ""]
    for name in ("ranks", "scatter", "sets"):
        if (file := f"{slug(section)}-{name}.png") in figures:
            text += [f"![{name}](figures/{file})", ""]
    if (page := f"{slug(section)}.html") in figures:
        told = "every split of every cell, with its lines"
        text += [f"[Interactive page](figures/{page}): {told}.", ""]
    return [*text, *_pairs(section)]


def _what_was_run(section: Section) -> str:
    lines = [line.record for cell in section.cells.values() for line in cell.lines]
    failed = sum(record["status"] == "failed" for record in lines)
    wall = sum(record.get("wall", 0.0) for record in lines)
    cpu = sum(record.get("cpu", 0.0) for record in lines)
    clock = elapsed(lines)
    commits = sorted({record.get("commit") or "unknown" for record in lines})
    seeds = ", ".join(map(str, section.splits))
    what = "Seeds" if section.part == "official" else "Splits"
    used = [split for split in section.splits if split in DEVELOPMENT_SPLITS]
    warning = f" **Development splits, not for publication: {used}.**" if used else ""
    return (
        f"{what} {seeds}; {len(lines)} fits, {failed} failed; {clock / 3600:.2f} h by "
        f"the clock, {wall / 3600:.2f} h of wall time summed over the fits, "
        f"{cpu / 3600:.2f} h of CPU time; commits {', '.join(commits)}.{warning}"
    )


def _means(section: Section) -> list[str]:
    """Mean over the pairs that every method completed, and over each one's own."""
    common = [
        pair
        for pair in section.pairs
        if all(section.is_complete(pair, method) for method in section.methods)
    ]
    text = [
        f"Means over the {len(common)} pairs that all methods completed, and over the "
        "pairs that each completed:",
        "",
        "| method | columns | train | test | pairs | own test | wall s | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method in section.methods:
        own = [pair for pair in section.pairs if section.is_complete(pair, method)]
        cells = [
            _mean_of(section, common, method, "train"),
            _mean_of(section, common, method, "test"),
            str(len(own)),
            _mean_of(section, own, method, "test"),
            _mean_of(section, own, method, "wall"),
            _mean_of(section, own, method, "cpu"),
        ]
        label, encoding = METHODS[method].label, METHODS[method].encoding
        text.append(f"| {label} | {encoding} | {' | '.join(cells)} |")
    for name in paper_columns(section) if section.part == "split" else []:
        there = [p for p in section.pairs if np.isfinite(paper_number(p, name))]
        within = common if set(common) <= set(there) else []
        cells = [
            _number(_mean([paper_number(p, name, "train") for p in within])),
            _number(_mean([paper_number(p, name) for p in within])),
            str(len(there)),
            _number(_mean([paper_number(p, name) for p in there])),
        ]
        text.append(f"| *paper: {name}* | | {' | '.join(cells)} | | |")
    text += ["", "Columns: " + "; ".join(f"*{k}*: {v}" for k, v in ENCODINGS.items())]
    return [*text[:-1], text[-1] + "."]


def _mean_of(section: Section, pairs: Sequence[Pair], method: str, field: str) -> str:
    means = [section.cell(pair, method).mean(field) for pair in pairs]
    return _number(_mean(means))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _comparisons(section: Section) -> list[str]:
    """Our default against everybody else, pair by pair."""
    if OURS not in section.methods:
        return []
    ours = accuracies(section, OURS)
    columns = [method for method in section.methods if method != OURS]
    if section.part == "split":
        columns += [f"paper: {name}" for name in paper_columns(section)]
    text = [
        f"`{OURS}` minus the other, test accuracy in points: mean over the pairs that "
        "both have, standard error over the pairs, and pairs won, tied (to 0.05 "
        "points) and lost:",
        "",
        "| other | pairs | difference | win / tie / loss |",
        "|---|---|---|---|",
    ]
    for column in columns:
        found = compare(ours, accuracies(section, column))
        label = METHODS[column].label if column in METHODS else f"*{column}*"
        text.append(f"| {label} | {_compared(found)} |")
    return text


def _compared(found: Comparison) -> str:
    if not found.n:
        return "0 | - | -"
    error = "" if np.isnan(found.error) else f" ± {found.error:.2f}"
    return (
        f"{found.n} | {found.mean:+.2f}{error} | "
        f"{found.wins} / {found.ties} / {found.losses}"
    )


def _pairs(section: Section) -> list[str]:
    """The large table, and its footnotes."""
    names = paper_columns(section) if section.part == "split" else []
    heads = [*(METHODS[m].label for m in section.methods)]
    heads += [f"*paper: {name}*" for name in names]
    text = [
        "| set | D | " + " | ".join(heads) + " |",
        "|---|---|" + "---|" * len(heads),
    ]
    notes: list[str] = []
    for pair in section.pairs:
        own = notes_of(section, pair)
        notes += [f"{pair.set}: {note}" for note in own]
        cells = [
            _cell(section.cell(pair, method), len(section.splits))
            for method in section.methods
        ]
        cells += [_printed(pair, name) for name in names]
        star = "*" if own else ""
        text.append(f"| {pair.set}{star} | {pair.depth} | {' | '.join(cells)} |")
    for note in dict.fromkeys(notes):
        text += ["", f"\\* {note}."]
    return text


def _cell(cell: Cell, n_splits: int) -> str:
    """Means, with the journal lines behind them; no link, as no site has journals."""
    if not cell.lines:
        return "-"
    shown = "failed"
    if cell.done:
        done, n = len(cell.done), n_splits
        missing = "" if done == n else f" ({done}/{n})"
        shown = f"{cell.mean('test'):.1f} ({cell.mean('train'):.1f}){missing}"
    numbers = ",".join(str(line.number) for line in cell.lines)
    return f'<span title="{cell.lines[0].file}:{numbers}">{shown}</span>'


def _printed(pair: Pair, name: str) -> str:
    test = paper_number(pair, name)
    train = paper_number(pair, name, "train")
    return "-" if np.isnan(test) else f"{test:.1f} ({_number(train)})"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f}"
