"""What holds for all tests."""

import signal

import pytest

from miptree.mip import node_lp
from miptree.proof import compile_proof_kernels
from miptree.proof.routes import compile_route_kernels
from miptree.search import compile_kernels


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_compiled():
    """No test's time limit pays for compiling, whichever comes first."""
    compile_kernels()
    compile_proof_kernels()
    compile_route_kernels()


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard():
    """Also where a shell started the tests in the background, which ignore it then."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def node_lps(monkeypatch):
    """The LPs of nodes that were solved since the test began."""
    solved, solve = [], node_lp._NodeLP.solve

    def noted(self, *args):
        solved.append(self)
        return solve(self, *args)

    monkeypatch.setattr(node_lp._NodeLP, "solve", noted)
    return solved
