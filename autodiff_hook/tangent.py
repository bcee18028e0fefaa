"""The gradient with respect to an object: one gradient for each attribute."""

from __future__ import annotations

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


def _scaled(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A gradient with its numbers and arrays changed."""
    if tree is None:
        return None
    if isinstance(tree, (list, tuple)):
        return _like(tree, [_scaled(item, change) for item in tree])
    if isinstance(tree, dict):
        return {key: _scaled(item, change) for key, item in tree.items()}
    if isinstance(tree, Tangent):
        return Tangent(tree._of, {name: _scaled(tree[name], change) for name in tree})
    return change(tree)


def _combined(combine: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Two gradients of one thing, added or subtracted."""
    if b is None:
        return a
    if a is None:
        return b if combine is add else _scaled(b, neg)
    if isinstance(a, (list, tuple)):
        return _like(a, [_combined(combine, x, y) for x, y in _pairs(a, b)])
    if isinstance(a, dict):
        return {key: _combined(combine, a.get(key), b.get(key)) for key in {**a, **b}}
    if isinstance(a, Tangent):
        names = dict.fromkeys((*a, *b))
        fields = {name: _combined(combine, a._fields.get(name), b._fields.get(name)) for name in names}
        return Tangent(a._of, fields)
    return combine(a, b)


def _pairs(a: Any, b: Any) -> Any:
    if len(a) != len(b):
        raise ValueError(f"gradients of lists of {len(a)} and of {len(b)} items cannot be added")
    return zip(a, b)


def _like(value: Any, items: list[Any]) -> Any:
    return getattr(type(value), "_make", type(value))(items)
