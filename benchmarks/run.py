"""Run the experiments behind one question and write its table.

    python benchmarks/run.py --help                           # all questions
    python benchmarks/run.py search --help                    # options of one
    python benchmarks/run.py search --part small --split 0 1
    python benchmarks/run.py search --table                   # only the table

Every finished case is a line of ``results/<question>.jsonl`` and is not run again, so a
run can be stopped and started at any time; ``results/<question>.md`` is written afresh.
``--results`` names another folder, such as for the figures before and after a change.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Protocol, cast

from joblib import Parallel, delayed

from miptree.bench.journal import Journal
from miptree.proof import compile_proof_kernels
from miptree.proof.routes import compile_route_kernels
from miptree.search import compile_kernels

RESULTS = Path(__file__).parent / "results"
NAMES = sorted(
    path.stem
    for path in (Path(__file__).parent / "questions").glob("*.py")
    if not path.stem.startswith("_")
)


class Question(Protocol):
    """What a module of ``questions`` defines.

    Attributes
    ----------
    TITLE, ABOUT : str
        Heading and first paragraph of the page.
    KEY : tuple of str
        Fields that name a case in the journal.
    OPTIONS : dict
        Options of the command line and their defaults; a tuple takes several values.
        Other fields of the key become options that select among the cases.
    cases(options) : iterable of tuple
        Values of the key of all cases. A module without it asks for every combination
        of its options.
    draw(records, folder)
        Draws the figures of the page; not all modules have it.
    """

    TITLE: str
    ABOUT: str
    KEY: tuple[str, ...]
    OPTIONS: dict[str, Any]

    def run(self, case: Namespace) -> dict[str, Any]:
        """Run a case, which has its key and all options, and return more fields."""

    def tables(self, records: list[dict[str, Any]]) -> list[str]:
        """Return the blocks of Markdown below the first paragraph."""


def get_question(name: str) -> Question:
    """Import the question of a name."""
    return cast(Question, import_module(f"questions.{name}"))


def page(name: str, results: Path = RESULTS) -> str:
    """Return the Markdown page of a question, from its journal."""
    question = get_question(name)
    records = Journal(results / f"{name}.jsonl", question.KEY).records()
    written = f"Written by `benchmarks/run.py {name}` from `{name}.jsonl`."
    blocks = [f"# {question.TITLE}", f"{written} {question.ABOUT}"]
    blocks += question.tables(records) if records else []
    return "\n\n".join(blocks) + "\n"


def missing(question: Question, options: Namespace) -> Iterator[dict[str, Any]]:
    """Yield the keys of the cases that are asked for and not in the journal."""
    done = options.journal.done()
    for case in _all_cases(question, options):
        key = dict(zip(question.KEY, case, strict=True))
        chosen = {f: getattr(options, f) for f in key if f not in question.OPTIONS}
        is_asked = (not given or str(key[f]) in given for f, given in chosen.items())
        if case not in done and all(is_asked):
            yield key


def _all_cases(question: Question, options: Namespace) -> Iterable[tuple[Any, ...]]:
    if hasattr(question, "cases"):
        return question.cases(options)
    return product(*(getattr(options, field) for field in question.KEY))


def record(options: Namespace, key: dict[str, Any]) -> dict[str, Any]:
    """Run one case, with all kernels compiled before."""
    compile_kernels()
    compile_proof_kernels()
    compile_route_kernels()
    case = Namespace(**vars(options) | key)
    return key | get_question(options.topic).run(case)


def parse(arguments: list[str] | None = None) -> Namespace:
    """Read the command line, whose options depend on the question."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="topic", required=True, metavar="QUESTION")
    for name in NAMES:
        question = get_question(name)
        command = commands.add_parser(
            name,
            help=question.__doc__.splitlines()[0],
            description=question.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add_options(command, question)
    return parser.parse_args(arguments)


def _add_options(command: argparse.ArgumentParser, question: Question) -> None:
    for option, default in question.OPTIONS.items():
        several = isinstance(default, tuple)
        command.add_argument(
            f"--{option.replace('_', '-')}",
            nargs="+" if several else None,
            type=type(default[0] if several else default),
            default=default,
            help="default: %(default)s",
        )
    for field in question.KEY:
        if field not in question.OPTIONS:
            command.add_argument(f"--{field}", nargs="+", help="only these cases")
    command.add_argument("--jobs", type=int, default=1, help="cases at a time")
    command.add_argument("--results", type=Path, default=RESULTS, help="the folder")
    command.add_argument("--table", action="store_true", help="only write the table")


def main() -> None:
    """Run what is missing and write the table."""
    options = parse()
    name, question = options.topic, get_question(options.topic)
    options.journal = Journal(options.results / f"{name}.jsonl", question.KEY)
    if not options.table:
        with options.journal.locked():
            todo = (delayed(record)(options, key) for key in missing(question, options))
            for found in Parallel(options.jobs, return_as="generator_unordered")(todo):
                if found.get("status") == "interrupted":
                    raise KeyboardInterrupt  # Ctrl-C left half a result
                options.journal.append(found)
                print(found, flush=True)
    (options.results / f"{name}.md").write_text(page(name, options.results))
    if hasattr(question, "draw"):
        question.draw(options.journal.records(), options.results)


if __name__ == "__main__":
    main()
