"""Values in the words of those who wrote the program, for what is said of it."""

from __future__ import annotations

from typing import Any

from autodiff_hook.registry import describe
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Bound,
    Closure,
    Container,
    Dict,
    Error,
    Fresh,
    Instance,
    Iterator,
    Known,
    List,
    Number,
    OneOf,
    Optional,
    Outside,
    Partial,
    Record,
    Tuple,
)

_PLAIN = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), slice)


def named(value: Any) -> str:
    """What a value is: an abstract one, or an object."""
    if not isinstance(value, Abstract):
        return repr(value) if type(value) in _PLAIN else describe(value)
    if isinstance(value, Known):
        return named(value.value)
    if isinstance(value, Number):
        return " or ".join(sorted(f"{_article(cls.__name__)} {cls.__name__}" for cls in value.types))
    if isinstance(value, Array):
        return f"an array of {value.dtype}" if value.dtype is not None else "an array"
    if isinstance(value, Optional):
        return f"None or {named(value.content)}"
    if isinstance(value, (Tuple, Instance, Outside, Record, List, Dict, Fresh, Container, Error)):
        return f"{_article(value.cls.__qualname__)} {value.cls.__qualname__}"
    if isinstance(value, OneOf):
        return "one of " + ", ".join(map(named, value.values))
    if isinstance(value, Iterator):
        return "an iterator"
    if isinstance(value, (Closure, Bound, Partial)):
        return "a function that is made on the way"
    return "a value of unknown type"


def _article(word: str) -> str:
    return "an" if word[:1].lower() in "aeiou" else "a"
