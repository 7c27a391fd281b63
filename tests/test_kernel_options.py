"""Kernels whose references to arrays are not counted must not hand out any."""

import importlib
import pkgutil
from typing import get_args, get_type_hints

from numba.core.dispatcher import Dispatcher

from miptree.proof import routes
from miptree.utils import jit

HARMLESS = {int, float, bool, type(None)}


def uncounted_functions():
    """Return all functions that are compiled so, by their names."""
    found = {}
    for module in pkgutil.iter_modules(routes.__path__, f"{routes.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Dispatcher) and not value.targetoptions.get(
                "_nrt", True
            ):
                found[name] = value.py_func
    return found


def test_numba_knows_the_option():
    assert jit.UNCOUNTED["_nrt"] is False
    assert jit.INNER["_nrt"] is True


def test_uncounted_functions_return_numbers():
    functions = uncounted_functions()
    assert len(functions) > 40
    for name, function in functions.items():
        returned = get_type_hints(function)["return"]
        assert set(get_args(returned) or [returned]) <= HARMLESS, name
