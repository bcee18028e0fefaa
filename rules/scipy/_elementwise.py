"""Rules of ufuncs, made from their partial derivatives.

A *slope* is a named function of the arguments and the value of a ufunc, in this order, which returns the
partial derivative with respect to one argument; for complex arguments, the complex derivative. None stands for
an argument that has no derivative, text for one whose derivative is not implemented.
"""

from __future__ import annotations

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import not_implemented
from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import array_rrule, conj, unbroadcast


def cotangent(ȳ, slope, x):
    """The cotangent of the argument ``x`` from its partial derivative."""
    return unbroadcast(times(ȳ, conj(slope)), x)


def constant(slope):
    """What stands for an argument without a slope."""
    return not_implemented(slope) if isinstance(slope, str) else None


def unary(target, slope):
    """Register the derivative of a function of one argument."""

    def unary_rule(x, /):
        y = target(x)

        def unary_pullback(ȳ):
            return (cotangent(ȳ, slope(x, y), x),)

        return y, unary_pullback

    array_rrule(target)(unary_rule)


def binary(target, slope_a, slope_b):
    """Register the derivative of a function of two arguments."""

    def binary_rule(a, b, /):
        y = target(a, b)

        def binary_pullback(ȳ):
            ā = cotangent(ȳ, slope_a(a, b, y), a) if callable(slope_a) else constant(slope_a)
            b̄ = cotangent(ȳ, slope_b(a, b, y), b) if callable(slope_b) else constant(slope_b)
            return ā, b̄

        return y, binary_pullback

    array_rrule(target, 2)(binary_rule)


def ternary(target, slope_a, slope_b, slope_c):
    """Register the derivative of a function of three arguments."""

    def ternary_rule(a, b, c, /):
        y = target(a, b, c)

        def ternary_pullback(ȳ):
            ā = cotangent(ȳ, slope_a(a, b, c, y), a) if callable(slope_a) else constant(slope_a)
            b̄ = cotangent(ȳ, slope_b(a, b, c, y), b) if callable(slope_b) else constant(slope_b)
            c̄ = cotangent(ȳ, slope_c(a, b, c, y), c) if callable(slope_c) else constant(slope_c)
            return ā, b̄, c̄

        return y, ternary_pullback

    array_rrule(target, 3)(ternary_rule)


def last_of_four(target, why, slope):
    """Register the derivative of a function of four arguments with respect to the last."""

    def last_of_four_rule(a, b, c, z, /):
        y = target(a, b, c, z)

        def last_of_four_pullback(ȳ):
            z̄ = cotangent(ȳ, slope(a, b, c, z, y), z)
            return constant(why), constant(why), constant(why), z̄

        return y, last_of_four_pullback

    array_rrule(target, 4)(last_of_four_rule)


def several(target, slopes):
    """Register the derivative of a function of one argument that returns a tuple; ``slopes`` returns theirs."""

    def several_rule(x, /):
        y = target(x)

        def several_pullback(ȳ):
            x̄ = None
            for part, slope in zip(ȳ, slopes(x, y)):
                if part is not None:
                    c = cotangent(part, slope, x)
                    x̄ = c if x̄ is None else x̄ + c
            return (x̄,)

        return y, several_pullback

    array_rrule(target)(several_rule)


def require_real(x, name):
    """An error for a complex argument, of which the function is not holomorphic, or its derivative unknown."""
    real_only(x, name)


def real_only(x, name):
    """``x``; an error if it is complex."""
    if np.iscomplexobj(x):
        raise NotDifferentiable(f"the derivative of {name} with respect to a complex argument is not implemented")
    return x
