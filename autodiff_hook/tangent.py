"""The gradient with respect to an object: one gradient for each attribute."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from operator import add, neg, sub
from reprlib import recursive_repr
from typing import Any


class Tangent:
    """Gradients of the attributes of an object (or of the variables that a function captured).

    Read them as attributes or items; None is an attribute without derivative.

    >>> g = Tangent("Line", {"slope": 2.0, "name": None})
    >>> g.slope, g["slope"], g.name
    (2.0, 2.0, None)
    >>> g
    Tangent(Line: slope=2.0, name=None)

    Gradients of one object can be added, and multiplied by numbers; lists and tuples in them are vectors there, and
    None is no derivative, so zero:

    >>> 0.5 * g + g
    Tangent(Line: slope=3.0, name=None)
    """

    __slots__ = ("_fields", "_of")

    def __init__(self, of: str, fields: Mapping[str, Any]) -> None:
        self._of = of
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        if name in Tangent.__slots__:  # who copies or carries one asks before it is there
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"the {self._of} had no attribute {name!r} when it was passed in") from None

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __add__(self, other: object) -> Any:
        return _combined(add, self, other) if isinstance(other, Tangent) else NotImplemented

    def __sub__(self, other: object) -> Any:
        return _combined(sub, self, other) if isinstance(other, Tangent) else NotImplemented

    def __mul__(self, factor: Any) -> Any:
        return NotImplemented if isinstance(factor, Tangent) else _scaled(self, lambda leaf: leaf * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        return NotImplemented if isinstance(divisor, Tangent) else _scaled(self, lambda leaf: leaf / divisor)

    def __neg__(self) -> Any:
        return _scaled(self, neg)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tangent) and dict(self._fields) == dict(other._fields)

    @recursive_repr()
    def __repr__(self) -> str:
        return f"Tangent({self._of}: {', '.join(f'{k}={v!r}' for k, v in self._fields.items())})"

    def __reduce__(self) -> Any:
        return Tangent, (self._of, dict(self._fields))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]


def each(tree: Any, change: Callable[[Any, Any], Any]) -> Any:
    """A container with what ``change(key, part)`` gives for the parts of one, like it; None of what is none."""
    if isinstance(tree, Tangent):
        return Tangent(tree._of, {name: change(name, tree[name]) for name in tree})
    if isinstance(tree, dict):
        return {key: change(key, part) for key, part in tree.items()}
    if isinstance(tree, (list, tuple, deque)):
        return like_sequence(tree, [change(i, part) for i, part in enumerate(tree)])
    return None


def like_sequence(value: Any, items: list[Any]) -> Any:
    """Items in a list, deque or tuple of the type of ``value``."""
    if isinstance(value, deque):
        return type(value)(items, value.maxlen)
    return getattr(type(value), "_make", type(value))(items)


def _scaled(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A gradient with its numbers and arrays changed."""
    if tree is None:
        return None
    found = each(tree, lambda key, part: _scaled(part, change))
    return change(tree) if found is None else found


def _combined(combine: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Two gradients of one thing, added or subtracted."""
    if b is None:
        return a
    if a is None:
        return b if combine is add else _scaled(b, neg)
    if isinstance(a, (list, tuple)):
        if len(a) != len(b):
            raise ValueError(f"gradients of lists of {len(a)} and of {len(b)} items cannot be added")
        return each(a, lambda i, part: _combined(combine, part, b[i]))
    if isinstance(a, (dict, Tangent)):
        first, second = (x._fields if isinstance(x, Tangent) else x for x in (a, b))
        fields = {key: _combined(combine, first.get(key), second.get(key)) for key in {**first, **second}}
        return fields if isinstance(a, dict) else Tangent(a._of, fields)
    return combine(a, b)
