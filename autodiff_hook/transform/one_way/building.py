"""Objects that a program has made are built at its end, if something from outside keeps them."""

from __future__ import annotations

from types import MemberDescriptorType
from typing import Any

from autodiff_hook.runtime.lookup import HEAP_TYPE
from autodiff_hook.transform.specialise.objects import lookup


def is_buildable(cls: type) -> bool:
    """Whether an object of a class is no more than its attributes."""
    return all(base is object or base.__flags__ & HEAP_TYPE for base in cls.__mro__)


def is_container_buildable(cls: type) -> bool:
    """Whether an object of a class is a list or a dict with attributes."""
    bases = [base for base in cls.__mro__ if not base.__flags__ & HEAP_TYPE]
    return bases in ([list, object], [dict, object])


def built_container(cls: type, names: tuple[str, ...], held: Any, *values: Any) -> Any:
    """An object of a class derived from ``list`` or ``dict`` that holds the same and has these attributes."""
    base: Any = type(held)
    made = base.__new__(cls)
    (list.extend if base is list else dict.update)(made, held)
    return _with(made, names, values)


def built_object(cls: type, names: tuple[str, ...], *values: Any) -> Any:
    """An object of a class with these attributes, none of which is assigned by code of the class."""
    return _with(object.__new__(cls), names, values)


def _with(made: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    cls = type(made)
    for name, value in zip(names, values):
        if isinstance(lookup(cls, name, True), MemberDescriptorType):
            object.__setattr__(made, name, value)
        else:
            made.__dict__[name] = value
    return made
