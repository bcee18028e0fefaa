"""What a call that runs natively may write to.

Declarations come first (``registry.writes``). Callables of the standard library only read their arguments, a method
may write to what it is bound to; those that do more are declared in the rule packs. A Python function is looked at
(``reading``). Everything else may write to all that it can reach.
"""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autodiff_hook.registry import registry
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import HEAP_TYPE, builtin_behind
from autodiff_hook.runtime.native import STANDARD, package_of, places_of_native
from autodiff_hook.runtime.reading import only_reads


def written_by(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Those of the callable and its arguments that a native call may write to, or to what they refer to."""
    values = [function, *args, *kwargs.values()]
    if issubclass(type(function), BuiltinFunctionType) and (method := _behind(function)) is not None:
        return written_by(method, (function.__self__, *args), kwargs)
    if type(function) is MethodType:
        return written_by(function.__func__, (function.__self__, *args), kwargs)
    if type(function) is functools._lru_cache_wrapper:
        return written_by(function.__wrapped__, args, kwargs)
    places = places_written(function)
    declared = registry.written(function) is not None
    if places is None or not declared and any(map(_calls_back, values[1:])) or _overwrites(kwargs):
        return values
    outputs = args[function.nin :] if isinstance(function, np.ufunc) else ()
    # What a Python function has captured was looked at, or what it writes is declared.
    state = [] if type(function) is FunctionType else [function]
    return [*state, *(args[place] for place in places if place < len(args)), *outputs, kwargs.get("out")]


def _overwrites(kwargs: dict[str, Any]) -> bool:
    """Whether an option allows a function to destroy its arguments."""
    return any(name.startswith("overwrite") and value is not False for name, value in kwargs.items())


def _behind(function: Any) -> Any:
    receiver = function.__self__
    return None if receiver is None or isinstance(receiver, (ModuleType, type)) else builtin_behind(function)


def places_written(function: Any) -> tuple[int, ...] | None:
    """The places of the arguments that a call may write to; None if that is not known."""
    found = places_of_native(function)
    if found is None and type(function) is FunctionType and only_reads(function):
        return ()
    return found


def _calls_back(value: Any) -> bool:
    """Whether native code that is given ``value`` may call code that writes."""
    if type(value) is BuiltinFunctionType:
        method = _behind(value)
        return method is not None and places_written(method) != ()
    if type(value) in (FunctionType, MethodType):
        return places_written(getattr(value, "__func__", value)) != ()
    is_class = issubclass(type(value), type)
    cls = value if is_class else type(value)
    if kind_of(type(value)) != "object" and not is_class:
        return False
    return cls is functools.partial or bool(cls.__flags__ & HEAP_TYPE) and package_of(cls) not in STANDARD
