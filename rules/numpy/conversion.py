"""Between arrays, NumPy's scalars and Python's numbers, and the parts of complex numbers."""

import numpy as np

from autodiff_hook.extend import cotangents, linear
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.signatures import Complex
from autodiff_rules.numpy._shared import collect, conj, expand, reshaped, unbroadcast
from autodiff_rules.numpy.creation import array_cotangent, is_truncated
from autodiff_rules.numpy.indexing import take_cotangent

cotangents(
    (np.ndarray.astype, np.generic.astype),
    "self, dtype, order='K', casting='unsafe', subok=True, copy=True",
    self=lambda ȳ, y, self: None if is_truncated(y, self) else unbroadcast(ȳ, self),
)
cotangents(
    np.astype,
    "x, dtype, /, *, copy=True, device=None",
    x=lambda ȳ, y, x: None if is_truncated(y, x) else unbroadcast(ȳ, x),
)
linear((np.ndarray.copy, np.generic.copy), "self, order='C'", lambda ȳ: ȳ)
linear((np.ndarray.__copy__, np.generic.__copy__), "self", lambda ȳ: ȳ)
linear((np.ndarray.__deepcopy__, np.generic.__deepcopy__), "self, memo=None", lambda ȳ: ȳ)
linear((np.generic.item, np.generic.tolist), "self, *args", lambda ȳ, self: unbroadcast(ȳ, self))


@cotangents(np.ndarray.item, "self, *args", 0)
def item_cotangent(ȳ, self, args):
    if not args:
        return expand(ȳ, self)
    return take_cotangent(ȳ, self, flat_index(self, args), None)


@nondifferentiable
def flat_index(x, args):
    """The index into the flattened ``x`` that the arguments of ``item`` say."""
    if len(args) == 1 and not isinstance(args[0], tuple):
        return args[0]
    index = args[0] if len(args) == 1 else args
    return int(np.ravel_multi_index([i % n for i, n in zip(index, x.shape)], x.shape))


cotangents(
    np.ndarray.tolist, "self", self=lambda ȳ, y, self: reshaped(collect(ȳ, y) if isinstance(y, list) else ȳ, self)
)
linear(np.real, "val", lambda ȳ, val: unbroadcast(ȳ, val))
linear(np.imag, "val", lambda ȳ, val: unbroadcast(1j * ȳ, val))
linear((np.ndarray.real, np.generic.real), "self", lambda ȳ, self: unbroadcast(ȳ, self))
linear((np.ndarray.imag, np.generic.imag), "self", lambda ȳ, self: unbroadcast(1j * ȳ, self))
linear((np.ndarray.conjugate, np.ndarray.conj, np.generic.conj, np.generic.conjugate), "self", lambda ȳ: conj(ȳ))


@cotangents(np.angle, "z, deg=False")
def angle_cotangent(ȳ, z, deg):
    square = np.real(z * conj(z))
    unit = 57.29577951308232 if deg else 1.0
    return unbroadcast(1j * unit * ȳ * z / np.where(square == 0, np.inf, square), z)


linear(np.real_if_close, "a, tol=100", lambda ȳ, a: unbroadcast(ȳ, a))
linear(np.generic.T, "self", lambda ȳ: ȳ)
linear(np.generic.reshape, "self, *shape, order='C'", lambda ȳ, self: unbroadcast(ȳ, self))


for scalar_type in (np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128, np.clongdouble):
    cotangents(scalar_type, "x=0.0, /", 0, x=lambda ȳ, y, x: array_cotangent(ȳ, x, y))
for scalar_type in (np.complex64, np.complex128, np.clongdouble):
    cotangents(
        scalar_type,
        "x, y, /",
        ((Complex, Complex),),
        x=lambda ȳ, x: unbroadcast(ȳ, x),
        y=lambda ȳ, y: unbroadcast(-1j * ȳ, y),
    )
