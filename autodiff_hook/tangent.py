"""The gradient with respect to an object: one gradient for each attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    """

    __slots__ = ("_fields", "_of")

    def __init__(self, of: str, fields: Mapping[str, Any]) -> None:
        self._of = of
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tangent) and dict(self._fields) == dict(other._fields)

    @recursive_repr()
    def __repr__(self) -> str:
        return f"Tangent({self._of}: {', '.join(f'{k}={v!r}' for k, v in self._fields.items())})"

    def __reduce__(self) -> Any:
        return Tangent, (self._of, dict(self._fields))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]
