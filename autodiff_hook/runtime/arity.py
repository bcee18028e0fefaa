"""Which calls of builtin code fit: it raises ``TypeError`` for the others before it looks at any value."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.lookup import HEAP_TYPE


def misfits(function: Any, count: int, names: Iterable[str] = ()) -> bool:
    """Whether a call with so many positional arguments, and others by name, is one that builtin code refuses."""
    cls = type(function)
    if cls is BuiltinFunctionType:
        told = type(function.__self__) is ModuleType
    elif cls is type:
        told = not function.__flags__ & HEAP_TYPE or function in _UNTOLD
    else:
        told = cls in _KINDS
    # What is asked below is kept for good: no objects that hold others, and no classes that a program makes.
    return told and not fits(function, count, tuple(names))


_KINDS: Final = frozenset({MethodDescriptorType, WrapperDescriptorType, np.ufunc})


@functools.lru_cache(4096)
def fits(function: Any, count: int, names: tuple[str, ...] = ()) -> bool:
    """Whether a call of builtin code fits; also where nothing is known of that."""
    if type(function) is np.ufunc:
        return function.signature is not None or function.nin <= count <= function.nargs
    said = _signature_of(function) if function in _UNTOLD or _is_builtin(function) else None
    if said is None:
        return True
    try:
        said.bind(*(None,) * count, **dict.fromkeys(names))
    except TypeError:
        return False
    if function in (max, min):
        return count == 1 or "default" not in names
    return not (function is type and count == 2)


def _is_builtin(function: Any) -> Any:
    """Whether what is called is code of the standard library that is written in C."""
    if type(function) is BuiltinFunctionType:
        return vars(function.__self__)["__name__"] in sys.stdlib_module_names
    if type(function) in (MethodDescriptorType, WrapperDescriptorType):
        return function.__objclass__.__module__ in sys.stdlib_module_names
    return function.__module__ == "builtins"


def _signature_of(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(_UNTOLD.get(function, function))
    except (TypeError, ValueError):
        return None


def _nothing(owner: Any, /) -> None: ...


def _one(owner: Any, item: Any, /) -> None: ...


def _maybe_one(owner: Any, item: Any = 0, /) -> None: ...


def _maybe_more(owner: Any, item: Any, default: Any = 0, /) -> None: ...


def _any(owner: Any, /, *others: Any) -> None: ...


def _of(cls: type, names: str, said: Callable[..., Any]) -> dict[Any, Callable[..., Any]]:
    return {cls.__dict__[name]: said for name in names.split()}


_UNTOLD: Final[dict[Any, Callable[..., Any]]] = {
    getattr: _maybe_more,
    next: _maybe_one,
    iter: _maybe_one,
    vars: lambda owner=0, /: None,
    dir: lambda owner=0, /: None,
    bool: lambda value=0, /: None,
    set: lambda items=0, /: None,
    frozenset: lambda items=0, /: None,
    int: lambda value=0, /, base=0: None,
    str: lambda object=0, encoding=0, errors=0: None,
    dict: lambda items=0, /, **named: None,
    slice: lambda start, stop=0, step=0, /: None,
    range: lambda start, stop=0, step=0, /: None,
    filter: lambda function, items, /: None,
    zip: lambda *sources, strict=0: None,
    map: lambda function, items, /, *others, strict=0: None,
    max: lambda items, /, *others, key=0, default=0: None,
    min: lambda items, /, *others, key=0, default=0: None,
    type: lambda owner, bases=0, attributes=0, /, **named: None,
    functools.reduce: _maybe_more if sys.version_info < (3, 14) else lambda function, items, /, initial=0: None,
    itertools.islice: lambda items, start, stop=0, step=0, /: None,
    itertools.repeat: lambda object, times=0: None,
    itertools.zip_longest: lambda *sources, fillvalue=0: None,
    itertools.product: lambda *sources, repeat=0: None,
    itertools.chain: lambda *sources: None,
    deque: lambda iterable=0, maxlen=0: None,
    **_of(list, "__getitem__", _one),
    **_of(dict, "__getitem__", _one),
    **_of(dict, "copy clear keys values items", _nothing),
    **_of(dict, "update", lambda owner, items=0, /, **named: None),
    **_of(dict, "pop", _maybe_more),
    **_of(OrderedDict, "copy clear keys values items", _nothing),
    **_of(OrderedDict, "update", lambda owner, items=0, /, **named: None),
    **_of(deque, "copy __copy__ clear pop popleft reverse", _nothing),
    **_of(deque, "append appendleft extend extendleft count remove", _one),
    **_of(deque, "rotate", _maybe_one),
    **_of(deque, "insert", lambda owner, place, item, /: None),
    **_of(set, "copy clear pop", _nothing),
    **_of(set, "add discard remove symmetric_difference symmetric_difference_update", _one),
    **_of(set, "union intersection difference update difference_update intersection_update", _any),
    **_of(frozenset, "copy", _nothing),
    **_of(frozenset, "symmetric_difference", _one),
    **_of(frozenset, "union intersection difference", _any),
    **_of(str, "join", _one),
    **_of(np.ufunc, "reduce", lambda owner, array, /, axis=0, dtype=0, out=0, keepdims=0, initial=0, where=0: None),
    **_of(np.ufunc, "accumulate", lambda owner, array, /, axis=0, dtype=0, out=0: None),
}
"""Parameters of what does not tell them, at least in some versions of Python."""
