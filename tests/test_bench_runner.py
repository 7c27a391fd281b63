"""The journal and the runner, and the smoke suite from end to end."""

import json
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from miptree.bench import METHODS, Fit, Journal, JournalLockedError, Pair, plan, run
from miptree.bench.results import journal_of
from miptree.bench.runner import KEY, count_failed
from miptree.bench.suites import SMOKE
from miptree.commands import app
from miptree.datasets import DatasetError

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def _only_bundled_data(monkeypatch):
    monkeypatch.delenv("MIPTREE_DATA", raising=False)


# ------------------------------------------------------------------------ journal


def test_a_journal_keeps_what_was_written(tmp_path):
    journal = Journal(tmp_path / "new" / "j.jsonl", ("a",))
    assert (journal.records(), journal.done()) == ([], set())
    journal.append({"a": 1, "b": "x"})
    journal.append({"a": 2})
    assert journal.done() == {(1,), (2,)}
    assert list(journal.lines()) == [(1, {"a": 1, "b": "x"}), (2, {"a": 2})]


@pytest.mark.parametrize("torn", ['{"a": 2, "b', "{", '{"a": 2, "b": "\\'])
def test_a_torn_last_line_is_skipped_and_then_removed(tmp_path, torn):
    journal = Journal(tmp_path / "j.jsonl", ("a",))
    journal.append({"a": 1})
    with journal.path.open("a") as file:
        file.write(torn)
    assert journal.records() == [{"a": 1}]
    journal.append({"a": 3})
    assert journal.path.read_text() == '{"a": 1}\n{"a": 3}\n'


def test_a_last_line_that_only_lacks_its_end_is_kept(tmp_path):
    journal = Journal(tmp_path / "j.jsonl", ("a",))
    journal.path.write_text('{"a": 1}\n{"a": 2}')
    assert journal.done() == {(1,), (2,)}
    journal.append({"a": 3})
    assert journal.done() == {(1,), (2,), (3,)}


def test_a_broken_line_inside_is_an_error_with_its_number(tmp_path):
    journal = Journal(tmp_path / "j.jsonl", ("a",))
    journal.path.write_text('{"a": 1}\n{"a"\n{"a": 3}\n')
    with pytest.raises(ValueError, match=r"Line 2 of .*j\.jsonl is no JSON"):
        journal.records()


def test_two_runners_on_one_file_are_refused(tmp_path):
    journal = journal_of(tmp_path, "smoke")
    command = ["bench", "run", "--methods", "cart", "--splits", "0"]
    command += ["--results", str(tmp_path)]
    with journal.locked():
        with pytest.raises(JournalLockedError, match=r"Another runner \(pid \d+ on"):
            run([Fit("iris", 2, "cart", 0, 1.0)], Journal(journal.path, KEY))
        result = RUNNER.invoke(app, command)
        assert result.exit_code == 2
        assert "Another runner" in result.output
    assert not journal.path.exists()
    # The lock file stays, but nobody holds it: no lock.
    assert RUNNER.invoke(app, command).exit_code == 0
    assert len(journal.records()) == 2


# ------------------------------------------------------------------------- runner


def answers(fit, **fields):
    """A record as a fit gives it."""
    return {**fit.__dict__, "status": "ok", "commit": "abc"} | fields


def test_what_has_a_line_is_not_run_again_and_failures_only_if_asked(
    tmp_path, monkeypatch
):
    calls = tmp_path / "calls"  # a file, as fits run in processes of their own

    def unlucky_once(fit, about):
        first = not calls.exists() or "wine" not in calls.read_text()
        with calls.open("a") as file:
            file.write(f"{fit.set}\n")
        bad = fit.set == "wine" and first
        return answers(fit, status="failed" if bad else "ok")

    monkeypatch.setattr("miptree.bench.runner.run_fit", unlucky_once)
    fits = plan(SMOKE, ["cart"], [0], 1)
    journal = journal_of(tmp_path, "smoke")
    told = []
    assert run(fits, journal, on_record=lambda r, k, n: told.append((k, n))) == 2
    assert told == [(1, 2), (2, 2)]
    assert [record["status"] for record in journal.records()] == ["ok", "failed"]
    assert count_failed(fits, journal) == 1
    assert run(fits, journal) == 0
    with pytest.warns(UserWarning, match=r"lines of other commits \(abc\)"):
        assert run(fits, journal, retry_failed=True) == 1
    assert [r["status"] for r in journal.records()] == ["ok", "failed", "ok"]
    assert count_failed(fits, journal) == 0
    assert run(fits, journal, retry_failed=True) == 0
    assert calls.read_text().split() == ["iris", "wine", "wine"]


