"""What SciPy asks about arrays of several libraries, which says nothing of numbers: the answers are constants."""

from importlib import import_module

import numpy as np
from scipy._lib import _array_api_override
from scipy._lib._array_api import np_compat

from autodiff_hook.semantics.meanings import DEFINITIONS, natively

# SciPy 1.18 has the package elsewhere than 1.17.
_helpers = import_module(f"{np_compat.__name__.rpartition('.')[0]}.common._helpers")


def only_looks(function, answer=None):
    """Register a function that is not followed where it is carried; typed programs follow ``answer``."""
    natively(function)
    DEFINITIONS[id(function)] = answer or function


def is_array(x):
    return isinstance(x, (np.ndarray, np.generic))


def is_numpy(xp):
    return xp is np_compat or xp is np


def place_of(x):
    return "cpu" if isinstance(x, (np.ndarray, np.generic)) else x.device


only_looks(_array_api_override.array_namespace)
only_looks(_helpers.is_numpy_array, is_array)
only_looks(_helpers.is_numpy_namespace, is_numpy)
only_looks(_helpers.device, place_of)
for name in ("_check_device", "is_torch_array", "is_array_api_obj", "is_lazy_array", "is_jax_array"):
    only_looks(getattr(_helpers, name))
