"""What a call that runs natively may write to.

Declarations come first (``registry.writes``). Callables of the standard library only read their arguments, a method
may write to what it is bound to; those that do more are declared in the rule packs. A Python function is looked at
(``reading``). Everything else may write to all that it can reach.
"""

from __future__ import annotations

import functools
import inspect
import sys
from functools import cache
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, ModuleType, WrapperDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.registry import registry
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import builtin_behind

STANDARD: Final = frozenset(sys.stdlib_module_names) - {"ctypes", "_ctypes"}
DISPATCHED: Final = type(np.sum)
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


def written_by(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Those of the callable and its arguments that a native call may write to, or to what they refer to."""
    values = [function, *args, *kwargs.values()]
    if type(function) is BuiltinFunctionType and (method := _behind(function)) is not None:
        return written_by(method, (function.__self__, *args), kwargs)
    if type(function) is MethodType:
        return written_by(function.__func__, (function.__self__, *args), kwargs)
    places = places_written(function)
    declared = registry.written(function) is not None
    if places is None or not declared and any(map(_calls_back, values[1:])) or _overwrites(kwargs):
        return values
    outputs = args[function.nin :] if isinstance(function, np.ufunc) else ()
    return [function, *(args[place] for place in places if place < len(args)), *outputs, kwargs.get("out")]


def _overwrites(kwargs: dict[str, Any]) -> bool:
    """Whether an option allows a function to destroy its arguments."""
    return any(name.startswith("overwrite") and value is not False for name, value in kwargs.items())


def _behind(function: Any) -> Any:
    receiver = function.__self__
    return None if receiver is None or isinstance(receiver, (ModuleType, type)) else builtin_behind(function)


def places_written(function: Any) -> tuple[int, ...] | None:
    """The places of the arguments that a call may write to; None if that is not known."""
    declared = registry.written(function)
    if declared is not None:
        return declared
    if isinstance(function, np.ufunc) or registry.is_constant(function) or registry.has_rules(function):
        return ()
    if isinstance(function, FunctionType):
        from autodiff_hook.runtime.reading import only_reads

        return () if only_reads(function) else None
    if isinstance(function, _METHODS):
        return _places_of_method(function)
    if type(function).__name__ == "fortran":
        return None if "in/output" in (function.__doc__ or "") else ()
    if type(function) is BuiltinFunctionType:
        return () if package_of(function) in STANDARD else None
    if type(function) is DISPATCHED or isinstance(function, type) and package_of(function) in (*STANDARD, "numpy"):
        return ()
    return registry.written(type(function))


def _places_of_method(method: Any) -> tuple[int, ...] | None:
    owner = method.__objclass__
    if issubclass(owner, (np.ndarray, np.generic)):
        return () if method.__name__ in READING_METHODS else (0,)
    return (0,) if package_of(owner) in STANDARD else None


def package_of(owner: Any) -> str:
    """The package that a class or function belongs to."""
    module = getattr(owner, "__module__", None)
    if not isinstance(module, str):
        module = getattr(getattr(owner, "__self__", None), "__name__", "")
    return str(module).partition(".")[0]


def _calls_back(value: Any) -> bool:
    """Whether native code that is given ``value`` may call code that writes."""
    if isinstance(value, BuiltinFunctionType):
        method = _behind(value)
        return method is not None and places_written(method) != ()
    if isinstance(value, (FunctionType, MethodType)):
        return places_written(getattr(value, "__func__", value)) != ()
    cls = value if isinstance(value, type) else type(value)
    if kind_of(type(value)) != "object" and not isinstance(value, type):
        return False
    return cls is functools.partial or bool(cls.__flags__ & _HEAP_TYPE) and package_of(cls) not in STANDARD


_HEAP_TYPE: Final = 1 << 9


@cache
def place_of_out(function: Any) -> int | None:
    """Where a function of NumPy's takes the array for its result; the method of its name, called with an array, too."""
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
