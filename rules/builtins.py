"""Rules for the builtin functions on numbers, and for the numbers' own methods and attributes.

Containers and iteration (``list``, ``zip``, ``sorted``, …) are the runtime's. Conventions: rounding and
``divmod``'s quotient have derivative zero; of equal candidates ``max`` and ``min`` take the first.
"""

import bisect
import builtins
from array import array

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.extend import cotangents, effects, pure
from autodiff_hook.registry import frule, nondifferentiable, rrule
from autodiff_hook.signatures import Complex, Exact, Real
from autodiff_rules import _decimals as _decimals
from autodiff_rules import _fractions as _fractions
from autodiff_rules import _writing as _writing
from autodiff_rules._constants import (
    ASKS_THE_SYSTEM,
    COMPARES,
    CONSISTS_OF_STEPS,
    IS_A_POSITION,
    IS_A_SHAPE,
    IS_ASYNCHRONOUS,
    IS_OF_INTEGERS,
    IS_TEXT,
    RUNS_TEXT,
    SHOWS_MEMORY,
    declare,
    declare_names,
    refuse,
)
from autodiff_rules._definitions import defines
from autodiff_rules._numbers import COMPLEXES, REALS, is_array, is_number, is_real, project, repeated
from autodiff_rules._powers import (
    complex_base_cotangent,
    complex_exponent_cotangent,
    power_cotangents,
)

MODULAR = not_implemented("pow with three arguments")

# Conversions (the rules for abs are in the operator pack)
cotangents((float, float.__float__, int.__float__), "x", ((Real,),), x=lambda ȳ: ȳ)
cotangents(float, "x, /", ((str,),), x=lambda ȳ: ȳ)
cotangents(float, "x, /", ((bool,),), x=lambda: None)


@rrule(complex, Complex)
@rrule(complex, Exact)
@rrule(complex, Complex, Exact)
def complex_rule(real=0.0, imag=None):
    z = complex(real) if imag is None else complex(real, imag)

    def complex_pullback(z̄):
        return project(z̄, real), None if imag is None else project(-1j * z̄, imag)

    return z, complex_pullback


cotangents((float.real, int.real, int.numerator), "x", ((Real,),), x=lambda ȳ: ȳ)


cotangents((float.conjugate, int.conjugate), "x", ((Real,),), x=lambda ȳ: ȳ.conjugate())
cotangents(complex.conjugate, "x", ((Complex,),), x=lambda ȳ: ȳ.conjugate())
cotangents(complex.real, "x", ((Complex,),), x=lambda ȳ: ȳ)
cotangents(complex.imag, "x", ((Complex,),), x=lambda ȳ, x: project(ȳ * 1j, x))


