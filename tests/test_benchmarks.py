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


def test_page_of_proofs_over_routes(tmp_path):
    question = run.get_question("routes")
    journal = Journal(tmp_path / "routes.jsonl", question.KEY)
    found = {"seconds": 7.25, "objective": 14.632, "bound": 14.632, "is_proved": True}
    file = {"megabytes": 2.5, "gzipped": 0.5, "check_seconds": 9.0}
    iris, wine = ("iris", 2, "default"), ("wine", 2, "default")
    half = found | {"bound": 7.316, "is_proved": False}
    cases = [
        (*iris, "routes", 60.0, found),
        (*wine, "routes", 60.0, half),
        (*wine, "routes", 900.0, found | {"seconds": 600.0}),
        (*iris, "mip", 60.0, half),
        (*iris, "log", 60.0, found | file),
    ]
    for *key, fields in cases:
        journal.append(dict(zip(question.KEY, key, strict=True)) | fields)
    text = run.page("routes", tmp_path)
    assert "| iris | 2 | 14.63* | 14.63 | 0 % | 7.2 | 14.63 | 7.316 | 50 % |" in text
    assert "routes: proved on 1 of 2 pairs run, median gap 25 %" in text
    assert "routes: proved on 2 of 2 pairs run, median gap 0 %" in text
    assert "| iris | 2 | 14.63* | 14.63 | 7.2 | 2.5 | 0.5 | 9.0 |" in text
    options = run.parse(["routes", "--limit", "900", "--penalties", "default"])
    options.journal = journal
    asked = [tuple(key.values()) for key in run.missing(question, options)]
    assert (*iris, "routes", 900.0) not in asked  # proved sooner
    assert (*iris, "mip", 900.0) in asked
    logs = [key[0] for key in asked if key[3] == "log"]
    assert logs == ["wine"]  # of what is proved, and has none yet
