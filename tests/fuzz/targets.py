"""What reads the inputs: model files, proof files, tables and command lines.

A target has some good inputs and reads a changed one. It returns a word for what came
of it; anything but the errors that the package promises is a crash.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from typer.main import get_command

from _attacked import model, shop, written
from _cli import RUNNER
from _proofs import Fit, random_frame
from _routes_proofs import random_proof
from _sealed import forged
from fuzz.mutations import NUMBERS, TEXTS, changed_value, mutated
from miptree import export_sql, export_text, load_json
from miptree.checker.check import check_proof
from miptree.commands import app
from miptree.data.files import read_table


class Target(ABC):
    """Reads inputs in a folder of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @abstractmethod
    def input(self, random: Random) -> Any:
        """Make an input at random."""

    @abstractmethod
    def read(self, given: Any) -> str:
        """Read it, and say what came of it."""


class ModelFiles(Target):
    """Model files: damaged bytes, and values changed by somebody who seals anew."""

    KINDS = ("oblique", "costs", "rules", "points", "baseline")

    @cached_property
    def good(self) -> list[bytes]:
        """The files of small models."""
        found = []
        for kind in self.KINDS:
            path = self.folder / "good.json"
            path.unlink(missing_ok=True)
            written(kind, path)
            found.append(path.read_bytes())
        return found

    def input(self, random: Random) -> tuple[int, bytes]:
        k = random.randrange(len(self.good))
        if random.random() < 0.4:
            return k, mutated(self.good[k], random, self.good)
        honest = json.loads(self.good[k])
        return k, forged(changed_value(honest, random), honest).encode()

    def read(self, given: tuple[int, bytes]) -> str:
        k, content = given
        path = self.folder / "model.json"
        path.write_bytes(content)
        try:
            clf = load_json(path)
        except ValueError as error:
            return _refused(error, str(path))
        rows = model(self.KINDS[k])[1][:5]
        try:
            proba = clf.predict_proba(rows)
            assert len(clf.predict(rows)) == len(proba) == len(rows)
        except ValueError:
            return "loaded, rows refused"  # such as for another number of columns
        assert np.isfinite(proba).all()
        assert export_text(clf)
        assert export_sql(clf)
        return "loaded"


class ProofFiles(Target):
    """Proof files of both kinds: damaged bytes, and lines changed and sealed anew.

    What a changed proof states is held to the truth by other tests, with mutants; here
    it must end in a sentence.
    """

    @cached_property
    def good(self) -> list[tuple[bytes, Path]]:
        """Proof files and the tables that they are about."""
        found = []
        for seed in range(3):
            lines, frame, _ = random_proof(seed, more=bool(seed))
            table = self.folder / f"routes{seed}.csv"
            frame.to_csv(table, index=False)
            body = "".join(json.dumps(line) + "\n" for line in lines[:-1]).encode()
            found.append((sealed_lines(body), table))
        for seed in range(3):
            rng = np.random.default_rng(seed)
            frame, y = random_frame(rng, 12, bool(seed))
            path, table = self.folder / "good.proof", self.folder / f"points{seed}.csv"
            Fit(frame, y).write(path, target="y", force=True)
            frame.assign(y=y).to_csv(table, index=False)
            found.append((path.read_bytes(), table))
        return found

    def input(self, random: Random) -> tuple[bytes, Path]:
        content, table = random.choice(self.good)
        if random.random() < 0.4:
            return mutated(content, random, [other for other, _ in self.good]), table
        lines = content.splitlines()[:-1]
        k = random.randrange(len(lines))
        lines[k] = json.dumps(changed_value(json.loads(lines[k]), random)).encode()
        return sealed_lines(b"".join(line + b"\n" for line in lines)), table

    def read(self, given: tuple[bytes, Path]) -> str:
        content, table = given
        path = self.folder / "changed.proof"
        path.write_bytes(content)
        outcome = check_proof(path, table, minutes=0.5)
        assert outcome.exit_code in (0, 1, 2)
        assert outcome.sentence.endswith((".", "?")), outcome.sentence
        return ("confirmed", "rejected", "not checked")[outcome.exit_code]


def _refused(error: ValueError, name: str) -> str:
    """Hold an error to what users need: which file it is about."""
    if name not in str(error):
        raise AssertionError(f"{name} is not named") from error
    return "refused"


