"""Ufuncs of objects whose classes say, in Python, what ufuncs of them are (``__array_ufunc__``)."""

from __future__ import annotations

from types import MethodDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.semantics.iteration import python_method
from autodiff_hook.semantics.meanings import apply

_PLAIN: Final = frozenset({np.ndarray, np.float64, float, int, bool, complex})


_METHODS: Final = (np.ufunc.reduce, np.ufunc.accumulate, np.ufunc.reduceat, np.ufunc.outer, np.ufunc.at)


def is_overridden(function: Any, args: Any) -> bool:
    """Whether a call of a ufunc, or of a method of one, is one of the ``__array_ufunc__`` of an argument."""
    if isinstance(function, np.ufunc):
        return any([overrides(x) for x in args])
    return type(function) is MethodDescriptorType and function in _METHODS and any([overrides(x) for x in args[1:]])


def overrides(value: Any) -> bool:
    """Whether the class of a value says in Python what ufuncs of it are."""
    return type(value) not in _PLAIN and python_method(value, "__array_ufunc__") is not None


def call_overridden(alg: Algebra, t: Any, function: Any, args: Any, kwargs: Any) -> Result:
    """``function(*args, **kwargs)`` as NumPy dispatches it: from the left, but classes before their bases."""
    ufunc, name = function, "__call__"
    if not isinstance(function, np.ufunc):
        ufunc, *args = args
        name, t = function.__name__, t[1:]
    order: list[int] = []
    for place, value in enumerate(args):
        if overrides(value) and all(type(args[other]) is not type(value) for other in order):
            bases = [i for i, other in enumerate(order) if issubclass(type(value), type(args[other]))]
            order.insert(bases[0] if bases else len(order), place)
    for place in order:
        method = python_method(args[place], "__array_ufunc__")
        tokens = (None, t[1 + place], None, None, *t[1:])
        value, token = apply(alg, tokens, method, (args[place], ufunc, name, *args), kwargs)
        if value is not NotImplemented:
            return value, token
    return getattr(ufunc, name)(*args, **kwargs), None
