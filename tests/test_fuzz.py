"""A sample of the fuzzing; ``python -m fuzz`` in this folder runs any number."""

import os
import pickle
import socket
import subprocess
import sys
import time
from importlib import import_module

import pytest

pytest.importorskip("typer")

from fuzz import watch
from fuzz.run import run
from fuzz.targets import TARGETS, Target

SAMPLE = {"model": 400, "proof": 400, "table": 300, "command": 120}


@pytest.mark.parametrize("name", SAMPLE)
def test_no_input_crashes_hangs_or_runs_code(name, tmp_path):
    found = run(TARGETS[name](tmp_path / name), range(SAMPLE[name]))
    assert not found.crashes, found.crashes[0]
    # What is refused at once tests little: some inputs must go through.
    assert len(found.outcomes) > 1


@pytest.mark.long
@pytest.mark.parametrize("name", SAMPLE)
def test_no_input_of_many_crashes_hangs_or_runs_code(name, tmp_path):
    n_inputs = 5_000 if name == "command" else 30_000
    found = run(TARGETS[name](tmp_path / name), range(10**6, 10**6 + n_inputs))
    assert not found.crashes, found.crashes[0]


class Careless(Target):
    """Does what an input must not lead to."""

    def input(self, random):
        return random.random()

    def read(self, given):
        raise NotImplementedError


def crash(target):
    ((_, _, error),) = run(target, range(1)).crashes
    return error.splitlines()[-1]


class Called:
    """Pickled as a function that is to be called."""

    def __reduce__(self):
        return print, ("code of a pickle",)


PICKLE = pickle.dumps(Called())
CODE = compile("1 + 1", "text of a file", "eval")
FAULTS = {
    "os.system": lambda _: os.system("true"),
    "subprocess.Popen": lambda _: subprocess.run(["true"], check=True),
    "runs code: compile": lambda _: eval("1 + 1"),
    "runs code: exec": lambda _: exec(CODE),
    "runs code: import": lambda _: __import__("no_module_of_this_name"),
    "antigravity.py": lambda _: import_module("antigravity"),
    "code.__new__": lambda _: CODE.replace(co_name="another"),
    "pickle.find_class": lambda _: pickle.loads(PICKLE),
    "socket.__new__": lambda _: socket.socket(type=socket.SOCK_DGRAM),
    "socket.getaddrinfo": lambda _: socket.getaddrinfo("localhost", 80),
    "open changes": lambda there: (there / "new").write_text("x"),
    "own2": lambda there: (there / "own2").write_text("x"),
    "__pycache__x": lambda there: (there / "__pycache__x").write_text("x"),
    "/__pycache__/x": lambda there: (there / "__pycache__/x").write_text("x"),
    "own/link": lambda there: (there / "own/link").write_text("x"),
    "os.remove": lambda there: (there / "old").unlink(),
    "os.rename": lambda there: (there / "old").rename(there / "own/mine"),
    "os.mkdir": lambda there: (there / "folder").mkdir(),
    "os.rmdir": lambda there: (there / "empty").rmdir(),
    "os.symlink": lambda there: (there / "to").symlink_to(there),
    "os.link": lambda there: os.link(there / "old", there / "to"),
    "os.truncate": lambda there: os.truncate(there / "old", 0),
    "os.chmod": lambda there: (there / "old").chmod(0o777),
    "NotImplementedError": lambda _: Careless.read(None, None),
    "IndexError": lambda _: [].pop(),
}


@pytest.mark.parametrize("said", FAULTS)
def test_what_must_not_happen_is_noticed(said, tmp_path, monkeypatch):
    """The test above can fail: each kind of fault shows."""
    careless = Careless(tmp_path / "own")
    (tmp_path / "old").write_text("kept")
    (tmp_path / "empty").mkdir()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "own/link").symlink_to(tmp_path / "new")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(careless, "read", lambda _: FAULTS[said](tmp_path))
    assert said in crash(careless)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "old").read_text() == "kept"


def test_an_input_that_does_not_end_is_noticed(tmp_path, monkeypatch):
    careless = Careless(tmp_path / "own")
    monkeypatch.setattr(watch, "SECONDS", 0.05)
    monkeypatch.setattr(careless, "read", lambda _: time.sleep(20))
    assert "no end after 0.05 s" in crash(careless)


def harmless(folder):
    """Do what the package does: files in the folder, and imports."""
    (folder / "draft").write_text("x")
    (folder / "draft").rename(folder / "file")
    (folder / "file").unlink()
    sys.modules.pop("colorsys", None)
    import colorsys

    return colorsys.__name__


def test_what_may_happen_is_no_crash(tmp_path, monkeypatch):
    careless = Careless(tmp_path / "own")
    monkeypatch.setattr(careless, "read", lambda _: harmless(tmp_path / "own"))
    assert run(careless, range(3)).outcomes == {"colorsys": 3}
