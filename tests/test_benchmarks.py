"""The questions of ``benchmarks/run.py``, and the pages from their journals."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from miptree.bench import Journal

FOLDER = Path(__file__).parents[1] / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip("without benchmarks, as in a source archive", allow_module_level=True)
sys.path.insert(0, str(FOLDER))
run = import_module("run")


@pytest.mark.parametrize("name", run.NAMES)
def test_every_question_lists_its_cases(name, tmp_path):
    question, options = run.get_question(name), run.parse([name])
    options.journal = Journal(tmp_path / "empty.jsonl", question.KEY)
    keys = list(run.missing(question, options))
    parts = question.OPTIONS.get("part", (None,))
    assert {key.get("part") for key in keys} == set(parts)
    assert all(tuple(key) == question.KEY for key in keys)
    options.journal.append(keys[0])
    assert list(run.missing(question, options)) == keys[1:]
    for field, value in keys[0].items():
        asked = run.parse([name, f"--{field}", str(value)])
        asked.journal = Journal(tmp_path / "none.jsonl", question.KEY)
        found = list(run.missing(question, asked))
        assert found
        assert all(key[field] == value for key in found)


@pytest.mark.parametrize("name", run.NAMES)
def test_every_page_follows_from_its_journal(name):
    assert (run.RESULTS / f"{name}.md").read_text() == run.page(name)


@pytest.mark.parametrize("name", run.NAMES)
def test_a_page_of_an_unfinished_run(name, tmp_path):
    question = run.get_question(name)
    records = Journal(run.RESULTS / f"{name}.jsonl", question.KEY).records()
    assert question.TITLE in run.page(name, tmp_path)
    parts = {record.get("part"): record for record in records}
    for record in parts.values():
        path = tmp_path / f"{name}.jsonl"
        path.unlink(missing_ok=True)
        Journal(path, question.KEY).append(record)
        assert question.TITLE in run.page(name, tmp_path)


def test_what_is_missing_is_run_and_written(tmp_path, monkeypatch, capsys):
    command = ["run.py", "baselines", "--name", "iris", "--baseline", "CART"]
    monkeypatch.setattr(sys, "argv", [*command, "--results", str(tmp_path)])
    run.main()
    assert "'baseline': 'CART'" in capsys.readouterr().out
    page = (tmp_path / "baselines.md").read_text()
    assert "| iris | 94.6 / 100.0 |" in page
    run.main()
    assert capsys.readouterr().out == ""
    assert len((tmp_path / "baselines.jsonl").read_text().splitlines()) == 1
