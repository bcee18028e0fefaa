"""Rules pushed forward: by the transpose of the pullback."""

from __future__ import annotations

from typing import Any

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import Rule, describe, registry
from autodiff_hook.runtime.applying import _positions as positions
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.pushing.context import Result, TangentContext, some
from autodiff_hook.runtime.pushing.handlers import bookkeeping
from autodiff_hook.runtime.pushing.running import run_rule
from autodiff_hook.runtime.pushing.structures import gather, spread


@bookkeeping
def rule_for(function: Any, args: tuple[Any, ...]) -> Rule | None:
    """The rule for calling ``function`` with these arguments."""
    return registry.rule(function, tuple(map(type, args)))


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
    if not some(tangents):
        return function(*args, **kwargs), None
    places = in_places(rule, function, len(args), kwargs, tangents) if kwargs else None
    value, tangent = run_rule(rule, args, kwargs, tangents if places is None else places)
    return value, spread(ctx, value, tangent)


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
    known = positions(rule.__code__)
    for name, matters in zip(names, live):
        if matters and name not in known:
            raise NotDifferentiable(
                f"the rule of {describe(function)} has no derivative with respect to the option {name!r}, which "
                f"depends on what is differentiated; autodiff_hook.stop_gradient({name}) makes it a constant"
            )
    return [known.get(name, -1) for name in names]
