"""``docs/results.md``: our numbers beside the paper's, each with its lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from miptree.bench.encoding import ENCODINGS
from miptree.bench.footnotes import notes_of
from miptree.bench.markdown import markdown_table, number
from miptree.bench.methods import METHODS, label_of
from miptree.bench.results import Cell, Section, elapsed, paper_number
from miptree.bench.runner import DEVELOPMENT_SPLITS
from miptree.bench.stats import Comparison, compare
from miptree.bench.suites import Pair

_TITLES = {
    "small": "Small sets: tables 1-5 of the paper",
    "medium": "Medium sets: table 6 of the paper",
    "large": "Large sets: tables 6-8 of the paper",
    "dev": "Further tables: mixed, with gaps, not in the paper",
    "smoke": "Smoke suite",
}


def results_page(sections: Sequence[Section], figures: Collection[str] = ()) -> str:
    """Return the Markdown of all sections.

    Parameters
    ----------
    sections : sequence of Section
        From :func:`~miptree.bench.results.sections`.
    figures : collection of str
        Names of the files that ``miptree bench figures`` has written to ``figures/``
        beside the page.
    """
    blocks = [_HEAD]
    for section in sections:
        blocks += _section(section, figures)
    return "\n\n".join(blocks) + "\n"


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
marks a cell of which only k of n splits are done, which enters no mean."""


def _section(section: Section, figures: Collection[str]) -> list[str]:
    title = _TITLES[section.suite]
    if section.part == "official":
        title += ", official test parts"
    blocks = [f"## {title}, at most {section.limit:g} s a fit", _what_was_run(section)]
    blocks += [*_means(section), *_comparisons(section), *_probabilities(section)]
    for name in ("ranks", "scatter", "sets"):
        if (file := f"{section.slug}-{name}.png") in figures:
            blocks.append(f"![{name}](figures/{file})")
    if (page := f"{section.slug}.html") in figures:
        told = "every split of every cell, with its lines"
        blocks.append(f"[Interactive page](figures/{page}): {told}.")
    return [*blocks, *_pairs(section)]


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
    """Return means over the pairs that every method completed, and over its own."""
    own = {
        method: [pair for pair in section.pairs if section.is_complete(pair, method)]
        for method in section.methods
    }
    common = [p for p in section.pairs if all(p in pairs for pairs in own.values())]
    rows: list[list[object]] = []
    for method, pairs in own.items():
        cells = (
            *(_mean_of(section, common, method, field) for field in ("train", "test")),
            len(pairs),
            *(_mean_of(section, pairs, method, f) for f in ("test", "wall", "cpu")),
        )
        rows.append([METHODS[method].label, METHODS[method].encoding, *cells])
    for name in section.paper_names:
        there = [p for p in section.pairs if np.isfinite(paper_number(p, name))]
        within = common if set(common) <= set(there) else []
        cells = (
            _mean(paper_number(pair, name, "train") for pair in within),
            _mean(paper_number(pair, name) for pair in within),
            len(there),
            _mean(paper_number(pair, name) for pair in there),
        )
        rows.append([f"*paper: {name}*", "", *cells, "", ""])
    head = ["method", "columns", "train", "test", "pairs", "own test"]
    return [
        f"Means over the {len(common)} pairs that all methods completed, and over the "
        "pairs that each completed:",
        markdown_table([*head, "wall s", "CPU s"], rows),
        f"Columns: {'; '.join(f'*{k}*: {v}' for k, v in ENCODINGS.items())}.",
    ]


def _mean_of(section: Section, pairs: Sequence[Pair], method: str, field: str) -> str:
    return _mean(section.cell(pair, method).mean(field) for pair in pairs)


def _mean(values: Iterable[float]) -> str:
    found = list(values)
    return number(float(np.mean(found))) if found else "-"


def _comparisons(section: Section) -> list[str]:
    """Compare our method with everybody else, pair by pair."""
    if section.ours is None:
        return []
    ours = section.accuracies(section.ours)
    rows = [
        [_label(column), *_compared(compare(ours, section.accuracies(column)))]
        for column in section.others
    ]
    return [
        f"`{section.ours}` minus the other, test accuracy in points: mean over the "
        "pairs that both have, standard error over the pairs, and pairs won, tied (to "
        "0.05 points) and lost:",
        markdown_table(["other", "pairs", "difference", "win / tie / loss"], rows),
    ]


def _probabilities(section: Section) -> list[str]:
    """Return log losses and Brier scores, and how large our trees are."""
    rows: list[list[object]] = []
    for method in section.methods:
        loss, brier, terms = (
            np.array([section.cell(p, method).mean_of_known(f) for p in section.pairs])
            for f in ("log_loss", "brier", "nonzeros")
        )
        if np.isfinite(loss).all():
            sizes = ["", ""]
            if len(known := terms[np.isfinite(terms)]):
                sizes = [f"{known.mean():.1f}", f"{np.median(known):.1f}"]
            losses = [f"{loss.mean():.4f}", f"{brier.mean():.4f}"]
            rows.append([METHODS[method].label, *losses, *sizes])
    if not rows:
        return []
    head = ["method", "log loss", "Brier score", "terms, mean", "median of pairs"]
    told = "Probabilities on test rows, means over all pairs, and sizes of the trees:"
    return [told, markdown_table(head, rows)]


def _label(column: str) -> str:
    return label_of(column) if column in METHODS else f"*{column}*"


def _compared(found: Comparison) -> list[object]:
    if not found.n:
        return [0, "-", "-"]
    error = "" if np.isnan(found.error) else f" ± {found.error:.2f}"
    wins = f"{found.wins} / {found.ties} / {found.losses}"
    return [found.n, f"{found.mean:+.2f}{error}", wins]


def _pairs(section: Section) -> list[str]:
    """Return the large table, and its footnotes."""
    rows: list[list[object]] = []
    notes: dict[str, None] = {}
    for pair in section.pairs:
        own = notes_of(section, pair)
        notes |= dict.fromkeys(f"\\* {pair.set}: {note}." for note in own)
        cells = [
            _cell(section.cell(pair, method), len(section.splits))
            for method in section.methods
        ]
        cells += [_printed(pair, name) for name in section.paper_names]
        rows.append([pair.set + ("*" if own else ""), pair.depth, *cells])
    head = ["set", "D", *map(_label, section.columns)]
    return [markdown_table(head, rows), *notes]


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
    test, train = (paper_number(pair, name, part) for part in ("test", "train"))
    return "-" if np.isnan(test) else f"{test:.1f} ({number(train)})"
