"""Dataclasses with slots that are cheap to make: methods are closures, and ``__init__`` is made with the first object.

``dataclass`` compiles each method of each class when the class is made, a quarter of what importing the engine took.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(cls=None, /, *, frozen=False, eq=True):
        """``dataclass(slots=True)``, where only the type checker forbids to change what is frozen."""
        if cls is None:
            return partial(record, frozen=frozen, eq=eq)
        cls = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
        cls.__init__ = _first_of(cls)
        if "__repr__" not in vars(cls):
            cls.__repr__ = _described
        if eq:
            parts = attrgetter("__class__", *(field.name for field in fields(cls) if field.compare))
            cls.__eq__ = _equal_by(parts)
            cls.__hash__ = _hashed_by(parts) if frozen else None
        return cls


def _first_of(cls: Any) -> Callable[..., None]:
    def __init__(self: object, /, *args: object, **kwargs: object) -> None:
        cls.__init__ = _initialiser(cls)
        cls.__init__(self, *args, **kwargs)

    return __init__


def _initialiser(cls: Any) -> Callable[..., None]:
    known: dict[str, Any] = {"_absent": object()}
    places, names, lines = ["self"], ["*"], []
    for field in fields(cls):
        name = parameter = value = field.name
        if field.default is not MISSING:
            known[f"default_{name}"] = field.default
            parameter = f"{name}=default_{name}"
        elif field.default_factory is not MISSING:
            known[f"make_{name}"] = field.default_factory
            parameter, value = f"{name}=_absent", f"make_{name}() if {name} is _absent else {name}"
        (names if field.kw_only else places).append(parameter)
        lines.append(f"self.{name} = {value}")
    parameters = ", ".join(places + names if len(names) > 1 else places)
    exec(f"def __init__({parameters}): {'; '.join(lines)}", known)
    made: Callable[..., None] = known["__init__"]
    return made


def _described(self: Any) -> str:
    parts = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({parts})"


def _equal_by(parts: Callable[[Any], object]) -> Callable[[Any, object], bool]:
    def __eq__(self: object, other: object) -> bool:
        return parts(self) == parts(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hashed_by(parts: Callable[[Any], object]) -> Callable[[Any], int]:
    def __hash__(self: object) -> int:
        return hash(parts(self))

    return __hash__
