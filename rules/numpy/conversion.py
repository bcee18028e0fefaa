"""Between arrays, NumPy's scalars and Python's numbers, and the parts of complex numbers."""

from __future__ import annotations

import numpy as np

from autodiff_hook.registry import Complex, nondifferentiable, rrule
from autodiff_rules.numpy._shared import array_rrule, collect, conj, expand, float_dtype, unbroadcast
from autodiff_rules.numpy.creation import array_cotangent, is_truncated
from autodiff_rules.numpy.indexing import scatter_add


@rrule(np.ndarray.astype)
@rrule(np.generic.astype)
def astype_rule(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    y = self.astype(dtype, order, casting, subok, copy)

    def astype_pullback(ȳ):
        return None if is_truncated(y, self) else unbroadcast(ȳ, self), None, None, None, None, None

    return y, astype_pullback


@array_rrule(np.astype)
def astype_function_rule(x, dtype, /, *, copy=True, device=None):
    y = np.astype(x, dtype, copy=copy, device=device)

    def astype_pullback(ȳ):
        return None if is_truncated(y, x) else unbroadcast(ȳ, x), None

    return y, astype_pullback


@rrule(np.ndarray.copy)
@rrule(np.ndarray.__copy__)
@rrule(np.generic.copy)
def copy_method_rule(self, order="C"):
    def copy_pullback(ȳ):
        return ȳ, None

    return self.copy(order), copy_pullback


@rrule(np.ndarray.__deepcopy__)
@rrule(np.generic.__deepcopy__)
@rrule(np.generic.__copy__)
def deepcopy_method_rule(self, memo=None):
    def deepcopy_pullback(ȳ):
        return ȳ, None

    return self.copy(), deepcopy_pullback


@rrule(np.generic.item)
@rrule(np.generic.tolist)
def scalar_item_rule(self, *args):
    def item_pullback(ȳ):
        return unbroadcast(ȳ, self), *[None] * len(args)

    return self.item(*args), item_pullback


@rrule(np.ndarray.item)
def item_rule(self, *args):
    def item_pullback(ȳ):
        if not args:
            return (expand(ȳ, self),)
        place = flat_index(self, args)
        c = scatter_add((self.size,), float_dtype(self), place, ȳ).reshape(self.shape)
        return c, *[None] * len(args)

    return self.item(*args), item_pullback


@nondifferentiable
def flat_index(x, args):
    """The index into the flattened ``x`` that the arguments of ``item`` say."""
    if len(args) == 1 and not isinstance(args[0], tuple):
        return args[0]
    index = args[0] if len(args) == 1 else args
    return int(np.ravel_multi_index([i % n for i, n in zip(index, x.shape)], x.shape))


@rrule(np.ndarray.tolist)
def tolist_rule(self):
    y = self.tolist()

    def tolist_pullback(ȳ):
        return (unbroadcast(collect(ȳ, y) if isinstance(y, list) else ȳ, self),)

    return y, tolist_pullback


@array_rrule(np.real)
def real_function_rule(val):
    def real_pullback(ȳ):
        return (unbroadcast(ȳ, val),)

    return np.real(val), real_pullback


@array_rrule(np.imag)
def imag_function_rule(val):
    def imag_pullback(ȳ):
        return (unbroadcast(1j * ȳ, val),)

    return np.imag(val), imag_pullback


@rrule(np.ndarray.real)
@rrule(np.generic.real)
def real_rule(self):
    def real_pullback(ȳ):
        return (unbroadcast(ȳ, self),)

    return self.real, real_pullback


@rrule(np.ndarray.imag)
@rrule(np.generic.imag)
def imag_rule(self):
    def imag_pullback(ȳ):
        return (unbroadcast(1j * ȳ, self),)

    return self.imag, imag_pullback


@rrule(np.ndarray.conj)
@rrule(np.ndarray.conjugate)
@rrule(np.generic.conj)
@rrule(np.generic.conjugate)
def conjugate_method_rule(self):
    def conjugate_pullback(ȳ):
        return (conj(ȳ),)

    return self.conjugate(), conjugate_pullback


@array_rrule(np.angle)
def angle_rule(z, deg=False):
    def angle_pullback(ȳ):
        square = np.real(z * conj(z))
        unit = 57.29577951308232 if deg else 1.0
        return unbroadcast(1j * unit * ȳ * z / np.where(square == 0, np.inf, square), z), None

    return np.angle(z, deg), angle_pullback


@array_rrule(np.real_if_close)
def real_if_close_rule(a, tol=100):
    def real_if_close_pullback(ȳ):
        return unbroadcast(ȳ, a), None

    return np.real_if_close(a, tol), real_if_close_pullback


@rrule(np.generic.T)
def scalar_T_rule(self):
    def T_pullback(ȳ):
        return (ȳ,)

    return self.T, T_pullback


@rrule(np.generic.reshape)
def scalar_reshape_rule(self, *shape, order="C"):
    def reshape_pullback(ȳ):
        return unbroadcast(ȳ, self), *[None] * len(shape)

    return self.reshape(*shape, order=order), reshape_pullback


def number_rule(scalar_type):
    """Register the rule of calling a scalar type, such as ``np.float64(x)``."""

    @rrule(scalar_type)
    def scalar_type_rule(x=0.0, /):
        y = scalar_type(x)

        def scalar_type_pullback(ȳ):
            return (array_cotangent(ȳ, x, y),)

        return y, scalar_type_pullback


def complex_number_rule(scalar_type):
    """Register the rule of calling a complex scalar type with both parts, as ``np.complex128(x, y)``."""

    @rrule(scalar_type, Complex, Complex)
    def complex_type_rule(x, y, /):
        z = scalar_type(x, y)

        def complex_type_pullback(z̄):
            return unbroadcast(z̄, x), unbroadcast(-1j * z̄, y)

        return z, complex_type_pullback


for scalar_type in (np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128, np.clongdouble):
    number_rule(scalar_type)
for scalar_type in (np.complex64, np.complex128, np.clongdouble):
    complex_number_rule(scalar_type)