# Arithmetic
@cotangents(divmod, "x, y", REALS, "x, y")
def divmod_cotangents(ȳ, x, y):
    remainder = ȳ[1]
    if remainder is None:
        return None, None
    return remainder, -remainder * (x // y)


cotangents(round, "number, ndigits=None", ((Real,), (Exact,)), number=lambda: None)
cotangents(pow, "base, exp, mod", ((Real, Real, Real),), **dict.fromkeys(("base", "exp", "mod"), lambda: MODULAR))


@cotangents(pow, "base, exp, mod=None", REALS, "base, exp")
def pow_cotangents(ȳ, y, base, exp):
    return power_cotangents(ȳ, base, exp, y)


@defines(pow)
def power(base, exp, mod=None):
    """``pow`` of what is no number; with a modulus, only the base is asked."""
    if mod is None:
        return base**exp
    result = type(base).__pow__(base, exp, mod) if hasattr(type(base), "__pow__") else NotImplemented
    if result is NotImplemented:
        kinds = ", ".join([repr(type(x).__name__) for x in (base, exp, mod)])
        raise TypeError(f"unsupported operand type(s) for ** or pow(): {kinds}")
    return result


cotangents(
    pow,
    "base, exp, mod=None",
    COMPLEXES,
    base=lambda ȳ, base, exp: complex_base_cotangent(ȳ, base, exp),
    exp=lambda ȳ, y, base, exp: complex_exponent_cotangent(ȳ, base, exp, y),
)


# Sums
cotangents(
    sum,
    "iterable, start=0",
    ((list,), (tuple,)),
    iterable=lambda ȳ, y, iterable: summands(ȳ, iterable, y),
    start=lambda ȳ, start: summand(ȳ, start),
)


def summands(ȳ, items, y):
    """The cotangents of the ``items`` of which ``y`` is the sum."""
    if is_real(y):
        return repeated(ȳ, items)
    cotangents = []
    for x in items:
        cotangents.append(summand(ȳ, x))
    return cotangents if isinstance(items, list) else tuple(cotangents)


def summand(ȳ, x):
    """The cotangent of one term of a sum of complex numbers or arrays."""
    if is_array(x):
        return broadcast_summand(ȳ, x)
    if is_number(x):
        return project(ȳ.sum() if is_array(ȳ) else ȳ, x)
    return not_implemented("sum of objects that are neither numbers nor arrays")


def broadcast_summand(ȳ, x):
    leading = ȳ.ndim - x.ndim
    stretched = []
    for axis in range(x.ndim):
        if x.shape[axis] == 1 and ȳ.shape[leading + axis] != 1:
            stretched.append(leading + axis)
    total = ȳ.sum(axis=(*range(leading), *stretched)).reshape(x.shape) if leading or stretched else ȳ
    return total.real if total.dtype.kind == "c" and x.dtype.kind != "c" else total


# Extremes
def one_hot(ȳ, index, length):
    """``ȳ`` at ``index`` of a tuple that is otherwise without cotangent."""
    return (None,) * index + (ȳ,) + (None,) * (length - index - 1) if 0 <= index < length else (None,) * length


@nondifferentiable
def position(items, chosen):
    """Where ``chosen`` itself first stands in ``items``; -1 if it is their ``default``."""
    for index, item in enumerate(items):
        if item is chosen:
            return index
    return -1


@nondifferentiable
def chosen_by(select, items, key):
    return position(items, select(*items, key=key))


def extreme_cotangents(ȳ, index, args, items):
    """The cotangents of ``max(*args)``, which chose ``items[index]``."""
    cotangents = one_hot(ȳ, index, len(items))
    if len(args) > 1:
        return cotangents
    if isinstance(items, tuple):
        return (cotangents,)
    return (list(cotangents),) if items is args[0] else (not_implemented("max and min of this type of iterable"),)


def extreme_rule(select, cotangents):
    """The rule of ``max`` or ``min``, whose ``cotangents`` are of what it chose from."""

    def rule(*args, **options):
        items = args if len(args) > 1 else args[0] if isinstance(args[0], (list, tuple)) else list(args[0])
        y = select(items, **options)
        index = position(items, y)

        def extreme_pullback(ȳ):
            return cotangents(ȳ, index, args, items)

        return y, extreme_pullback

    return rule


rrule(max)(extreme_rule(max, extreme_cotangents))
rrule(min)(extreme_rule(min, extreme_cotangents))


@nondifferentiable
def place_of(items, extreme):
    """Where the greatest or the smallest of ``items`` first stands; the items of an array are new ones each time."""
    if isinstance(items, (list, tuple)):
        return position(items, extreme)
    return next((place for place, item in enumerate(items) if item == extreme), 0)


frule(max, lambda ẋ, y, items: ẋ[place_of(items, y)])
frule(min, lambda ẋ, y, items: ẋ[place_of(items, y)])
pure(position, place_of)


@cotangents(max, "x, y", ((Real, Real),), "x, y")
def larger_cotangents(ȳ, x, y):
    if y > x:
        return 0.0, ȳ
    return ȳ, 0.0


@cotangents(min, "x, y", ((Real, Real),), "x, y")
def smaller_cotangents(ȳ, x, y):
    if y < x:
        return 0.0, ȳ
    return ȳ, 0.0


# What has no derivative
declare(COMPARES, bool, isinstance, issubclass, callable, hasattr, float.is_integer, float.__bool__)
declare(COMPARES, object.__eq__, object.__lt__, object.__le__, object.__gt__, object.__ge__)
declare(CONSISTS_OF_STEPS, int, float.__int__, float.__floor__, float.__ceil__, float.__trunc__, float.__round__)
declare(CONSISTS_OF_STEPS, float.imag, int.imag, int.denominator)
declare(IS_OF_INTEGERS, range, int.bit_length, int.bit_count, int.to_bytes)
declare(IS_A_POSITION, len, bisect.bisect, bisect.bisect_left, bisect.bisect_right)
declare(IS_TEXT, str, repr, ascii, format, bin, hex, oct, chr, ord, dir, float.hex, object.__repr__)
declare(IS_A_SHAPE, object, id, hash, object.__hash__, type, type.mro, type.__subclasses__)
declare(ASKS_THE_SYSTEM, print, input, open, breakpoint, __import__)
declare_names(int, {COMPARES: "is_integer"})
declare_names(array, {IS_A_SHAPE: "itemsize typecode", IS_TEXT: "fromunicode tounicode"})
refuse(array, {SHOWS_MEMORY: "buffer_info byteswap frombytes fromfile tofile"})

# Their texts are what numbers may be read from again
for name, method in vars(str).items():
    if callable(method) and not name.startswith("_"):
        nondifferentiable(method, IS_TEXT)
nondifferentiable(str.__format__, IS_TEXT)
nondifferentiable(bytes.decode, IS_TEXT)
effects(print, input, open, compile, breakpoint, __import__)
refuse(
    builtins,
    {
        RUNS_TEXT: "compile globals locals",
        IS_ASYNCHRONOUS: "aiter anext",
        SHOWS_MEMORY: "memoryview bytearray bytes",
    },
)
