"""Methods of distributions: their calls in one form, with all parameters by position."""

from functools import partial

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import some
from autodiff_hook.extend import Constant, method_of, registry
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


class Target:
    """A method of a distribution as a function of its parameters, names with default values."""

    def __init__(self, distribution, name, parameters):
        self.distribution, self.name, self.parameters = distribution, name, parameters
        self.__name__ = self.__qualname__ = f"{distribution.name}.{name}"
        self.__module__ = "scipy.stats"

    def __call__(self, *values):
        return getattr(self.distribution, self.name)(*values)


def methods(owner, names, families, parameters_of, rule_of):
    """The methods of these names have rules for distributions of some families: ``rule_of`` their ``Target``.

    What finds that, or None, for a distribution and a name.
    """
    known = {}

    def target_of(distribution, name):
        key = type(distribution), name
        if key[0] not in families:
            return None
        if key not in known:
            known[key] = Target(distribution, name, parameters_of(distribution, name))
            registry.add(known[key], (), rule_of(known[key]))
        return known[key]

    for name in names:
        method(getattr(owner, name), partial(target_of, name=name))
    return target_of


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
    if some(t) or reaches(alg, *args, *kwargs.values()):
        return enter(alg, (None, *t), function, args, kwargs)
    return call_constant(alg, function, args, kwargs)
