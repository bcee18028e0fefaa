"""Calls that ``functools.lru_cache`` may answer, on one way through a program."""

from __future__ import annotations

import functools
from enum import Enum
from types import CodeType, FunctionType, ModuleType
from typing import Any

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.runtime.arguments import described
from autodiff_hook.transform.one_way.containers import UNKNOWN, known_value
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import Abstract, Instance, Known, Number
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.results import outcome, tried


def cached_call(
    inf: Path, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """Ask the cache, as the plain run does: its answer may be older than what the function says now.

    The arguments have to be known, or strings or whole numbers, which are guarded; so is a string that is the
    answer. None if this is no such call.
    """
    if type(function) is not functools._lru_cache_wrapper:
        return None
    values = [_guarded(inf, x) for x in (*args, *kwargs.values())]
    if any(v is UNKNOWN for v in values):
        return None
    if inf.assigned or inf.dirty or not _names(function.__wrapped__).isdisjoint(n for _, n in inf.stored_globals):
        raise Refused("a cache that may come to see what has been changed")
    constant = _constant(inf, s, function, values, tuple(kwargs))
    if constant is not None:
        return constant
    given: list[Abstract] = [Known(v) for v in values]
    named = dict(zip(kwargs, given[len(args) :]))
    found = outcome(function, given[: len(args)], named)
    answer = inf.emit("call", Constant(function), *map(Constant, values), abstract=found, data=tuple(kwargs))
    if isinstance(found, Instance) and found.cls is str:
        return known_as(inf, s, inf.pin(answer))
    return alias(inf, s, answer)


def _constant(inf: Path, s: Statement, function: Any, values: list[Any], names: tuple[str, ...]) -> Abstract | None:
    """The answer if that is a tuple of modules, members of Enums and other constants: it has to be the same again."""
    count = len(values) - len(names)
    answer = tried(function, values[:count], dict(zip(names, values[count:])))
    if type(answer) is not tuple or not any(isinstance(x, (ModuleType, Enum)) for x in answer):
        return None
    if not all(isinstance(described(x), Known) for x in answer):
        return None
    given = inf.emit("call", Constant(function), *map(Constant, values), abstract=Instance(tuple), data=names)
    same = inf.emit("is", given, Constant(answer), abstract=Number(frozenset({bool}), example=True))
    inf.pin(same)
    return alias(inf, s, inf.perform("build_tuple", [Constant(x) for x in answer]))


def constant_key(inf: Path, s: Statement, args: list[Operand]) -> Abstract:
    """What is kept by a key that a cache of the program's own was asked for; what is known has no derivative."""
    key, value = args
    if not isinstance(inf.type_of(value), Known):
        inf.shown(inf.pin(key))
    return known_as(inf, s, None)


def _guarded(inf: Path, operand: Operand) -> Any:
    value = inf.type_of(operand)
    text = isinstance(value, Instance) and value.cls is str
    whole = (number_types(value) or {float}) <= {int, bool}
    return inf.pin(operand) if text or whole else known_value(inf, operand)


def _names(function: Any) -> set[str]:
    """The names that the code of a function reads."""
    code = function.__code__ if type(function) is FunctionType else None
    return _names_in(code) if code is not None else set()


def _names_in(code: CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*map(_names_in, inner))
