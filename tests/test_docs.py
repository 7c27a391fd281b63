"""The docs build without a warning, and their examples run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUN = ["index.md", "share.md", "tuning.md", "distill.md", "rivals.md", "selection.md"]


@pytest.mark.parametrize("name", RUN)
def test_examples_run(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where examples may write
    if name == "selection.md":
        pytest.importorskip("dask.dataframe")
    if name == "share.md":
        pytest.importorskip("matplotlib").use("Agg")
    text = (ROOT / "docs" / name).read_text()
    examples = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert examples
    space = {}
    for source in examples:
        exec(compile(source, name, "exec"), space)
    if name == "share.md":
        from matplotlib import pyplot

        pyplot.close("all")


def test_files_that_the_equations_name_exist():
    text = (ROOT / "docs" / "equations.md").read_text()
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert len(named) > 10
    for name in named:
        assert (ROOT / "src" / "miptree" / name).is_file(), name


def test_docs_build(tmp_path):
    pytest.importorskip("mkdocs")
    program = shutil.which("mkdocs", path=str(Path(sys.executable).parent))
    assert program is not None
    command = [program, "build", "--strict", "--site-dir", str(tmp_path)]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=200
    )
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "api" / "index.html").read_text()
    assert "export_sql" in page