def sealed_lines(body: bytes) -> bytes:
    digest = {"digest": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(digest).encode() + b"\n"


class Tables(Target):
    """Tables of any format."""

    @cached_property
    def good(self) -> list[tuple[str, bytes]]:
        """Names and contents of files."""
        frame, y, _ = shop(12)
        frame = frame.assign(date="2024-03-01", amount="1.234,50 €", y=y)
        plain = frame.to_csv(index=False)
        german = frame.to_csv(index=False, sep=";", decimal=",")
        binary = []
        for write in (frame.to_excel, frame.to_parquet):
            buffer = io.BytesIO()
            write(buffer, index=False)
            binary.append(buffer.getvalue())
        return [
            ("a.csv", plain.encode()),
            ("a.csv", german.encode()),
            ("a.txt", plain.replace(",", "\t").encode("utf-16")),
            ("a.csv", german.encode("cp1252")),
            ("a.xlsx", binary[0]),
            ("a.parquet", binary[1]),
        ]

    def input(self, random: Random) -> tuple[str, bytes]:
        # Binary files are slow to read, and their readers are not ours.
        weights = (6, 6, 4, 4, 1, 1)
        ((name, content),) = random.choices(self.good, weights)
        return name, mutated(content, random, [other for _, other in self.good])

    def read(self, given: tuple[str, bytes]) -> str:
        name, content = given
        path = self.folder / name
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                table = read_table(path)
            except ValueError as error:
                return _refused(error, name)
        assert len(table) > 0
        for column in table:
            is_number = pd.api.types.is_numeric_dtype(table[column])
            cells = [] if is_number else table[column].dropna().tolist()
            assert all(isinstance(cell, (str, bool)) for cell in cells), column
        return "read"


class Commands(Target):
    """Command lines: flags that do not belong together, and odd values."""

    SLOW = ("bench", "demo", "compile")
    """Commands that do more than answer for a table."""
    FILES: ClassVar[dict[str, slice]] = {
        "fit": slice(1, 2),
        "table": slice(1, 2),
        "show": slice(0, 1),
        "export": slice(0, 1),
        "solvers": slice(0, 0),
    }
    """Which of a model and a table a command takes, if not both."""
    NEEDED: ClassVar[dict[str, list[str]]] = {
        "fit": "--target y --style oblique --solver search --time-limit .1".split(),
        "report": ["--out", "new.html", "--force"],
        "export": ["--to", "sql"],
    }
    """Options of a good call."""

    @cached_property
    def files(self) -> list[str]:
        """Files that there are, and some that are not."""
        names = "oblique.json points.json rows.csv odd.csv none.csv new.html new.csv"
        paths = [self.folder / name for name in names.split()]
        for kind, path in zip(("oblique", "points"), paths, strict=False):
            path.unlink(missing_ok=True)
            written(kind, path)
        frame, y, _ = shop()
        frame.assign(y=y).to_csv(paths[2], index=False)
        pd.DataFrame({"a": ["x", "x"]}).to_csv(paths[3], index=False)
        return [str(path) for path in paths]

    @cached_property
    def options(self) -> dict[str, list[str]]:
        """The options of each command."""
        found = {}
        for name, command in get_command(app).commands.items():
            if name not in self.SLOW:
                opts = [p.opts[0] for p in command.params if p.opts[0].startswith("-")]
                found[name] = [opt for opt in opts if opt not in ("--progress",)]
        return found

    def input(self, random: Random) -> list[str]:
        command = random.choice(list(self.options))
        words = [command, *self._some(self.files, random, (0, 1, 2, 2, 3))]
        if random.random() < 0.7:  # a good call, to which something odd is added
            oblique, points, rows, *_ = self.files
            given = [random.choice((oblique, points)), rows]
            words = [command, *given[self.FILES.get(command, slice(0, 2))]]
            words += self.NEEDED.get(command, [])
        for option in self._some(self.options[command], random, (0, 1, 1, 2)):
            words.append(option)
            if random.random() < 0.8:
                words.append(self._value(random))
        return words

    def _some(
        self, given: Sequence[str], random: Random, n: Sequence[int]
    ) -> list[str]:
        return random.choices(given, k=random.choice(n)) if given else []

    def _value(self, random: Random) -> str:
        names = (
            "price kind y price:+1 kind:0.05 good:0.5 1 2 sql demographic-parity:0.1"
        )
        odd = [word.decode(errors="replace") for word in NUMBERS + TEXTS]
        return random.choice(
            (
                random.choice(odd),
                random.choice(names.split()),
                random.choice(self.files),
            )
        ).replace("\x00", "")

    def read(self, given: list[str]) -> str:
        before = Path.cwd()
        os.chdir(self.folder)  # where a name alone is written to
        try:
            result = RUNNER.invoke(app, given)
        finally:
            os.chdir(before)
        error = result.exception
        if error is not None and not isinstance(error, SystemExit):
            raise error
        assert result.exit_code in (0, 1, 2), result.exit_code
        assert "Traceback" not in result.output
        return f"exit {result.exit_code}"


TARGETS: dict[str, type[Target]] = {
    "model": ModelFiles,
    "proof": ProofFiles,
    "table": Tables,
    "command": Commands,
}
