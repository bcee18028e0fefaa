"""Special methods called by name: they are the operators."""

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import Deferred, nondifferentiable, registry
from autodiff_hook.semantics.operations import NAMES, UFUNCS
from autodiff_hook.signatures import Array, Real
from autodiff_rules import operator as numbers
from autodiff_rules._definitions import defines
from autodiff_rules._numbers import COMPLEXES, REALS
from autodiff_rules.numpy import operators, products
from autodiff_rules.numpy.operators import register_for_arrays

ARRAYS = {
    "add": operators.add_rule,
    "sub": operators.sub_rule,
    "mul": operators.mul_rule,
    "truediv": operators.truediv_rule,
    "mod": operators.mod_rule,
    "floordiv": operators.floordiv_rule,
    "divmod": operators.divmod_rule,
    "pow": operators.pow_rule,
    "matmul": products.matmul_rule,
}
SCALARS = {
    "add": (numbers.add_rule, numbers.complex_add_rule),
    "sub": (numbers.sub_rule, numbers.complex_sub_rule),
    "mul": (numbers.mul_rule, numbers.complex_mul_rule),
    "truediv": (numbers.truediv_rule, numbers.complex_truediv_rule),
    "mod": (numbers.mod_rule,),
    "floordiv": (numbers.floordiv_rule,),
    "pow": (numbers.pow_rule, numbers.complex_pow_rule),
}
UNARY = {
    "neg": (operators.neg_rule, numbers.neg_rule),
    "pos": (operators.pos_rule, numbers.pos_rule),
    "abs": (operators.abs_rule, numbers.abs_rule),
}


def reflected(rule):
    """The rule of ``x.__radd__(y)``, which is ``y + x``."""

    def reflected_rule(x, y):
        z, pullback = rule(y, x)

        def reflected_pullback(z̄):
            ȳ, x̄ = pullback(z̄)
            return x̄, ȳ

        return z, reflected_pullback

    return reflected_rule


def reflected_when_asked(rule):
    return Deferred(rule.module, lambda: reflected(rule.made()))


for name, rule in ARRAYS.items():
    register_for_arrays(getattr(np.ndarray, f"__{name}__"), rule)
    register_for_arrays(getattr(np.ndarray, f"__r{name}__"), reflected_when_asked(rule))
registry.add(np.ndarray.__pow__, (Array, Real), operators.pow_number_rule)
for name, found in SCALARS.items():
    for rule, signatures, classes in zip(found, (REALS, COMPLEXES), ((np.float64,), (np.float64, np.complex128))):
        for cls in classes:
            for signature in signatures:
                registry.add(getattr(cls, f"__{name}__"), signature, rule)
                registry.add(getattr(cls, f"__r{name}__"), signature, reflected_when_asked(rule))


def power(x, y, mod=None, /):
    """What classes that take the modulus of ``pow`` hand on is None."""
    return NotImplemented if mod is not None else np.power(x, y)


def reflected_power(x, y, mod=None, /):
    return NotImplemented if mod is not None else np.power(y, x)


for cls in (np.ndarray, np.float64, np.complex128):
    defines(cls.__pow__)(power)
    defines(cls.__rpow__)(reflected_power)
for name, (of_array, of_number) in UNARY.items():
    registry.add(getattr(np.ndarray, f"__{name}__"), (Array,), of_array)
    registry.add(getattr(np.float64, f"__{name}__"), (Real,), of_number)


cotangents(np.float64.__float__, "self, /", ((Real,),), self=lambda ȳ: ȳ)


def define_in_place(name, ufunc):
    """No other methods of the classes of the operands are asked."""

    def in_place(self, value, /):
        np.ndarray.__setitem__(self, ..., ufunc(self, value))
        return self

    defines(getattr(np.ndarray, f"__i{name}__"))(in_place)


for op, ufunc in UFUNCS.items():
    define_in_place(NAMES[op], ufunc)


@defines(np.ndarray.__array__)
def array_of(self, dtype=None, /, *, copy=None):
    return np.array(self, dtype, copy=copy)


@defines(np.ndarray.__iter__)
def iterator_of(self, /):
    """Whatever the class of the array says of an iteration."""
    if type(self) is np.ndarray:
        return iter(self)
    return (np.ndarray.__getitem__(self, i) for i in range(np.ndarray.__len__(self)))


@defines(np.ndarray.__array_ufunc__)
def array_ufunc(self, ufunc, method, /, *inputs, **options):
    """``ndarray.__array_ufunc__``, which leaves what others override to them."""
    outputs = options.get("out", ())
    if any(overrides(x) for x in (*inputs, *outputs)):
        return NotImplemented
    return ufunc(*inputs, **options) if method == "__call__" else getattr(ufunc, method)(*inputs, **options)


@nondifferentiable
def overrides(x):
    """Whether the class of an operand has its own ``__array_ufunc__``."""
    own = getattr(type(x), "__array_ufunc__", np.ndarray.__array_ufunc__)
    return own is not np.ndarray.__array_ufunc__ and not isinstance(x, np.generic)