def test_an_interrupted_fit_is_no_result(tmp_path, monkeypatch):
    def interrupted(fit, about):
        return answers(fit, fit_status="interrupted")

    monkeypatch.setattr("miptree.bench.runner.run_fit", interrupted)
    journal = journal_of(tmp_path, "smoke")
    with pytest.raises(KeyboardInterrupt):
        run([Fit("iris", 2, "cart", 0, 1.0)], journal)
    assert journal.records() == []


def test_without_the_data_nothing_is_run(tmp_path, monkeypatch):
    def offline(entry):
        raise DatasetError(f"{entry.name} is not to be had")

    monkeypatch.setattr("miptree.datasets._load.download", offline)
    monkeypatch.setenv("MIPTREE_CACHE", str(tmp_path / "cache"))
    journal = journal_of(tmp_path, "small")
    pairs = [*SMOKE, Pair("haberman-survival", 2)]
    with pytest.raises(DatasetError, match="haberman-survival is not to be had"):
        run(plan(pairs, ["cart"], [10], 1), journal)
    assert journal.records() == []
    command = ["bench", "run", "--suite", "small", "--methods", "cart"]
    result = RUNNER.invoke(app, [*command, "--results", str(tmp_path)])
    assert result.exit_code == 2
    assert "is not to be had" in result.stderr
    assert not journal.path.exists()


def test_jobs_give_the_same_results(tmp_path):
    fits = plan(SMOKE, ["cart", "logistic"], [0, 1], 1)
    one, two = journal_of(tmp_path / "1", "smoke"), journal_of(tmp_path / "2", "smoke")
    run(fits, one, n_jobs=1)
    run(fits, two, n_jobs=2)

    def results(journal):
        return {journal.key_of(r): (r["train"], r["test"]) for r in journal.records()}

    assert len(one.records()) == len(two.records()) == len(fits)
    assert results(one) == results(two)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_that_takes_its_process_with_it_is_a_failure(
    tmp_path, monkeypatch, n_jobs
):
    def deadly(fit, about):
        import os

        if fit.set == "wine":
            os._exit(1)
        return answers(fit)

    monkeypatch.setattr("miptree.bench.runner.run_fit", deadly)
    journal = journal_of(tmp_path, "smoke")
    fits = plan(SMOKE, ["cart"], [0, 1], 1)
    assert run(fits, journal, n_jobs=n_jobs) == 4
    found = {(r["set"], r["split"]): r["status"] for r in journal.records()}
    assert found == {
        (name, split): status
        for name, status in (("iris", "ok"), ("wine", "failed"))
        for split in (0, 1)
    }
    assert run(fits, journal) == 0


def test_kill_and_resume(tmp_path):
    """SIGKILL a real run: what it wrote stays, and a rerun does only the rest."""
    program = "from miptree.cli import main; main()"
    command = [sys.executable, "-c", program, "bench", "run", "--suite", "smoke"]
    command += ["--methods", "cart", "--splits", "0-39", "--results", str(tmp_path)]
    journal = journal_of(tmp_path, "smoke")
    victim = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while len(journal.records()) < 3:
            assert victim.poll() is None, "it ended before it could be killed"
            time.sleep(0.005)
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.wait()
    assert victim.returncode == -signal.SIGKILL
    written = journal.records()
    assert 3 <= len(written) < 80
    with journal.path.open("ab") as file:
        file.write(b'{"set": "iris", "dep')  # as if killed while writing
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    records = journal.records()
    assert records[: len(written)] == written
    assert len(records) == len(journal.done()) == 80
    assert {record["status"] for record in records} == {"ok"}


# ---------------------------------------------------------------- the command line


