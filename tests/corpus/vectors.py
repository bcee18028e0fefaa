"""Arguments and gradients as vectors: lists, tuples, dicts, arrays and objects are taken apart in one order.

Whole numbers are constants; a complex number is two numbers; what is met under two names counts once.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

import autodiff_hook as ad

_CONTAINERS = (list, tuple, dict)


def attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of an object that may hold numbers; None for what is no such object."""
    kind = type(value)
    if not kind.__flags__ & 1 << 9 or isinstance(value, (np.ndarray, np.generic, *_CONTAINERS)):
        return None  # no heap type: the classes of Python programs are
    if kind.__module__.partition(".")[0] in ("numpy", "weakref", "builtins"):
        return None
    slots = [name for c in kind.__mro__ for name in getattr(c, "__slots__", ()) if hasattr(value, name)]
    return {name: getattr(value, name) for name in slots} | dict(getattr(value, "__dict__", {}))


def parts(value: Any) -> list[tuple[Any, Any]] | None:
    """The items or attributes of a container or object, by key."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    found = attributes(value)
    return None if found is None else list(found.items())


def is_number(value: Any) -> bool:
    """Whether a value holds real or complex numbers itself."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.inexact))


def _flat(leaf: Any, like: Any) -> list[float]:
    """The real numbers in the derivative of a number or array."""
    if leaf is None:
        raise AssertionError(f"the gradient has None in the place of {like!r}")
    array = np.asarray(leaf)
    assert array.shape == np.shape(like), f"the derivative of {like!r} is {leaf!r}"
    if np.iscomplexobj(like):
        return [float(x) for z in np.ravel(array) for x in (z.real, z.imag)]
    return [float(x) for x in np.ravel(array)]


def numbers(gradient: Any, like: Any, seen: set[int] | None = None) -> list[float]:
    """The numbers of ``gradient``, which has the form of ``like``."""
    seen = set() if seen is None else seen
    if is_number(like):
        return _flat(gradient, like)
    inner = parts(like)
    if inner is None or id(like) in seen:
        return []
    seen.add(id(like))
    return [x for key, part in inner for x in numbers(_part(gradient, like, key), part, seen)]


def _part(gradient: Any, like: Any, key: Any) -> Any:
    if gradient is None:
        return None
    by_key = isinstance(like, _CONTAINERS) or isinstance(gradient, (ad.Tangent, dict))
    return gradient[key] if by_key else getattr(gradient, key)


def single(value: Any) -> bool:
    """Whether numbers of single precision are in it."""
    if is_number(value):
        return getattr(value, "dtype", None) in (np.float32, np.complex64)
    return any(single(part) for _, part in parts(value) or ())


def filled(like: Any, values: Iterator[float], seen: dict[int, Any] | None = None) -> Any:
    """A copy of ``like`` that holds these numbers, in double precision."""
    seen = {} if seen is None else seen
    if is_number(like):
        return _filled_leaf(like, values)
    inner = parts(like)
    if inner is None:
        return like
    if id(like) not in seen:
        seen[id(like)] = fresh = copy.copy(like)
        new = [(key, filled(part, values, seen)) for key, part in inner]
        if isinstance(like, tuple):
            items = [part for _, part in new]
            seen[id(like)] = type(like)(*items) if hasattr(like, "_fields") else type(like)(items)
        else:
            for key, part in new:
                if isinstance(like, (list, dict)):
                    fresh[key] = part
                else:
                    object.__setattr__(fresh, key, part)
    return seen[id(like)]


def _filled_leaf(like: Any, values: Iterator[float]) -> Any:
    if not isinstance(like, np.ndarray):
        return complex(next(values), next(values)) if isinstance(like, complex) else type(like)(next(values))
    dtype = complex if like.dtype.kind == "c" else float
    new = [complex(next(values), next(values)) if dtype is complex else next(values) for _ in range(like.size)]
    array = np.array(new, dtype).reshape(like.shape)
    return array if like.dtype != dtype else array.view(_class_of(like))


def _class_of(array: np.ndarray) -> type:
    """The class of an array, for a copy in memory of its own."""
    return np.ndarray if isinstance(array, np.memmap) else type(array)


def tangents(like: Any, values: Iterator[float], seen: dict[int, Any] | None = None) -> Any:
    """``values`` in the form of a gradient of ``like``."""
    seen = {} if seen is None else seen
    if is_number(like):
        if isinstance(like, np.ndarray):
            return np.asarray(_filled_leaf(np.asarray(like), values), like.dtype)
        return _filled_leaf(like, values)
    inner = parts(like)
    if inner is None:
        return None
    if id(like) not in seen:
        new = {key: tangents(part, values, seen) for key, part in inner}
        seen[id(like)] = new
        if isinstance(like, tuple):
            seen[id(like)] = type(like)(*new.values()) if hasattr(like, "_fields") else tuple(new.values())
        elif isinstance(like, list):
            seen[id(like)] = list(new.values())
    return seen[id(like)]
