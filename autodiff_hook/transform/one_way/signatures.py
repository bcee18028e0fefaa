"""What a program asks about the names and parameters of a function: answers are the same as long as the function is."""

from __future__ import annotations

import functools
import inspect
from dataclasses import replace
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MappingProxyType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.transform.one_way import containers
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise import partials
from autodiff_hook.transform.specialise.abstract import BOOL, Abstract, Bound, Closure, Instance, Known
from autodiff_hook.transform.specialise.bodies import Refused, is_plain
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.wording import named

_QUESTIONS: Final = (inspect.signature, inspect.getfullargspec)
_ANSWERS: Final = (inspect.Signature, inspect.Parameter)


def asked(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``inspect.signature(f)`` of a function that is known or made, or what a cache has of it; None for other calls."""
    question = function.__wrapped__ if type(function) is functools._lru_cache_wrapper else function
    if not any(question is x for x in _QUESTIONS) or kwargs or len(args) != 1:
        return None
    value = inf.type_of(args[0])
    if isinstance(value, Closure) and question is function and not value.described and value.wraps is None:
        made = FunctionType(value.code, {}, closure=tuple(CellType() for _ in value.cells))
        return _answer(inf, s, function(made))
    if isinstance(value, Bound) and type(value.function) is FunctionType and question is function:
        _fix(inf, value.function)
        return _answer(inf, s, function(MethodType(value.function, object())))
    if isinstance(value, Known) and type(value.value) is type and question is function:
        init = look(inf, value.value, "__init__")
        if look(inf, value.value, "__new__") is not object.__new__ or type(init) is not FunctionType:
            return None
        if inf.world.answers(value.value, "__signature__"):
            raise Refused(f"the signature that {named(value.value)} tells by itself")
        _fix(inf, init)
        return _answer(inf, s, function(value.value))
    if not isinstance(value, Known) or not isinstance(value.value, (FunctionType, WrapperDescriptorType, type(np.sum))):
        return None
    if question is not function:
        answer = function(value.value)
        kind = Instance(type(answer))
        _require_same(inf, inf.emit("call", Constant(function), args[0], abstract=kind, data=()), answer)
        return known_as(inf, s, answer)
    _fix(inf, value.value)
    return _answer(inf, s, function(value.value))


def _answer(inf: Path, s: Statement, found: Any) -> Abstract:
    """A signature, or a tuple of what there is to know, whose lists and dicts are the program's own."""
    if type(found) is not inspect.FullArgSpec:
        return known_as(inf, s, found)
    return alias(inf, s, inf.call(Constant(inspect.FullArgSpec), [_made(inf, x) for x in found]))


def _made(inf: Path, value: Any) -> Operand:
    if type(value) is list:
        return inf.made(list, list(map(Constant, value)))
    if type(value) is dict:
        return inf.made(dict, {key: _made(inf, x) for key, x in value.items()})
    if not is_plain(value):
        raise Refused(f"{named(value)} among the parameters of a function")
    return Constant(value)


def wrapped(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``functools.wraps(f)``, and ``update_wrapper`` of a function that is made; None for other calls."""
    if function is functools.wraps and len(args) == 1 and not kwargs:
        return partials.make(inf, s, [Constant(functools.update_wrapper)], {"wrapped": args[0]})
    given = [*args, *[value for name, value in kwargs.items() if name == "wrapped"]]
    if function is not functools.update_wrapper or len(given) != len(args) + len(kwargs) or len(given) != 2:
        return None
    wrapper, inner = inf.type_of(given[0]), inf.type_of(given[1])
    plain = isinstance(inner, Closure) or isinstance(inner, Known) and isinstance(inner.value, _FUNCTIONS)
    made = inf.final(given[0])
    if not isinstance(wrapper, Closure) or not plain or isinstance(made, Constant):
        return None
    inf.types[made] = replace(wrapper, wraps=given[1])
    return alias(inf, s, given[0])


_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType, WrapperDescriptorType, MethodDescriptorType, np.ufunc)


def told_by_function(inf: Path, s: Statement, value: Closure, name: str) -> Abstract | None:
    """An attribute of a function that the program makes: its names, and what it wraps."""
    if value.wraps is not None:
        if name == "__wrapped__":
            return alias(inf, s, value.wraps)
        return alias(inf, s, inf.perform("getattr", [value.wraps], name)) if name in _NAMES else None
    if not hasattr(FunctionType, name):
        raise Raised(AttributeError)
    return known_as(inf, s, getattr(value.code, _NAMES[name])) if name in _NAMES else None


_NAMES: Final = {"__name__": "co_name", "__qualname__": "co_qualname"}


def _require_same(inf: Path, found: Operand, expected: Any) -> None:
    """Guard that something is the very same."""
    inf.guard(inf.emit("is", found, Constant(expected), abstract=BOOL), True)


_SIGNATURE: Final = Instance(inspect.Signature)


def _fix(inf: Path, function: Any) -> None:
    """Guard that a function, and those that it wraps, keep their parameters."""
    if inf.world.answers(function, "__signature__"):
        said = vars(function).get("__signature__") if type(function) is FunctionType else None
        if type(said) is not inspect.Signature:
            raise Refused(f"the signature that {named(function)} tells by itself")
        _require_same(inf, inf.emit("getattr", Constant(function), abstract=_SIGNATURE, data="__signature__"), said)
    if type(function) is FunctionType:
        inf.world.function(function)
    if inf.world.answers(function, "__wrapped__"):
        _fix(inf, inf.world.attribute(function, "__wrapped__"))


def read(inf: Path, s: Statement, owner: Any, name: str) -> Abstract | None:
    """An attribute of an answer; None if it is none."""
    if type(owner) not in _ANSWERS:
        return None
    found = getattr(owner, name, None)
    if type(found) is MappingProxyType:
        return containers.new(inf, dict, {key: Constant(value) for key, value in found.items()})
    if is_plain(found) or isinstance(found, type) or type(found) in (list, type(inspect.Parameter.VAR_KEYWORD)):
        return containers.held_as(inf, s, found)
    raise Refused(f"the attribute {name} of {named(owner)}")
