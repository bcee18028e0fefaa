"""Rules for ``decimal.Decimal``, its methods and those of contexts, which are of the same names.

What rounds to a place (``quantize``) has derivative zero; what rounds to the precision of a context has that of the
exact result.
"""

import decimal
import math
from decimal import Context, Decimal

from autodiff_hook.algebras.shadows import lose
from autodiff_hook.extend import cotangents, effects
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.runtime.losses import failure
from autodiff_hook.semantics.meanings import apply, means
from autodiff_hook.semantics.opaque import call_constant, loses
from autodiff_hook.signatures import Exact, Real
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

cotangents(Decimal, "value='0', context=None", ((Real,), (Exact,), (str,)), value=lambda ȳ: ȳ)


@means(*[vars(Decimal)[name] for name in ("from_float", "from_number") if name in vars(Decimal)])
def from_float(alg, t, args, kwargs):
    """``Decimal.from_float`` and ``Decimal.from_number``: the class called."""
    cls, number = args
    return apply(alg, (None, *t[1:]), cls, (number,), kwargs)


# Functions of one number
def of_sqrt(ȳ, x, y):
    return over(0.5 * ȳ, plain(y)) if y else times(ȳ, math.inf)


def of_exp(ȳ, y):
    return times(ȳ, plain(y))


def of_ln(ȳ, x):
    return over(ȳ, plain(x))


def of_log10(ȳ, x):
    return over(ȳ / math.log(10), plain(x))


WITH_CONTEXT = ("sqrt", "exp", "ln", "log10", "next_plus", "next_minus", "normalize")
for name, function in (
    *(("sqrt", of_sqrt), ("exp", of_exp), ("ln", of_ln), ("log10", of_log10)),
    *((name, of_same) for name in ("next_plus", "next_minus", "normalize", "canonical", "conjugate", "plus")),
    *((name, of_same) for name in ("__float__", "__copy__", "real")),
    *((name, of_same) for name in ("create_decimal", "create_decimal_from_float", "copy_decimal")),
    *(("abs", of_absolute), ("copy_abs", of_absolute), ("minus", of_negative), ("copy_negate", of_negative)),
):
    if hasattr(Decimal, name):
        signature = "x, context=None" if name in WITH_CONTEXT else "x"
        cotangents(vars(Decimal)[name], signature, ((Decimal,),))(function)
    if hasattr(Context, name) and not name.startswith("__"):
        cotangents(vars(Context)[name], "context, x", ((Context,),), "x")(function)
cotangents(Decimal.__deepcopy__, "x, memo", ((Decimal,),), x=lambda ȳ: ȳ)


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
    def of_chosen(ȳ, x, y, z):
        return (0.0, ȳ) if takes_second(x, y, z, larger, magnitudes) else (ȳ, 0.0)

    return of_chosen


def of_sign(ȳ, x, z):
    return times(ȳ, math.copysign(1.0, plain(x)) * math.copysign(1.0, plain(z))), 0.0


def of_scale(ȳ, y, z):
    return times(ȳ, 10.0 ** plain(y)), times(ȳ, plain(z) * math.log(10))


def of_neighbour(ȳ, y, z):
    return (0.0, ȳ) if z == y else (ȳ, 0.0)


for name, function in (
    *(("add", of_sum), ("subtract", of_difference), ("multiply", of_product), ("divide", of_quotient)),
    *(("remainder", of_remainder), ("remainder_near", of_remainder), ("divmod", of_division)),
    *(("max", choosing(True, False)), ("min", choosing(False, False))),
    *(("max_mag", choosing(True, True)), ("min_mag", choosing(False, True))),
    *(("copy_sign", of_sign), ("scaleb", of_scale), ("next_toward", of_neighbour)),
):
    if hasattr(Decimal, name):
        cotangents(vars(Decimal)[name], "x, y, context=None", ((Decimal,),), "x, y")(function)
    cotangents(vars(Context)[name], "context, x, y", ((Context,),), "x, y")(function)
cotangents(Context.power, "context, x, y, modulo=None", ((Context,),), "x, y")(of_power)
for target, signature, kinds in (
    (Decimal.fma, "x, y, w, context=None", ((Decimal,),)),
    (Context.fma, "context, x, y, w", ((Context,),)),
):
    cotangents(
        target, signature, kinds, x=lambda ȳ, y: times(ȳ, plain(y)), y=lambda ȳ, x: times(ȳ, plain(x)), w=lambda ȳ: ȳ
    )

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
