"""Definitions in Python of callables of libraries: calls of them are differentiated through the definition."""

from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import DEFINITIONS, means
from autodiff_hook.semantics.opaque import call_constant, loses
from autodiff_hook.semantics.substitutes import substitute


def defines(*targets):
    """Register a Python function, with the parameters of ``targets``, as what they do.

    It is asked after the rules: a callable that has one is defined where its rule does not know an option.
    """

    def register(definition):
        means(*targets)(substitute(definition))
        DEFINITIONS.update((id(target), definition) for target in targets)
        return definition

    return register


def follow_instead(target, function):
    """Register a Python function that takes the same arguments and does the very same."""
    return choose_instead(target, lambda alg, t, args: function, function)


def choose_instead(target, choose, function):
    """Register what does the very same, chosen by tokens and arguments; ``function`` is one of these."""

    @means(target)
    def followed(alg, t, args, kwargs):
        if loses(alg, t, target, args, kwargs):
            return enter(alg, (None, *t), choose(alg, t, args), args, kwargs)
        return call_constant(alg, target, args, kwargs)

    return function
