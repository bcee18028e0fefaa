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

from autodiff_hook.ir.types import Args, Constant, Kwargs, Statement
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
_ANSWERS: Final = (inspect.Signature, inspect.Parameter, inspect.FullArgSpec)


def asked(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``inspect.signature(f)`` of a function that is known or made, or what a cache has of it; None for other calls."""
    question = function.__wrapped__ if type(function) is functools._lru_cache_wrapper else function
    if not any(question is x for x in _QUESTIONS) or kwargs or len(args) != 1:
        return None
    value = inf.type_of(args[0])
    if isinstance(value, Closure) and question is function and not value.described and value.wraps is None:
        return known_as(inf, s, function(FunctionType(value.code, {}, closure=tuple(CellType() for _ in value.cells))))
    if isinstance(value, Bound) and type(value.function) is FunctionType and question is function:
        _fix(inf, value.function)
        return known_as(inf, s, function(MethodType(value.function, object())))
    if isinstance(value, Known) and type(value.value) is type and question is function:
        init = look(inf, value.value, "__init__")
        if look(inf, value.value, "__new__") is not object.__new__ or type(init) is not FunctionType:
            return None
        if inf.world.answers(value.value, "__signature__"):
            raise Refused(f"the signature that {named(value.value)} tells by itself")
        _fix(inf, init)
        return known_as(inf, s, function(value.value))
    if not isinstance(value, Known) or not isinstance(value.value, (FunctionType, WrapperDescriptorType, type(np.sum))):
        return None
    if question is not function:
        answer = function(value.value)
        found = inf.emit("call", Constant(function), args[0], abstract=Instance(type(answer)), data=())
        inf.guard(inf.emit("is", found, Constant(answer), abstract=BOOL), True)
        return known_as(inf, s, answer)
    _fix(inf, value.value)
    return known_as(inf, s, function(value.value))


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


def _fix(inf: Path, function: Any) -> None:
    """Guard that a function, and those that it wraps, keep their parameters."""
    if inf.world.answers(function, "__signature__"):
        raise Refused(f"the signature that {named(function)} tells by itself")
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
