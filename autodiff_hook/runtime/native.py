"""What is known of native code: which of its arguments it may write to, where it takes the array for its result."""

from __future__ import annotations

import inspect
import sys
from functools import cache
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.registry import registry

STANDARD: Final = frozenset(sys.stdlib_module_names) - {"ctypes", "_ctypes"}
DISPATCHED: Final = type(np.sum)
OF_CYTHON: Final = ("cython_function_or_method", "fused_cython_function")
"""The names of the classes of functions that Cython has compiled; some do not say of what module they are."""
_WITHOUT_SIGNATURE: Final = {np.dot: 2, np.concatenate: 2}
"""Where functions take the array for their result that say nothing about their parameters before NumPy 2.3."""
_METHODS: Final = (MethodDescriptorType, WrapperDescriptorType)
_WRITING_METHODS: Final = frozenset("sort fill put resize itemset partition setfield byteswap setflags".split())
READING_METHODS: Final = frozenset(
    name
    for cls in (np.ndarray, np.float64, str, bytes, float, complex, tuple)
    for name in dir(cls)
    if name not in _WRITING_METHODS and not name.startswith(("__set", "__i", "__del", "__init"))
) | {"keys", "values", "items", "get"}
"""Methods that write to nothing, of whatever builtin class or array the receiver is."""


def places_of_native(function: Any) -> tuple[int, ...] | None:
    """The places of the arguments that a call of native code may write to; None if that is not known."""
    declared = registry.written(function)
    if declared is not None:
        return declared
    if isinstance(function, np.ufunc) or registry.is_constant(function) or registry.has_rules(function):
        return ()
    if isinstance(function, _METHODS):
        return _places_of_method(function)
    if type(function).__name__ == "fortran":
        return None if "in/output" in (function.__doc__ or "") else ()
    if issubclass(type(function), BuiltinFunctionType):
        return () if package_of(function) in STANDARD else None
    if type(function) is DISPATCHED or isinstance(function, type) and package_of(function) in (*STANDARD, "numpy"):
        return ()
    return registry.written(type(function))


def _places_of_method(method: Any) -> tuple[int, ...] | None:
    owner = method.__objclass__
    if issubclass(owner, (np.ndarray, np.generic)):
        return () if method.__name__ in READING_METHODS else (0,)
    return (0,) if package_of(owner) in STANDARD else None


def wants_to_write(function: Any) -> bool:
    """Whether a function may refuse arrays that cannot be written to, though it only reads them: Cython's do."""
    return type(function).__name__ in OF_CYTHON


def compiled_from(function: Any) -> FunctionType | None:
    """The Python function that Numba has compiled a function of its own from; None of others."""
    cls = type(function)
    inner = getattr(function, "py_func", None) if str(cls.__module__).startswith("numba.core") else None
    return inner if type(inner) is FunctionType else None


def package_of(owner: Any) -> str:
    """The package that a class or function belongs to."""
    module = getattr(owner, "__module__", None)
    if not isinstance(module, str):
        module = getattr(getattr(owner, "__self__", None), "__name__", "")
    return str(module).partition(".")[0]


def apart_by_name(args: Any, names: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Arguments by place, and the last ones by their names."""
    count = len(args) - len(names)
    return args[:count], dict(zip(names, args[count:]))


def named_output(function: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a call, with the last of those by place by its name if it is the array for NumPy's result.

    As the first of those by name it stays where it was.
    """
    if type(function) not in _TAKING_OUTPUTS or "out" in kwargs or not args or args[-1] is None:
        return args, kwargs
    several = isinstance(function, np.ufunc) and function.nout != 1
    if several or len(args) - 1 != place_of_out(function):
        return args, kwargs
    return args[:-1], {"out": args[-1], **kwargs}


_TAKING_OUTPUTS: Final = frozenset({np.ufunc, MethodDescriptorType, DISPATCHED})


@cache
def place_of_out(function: Any) -> int | None:
    """Where a function of NumPy's takes the array for its result; the method of its name, called with an array, too."""
    if isinstance(function, np.ufunc):
        return int(function.nin)
    if type(function) is MethodDescriptorType:
        function = getattr(np, function.__name__, None) if function.__objclass__ is np.ndarray else None
    if type(function) is not DISPATCHED:
        return None
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return _WITHOUT_SIGNATURE.get(function)
    out = parameters.get("out")
    by_place = out is not None and out.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    return list(parameters).index("out") if by_place else None
