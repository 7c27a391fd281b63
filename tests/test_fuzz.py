"""A sample of the fuzzing; ``python -m fuzz`` in this folder runs any number."""

import os
import subprocess
import time

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


def test_what_must_not_happen_is_noticed(tmp_path, monkeypatch):
    """The test above can fail: each kind of fault shows."""
    careless = Careless(tmp_path / "own")
    assert "NotImplementedError" in crash(careless)
    for fault, said in {
        lambda _: os.system("true"): "os.system",
        lambda _: subprocess.run(["true"], check=True): "subprocess.Popen",
        lambda _: (tmp_path / "elsewhere").write_text("x"): "writes to",
        lambda _: [].pop(): "IndexError",
    }.items():
        monkeypatch.setattr(careless, "read", fault)
        assert said in crash(careless)
    assert not (tmp_path / "elsewhere").exists()
    monkeypatch.setattr(watch, "SECONDS", 0.05)
    monkeypatch.setattr(careless, "read", lambda _: time.sleep(20))
    assert "no end after 0.05 s" in crash(careless)
    monkeypatch.setattr(careless, "read", lambda _: "ok")
    assert run(careless, range(3)).outcomes == {"ok": 3}
