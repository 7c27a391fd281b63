"""What holds for all tests."""

import pytest

from miptree.search import compile_kernels


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_compiled():
    """No test's time limit pays for compiling, whichever comes first."""
    compile_kernels()
