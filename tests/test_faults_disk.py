"""Full disks, folders that nobody may write into, and kill -9 while saving."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("typer")
from _attacked import model, shop, written
from _cli import refused, run
from faults.disks import PAGE, fill, make_read_only, small_disk
from miptree import OptimalTreeClassifier, load_json, save_json
from miptree.bench.journal import Journal

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the faults are made by Linux"
)

ROWS = np.array([[0.0], [1.0], [2.0], [3.0]])
LABELS = [0, 0, 1, 1]
PROVED = {"max_depth": 1, "l1_penalty": 0.1, "slack_penalty": 50.0, "margin": 0.02}


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", n_pages=8) as folder:
        yield folder


@pytest.fixture
def table(tmp_path):
    frame, y, _ = shop()
    path = tmp_path / "rows.csv"
    frame.assign(y=y).to_csv(path, index=False)
    return path


FIT = "--target y --style oblique --solver search --time-limit 0.2".split()


def failure_of(save, *arguments, **options):
    try:
        save(*arguments, **options)
    except OSError as error:
        return error
    return None


@pytest.mark.parametrize("n_pages", [0, 1, 2, 3])
def test_a_model_is_saved_whole_or_not_at_all(tmp_path, n_pages):
    with small_disk(tmp_path / "disk", n_pages=8) as disk:
        path = disk / "model.json"
        path.write_bytes(b"old")
        room = disk / "room"
        room.write_bytes(bytes(n_pages * PAGE))
        fill(disk)
        room.unlink()
        failure = failure_of(save_json, model("points")[0], path, force=True)
        if failure is None:
            assert n_pages > 0
            assert load_json(path).classes_.tolist() == ["bad", "good"]
        else:
            assert n_pages < 3
            assert failure.errno == errno.ENOSPC
            assert failure.filename == str(path)
            assert path.read_bytes() == b"old"
        assert sorted(os.listdir(disk)) == ["filler", "model.json"]


def test_a_command_shows_the_tree_that_it_cannot_save(disk, table):
    out = disk / "model.json"
    fill(disk)
    result = run("fit", table, *FIT, "--out", out)
    assert result.exit_code == 2
    assert "The model is not saved." in result.stdout
    assert "class good" in result.stdout
    assert result.stderr.splitlines()[-1] == (f"Error: No space left on device: {out}")
    assert os.listdir(disk) == ["filler"]


@pytest.mark.parametrize("name", ["a.proof", "a.proof.gz"])
def test_a_fit_outlives_its_proof_file(disk, name):
    fill(disk)
    clf = OptimalTreeClassifier(time_limit=None, **PROVED)
    full = "No proof file was written: No space left"
    with pytest.warns(UserWarning, match=full) as found:
        clf.fit(ROWS, LABELS, proof_log=disk / name)
    assert [one.filename for one in found] == [__file__]
    assert clf.certificate_.objective_optimal
    assert not clf.certificate_.proof_digest
    assert os.listdir(disk) == ["filler"]


def test_a_page_is_written_whole_or_not_at_all(disk, table, tmp_path):
    written("oblique", tmp_path / "model.json")
    page = disk / "page.html"
    page.write_bytes(b"old")
    fill(disk)
    told = refused("report", tmp_path / "model.json", table, "--out", page, "--force")
    assert told == f"Error: No space left on device: {page}"
    assert page.read_bytes() == b"old"


def test_a_journal_goes_on_when_there_is_room_again(disk):
    journal = Journal(disk / "runs.jsonl", ("k",))
    journal.append({"k": 0, "note": "x" * 100})
    fill(disk)
    with pytest.raises(OSError, match="No space left"):
        journal.append({"k": 1, "note": "x" * 2 * PAGE})
    assert [record["k"] for record in journal.records()] == [0]
    (disk / "filler").unlink()
    journal.append({"k": 1, "note": ""})
    assert [record["k"] for record in journal.records()] == [0, 1]


def test_nothing_is_begun_that_cannot_be_written(disk, table):
    """A fit may take hours: that its file has no place is told before."""
    make_read_only(disk)
    calls = []
    clf = OptimalTreeClassifier(callback=calls.append, **PROVED)
    with pytest.raises(PermissionError, match="Nothing can be written into"):
        clf.fit(ROWS, LABELS, proof_log=disk / "a.proof")
    assert calls == []
    told = refused("fit", table, *FIT, "--out", disk / "model.json")
    assert f"Nothing can be written into the folder '{disk}'" in told
    with pytest.raises(PermissionError, match=r"which '.*model.json' is to be in"):
        save_json(model("oblique")[0], disk / "model.json")


# ----------------------------------------------------------------- kill -9


def check_kills(folder, seed, n_kills):
    written("oblique", folder / "old.json")
    written("rules", folder / "new.json")
    script = os.path.join(os.path.dirname(__file__), "faults", "killed_saves.py")
    arguments = [sys.executable, script, str(folder), str(seed), str(n_kills)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["ended"] == [-signal.SIGKILL] * n_kills
    assert set(found["left"]) == {"old", "new"}  # so both were met, and nothing else
    assert found["next whole"] == n_kills
    # The moments are spread over the whole of a save, or nothing was tested.
    assert 0 < found["drafts"] < n_kills
    assert load_json(folder / "model.json").constraints_


def test_kill_while_saving_leaves_a_whole_file(tmp_path):
    check_kills(tmp_path, seed=0, n_kills=30)


@pytest.mark.long
def test_many_kills_while_saving_leave_a_whole_file(tmp_path):
    check_kills(tmp_path, seed=1, n_kills=3000)
