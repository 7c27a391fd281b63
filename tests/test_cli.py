import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from miptree import __version__
from miptree._commands import app

RUNNER = CliRunner()


def test_demo_shows_tree_rivals_and_certificate():
    result = RUNNER.invoke(app, ["demo", "--time-limit", "5"])
    assert result.exit_code == 0, result.output
    assert any(name in result.output for name in load_wine().feature_names)
    for expected in ("CART", "logistic regression", "test %", "bound", "gap"):
        assert expected in result.output
    errors = re.search(r"(\d+) of 133", result.output)
    assert errors is not None
    assert int(errors.group(1)) <= 5


def test_solvers_lists_all():
    result = RUNNER.invoke(app, ["solvers"])
    assert result.exit_code == 0
    assert re.search(r"highs\s*.\s*installed", result.output)
    for name in ("scip", "gurobi", "cplex"):
        assert name in result.output


def test_version():
    assert __version__ in RUNNER.invoke(app, ["--version"]).output


def test_bad_option_is_one_plain_message():
    result = RUNNER.invoke(app, ["demo", "--depth", "0"])
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_missing_extra_gives_the_pip_line():
    """A Python without typer: the console script must not end in a traceback."""
    program = (
        "import sys; sys.modules['typer'] = None\nfrom miptree.cli import main\nmain()"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "pip install 'miptree[cli]'" in run.stderr
    assert "Traceback" not in run.stderr.split("pip install")[0]


@pytest.mark.parametrize("names", [["a", "b"], None])
def test_export_text_names(names):
    from miptree import ObliqueTree, export_text
    from miptree.tree import HeapTree

    heap = HeapTree(
        np.array([[0.0, -2.0], [1.0, 1.0], [0.0, 0.0]]),
        np.array([1.0, 0.5, 1.0]),
        np.array([0, 1, 1, 0]),
    )
    text = export_text(ObliqueTree.from_heap(heap), names, ["low", "high"])
    first, second = names or ["x[0]", "x[1]"]
    lines = text.splitlines()
    assert lines[0] == f"-2 {second} <= 1"
    assert lines[1] == f"├─ yes: 1 {first} + 1 {second} <= 0.5"
    assert lines[2] == "│       ├─ yes: class low"
    assert lines[-1] == "        └─ no:  class low"


def test_export_text_refuses_wrong_names():
    from miptree import ObliqueTree, export_text
    from miptree.tree import HeapTree

    tree = ObliqueTree.from_heap(
        HeapTree(np.ones((1, 2)), np.zeros(1), np.array([0, 1]))
    )
    with pytest.raises(ValueError, match="feature_names must have 2 names, got 1"):
        export_text(tree, ["a"])
    with pytest.raises(ValueError, match="at least 2 classes, got 1"):
        export_text(tree, class_names=["a"])
