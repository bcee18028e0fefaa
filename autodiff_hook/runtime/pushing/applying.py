"""Rules pushed forward: by the transpose of the pullback."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.parameters import parameters_of
from autodiff_hook.registry import Rule, registry
from autodiff_hook.runtime.applying import unfit
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.oddities import has_odd
from autodiff_hook.runtime.opaque import option_without_derivative
from autodiff_hook.runtime.pushing.context import Result, TangentContext, reaches, some
from autodiff_hook.runtime.pushing.handlers import bookkeeping
from autodiff_hook.runtime.pushing.opaque import call_opaque, failure
from autodiff_hook.runtime.pushing.running import run_rule
from autodiff_hook.runtime.pushing.structures import gather, spread


@bookkeeping
def rule_for(function: Any, args: tuple[Any, ...], kwargs: Any = ()) -> Rule | None:
    """The rule for calling ``function`` with these arguments."""
    return registry.rule(function, tuple(map(type, args)), tuple(kwargs))


@bookkeeping
def misfit_of(function: Any, args: tuple[Any, ...], kwargs: Any) -> str | None:
    """What in a call its rule does not know."""
    return registry.misfit(function, tuple(map(type, args)), tuple(kwargs))


@bookkeeping
def has_rules(function: Any) -> bool:
    """Whether any rule is registered for ``function``."""
    return registry.has_rules(function)


@bookkeeping
def is_constant(function: Any) -> bool:
    """Whether ``function`` is declared to have no derivative."""
    return registry.is_constant(function)


@bookkeeping
def are_numbers(ctx: TangentContext, args: tuple[Any, ...], kwargs: Any) -> bool:
    """Whether the arguments are values, whose tangents are complete."""
    return not kwargs and all(kind_of(type(x)) in ("number", "inert") or is_value(ctx, x) for x in args)


def is_value(ctx: TangentContext, value: Any) -> bool:
    """Whether ``value`` is an array that nothing with a tangent was stored to."""
    return kind_of(type(value)) == "array" and not ctx.arrays


def push_rule(ctx: TangentContext, t: Any, rule: Any, function: Any, args: tuple[Any, ...], kwargs: Any) -> Result:
    """Call ``rule``; ``t`` has the tangents of the arguments, positional and named."""
    tangents = t
    if not are_numbers(ctx, args, kwargs):
        tangents = tuple([gather(ctx, value, tangent) for value, tangent in zip((*args, *kwargs.values()), t)])
    moves = some(tangents)
    if moves or reaches(ctx, args):
        refuse_unfit(function, args)
    if moves and may_be_odd(function, args, kwargs):
        refuse_odd(function, function(*args, **kwargs))
    if not_meant_for(ctx, rule, function, args, kwargs, t):
        return call_opaque(ctx, t, function, args, kwargs, "whose rule is for numbers and arrays of numbers")
    if not moves:
        return function(*args, **kwargs), None
    places = in_places(rule, function, len(args), kwargs, tangents) if kwargs else None
    value, tangent = run_rule(rule, args, kwargs, tangents if places is None else places)
    refuse_odd(function, value)
    return value, spread(ctx, value, tangent)


@bookkeeping
def refuse_unfit(function: Any, args: tuple[Any, ...]) -> None:
    """Raise for arguments that no rule knows."""
    reason = unfit(function, args)
    if reason or any(map(is_odd, args)):
        raise failure(function, reason or "of an array of objects")


@bookkeeping
def may_be_odd(function: Any, args: tuple[Any, ...], kwargs: Any) -> bool:
    """Whether the elements of the result may be other than numbers, because the call says so."""
    if function not in (np.array, np.asarray, np.asanyarray):
        return "dtype" in kwargs
    items = args[0] if kind_of(type(args[0])) in ("list", "tuple") else ()
    return bool(kwargs) or len(args) > 1 or any(kind_of(type(item)) in ("inert", "object") for item in items)


@bookkeeping
def refuse_odd(function: Any, value: Any) -> None:
    """Raise for a result whose elements are no numbers."""
    if is_odd(value):
        raise failure(function, "which makes an array of what are no numbers")


def is_odd(value: Any) -> bool:
    """Whether ``value`` is an array whose elements are no numbers."""
    return kind_of(type(value)) == "array" and value.dtype.kind in "OV"


@bookkeeping
def not_meant_for(ctx: TangentContext, rule: Rule, function: Any, args: Any, kwargs: Any, t: Any) -> bool:
    """Whether derivatives go into a call that the rule is not meant for: of objects, structured or masked arrays."""
    if id(rule) not in registry.tested:
        return False
    values = (*args, *kwargs.values())
    carrying = [True if tangent is not None or reaches(ctx, x) else None for x, tangent in zip(values, t)]
    return any(carrying) and has_odd(function, zip(values, carrying))


def in_places(rule: Any, function: Any, count: int, kwargs: Any, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tangents in the order of the rule's cotangents."""
    places = places_of(rule, function, tuple(kwargs), [x is not None for x in tangents[count:]])
    placed = [*tangents[:count], *[None] * (1 + max((count - 1, *places)) - count)]
    for place, tangent in zip(places, tangents[count:]):
        if place >= 0:
            placed[place] = tangent
    return tuple(placed)


@bookkeeping
def places_of(rule: Any, function: Any, names: tuple[str, ...], live: list[bool]) -> list[int]:
    """The index among the cotangents of each named argument; -1 for options, which may have no tangent."""
    known = parameters_of(rule).places
    for name, matters in zip(names, live):
        if matters and name not in known:
            raise option_without_derivative(function, name)
    return [known.get(name, -1) for name in names]
