"""Python code that is followed in the place of a native callable, if derivatives flow into a call of it."""

from __future__ import annotations

from autodiff_hook.registry import writes
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_hook.semantics.opaque import call_constant, loses


def follow_instead(target, function):
    """Register a Python function that takes the same arguments and does the same."""

    @means(target)
    def followed(alg, t, args, kwargs):
        if loses(alg, t, target, args, kwargs):
            return enter(alg, (None, *t), function, args, kwargs)
        return call_constant(alg, target, args, kwargs)

    return function


def stand_in(target, *places):
    """Register the decorated function for a native one, which writes to its arguments at ``places`` and no others."""
    writes(target, *places)

    def register(function):
        return follow_instead(target, function)

    return register
