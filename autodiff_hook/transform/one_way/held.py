"""What objects of classes derived from ``tuple``, ``list`` and ``dict`` hold, and what their classes say of it."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from types import FunctionType
from typing import Any, Final, TypeGuard

from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.objects import look, written
from autodiff_hook.transform.specialise.wording import named

_BUILTIN: Final = (tuple, list, dict)
_BASES: Final = (tuple, list, defaultdict, OrderedDict, dict)


def held_by(inf: Path, operand: Operand, asked: str = "") -> Operand | None:
    """The container that an object holds; None if it is another one, or its class answers itself to what is asked."""
    value = inf.type_of(operand)
    if not is_derived(value) or asked and not is_answered_by_base(inf, value.cls, asked):
        return None
    if isinstance(value, Fresh):
        return inf.numbers.get(value.made)
    loaded_by = _LOADED_BY.get(base_of(value.cls))
    plain = loaded_by is not None and all([is_answered_by_base(inf, value.cls, x) for x in loaded_by])
    return inf.adopted(operand, value) if plain else None


_LOADED_BY: Final[dict[type, tuple[str, ...]]] = {
    **dict.fromkeys((tuple, list), ("__iter__", "__len__")),
    **dict.fromkeys((dict, defaultdict), ("__iter__", "__len__")),
}
"""What is asked of a container from outside to load what it holds: how much it is, and which keys."""


def is_derived(value: Abstract) -> TypeGuard[Fresh | Outside]:
    """Whether a value is an object of a class derived from a builtin container."""
    return isinstance(value, (Fresh, Outside)) and issubclass(value.cls, _BUILTIN) and value.cls not in _BUILTIN


def is_answered_by_base(inf: Path, cls: type, name: str) -> bool:
    """Whether what a class derived from a builtin container has under a name is of the builtin class."""
    return look(inf, cls, name) is getattr(base_of(cls), name)


def base_of(cls: type) -> type:
    """The builtin class that a class is derived from; those of the standard library are dicts."""
    return next(base for base in _BASES if issubclass(cls, base) and (base is not cls or base in _BUILTIN))


def of_base(cls: type, name: str) -> Any:
    """What the builtin class has under a name, or what that is derived from."""
    return next((vars(base)[name] for base in base_of(cls).__mro__[:-1] if name in vars(base)), None)


def is_missed_by_code(inf: Path, operand: Operand) -> bool:
    """Whether the class of a dict says, in Python, what is where a key is not."""
    value = inf.type_of(operand)
    return is_derived(value) and written(inf, value.cls, "__missing__") is not None


def item_that_is_missing(inf: Path, operand: Operand, key: Operand) -> Operand:
    """What the class of a dict says of a key that is not there."""
    value = inf.type_of(operand)
    method = look(inf, value.cls, "__missing__") if is_derived(value) else None
    if method is None:
        raise Raised(KeyError(inf.pin(key)))
    if type(method) is not FunctionType:
        raise Refused(f"what is missing in {named(value)}")
    return inf.call(Constant(method), [operand, key])
