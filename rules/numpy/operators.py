"""Python's arithmetic operators where an array takes part, and the ufuncs that do the same."""

import operator

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import Deferred, registry
from autodiff_hook.signatures import Array, Complex, Real
from autodiff_hook.strong import over, times
from autodiff_rules.numpy._shared import BUILTIN_SEQUENCE, conj, float_dtype, through_arrays, unbroadcast
from autodiff_rules.numpy.powers import base_cotangent, exponent_cotangent, number_power_cotangent

_NUMPY_SCALARS = (np.float64, np.float32, np.int64, np.int32, np.complex128, np.complex64)
_REPEATING = (operator.mul, operator.matmul)
"""What makes no array of a sequence and a scalar of NumPy's."""


def register_for_arrays(target, rule):
    """Register a rule for an array on either side, and an array, a number or a sequence on the other.

    A scalar of NumPy's makes an array of a sequence, too.
    """
    through = Deferred(rule.module, lambda: through_arrays(rule.made(), 2))
    registry.add(target, (Array, Array), rule)
    scalars = () if target in _REPEATING else _NUMPY_SCALARS
    for other in (Array, *scalars):
        registry.add(target, (other, BUILTIN_SEQUENCE), through)
        registry.add(target, (BUILTIN_SEQUENCE, other), through)
    for kind in (Complex, bool, np.bool_):
        registry.add(target, (Array, kind), rule)
        registry.add(target, (kind, Array), rule)


def on_arrays(*targets, **functions):
    """Declare the cotangents of a function of two arguments, one of which is an array."""
    return cotangents(targets, "x, y", register_for_arrays, **functions)


def with_ufunc(ufunc, operation, **functions):
    """Declare a ufunc, and the operation on arrays that is the same: the rule of this."""
    cotangents(ufunc, "x, y, /", 2, **functions)
    return on_arrays(operation, **functions)


add_rule = with_ufunc(np.add, operator.add, x=lambda ȳ, x: unbroadcast(ȳ, x), y=lambda ȳ, y: unbroadcast(ȳ, y))
sub_rule = with_ufunc(np.subtract, operator.sub, x=lambda ȳ, x: unbroadcast(ȳ, x), y=lambda ȳ, y: unbroadcast(-ȳ, y))
mul_rule, _ = (
    on_arrays(
        product,
        x=lambda ȳ, x, y: unbroadcast(times(ȳ, conj(y)), x),
        y=lambda ȳ, x, y: unbroadcast(times(ȳ, conj(x)), y),
    )
    for product in (operator.mul, times)
)


def quotient_cotangents(ȳ, x, y, z):
    c = over(ȳ, conj(y))
    return unbroadcast(c, x), unbroadcast(times(-c, conj(z)), y)


truediv_rule = with_ufunc(np.divide, operator.truediv, **{"x, y": quotient_cotangents})
on_arrays(
    over,
    x=lambda ȳ, x, y: unbroadcast(over(ȳ, conj(y)), x),
    y=lambda ȳ, x, y: unbroadcast(over(times(-ȳ, conj(over(x, y))), conj(y)), y),
)
mod_rule = with_ufunc(
    np.remainder,
    operator.mod,
    x=lambda ȳ, x: unbroadcast(ȳ, x),
    y=lambda ȳ, x, y: unbroadcast(times(-ȳ, np.floor_divide(x, y)), y),
)
floordiv_rule = on_arrays(operator.floordiv, x=lambda: None)
divmod_rule = with_ufunc(
    np.divmod,
    divmod,
    x=lambda ȳ, x: None if ȳ[1] is None else unbroadcast(ȳ[1], x),
    y=lambda ȳ, z, y: None if ȳ[1] is None else unbroadcast(times(-ȳ[1], z[0]), y),
)
EXPONENT = {"y": lambda ȳ, z, x, y: exponent_cotangent(ȳ, x, y, z)}
POWER = {"x": lambda ȳ, x, y: base_cotangent(ȳ, x, y), **EXPONENT}
POWER_OF_NUMBER = {"x": lambda ȳ, x, y: number_power_cotangent(ȳ, x, y), **EXPONENT}
pow_rule = on_arrays(operator.pow, pow, **POWER)
pow_number_rule = cotangents((operator.pow, pow), "x, y", ((Array, Real),), **POWER_OF_NUMBER)
cotangents(np.power, "x, y, /", 2, **POWER)
cotangents(np.float_power, "x, y, /", 2, **POWER)
cotangents(np.power, "x, y, /", ((np.ndarray, Real),), **POWER_OF_NUMBER)
neg_rule = cotangents(operator.neg, "x", ((Array,),), x=lambda ȳ: -ȳ)
pos_rule = cotangents(operator.pos, "x", ((Array,),), x=lambda ȳ: ȳ)
abs_rule = cotangents((abs, operator.abs), "x", ((Array,),), x=lambda ȳ, x: times(ȳ, np.sign(x)))
cotangents(float, "x, /", ((Array,),), x=lambda ȳ, x: np.full(x.shape, ȳ, float_dtype(x)))
cotangents(
    complex,
    "real, imag=0",
    ((Array,),),
    real=lambda ȳ, real: unbroadcast(np.full(real.shape, ȳ), real),
    imag=lambda ȳ, imag: unbroadcast(-1j * ȳ, imag),
)
