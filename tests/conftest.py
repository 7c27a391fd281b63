"""What holds for all tests."""

import pytest

from miptree import polish
from miptree.proof import compile_proof_kernels
from miptree.search import compile_kernels


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_compiled():
    """No test's time limit pays for compiling, whichever comes first."""
    compile_kernels()
    compile_proof_kernels()


@pytest.fixture
def node_lps(monkeypatch):
    """The LPs of nodes that were solved since the test began."""
    solved, solve = [], polish._NodeLP.solve

    def noted(self, *args):
        solved.append(self)
        return solve(self, *args)

    monkeypatch.setattr(polish._NodeLP, "solve", noted)
    return solved
