"""Python code that is followed in the place of a native callable, if derivatives flow into a call of it."""

import numpy as np

from autodiff_hook.extend import cotangents, pure
from autodiff_hook.registry import frule, nondifferentiable, writes
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_hook.semantics.structures import gather
from autodiff_rules._definitions import choose_instead, follow_instead
from autodiff_rules.numpy._shared import unbroadcast


def define(target, function):
    """``follow_instead``, in typed programs as well: ``function`` does not call ``target`` but through rules."""
    DEFINITIONS[id(target)] = function
    return follow_instead(target, function)


def write_instead(target, *places, fixed=None, at=()):
    """Register the decorated function, which does the very same, for a native callable that writes at ``places``.

    ``fixed`` does it where the arguments ``at`` some places have no derivatives.
    """
    writes(target, *places)

    def register(function):
        DEFINITIONS[id(target)] = function
        return choose_instead(target, chooser(function, fixed, at), function)

    return register


def chooser(function, fixed, at):
    """``fixed`` where the arguments ``at`` some places have no derivatives, else ``function``."""

    def choose(alg, t, args):
        return fixed if at and all(gather(alg, args[i], t[i]) is None for i in at) else function

    return choose


def stand_in(target, *places, fixed=None, at=()):
    """Register the decorated function for the derivatives of ``target``, whose values stay those of ``target``.

    It takes the same arguments, by position if some are written to. It changes none, but returns what ``target``
    returns; or if that writes to arguments at ``places``, what these become, in a tuple if they are several. What
    writes to one returns nothing.
    None is a constant. ``fixed``: as for ``write_instead``.
    """
    writes(target, *places)

    def register(function):
        def returning(*args, **kwargs):
            return settled(function(*args, **kwargs), natively(target, args, kwargs))

        def writing_once(*args):
            (place,) = places
            store(args[place], function(*args), written_at(target, places, args))

        def writing(*args):
            parts = function(*args)
            result, values = written(target, places, args)
            for place, part, value in zip(places, parts, values):
                store(args[place], part, value)
            return result

        if len(places) > 1:
            followed = writing
        else:
            followed = DEFINITIONS[id(target)] = writing_once if places else returning
        choose_instead(target, chooser(followed, fixed, at), followed)
        return function

    return register


def store(array, part, value):
    array[...] = value if part is None else settled(np.reshape(part, np.shape(value)), value)


@nondifferentiable
def natively(target, args, kwargs):
    """What native code computes, which changes nothing."""
    return target(*args, **kwargs)


@nondifferentiable
def part_natively(target, args, place):
    """One part of the tuple that native code computes, which changes nothing."""
    return target(*args)[place]


@nondifferentiable
def written_at(target, places, args):
    """What native code makes of the argument at the one place that it writes to, of which it is given a copy."""
    copies = [arg.copy() if i in places else arg for i, arg in enumerate(args)]
    target(*copies)
    return copies[places[0]]


pure(natively, part_natively, written_at)


@nondifferentiable
def written(target, places, args):
    """The value of a call, and what it writes to copies of the arguments at ``places``."""
    copies = [arg.copy() if i in places else arg for i, arg in enumerate(args)]
    return target(*copies), [copies[place] for place in places]


def settled(x, value):
    """``value``, a number or array, with the derivative of ``x``, which is the same but for rounding."""
    if not isinstance(value, (np.ndarray, np.number, float, complex)):
        raise TypeError(f"a derivative cannot belong to a {type(value).__name__}")
    return value


cotangents(settled, "x, value", ((),), x=lambda ȳ, x: unbroadcast(ȳ, x))


frule(settled, lambda ẋ, y, x, value: np.broadcast_to(ẋ, np.shape(y)))
