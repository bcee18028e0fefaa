"""Objects of libraries that hold constants and are only asked, on one way: tables of pandas, and what these give."""

from __future__ import annotations

from types import GeneratorType
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.registry import registry
from autodiff_hook.transform.one_way.trail import Trail
from autodiff_hook.transform.specialise.abstract import Abstract, Instance, Known, Number, Outside
from autodiff_hook.transform.specialise.lattice import example_of

ITERATORS: Final = (GeneratorType, zip, map, enumerate)


def is_asked(value: Abstract) -> bool:
    """Whether a value is such an object."""
    return names_of(value) is not None


def names_of(value: Abstract) -> frozenset[str] | None:
    """The names by which such an object is asked."""
    return registry.asked(type(example_of(value))) if isinstance(value, (Known, Instance, Outside)) else None


def only_asks(function: Any, owner: Abstract) -> bool:
    """Whether a function is a method that only asks such an object."""
    cls = type(example_of(owner))
    return any(function is getattr(cls, name, None) for name in names_of(owner) or ())


def is_listed(value: Abstract) -> bool:
    """Whether an iteration over a value gives what such an object has."""
    return is_asked(value) or isinstance(value, Instance) and value.cls in ITERATORS


def require_count(inf: Trail, operand: Operand, count: int) -> int:
    """Guard how many items something has."""
    number = Number(frozenset({int}), example=count)
    inf.pin(inf.emit("call", Constant(len), operand, abstract=number, data=()))
    return count
