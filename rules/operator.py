"""Rules for the operators on numbers.

For numbers an in-place operator is the plain one. Operators on arrays are in the NumPy pack; on tuples,
lists and strings they are the runtime's. Conventions: ``x // y`` and the bit operations have derivative
zero, that of ``x % y`` is 1 and ``-(x // y)``, that of ``abs`` at 0 is 0; powers: see ``_powers``.
"""

import math
import operator

from autodiff_hook.extend import cotangents
from autodiff_hook.signatures import Complex, Real
from autodiff_hook.strong import over, times
from autodiff_rules._constants import COMPARES, IS_A_POSITION, declare_names
from autodiff_rules._numbers import COMPLEXES, REALS, project
from autodiff_rules._powers import (
    complex_base_cotangent,
    complex_exponent_cotangent,
    exponent_cotangent,
    power_cotangents,
)


def quotient_cotangents(ȳ, x, y, z):
    x̄ = over(ȳ, y)
    return x̄, times(-x̄, z)


def complex_quotient_cotangents(ȳ, x, y, z):
    x̄ = over(ȳ, y.conjugate())
    return project(x̄, x), project(times(-x̄, z.conjugate()), y)


def integer_power_cotangents(ȳ, x, y, z):
    x̄ = times(ȳ * y, x ** (y - 1)) if y else 0.0
    return x̄, times(ȳ, z * math.log(x)) if x > 0 else exponent_cotangent(ȳ, x, y, z)


def both(name, signatures, /, *others, **functions):
    """The rule of the operator of this name, of the one in place, and of what does the same."""
    targets = (getattr(operator, name), getattr(operator, f"i{name}"), *others)
    return cotangents(targets, "x, y", signatures, **functions)


# Real numbers
add_rule = both("add", REALS, x=lambda ȳ: ȳ, y=lambda ȳ: ȳ)
sub_rule = both("sub", REALS, x=lambda ȳ: ȳ, y=lambda ȳ: -ȳ)
mul_rule = both("mul", REALS, times, x=lambda ȳ, y: times(ȳ, y), y=lambda ȳ, x: times(ȳ, x))
truediv_rule = both("truediv", REALS, **{"x, y": quotient_cotangents})
floordiv_rule = both("floordiv", REALS, x=lambda: None)
mod_rule = both("mod", REALS, x=lambda ȳ: ȳ, y=lambda ȳ, x, y: times(-ȳ, x // y))
pow_rule = both("pow", REALS, **{"x, y": power_cotangents})
both("pow", ((Real, int),), **{"x, y": integer_power_cotangents})
neg_rule = cotangents(operator.neg, "x", ((Real,), (Complex,)), x=lambda ȳ: -ȳ)
pos_rule = cotangents(operator.pos, "x", ((Real,), (Complex,)), x=lambda ȳ: ȳ)
abs_rule = cotangents((abs, operator.abs), "x", ((Real,),), x=lambda ȳ, x: ȳ if x > 0 else -ȳ if x < 0 else 0.0)

# Complex numbers
complex_add_rule = both("add", COMPLEXES, x=lambda ȳ, x: project(ȳ, x), y=lambda ȳ, y: project(ȳ, y))
complex_sub_rule = both("sub", COMPLEXES, x=lambda ȳ, x: project(ȳ, x), y=lambda ȳ, y: project(-ȳ, y))
complex_mul_rule = both(
    "mul",
    COMPLEXES,
    times,
    x=lambda ȳ, x, y: project(times(ȳ, y.conjugate()), x),
    y=lambda ȳ, x, y: project(times(ȳ, x.conjugate()), y),
)
complex_truediv_rule = both("truediv", COMPLEXES, **{"x, y": complex_quotient_cotangents})
complex_pow_rule = both(
    "pow",
    COMPLEXES,
    x=lambda ȳ, x, y: complex_base_cotangent(ȳ, x, y),
    y=lambda ȳ, z, x, y: complex_exponent_cotangent(ȳ, x, y, z),
)
cotangents((abs, operator.abs), "x", ((Complex,),), x=lambda ȳ, y, x: ȳ * (x / y) if y else 0j)


@cotangents(over, "cotangent, divisor", (*REALS, *COMPLEXES), "cotangent, divisor")
def over_cotangents(ȳ, y, cotangent, divisor):
    slope = over(times(-ȳ, y.conjugate()), divisor.conjugate())
    return project(over(ȳ, divisor.conjugate()), cotangent), project(slope, divisor)


# Bit operations: of numbers only, since ``|`` also merges dicts and sets
cotangents((operator.invert, operator.inv), "x", ((int,), (Real,)), x=lambda: None)
for name in ("and_", "or_", "xor", "lshift", "rshift", "iand", "ior", "ixor", "ilshift", "irshift"):
    cotangents(getattr(operator, name), "x, y", ((int, int), (Real, Real)), x=lambda: None)

# Questions, whose answers have no derivative whatever is asked about
declare_names(
    operator,
    {
        COMPARES: "lt le eq ne ge gt not_ truth is_ is_not contains is_none is_not_none",
        IS_A_POSITION: "index countOf indexOf length_hint",
    },
)
