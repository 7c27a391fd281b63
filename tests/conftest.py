"""What holds for all tests."""

import pytest

from miptree.proof import compile_proof_kernels
from miptree.search import compile_kernels


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_compiled():
    """No test's time limit pays for compiling, whichever comes first."""
    compile_kernels()
    compile_proof_kernels()
