"""How arrays are made of numbers, how choices are made, and what pullbacks do with numbers, where types are known."""

import math

import numpy as np

from autodiff_hook.extend import ArrayFact, Constant, NumberFact, PointFact, shortcut, typed
from autodiff_rules.numpy import arithmetic, conversion, elementwise, norms, powers, selection
from autodiff_rules.numpy.shortcuts import like
from autodiff_rules.numpy.sum_shortcuts import DOUBLE, FALSE, NONE, NUMBER, TRUE, ZERO

K_ORDER = Constant("K")
FLOAT = NumberFact(frozenset({float}))
FLOATING = NumberFact(frozenset({float, np.float64}))
OF_FLOATS = """exp expm1 exp2 log log1p log2 log10 sqrt cbrt pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh
acosh atanh hypot fabs copysign fmod degrees radians erf erfc gamma lgamma fsum dist""".split()
"""The functions of ``math`` that give floats, whatever they are given."""


@typed(*(getattr(math, name) for name in OF_FLOATS if hasattr(math, name)))
def float_typing(site, *numbers):
    return FLOAT


@typed(powers.base_cotangent)
def base_cotangent_typing(site, c, x, y):
    return FLOATING if site.is_floating(x) and site.is_single(y) and site.is_floating(c) else None


@typed(powers.exponent_cotangent)
def exponent_cotangent_typing(site, c, x, y, z):
    return FLOATING if all(map(site.is_floating, (y, z, c))) and site.is_single(x) else None


# Arrays of numbers


@shortcut(np.array)
def array_shortcut(site, object, dtype=NONE, copy=TRUE, order=K_ORDER, subok=FALSE, ndmin=ZERO):
    given = [site.value(x) for x in (copy, order, subok, ndmin)]
    # A dtype is equal to None if it is that of doubles.
    if site.value(dtype) is not None or given != [True, "K", False, 0] or dtype is NONE:
        return None
    return site.call(np.array, object)


@typed(np.array)
def array_typing(site, object, dtype=NONE, copy=TRUE, order=K_ORDER, subok=FALSE, ndmin=ZERO):
    dims = site.display(object)
    return ArrayFact(DOUBLE, dims) if dims and site.value(dtype) is None and site.value(ndmin) == 0 else None


@shortcut(conversion.array_cotangent)
def array_cotangent_shortcut(site, c, x, y):
    if site.is_floating(x) and site.fact(y) == PointFact(whole=False) and site.is_floating(c):
        return c
    dims = site.display(x)
    if dims is None or len(dims) > 2 or not (site.is_double(c) and site.is_double(y)):
        return None
    if not site.shapes.known_equal(site.dims(c), dims):
        return None
    if len(dims) == 1:
        return site.emit("build_list", *(site.method("item", c, Constant(i)) for i in range(dims[0])))
    rows = [[site.method("item", c, Constant(i), Constant(j)) for j in range(dims[1])] for i in range(dims[0])]
    return site.emit("build_list", *(site.emit("build_list", *row) for row in rows))


@typed(conversion.array_cotangent)
def array_cotangent_typing(site, c, x, y):
    return like(site, x, c) if site.is_array(x) else None


@shortcut(conversion.is_truncated)
def is_truncated_shortcut(site, y, x):
    return FALSE if site.is_double(y) else None


# Choices


@shortcut(selection.chosen)
def chosen_shortcut(site, condition, x, y):
    return None if site.value(x) is selection.ABSENT else site.call(np.where, condition, x, y)


@typed(selection.chosen)
def chosen_typing(site, condition, x, y):
    return where_typing(site, condition, x, y)


@typed(np.where)
def where_typing(site, condition, x=None, y=None):
    if x is None or y is None:
        return None
    fact = site.fact(condition)
    known = isinstance(fact, ArrayFact) and not fact.optional and fact.dtype.char == "?"
    doubles = all(site.is_double(v) or site.is_floating(v) for v in (x, y))
    return site.elementwise(DOUBLE, condition, x, y) if known and doubles else None


def either(condition, x, y):
    """One of two numbers."""
    return x if condition else y


@shortcut(np.where)
def where_shortcut(site, condition, x=NONE, y=NONE):
    # The result has no axes either way, but is a number here and an array there, which shows in the primal.
    plain = not site.exact and site.is_number(x) and site.is_number(y)
    return site.call(either, condition, x, y) if plain and compares_numbers(site, condition) else None


@typed(either)
def either_typing(site, condition, x, y):
    return NumberFact(site.fact(x).types | site.fact(y).types) if site.is_number(x) and site.is_number(y) else None


def compares_numbers(site, condition):
    """Whether a condition is one, not an array of conditions."""
    made = site.source(condition)
    if made is None or made.op != "compare":
        return False
    return all(site.is_single(x) or compares_numbers(site, x) for x in made.operands)


# Cotangents


@typed(norms.vector_cotangent, norms.matrix_cotangent)
def norm_typing(site, c, x, *rest):
    return site.fact(x) if site.is_double(x) else None


@shortcut(arithmetic.nonzero_square)
def nonzero_square_shortcut(site, x1, x2):
    if not (site.is_number(x1) and site.is_number(x2)):
        return None
    squares = [site.emit("binary", x, x, data="*") for x in (x1, x2)]
    return site.call(nonzero, site.emit("binary", *squares, data="+"))


def nonzero(x):
    """A number, 1 for 0."""
    return x or 1.0


@typed(nonzero)
def nonzero_typing(site, x):
    return NumberFact(site.fact(x).types | {float}) if site.is_number(x) else None


@typed(arithmetic.nonzero_square)
def nonzero_square_typing(site, x1, x2):
    return site.elementwise(DOUBLE, x1, x2) if site.is_double(x1) or site.is_double(x2) else None


@typed(elementwise.leg)
def leg_typing(site, x):
    return NUMBER if site.is_floating(x) else site.fact(x) if site.is_double(x) else None
