"""Methods of distributions: their calls in one form, with all parameters by position."""

from __future__ import annotations

from autodiff_hook.algebras.shadows import reaches, some
from autodiff_hook.extend import Constant, method_of
from autodiff_hook.semantics.calls import apply
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_hook.semantics.opaque import call_constant


def method(function, target_of):
    """A method means the function ``target_of(distribution)``, if it is one, of all its parameters in order.

    The others are differentiated through their source.
    """

    def arranged(distribution, args, kwargs):
        target = target_of(distribution)
        order = None if target is None else places((distribution, *args), kwargs, target.parameters)
        if order is None:
            return None
        values = (distribution, *args, *kwargs.values())
        return target, [Constant(default) if place is None else values[place] for place, default in order]

    method_of(function, arranged)

    @means(function)
    def method_meaning(alg, t, args, kwargs):
        target = target_of(args[0])
        order = None if target is None else places(args, kwargs, target.parameters)
        if order is None:
            return through_source(alg, t, function, args, kwargs)
        values = (*args, *kwargs.values())
        given = tuple([default if place is None else values[place] for place, default in order])
        tokens = [None if place is None else t[place] for place, _ in order]
        return apply(alg, (None, *tokens), target, given, {})


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


def through_source(alg, t, function, args, kwargs):
    """The method as Python code, if derivatives flow in."""
    if some(t) or reaches(alg, *args, *kwargs.values()):
        return enter(alg, (None, *t), function, args, kwargs)
    return call_constant(alg, function, args, kwargs)
