"""The algebra of cotangents: None is zero, tuples and lists add element by element."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from autodiff_hook.registry import NotImplementedCotangent
from autodiff_hook.runtime.buffers import Scatter


def accumulate(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one value; mutates neither."""
    if a is None:
        return b
    if b is None:
        return a
    cls = type(a)
    if cls is float or cls is type(b) is not tuple and cls is not list and cls is not dict:
        if type(b) is not NotImplementedCotangent:
            return a if cls is NotImplementedCotangent else a + b
        return b
    if isinstance(a, NotImplementedCotangent):
        return a
    if isinstance(b, NotImplementedCotangent):
        return b
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return tuple(accumulate(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return {key: accumulate(a.get(key), b.get(key)) for key in {**a, **b}}
    return a + b


def part(cotangent: Any, index: int) -> Any:
    """The cotangent of one element of a tuple."""
    return None if cotangent is None else cotangent[index]


def tuple_cotangent(*parts: Any) -> tuple[Any, ...] | None:
    """The cotangent of a tuple from those of its elements; None if all are zero."""
    return None if all(p is None for p in parts) else parts


def either(*witnesses: Any) -> Any:
    """A witness for a tuple: that of some live element."""
    for witness in witnesses:
        if witness is not None:
            return witness
    return None


def pull(sweep: Any, pullback: Any, cotangent: Any, count: int) -> tuple[Any, ...]:
    """Run one pullback; its cotangents, one for each of ``count`` operands."""
    if pullback is None:
        return (None,) * count
    if type(cotangent) is NotImplementedCotangent:
        raise cotangent.fail()
    if type(cotangent) is Scatter:
        cotangent = cotangent.dense()
    result: tuple[Any, ...] | None = run(pullback, sweep, cotangent)
    return (None,) * count if result is None else result


def run(pullback: Any, sweep: Any, cotangent: Any) -> Any:
    """``pullback(sweep, cotangent)``, without a frame of C between frames of Python: recursion may be deep."""
    if type(pullback) is FunctionType:
        return pullback(sweep, cotangent)
    return pullback.__call__(sweep, cotangent)
