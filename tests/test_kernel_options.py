"""Kernels whose references to arrays are not counted must not hand out any."""

import importlib
import pkgutil
from typing import get_args, get_type_hints

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from miptree import points, proof, search, selection
from miptree.proof import routes
from miptree.utils import jit

PACKAGES = (points, proof, routes, search, selection)
HARMLESS = {int, float, bool, type(None), np.uint64}


def kernels(package):
    """Yield the kernels of a package."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Dispatcher):
                yield value


def returns_numbers(kernel):
    returned = get_type_hints(kernel.py_func)["return"]
    return set(get_args(returned) or [returned]) <= HARMLESS


def test_numba_knows_the_option():
    assert jit.UNCOUNTED["_nrt"] is jit.UNCOUNTED_KERNEL["_nrt"] is False
    assert jit.INNER["_nrt"] is jit.KERNEL["_nrt"] is True


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_uncounted_kernels_deal_in_numbers(package):
    # Arrays that they make are an error of numba, those that they get a leak.
    found = [one for one in kernels(package) if not one.targetoptions["_nrt"]]
    assert len(found) > 2
    for kernel in found:
        function = kernel.py_func
        assert returns_numbers(kernel), function.__name__
        for name in function.__code__.co_names:
            called = function.__globals__.get(name)
            if isinstance(called, Dispatcher):
                assert returns_numbers(called), (function.__name__, name)
