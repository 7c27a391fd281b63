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
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from joblib import Parallel, delayed

from miptree.bench.journal import Journal
from miptree.proof import compile_proof_kernels
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
    """

    TITLE: str
    ABOUT: str
    KEY: tuple[str, ...]
    OPTIONS: dict[str, Any]

    def cases(self, options: argparse.Namespace) -> Iterable[tuple[Any, ...]]:
        """Yield the values of the key of every case that the options ask for."""

    def run(self, options: argparse.Namespace, *case: Any) -> dict[str, Any]:
        """Run a case and return the fields of its record beside the key."""

    def tables(self, records: list[dict[str, Any]]) -> list[str]:
        """Return the blocks of Markdown below the first paragraph."""


def get_question(name: str) -> Question:
    """Import the question of a name."""
    return import_module(f"questions.{name}")  # type: ignore[return-value]


def page(name: str, results: Path = RESULTS) -> str:
    """Return the Markdown page of a question, from its journal."""
    question = get_question(name)
    records = Journal(results / f"{name}.jsonl", question.KEY).records()
    written = f"Written by `benchmarks/run.py {name}` from `{name}.jsonl`."
    blocks = [f"# {question.TITLE}", f"{written} {question.ABOUT}"]
    return "\n\n".join(blocks + question.tables(records)) + "\n"


def missing(question: Question, options: argparse.Namespace) -> Iterator[tuple]:
    """Yield the cases that are asked for and have no line in the journal."""
    done = options.journal.done()
    for case in question.cases(options):
        key = zip(question.KEY, case, strict=True)
        given = ((getattr(options, _dest(field)), value) for field, value in key)
        if case not in done and all(
            asked is None or value in asked or str(value) in asked
            for asked, value in given
        ):
            yield case


def record(name: str, options: argparse.Namespace, case: tuple) -> dict[str, Any]:
    """Run one case, with all kernels compiled before."""
    compile_kernels()
    compile_proof_kernels()
    question = get_question(name)
    key = dict(zip(question.KEY, case, strict=True))
    return key | question.run(options, *case)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
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
    for field in map(_dest, question.KEY):
        if field not in question.OPTIONS:
            command.add_argument(f"--{field}", nargs="+", help="only these cases")
    command.add_argument("--jobs", type=int, default=1, help="cases at a time")
    command.add_argument("--results", type=Path, default=RESULTS, help="the folder")
    command.add_argument("--table", action="store_true", help="only write the table")


def _dest(field: str) -> str:
    return field.replace(" ", "_")


def main() -> None:
    """Run what is missing and write the table."""
    options = parse()
    name, question = options.topic, get_question(options.topic)
    options.journal = Journal(options.results / f"{name}.jsonl", question.KEY)
    if not options.table:
        with options.journal.locked():
            todo = missing(question, options)
            cases = (delayed(record)(name, options, case) for case in todo)
            for found in Parallel(options.jobs, return_as="generator_unordered")(cases):
                options.journal.append(found)
                print(found, flush=True)
    (options.results / f"{name}.md").write_text(page(name, options.results))


if __name__ == "__main__":
    main()
