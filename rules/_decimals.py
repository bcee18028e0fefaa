"""Rules for ``decimal.Decimal``, its methods and those of contexts, which are of the same names.

What rounds to a place (``quantize``) has derivative zero; what rounds to the precision of a context has that of the
exact result.
"""

from __future__ import annotations

import decimal
import math
from decimal import Context, Decimal

from autodiff_hook.algebras.shadows import lose
from autodiff_hook.extend import effects
from autodiff_hook.registry import Exact, Real, nondifferentiable, rrule
from autodiff_hook.runtime.losses import failure
from autodiff_hook.semantics.meanings import apply, means
from autodiff_hook.semantics.opaque import call_constant, loses
from autodiff_hook.strong import over, times
from autodiff_rules._constants import CONSISTS_OF_STEPS, SETTING, TAKES_APART, declare, declare_names, refuse
from autodiff_rules._exact import (
    of_absolute,
    of_difference,
    of_division,
    of_negative,
    of_power,
    of_product,
    of_quotient,
    of_remainder,
    of_same,
    of_sum,
    plain,
)


@rrule(Decimal, Real)
@rrule(Decimal, Exact)
def decimal_rule(value="0", context=None):
    def decimal_pullback(ȳ):
        return ȳ, None

    return Decimal(value, context), decimal_pullback


@means(*[vars(Decimal)[name] for name in ("from_float", "from_number") if name in vars(Decimal)])
def from_float(alg, t, args, kwargs):
    """``Decimal.from_float`` and ``Decimal.from_number``: the class called."""
    cls, number = args
    return apply(alg, (None, *t[1:]), cls, (number,), kwargs)


# Functions of one number
def of_sqrt(ȳ, x, y):
    return over(0.5 * ȳ, plain(y)) if y else times(ȳ, math.inf)


def of_exp(ȳ, x, y):
    return times(ȳ, plain(y))


def of_ln(ȳ, x, y):
    return over(ȳ, plain(x))


def of_log10(ȳ, x, y):
    return over(ȳ / math.log(10), plain(x))


def one(name, cotangent):
    """Register the method of one number, and that of contexts."""
    method, of_context = vars(Decimal).get(name), vars(Context).get(name)
    if method is not None and name in _WITH_CONTEXT:

        @rrule(method, Decimal)
        def method_rule(self, context=None):
            y = method(self, context)

            def method_pullback(ȳ):
                return cotangent(ȳ, self, y), None

            return y, method_pullback

    elif method is not None:

        @rrule(method, Decimal)
        def plain_method_rule(self):
            y = method(self)

            def plain_method_pullback(ȳ):
                return (cotangent(ȳ, self, y),)

            return y, plain_method_pullback

    if of_context is not None and not name.startswith("__"):

        @rrule(of_context, Context)
        def of_context_rule(context, x):
            y = of_context(context, x)

            def of_context_pullback(ȳ):
                return None, cotangent(ȳ, x, y)

            return y, of_context_pullback


_WITH_CONTEXT = ("sqrt", "exp", "ln", "log10", "next_plus", "next_minus", "normalize")
for name, cotangent in (
    *(("sqrt", of_sqrt), ("exp", of_exp), ("ln", of_ln), ("log10", of_log10)),
    *((name, of_same) for name in ("next_plus", "next_minus", "normalize", "canonical", "conjugate", "plus")),
    *((name, of_same) for name in ("__float__", "__copy__")),
    *((name, of_same) for name in ("create_decimal", "create_decimal_from_float", "copy_decimal")),
    *(("abs", of_absolute), ("copy_abs", of_absolute), ("minus", of_negative), ("copy_negate", of_negative)),
):
    one(name, cotangent)


@rrule(Decimal.__deepcopy__, Decimal)
def deepcopy_rule(x, memo):
    def deepcopy_pullback(ȳ):
        return ȳ, None

    return x, deepcopy_pullback


@rrule(vars(Decimal)["real"], Decimal)
def real_rule(x):
    def real_pullback(ȳ):
        return (ȳ,)

    return x.real, real_pullback


# Functions of two numbers
@nondifferentiable
def takes_second(x, y, z, larger, magnitudes):
    """Whether ``z`` is ``y``: if both are equal the first is taken, and a number rather than nan."""
    x, y = Decimal(x), Decimal(y)
    if x.is_nan() or y.is_nan():
        return not y.is_nan()
    x, y = (abs(x), abs(y)) if magnitudes and abs(x) != abs(y) else (x, y)
    return y > x if larger else y < x


