"""Methods of distributions: their calls in one form, with all parameters by position."""

from __future__ import annotations

from autodiff_hook.runtime.calls import apply
from autodiff_hook.runtime.functions import enter
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.opaque import live


def method(function, target_of):
    """Handle a method by the function ``target_of(distribution)``, if it is one, of all its parameters in order.

    The others are differentiated through their source.
    """

    @handles(function)
    def method_handler(ctx, w, args, kwargs):
        target = target_of(args[0])
        order = None if target is None else places(args, kwargs, target.parameters)
        if order is None:
            return through_source(ctx, w, function, args, kwargs)
        values = [*args, *kwargs.values()]
        given = [default if place is None else values[place] for place, default in order]
        witnesses = [None if place is None else w[place] for place, _ in order]
        value, pullback = apply(ctx, (None, *witnesses), target, tuple(given), {})
        return value, None if pullback is None else rearranged(pullback, order, len(values))


def places(args, kwargs, parameters):
    """For each parameter: the place of its argument, and its default; None if the call does not fit."""
    names = [name for name, _ in parameters]
    found = {name: i + 1 for i, name in enumerate(names[: len(args) - 1])}
    for i, name in enumerate(kwargs):
        if name in found or name not in names:
            return None
        found[name] = len(args) + i
    if len(args) - 1 > len(names) or any(name not in found and default is None for name, default in parameters):
        return None
    return [(found.get(name), default) for name, default in parameters]


def rearranged(pullback, order, count):
    def method_pullback(sweep, cotangent):
        given = pullback(sweep, cotangent)
        if given is None:
            return None
        result = [None] * count
        for (place, _), c in zip(order, given[1:]):
            if place is not None:
                result[place] = c
        return tuple(result)

    return method_pullback


def through_source(ctx, w, function, args, kwargs):
    values = [*args, *kwargs.values()]
    if not any(live(ctx, x, v) for x, v in zip(w, values)) and not any(map(ctx.reaches, values)):
        return function(*args, **kwargs), None
    value, pullback = enter(ctx, (None, *w), function, args, kwargs)

    def source_pullback(sweep, cotangent):
        given = pullback(sweep, cotangent)
        return given and given[1:]

    return value, None if pullback is None else source_pullback
