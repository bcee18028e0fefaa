"""Ufuncs of objects whose classes say, in Python, what ufuncs of them are (``__array_ufunc__``)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.semantics.iteration import python_method
from autodiff_hook.semantics.meanings import apply

_PLAIN: Final = frozenset({np.ndarray, np.float64, float, int, bool, complex})
UFUNCS: Final = {
    **{"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide},
    **{"%": np.remainder, "**": np.power, "@": np.matmul},
}
"""What operators of arrays are."""


def is_overridden(function: Any, args: Any) -> bool:
    """Whether a call of a ufunc is one of the ``__array_ufunc__`` of an argument."""
    return isinstance(function, np.ufunc) and any([overrides(x) for x in args])


def overrides(value: Any) -> bool:
    """Whether the class of a value says in Python what ufuncs of it are."""
    return type(value) not in _PLAIN and python_method(value, "__array_ufunc__") is not None


def call_overridden(alg: Algebra, t: Any, ufunc: Any, args: Any, kwargs: Any) -> Result:
    """``ufunc(*args, **kwargs)`` as NumPy dispatches it: from the left, but classes before their bases."""
    order: list[int] = []
    for place, value in enumerate(args):
        if overrides(value) and all(type(args[other]) is not type(value) for other in order):
            bases = [i for i, other in enumerate(order) if issubclass(type(value), type(args[other]))]
            order.insert(bases[0] if bases else len(order), place)
    for place in order:
        method = python_method(args[place], "__array_ufunc__")
        tokens = (None, t[1 + place], None, None, *t[1:])
        value, token = apply(alg, tokens, method, (args[place], ufunc, "__call__", *args), kwargs)
        if value is not NotImplemented:
            return value, token
    return ufunc(*args, **kwargs), None