def choosing(larger, magnitudes):
    def of_chosen(z̄, x, y, z):
        return (0.0, z̄) if takes_second(x, y, z, larger, magnitudes) else (z̄, 0.0)

    return of_chosen


def of_sign(z̄, x, y, z):
    return times(z̄, math.copysign(1.0, plain(x)) * math.copysign(1.0, plain(z))), 0.0


def of_scale(z̄, x, y, z):
    return times(z̄, 10.0 ** plain(y)), times(z̄, plain(z) * math.log(10))


def of_neighbour(z̄, x, y, z):
    return (0.0, z̄) if z == y else (z̄, 0.0)


def two(name, cotangents):
    """Register the method of two numbers, and that of contexts."""
    method, of_context = vars(Decimal).get(name), vars(Context)[name]
    if method is not None:

        @rrule(method, Decimal)
        def method_rule(self, other, context=None):
            z = method(self, other) if context is None else method(self, other, context)

            def method_pullback(z̄):
                return (*cotangents(z̄, self, other, z), None)

            return z, method_pullback

    @rrule(of_context, Context)
    def of_context_rule(context, x, y):
        z = of_context(context, x, y)

        def of_context_pullback(z̄):
            return (None, *cotangents(z̄, x, y, z))

        return z, of_context_pullback


for name, cotangents in (
    *(("add", of_sum), ("subtract", of_difference), ("multiply", of_product), ("divide", of_quotient)),
    *(("remainder", of_remainder), ("remainder_near", of_remainder), ("divmod", of_division)),
    *(("max", choosing(True, False)), ("min", choosing(False, False))),
    *(("max_mag", choosing(True, True)), ("min_mag", choosing(False, True))),
    *(("copy_sign", of_sign), ("scaleb", of_scale), ("next_toward", of_neighbour)),
):
    two(name, cotangents)


@rrule(Context.power, Context)
def power_rule(context, a, b, modulo=None):
    z = context.power(a, b, modulo)

    def power_pullback(z̄):
        return (None, *of_power(z̄, a, b, z), None)

    return z, power_pullback


@rrule(Decimal.fma, Decimal)
def fma_rule(self, other, third, context=None):
    def fma_pullback(w̄):
        return times(w̄, plain(other)), times(w̄, plain(self)), w̄, None

    return self.fma(other, third, context), fma_pullback


@rrule(Context.fma, Context)
def context_fma_rule(context, a, b, c):
    def context_fma_pullback(w̄):
        return None, times(w̄, plain(b)), times(w̄, plain(a)), w̄

    return context.fma(a, b, c), context_fma_pullback


# Steps and questions
for owner in (Decimal, Context):
    for name in vars(owner):
        if name.startswith(("compare", "is_", "logical_", "to_")) or name in (
            *("quantize", "logb", "number_class", "same_quantum", "radix", "adjusted", "divide_int", "imag"),
            *("__int__", "__floor__", "__ceil__", "__trunc__", "__round__", "__bool__", "__hash__"),
        ):
            nondifferentiable(vars(owner)[name], CONSISTS_OF_STEPS)
refuse(Decimal, {TAKES_APART: "as_integer_ratio rotate shift"})
refuse(Context, {TAKES_APART: "rotate shift"})


@means(Decimal.as_tuple)
def as_tuple(alg, t, args, kwargs):
    """Sign, exponent and how many digits there are consist of steps; the digits have no derivative."""
    if not loses(alg, t, Decimal.as_tuple, args, kwargs):
        return call_constant(alg, Decimal.as_tuple, args, kwargs)
    value = args[0].as_tuple()
    unknown = alg.unknown(failure(Decimal.as_tuple, f"which {TAKES_APART}"))
    return value, (None, lose(alg, value.digits, unknown), None)


declare(SETTING, Context, decimal.getcontext, decimal.setcontext, decimal.localcontext)
declare_names(decimal, {SETTING: "IEEEContext"})
effects(Context, decimal.getcontext, decimal.setcontext, decimal.localcontext, Context.clear_flags, Context.clear_traps)
declare_names(Context, {SETTING: "Emax Emin Etiny Etop capitals clamp clear_flags clear_traps copy prec rounding"})
