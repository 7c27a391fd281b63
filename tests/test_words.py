"""What users read has no words that only readers of the paper understand."""

import ast
import re
from pathlib import Path

import miptree

JARGON = re.compile(r"\(1[a-k]\)|alpha_\d|\bepsilon\b|Proposition|Theorem|Algorithm 1")
OF_THE_PAPER = ("mip/", "bench/")
"""Models name their rows by the paper's equations; tables of benchmarks follow it."""


def texts_of(source):
    """The texts of a module that are no docstrings, with their lines."""
    tree = ast.parse(source)
    docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docs:
            yield node.lineno, node.value


def test_no_jargon_of_the_paper():
    root = Path(miptree.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        source = path.read_text(encoding="utf-8")
        if JARGON.search(source) and not name.startswith(OF_THE_PAPER):
            texts = texts_of(source)
            found += [f"{name}:{line}: {t}" for line, t in texts if JARGON.search(t)]
    assert found == []


def test_jargon_would_be_found():
    assert [text for _, text in texts_of('"doc"\nraise ValueError("of (1a)")')] == [
        "of (1a)"
    ]
    assert JARGON.search("of (1a)")
