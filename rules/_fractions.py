"""Rules for ``fractions.Fraction``: how one is made, and its methods. Operators are in ``_exact``.

Its own Python code is arithmetic of whole numbers, which drops derivatives, so it is not entered. What makes whole
numbers of a fraction (``numerator``) loses the derivative: an error where that is wanted.
"""

import numbers
from fractions import Fraction
from types import FunctionType

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.semantics.meanings import apply, means
from autodiff_hook.semantics.opaque import call_opaque
from autodiff_hook.signatures import Exact, Real
from autodiff_hook.strong import over, times
from autodiff_rules._constants import CONSISTS_OF_STEPS
from autodiff_rules._exact import plain

PARTS = ("numerator", "denominator")
STEPS = "int floor ceil trunc round bool hash str repr format eq lt le gt ge is_integer".split()
CODE = ("__copy__", "__deepcopy__", "limit_denominator")


@cotangents(Fraction, "numerator=0, denominator=None", ((Real,), (Exact,), (str,)), "numerator, denominator")
def fraction_cotangents(ȳ, y, denominator):
    if denominator is None:
        return ȳ, None
    n̄ = over(ȳ, plain(denominator))
    return n̄, times(-n̄, plain(y))


@means(Fraction)
def fraction_of_parts(alg, t, args, kwargs):
    """A ``Fraction`` that no rule knows: one whose parts have names, or an opaque one."""
    given = {"numerator": 0} | dict(zip(PARTS, args)) | kwargs
    if not kwargs or not given.keys() <= {*PARTS}:
        return call_opaque(alg, t, Fraction, args, kwargs, "which has no rule for these arguments")
    moving = dict(zip((*PARTS[: len(args)], *kwargs), t))
    return apply(alg, (None, *map(moving.get, PARTS)), Fraction, tuple(map(given.get, PARTS)), {})


def made(alg, t, args, kwargs):
    """``Fraction.from_float`` and its kin: the class called."""
    cls, *values = args
    return apply(alg, (None, *t[1:]), cls, tuple(values), kwargs)


def opaque(method):
    """Register a method whose Python code is not entered."""

    @means(method)
    def method_called(alg, t, args, kwargs):
        return call_opaque(alg, t, method, args, kwargs, "which computes with the whole numbers of a fraction")


cotangents(
    Fraction.limit_denominator,
    "x, max_denominator=1000000",
    ((Fraction,),),
    x=lambda: not_implemented("Fraction.limit_denominator, which is constant between its steps"),
)
WHOLE = not_implemented("that of the numerator and denominator of a Fraction: stay with it, or use float")
cotangents(numbers.Rational.__float__, "x", ((Exact,),), x=lambda ȳ: ȳ)
for name, member in vars(Fraction).items():
    if name in ("_numerator", "_denominator"):
        cotangents(member, "x", ((Fraction,),), x=lambda: WHOLE)
    elif name.startswith("from_"):
        means(member.__func__)(made)
    elif name.strip("_") in STEPS:
        nondifferentiable(member, CONSISTS_OF_STEPS)
    elif isinstance(member, FunctionType | staticmethod | classmethod) and name not in CODE:
        opaque(getattr(member, "__func__", member))
