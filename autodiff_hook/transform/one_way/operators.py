"""Operators of objects on one way: which methods Python asks, one after the other, until one knows what to do."""

from __future__ import annotations

from types import FunctionType, WrapperDescriptorType
from typing import Any, Final, TypeGuard

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.runtime.lookup import asked_in_turn
from autodiff_hook.semantics.operations import COMPARING_METHODS, METHODS, MIRRORED, UFUNCS
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised, is_container
from autodiff_hook.transform.specialise.abstract import Abstract, Fresh, Known, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import is_number_of, plain_types
from autodiff_hook.transform.specialise.objects import CONVERSIONS, is_deferred_to, is_from_numpy, look
from autodiff_hook.transform.specialise.plans import alias
from autodiff_hook.transform.specialise.wording import named

_SILENT: Final = frozenset({float, int, bool, complex, type(None)})


OF_FLOATS: Final = {
    **{getattr(float, METHODS[symbol]): ("binary", symbol) for symbol in ("+", "-", "*", "/", "//", "%", "**")},
    **{getattr(float, name): ("compare", symbol) for symbol, name in COMPARING_METHODS.items()},
    **{float.__neg__: ("unary", "-"), float.__pos__: ("unary", "+")},
}
"""The operations that methods of ``float`` are, called by their names."""


def by_name(inf: Path, function: Any, args: Args) -> Operand | None:
    """``float.__add__(a, b)``; None if it is no such method, or not of numbers."""
    op, symbol = OF_FLOATS.get(function, (None, None)) if isinstance(function, WrapperDescriptorType) else (None, None)
    numbers = [inf.plain(x) for x in args]
    known = all(is_number_of(inf.type_of(x), {float, int, bool}) for x in numbers)
    return inf.perform(op, numbers, symbol) if op is not None and known else None


def is_object(value: Abstract) -> TypeGuard[Fresh | Outside]:
    """Whether the class of a value says what operators mean."""
    return isinstance(value, Fresh) or isinstance(value, Outside) and not is_container(value.cls)


def operated(inf: Path, symbol: str, operands: list[Operand]) -> Operand | None:
    """What methods written in Python make of ``a + b``; None if it is not for them to say."""
    left, right = map(inf.type_of, operands)
    if is_object(right) and is_from_numpy(left) and not is_deferred_to(inf, right.cls):
        overrides = type(look(inf, right.cls, "__array_ufunc__")) is FunctionType and symbol in UFUNCS
        return inf.call(Constant(UFUNCS[symbol]), operands) if overrides else None
    if not (is_object(left) or is_object(right)) or not (is_object(left) or _is_silent(left)):
        return None
    name = METHODS[symbol]
    return _first(inf, operands, _asked(left, right, name, f"__r{name[2:]}"))


def _asked(left: Abstract, right: Abstract, own: str, reflected: str, compares: bool = False) -> list[tuple[int, str]]:
    """The methods that Python asks in turn, where one operand at least is an object."""
    if is_object(left) and is_object(right):
        return asked_in_turn(left.cls, right.cls, own, reflected, compares)
    return [(0, own), (1, reflected)]


def compared(inf: Path, symbol: str, operands: list[Operand]) -> Operand | None:
    """What methods written in Python make of a comparison; None if it is not for them to say."""
    left, right = map(inf.type_of, operands)
    if not (is_object(left) or is_object(right)) or not (is_object(left) or _is_silent(left)):
        return None
    asked = _asked(left, right, COMPARING_METHODS[symbol], COMPARING_METHODS[MIRRORED[symbol]], compares=True)
    if symbol == "!=" and not any(_has(inf, operands[place], name) for place, name in asked):
        same = compared(inf, "==", operands)
        return None if same is None else inf.perform("not", [same])
    if symbol == "==" and not any(_has(inf, operands[place], name) for place, name in asked):
        # An object of the program is nothing from outside; but an array compares its elements with it.
        if not (is_object(right) or _is_silent(right)):
            return None
        if isinstance(left, Fresh) and isinstance(right, Fresh):
            return Constant(left.made is right.made)
        several = isinstance(left, Outside) and isinstance(right, Outside)
        return inf.perform("is", operands) if several else Constant(False)
    return _first(inf, operands, asked)


def converted(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """What ``float(a)`` and its kin give, if a method of the object that is written in Python says it."""
    method = _method(inf, args[0], CONVERSIONS[function])
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


def _method(inf: Path, operand: Operand, name: str) -> FunctionType | None:
    value = inf.type_of(operand)
    found = look(inf, value.cls, name) if is_object(value) else None
    return found if type(found) is FunctionType else None


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


def _first(inf: Path, operands: list[Operand], asked: list[tuple[int, str]]) -> Operand | None:
    """What the first method gives that knows what to do; None if none of them is written in Python."""
    if not any(_method(inf, operands[place], name) for place, name in asked):
        return None
    for place, name in asked:
        value, method = inf.type_of(operands[place]), _method(inf, operands[place], name)
        if method is not None:
            result = inf.call(Constant(method), [operands[place], operands[1 - place]])
            if not is_not_implemented(inf, result):
                return result
            continue
        found = look(inf, value.cls, name) if is_object(value) else None
        of_floats = by_name(inf, found, [operands[place], operands[1 - place]])
        if of_floats is not None:
            return of_floats
        if _has(inf, operands[place], name) or not is_object(value) and not _is_silent(value):
            raise Refused(f"{name} of {named(value)} after another method")
    if asked[0][1] in ("__eq__", "__ne__"):
        raise Refused("a comparison of objects that neither of them knows")
    raise Raised(TypeError)
