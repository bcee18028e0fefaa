"""Operators of objects on one way: which methods Python asks, one after the other, until one knows what to do."""

from __future__ import annotations

from types import FunctionType, WrapperDescriptorType
from typing import Any, Final, TypeGuard

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.runtime.lookup import asked_in_turn
from autodiff_hook.semantics.operations import COMPARING_METHODS, METHODS, MIRRORED, UNARY_METHODS
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised, is_container
from autodiff_hook.transform.specialise.abstract import Abstract, Container, Fresh, Known, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import is_number_of, plain_types
from autodiff_hook.transform.specialise.objects import CONVERSIONS, look, written
from autodiff_hook.transform.specialise.plans import alias
from autodiff_hook.transform.specialise.wording import named

_SILENT: Final = frozenset({float, int, bool, complex, type(None)})


_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%", "**")
_REFLECTED: Final = {
    getattr(cls, f"__r{METHODS[symbol][2:]}"): symbol for cls in (float, np.float64) for symbol in _ARITHMETIC
}


def _operations(cls: type) -> dict[Any, tuple[str, Any]]:
    return {
        **{getattr(cls, METHODS[symbol]): ("binary", symbol) for symbol in _ARITHMETIC},
        **{getattr(cls, name): ("compare", symbol) for symbol, name in COMPARING_METHODS.items()},
        **{getattr(cls, UNARY_METHODS[symbol]): ("unary", symbol) for symbol in "+-"},
        **{cls.__dict__["__abs__"]: ("call", abs)},
    }


_OF_FLOATS: Final = {
    **{method: ("binary", symbol) for method, symbol in _REFLECTED.items()},
    **_operations(float),
    **_operations(np.float64),
}
"""The operations that methods of ``float`` and ``numpy.float64`` are, called by their names."""


def by_name(inf: Path, function: Any, args: Args) -> Operand | None:
    """``float.__add__(a, b)``; None if it is no such method, or not of numbers."""
    op, symbol = _OF_FLOATS.get(function, (None, None)) if isinstance(function, WrapperDescriptorType) else (None, None)
    # Whatever is called.
    for operand in args:
        inf.require_conversion(operand)
    if op is None:
        return None
    numbers = list(map(inf.plain, args))
    classes = {float, int, bool} if function.__objclass__ is float else {np.float64, float, int, bool}
    if not all(is_number_of(inf.type_of(x), classes) for x in numbers):
        return None
    if function in _REFLECTED:
        numbers.reverse()
    return inf.call(Constant(symbol), numbers) if op == "call" else inf.perform(op, numbers, symbol)


def is_object(value: Abstract) -> TypeGuard[Fresh | Outside]:
    """Whether the class of a value says what operators mean."""
    return isinstance(value, Fresh) or isinstance(value, Outside) and not is_container(value.cls)


def own_method(inf: Path, operand: Operand, name: str) -> FunctionType | None:
    """What the class of an object has under a name, if that is Python code; None of what is no object."""
    value = inf.type_of(operand)
    return written(inf, value.cls, name) if is_object(value) else None


def operated(inf: Path, symbol: str, operands: list[Operand]) -> Operand | None:
    """What methods written in Python make of ``a + b``; None if it is not for them to say."""
    left, right = map(inf.type_of, operands)
    if not (is_object(left) or is_object(right)) or not (is_object(left) or _is_silent(left)):
        return None
    name = METHODS[symbol]
    return _first(inf, operands, _asked(left, right, name, f"__r{name[2:]}"))


def _asked(left: Abstract, right: Abstract, own: str, reflected: str, compares: bool = False) -> list[tuple[int, str]]:
    """The methods that Python asks in turn, where one operand at least is an object."""
    classes = [_classes(x) for x in (left, right)]
    if all(len(each) == 1 for each in classes):
        return asked_in_turn(classes[0][0], classes[1][0], own, reflected, compares)
    return [(0, own), (1, reflected)]


def _classes(value: Abstract) -> list[type]:
    """The classes that a value may be of; none if that is not known."""
    if is_object(value) or is_builtin(value):
        return [type(value.value) if isinstance(value, Known) else value.cls]  # type: ignore[attr-defined]
    types = plain_types(value)
    return [] if None in types else [cls for cls in types if cls is not None]


