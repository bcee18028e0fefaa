"""Of which classes values are, and what follows from that."""

from __future__ import annotations

import io
import itertools
import typing
from abc import ABCMeta
from collections import deque
from collections.abc import Callable
from types import FunctionType, MethodType, UnionType
from typing import Any, Final

import numpy as np

from autodiff_hook.semantics.equivalents.cursors import Count, Cursor
from autodiff_hook.semantics.equivalents.deques import Deque
from autodiff_hook.semantics.equivalents.reading import BytesReader, Reader, TextReader
from autodiff_hook.transform.specialise.abstract import (
    MISSING,
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
    Optional,
    Outside,
    Record,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.kept import Kept
from autodiff_hook.transform.specialise.lattice import built_classes, number_types
from autodiff_hook.transform.specialise.wording import named


def isinstance_of(cls: type, classes: Any, subclass: Callable[[type, type], bool] = issubclass) -> bool:
    """Whether instances of exactly ``cls`` are instances of ``classes``; ``subclass`` may guard what it says."""
    for c in classes if isinstance(classes, tuple) else (classes,):
        several = _alternatives(c)
        if several is not None:
            if isinstance_of(cls, several, subclass):
                return True
            continue
        if not isinstance(c, type):
            raise Refused("isinstance of what is not a class")
        if decides_itself(c):
            raise Refused("a class that decides by itself what its instances are")
        if subclass(cls, c):
            return True
    return False


def decides_itself(cls: Any) -> bool:
    """Whether the class of a class says by itself what is an instance, as protocols do; of several, of any."""
    several = _alternatives(cls)
    if several is not None:
        return any(map(decides_itself, several))
    asked = _PLAINLY_ASKED.items() if isinstance(cls, type) else ()
    return any(getattr(type(cls), name) not in plain for name, plain in asked)


_PLAINLY_ASKED: Final = {
    name: (getattr(type, name), getattr(ABCMeta, name)) for name in ("__instancecheck__", "__subclasscheck__")
}


def _alternatives(classes: Any) -> tuple[Any, ...] | None:
    """Several classes that are one for ``isinstance``; an alias of ``typing`` for a class is that class."""
    if isinstance(classes, tuple):
        return classes
    if isinstance(classes, UnionType) or typing.get_origin(classes) is typing.Union:
        return typing.get_args(classes)
    origin = typing.get_origin(classes)
    return (origin,) if isinstance(origin, type) and not typing.get_args(classes) else None


def shown(cls: type) -> type:
    """The class that another one stands for in typed programs."""
    return cls.form.cls() if issubclass(cls, Kept) else _STANDING.get(cls, cls)


_STANDING: Final[dict[type, type]] = {
    Deque: deque,
    Cursor: type(iter([])),
    Count: itertools.count,
    Reader: io.TextIOWrapper,
    TextReader: io.StringIO,
    BytesReader: io.BytesIO,
}


def classes_of(value: Abstract) -> list[type]:
    """The exact types that a value may have."""
    types = number_types(value)
    if types is not None:
        return list(types)
    if isinstance(value, Optional):
        return [type(value.absent), *classes_of(value.content)]
    if isinstance(value, Array):
        return [np.ndarray, np.float64] if value.scalar else [np.ndarray]
    if isinstance(value, (Tuple, Instance, Outside, Record, Fresh, Container, Error)):
        return [shown(value.cls)]
    if isinstance(value, (List, Dict)) and value.site.cls is MISSING:
        raise Refused(f"the type of {named(value)}")
    if built_classes(value):
        return list(map(shown, built_classes(value)))
    if isinstance(value, (List, Dict)):
        return [shown(value.site.cls or value.cls)]
    if isinstance(value, Known):
        return [type(value.value)]
    if isinstance(value, (Closure, Bound)):
        return [FunctionType if isinstance(value, Closure) else MethodType]
    if isinstance(value, Iterator) and value.cls is not None:
        return [value.cls]
    raise Refused(f"the type of {named(value)}")
