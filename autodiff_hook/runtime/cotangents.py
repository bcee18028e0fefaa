"""The algebra of cotangents: None is zero, tuples and lists add element by element."""

from __future__ import annotations

from typing import Any

from autodiff_hook.cotangents import NotImplementedCotangent


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


def named_part(cotangent: Any, name: Any) -> Any:
    """The cotangent of one item of a dict."""
    return None if cotangent is None else cotangent.get(name)