def test_smoke_suite_from_end_to_end(tmp_path):
    """Run, tables and figures on two sets with two methods and one split."""
    results, docs = tmp_path / "results", tmp_path / "docs"
    docs.mkdir()
    command = ["bench", "run", "--suite", "smoke", "--methods", "miptree,cart"]
    command += ["--splits", "10", "--time-limit", "1", "--results", str(results)]
    first = RUNNER.invoke(app, command)
    assert first.exit_code == 0, first.output
    assert "4/4 wine D2 split 10 cart" in first.output
    assert "0 s left" in first.output
    again = RUNNER.invoke(app, command)
    assert "0 fits run, 4 were there already" in again.output
    records = journal_of(results, "smoke").records()
    assert {(r["set"], r["method"]) for r in records} == {
        (name, method) for name in ("iris", "wine") for method in ("miptree", "cart")
    }
    assert all(record["test"] > 60 for record in records)

    shown = ["--suite", "smoke", "--results", str(results)]
    figures = RUNNER.invoke(
        app, ["bench", "figures", *shown, "--out", str(docs / "figures")]
    )
    assert figures.exit_code == 0, figures.output
    for name in ("ranks", "scatter", "sets"):
        png = (docs / "figures" / f"smoke-split-1s-{name}.png").read_bytes()
        assert png.startswith(b"\x89PNG")
    page = (docs / "figures" / "smoke-split-1s.html").read_text()
    data = json.loads(page.split("const data = ", 1)[1].split(";\n", 1)[0])
    assert data["pairs"] == ["iris D2", "wine D2"]
    assert "http" not in page.replace(
        "http://www.w3.org/2000/svg", ""
    )  # self-contained

    tables = RUNNER.invoke(
        app, ["bench", "tables", *shown, "--out", str(docs / "results.md")]
    )
    assert tables.exit_code == 0, tables.output
    text = (docs / "results.md").read_text()
    cart = next(r for r in records if (r["set"], r["method"]) == ("wine", "cart"))
    place = 1 + records.index(cart)
    shown = f"{cart['test']:.1f} ({cart['train']:.1f})"
    assert f'<span title="bench-smoke.jsonl:{place}">{shown}</span>' in text
    assert "figures/smoke-split-1s-scatter.png" in text
    journal = journal_of(results, "smoke").path
    over = ["--suite", "smoke", "--results", str(results), "--out", str(journal)]
    refused = RUNNER.invoke(app, ["bench", "tables", *over])
    assert refused.exit_code == 2
    assert "which the command reads and never overwrites" in refused.stderr
    assert journal_of(results, "smoke").records() == records


def test_failures_are_counted_and_make_the_exit_code(tmp_path, monkeypatch):
    def failing(fit, about):
        return answers(fit, status="failed", error="boom")

    monkeypatch.setattr("miptree.bench.runner.run_fit", failing)
    command = ["bench", "run", "--methods", "cart", "--splits", "10"]
    for run_now in ("2 fits run", "0 fits run"):
        result = RUNNER.invoke(app, [*command, "--results", str(tmp_path)])
        assert result.exit_code == 1
        assert run_now in result.stdout
        assert "2 of the 2 fits failed" in result.stderr
        assert "--retry-failed" in result.stderr


def test_run_on_a_dask_cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    command = ["bench", "run", "--methods", "cart", "--splits", "10"]
    command += ["--results", str(tmp_path), "--dask"]
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(processes=False, **options) as cluster:
        result = RUNNER.invoke(app, [*command, cluster.scheduler_address])
        assert result.exit_code == 0, result.output
    records = journal_of(tmp_path, "smoke").records()
    assert [record["status"] for record in records] == ["ok", "ok"]


def test_wrong_words_are_one_plain_message(tmp_path):
    for words, expected in (
        (["run", "--suite", "tiny"], "There is no suite 'tiny'"),
        (["run", "--methods", "nobody"], "There is no method 'nobody'"),
        (["run", "--splits", "ten"], "Splits must look like 10-14"),
        (["run", "--splits", ","], "at least one number"),
        (["tables", "--results", str(tmp_path)], "There is no finished fit"),
    ):
        result = RUNNER.invoke(app, ["bench", *words])
        assert result.exit_code == 2
        assert expected in result.output
        assert "Traceback" not in result.output


def test_methods_are_listed():
    result = RUNNER.invoke(app, ["bench", "methods"])
    assert result.exit_code == 0
    for name in METHODS:
        assert name in result.output