def compared(inf: Path, symbol: str, operands: list[Operand]) -> Operand | None:
    """What methods written in Python make of a comparison; None if it is not for them to say."""
    left, right = map(inf.type_of, operands)
    if not (is_object(left) or is_object(right)) or not (is_object(left) or _compares_own_kind(left)):
        return None
    asked = _asked(left, right, COMPARING_METHODS[symbol], COMPARING_METHODS[MIRRORED[symbol]], compares=True)
    if symbol == "!=" and not any(_has(inf, operands[place], name) for place, name in asked):
        same = compared(inf, "==", operands)
        return None if same is None else inf.perform("not", [same])
    if symbol == "==" and not any(_has(inf, operands[place], name) for place, name in asked):
        # An object of the program is nothing from outside; but an array compares its elements with it.
        if not (is_object(right) or _compares_own_kind(right)):
            return None
        if isinstance(left, Fresh) and isinstance(right, Fresh):
            return Constant(left.made is right.made)
        several = isinstance(left, Outside) and isinstance(right, Outside)
        return inf.perform("is", operands) if several else Constant(False)
    return _first(inf, operands, asked)


def converted(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """What ``float(a)`` and its kin give, if a method of the object that is written in Python says it."""
    method = own_method(inf, args[0], CONVERSIONS[function])
    if method is None:
        return None
    result = inf.call(Constant(method), args, kwargs)
    kind = inf.type_of(result)
    if isinstance(function, type) and plain_types(kind) != {function}:
        raise Refused(f"{CONVERSIONS[function]} that gives {named(kind)}")
    return alias(inf, s, result)


def is_not_implemented(inf: Path, operand: Operand) -> bool:
    """Whether a method has said that it does not know what to do."""
    found = inf.type_of(operand)
    return isinstance(found, Known) and found.value is NotImplemented


def _has(inf: Path, operand: Operand, name: str) -> bool:
    """Whether the class of an object has more by a name than all objects have."""
    value = inf.type_of(operand)
    if not is_object(value):
        return False
    found = look(inf, value.cls, name)
    return found is not None and found is not getattr(object, name, None)


def _is_silent(value: Abstract) -> bool:
    """Whether a value that is no object never knows what to do with one."""
    return plain_types(value) <= _SILENT


def _compares_own_kind(value: Abstract) -> bool:
    """Whether a value that is no object compares itself with its own kind alone."""
    return _is_silent(value) or is_builtin(value) or plain_types(value) <= _TEXTS


_TEXTS: Final = frozenset({str, bytes})


def _knows(value: Abstract, other: Abstract) -> bool:
    """Whether a builtin class says something of objects of a derived class."""
    kinds = tuple([kind for cls in _classes(value) for kind in _KNOWN.get(cls, ())])
    return any(issubclass(cls, kinds) for cls in _classes(other))


_KNOWN: Final[dict[type, tuple[type, ...]]] = {
    **{int: (int,), bool: (int,), float: (float, int), complex: (complex, float, int)},
    **{cls: (cls,) for cls in (list, tuple, dict, str, bytes)},
    **dict.fromkeys((set, frozenset), (set, frozenset)),
}


_BY_IDENTITY: Final = {"__eq__": "is", "__ne__": "is_not"}
"""What a comparison comes to that neither of two objects knows."""


def is_builtin(value: Abstract) -> bool:
    """Whether a value is a list, a tuple, a dict or a set, which knows nothing of an object that is none."""
    if isinstance(value, Known):
        return type(value.value) in _CONTAINERS
    return isinstance(value, (Container, Outside, Tuple)) and value.cls in _CONTAINERS


_SEQUENCES: Final = (list, tuple, str, bytes, bytearray)
_CONTAINERS: Final = (list, tuple, dict, set, frozenset)


def _first(inf: Path, operands: list[Operand], asked: list[tuple[int, str]]) -> Operand | None:
    """What the first method gives that knows what to do; None if none of them is written in Python."""
    if not any(own_method(inf, operands[place], name) for place, name in asked):
        return None
    for place, name in asked:
        value, other = inf.type_of(operands[place]), inf.type_of(operands[1 - place])
        method = own_method(inf, operands[place], name)
        if method is not None:
            result = inf.call(Constant(method), [operands[place], operands[1 - place]])
            if not is_not_implemented(inf, result):
                return result
            continue
        found = look(inf, value.cls, name) if is_object(value) else None
        of_floats = by_name(inf, found, [operands[place], operands[1 - place]])
        if of_floats is not None:
            return of_floats
        is_silent = _compares_own_kind(value) if name in COMPARING_METHODS.values() else _is_silent(value)
        if _has(inf, operands[place], name) or not is_object(value) and (not is_silent or _knows(value, other)):
            raise Refused(f"{name} of {named(value)} after another method")
    if asked[0][1] in _BY_IDENTITY:
        return inf.perform(_BY_IDENTITY[asked[0][1]], operands)
    if any(issubclass(cls, _SEQUENCES) for x in operands for cls in _classes(inf.type_of(x))):
        raise Refused("sequences that are put together, as no method knows what to do")
    raise Raised(TypeError)
