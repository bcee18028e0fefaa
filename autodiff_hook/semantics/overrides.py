"""Ufuncs of objects whose classes say, in Python, what ufuncs of them are (``__array_ufunc__``)."""

from __future__ import annotations

from types import MethodDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.runtime.lookup import in_numpys_order
from autodiff_hook.semantics.iteration import python_method
from autodiff_hook.semantics.meanings import apply

_PLAIN: Final = frozenset({np.ndarray, np.float64, float, int, bool, complex})

_METHODS: Final = (np.ufunc.reduce, np.ufunc.accumulate, np.ufunc.reduceat, np.ufunc.outer, np.ufunc.at)


def is_overridden(function: Any, args: Any, kwargs: Any) -> bool:
    """Whether a call of a ufunc, or of a method of one, is one of the ``__array_ufunc__`` of an argument."""
    if not isinstance(function, np.ufunc):
        if type(function) is not MethodDescriptorType or function not in _METHODS:
            return False
        args = args[1:]
    return any([overrides(x) for x in (*args, *_outputs(kwargs))])


def _outputs(kwargs: Any) -> tuple[Any, ...]:
    out = kwargs.get("out", ())
    return out if type(out) is tuple else (out,)


def overrides(value: Any) -> bool:
    """Whether the class of a value says in Python what ufuncs of it are."""
    return type(value) not in _PLAIN and python_method(value, "__array_ufunc__") is not None


def call_overridden(alg: Algebra, t: Any, function: Any, args: Any, kwargs: Any) -> Result:
    """``function(*args, **kwargs)`` as NumPy dispatches it."""
    ufunc, name = function, "__call__"
    if not isinstance(function, np.ufunc):
        ufunc, *args = args
        name, t = function.__name__, t[1:]
    args, kwargs, t = _normalised(ufunc, name, args, kwargs, t)
    values = (*args, *_outputs(kwargs))
    tokens = t[1 : 1 + len(args)]
    if "out" in kwargs:
        tokens += t[1 + len(args) + [*kwargs].index("out")] or (None,) * len(kwargs["out"])
    asked = [place for place, value in enumerate(values) if overrides(value)]
    for i in in_numpys_order([type(values[place]) for place in asked]):
        place = asked[i]
        method = python_method(values[place], "__array_ufunc__")
        given = (None, tokens[place], None, None, *t[1:])
        value, token = apply(alg, given, method, (values[place], ufunc, name, *args), kwargs)
        if value is not NotImplemented:
            return value, token
    return getattr(ufunc, name)(*args, **kwargs), None


def _normalised(ufunc: Any, name: str, args: Any, kwargs: Any, t: Any) -> Any:
    """The arguments, by place and by name, and the tokens as ``__array_ufunc__`` is given them: outputs as a tuple."""
    given = dict(zip(kwargs, t[1 + len(args) :]))
    if name == "__call__" and len(args) > ufunc.nin:
        kwargs = {**kwargs, "out": tuple(args[ufunc.nin :])}
        given["out"] = t[1 + ufunc.nin : 1 + len(args)]
        args = args[: ufunc.nin]
    elif "out" in kwargs and type(kwargs["out"]) is not tuple:
        kwargs = {**kwargs, "out": (kwargs["out"],)}
        given["out"] = (given["out"],)
    return args, kwargs, (*t[: 1 + len(args)], *map(given.get, kwargs))
