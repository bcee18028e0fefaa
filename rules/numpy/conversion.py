"""Making arrays of numbers, sequences and arrays; NumPy's scalars, Python's numbers, and parts of complex numbers."""

import numpy as np

from autodiff_hook.extend import cotangents, linear
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.signatures import Complex
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import collect, conj, expand, nest, reshaped, unbroadcast
from autodiff_rules.numpy.indexing import take_cotangent


def array_cotangent(ȳ, x, y):
    """The cotangent of ``x``, of which the array ``y`` was made."""
    if is_truncated(y, x):
        return None
    return nest(ȳ, x) if isinstance(x, (list, tuple)) else unbroadcast(ȳ, x)


def is_truncated(y, x):
    """Whether ``y`` has the whole parts of the floats ``x``, which have no derivative."""
    return y.dtype.kind in "iub" and np.asarray(x).dtype.kind in "fc"


linear(
    np.array,
    "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, **options",
    lambda ȳ, y, object, ndmin: array_cotangent(np.reshape(ȳ, np.shape(object)) if ndmin else ȳ, object, y),
    kinds=0,
)
linear(np.asanyarray, "a, dtype=None, order=None, **options", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.asarray, "a, dtype=None, order=None, **options", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.ascontiguousarray, "a, dtype=None, **options", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.asfortranarray, "a, dtype=None, **options", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.asarray_chkfinite, "a, dtype=None, order=None", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.copy, "a, order='K', subok=False", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
cotangents(
    np.full,
    "shape, fill_value, dtype=None, order='C', **options",
    0,
    fill_value=lambda ȳ, y, fill_value: None if is_truncated(y, fill_value) else unbroadcast(ȳ, fill_value),
)


@cotangents(np.full_like, "a, fill_value, dtype=None, order='K', subok=True, shape=None, **options", 1, "fill_value")
def full_like_cotangent(ȳ, y, fill_value):
    c = None if is_truncated(y, fill_value) else unbroadcast(ȳ, fill_value)
    return c


@cotangents(np.arange, "start, stop=None, step=1, *, dtype=None, **options", 0, "start, step")
def arange_cotangents(ȳ, y, start, stop, step):
    if is_truncated(y, start * 1.0):
        return None, None
    first = None if stop is None else unbroadcast(np.sum(ȳ), start)
    return first, unbroadcast(np.dot(ȳ, np.arange(len(y))), step)


@cotangents(
    np.linspace, "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, **options", 2, "start, stop"
)
def linspace_cotangents(ȳ, y, start, stop, num, endpoint, retstep, axis):
    ȳ, step = ȳ if retstep else (ȳ, None)
    first, last = (None, None) if ȳ is None else both_ends(np.moveaxis(ȳ, axis, 0), endpoint)
    if step is not None:
        each = step / (num - 1 if endpoint else num)
        first, last = (-each, each) if first is None else (first - each, last + each)
    if first is None or is_truncated(y[0] if retstep else y, 1.0):
        return None, None
    return unbroadcast(first, start), unbroadcast(last, stop)


def both_ends(ȳ, endpoint):
    """The cotangents of the first and the last of evenly spaced points."""
    count = len(ȳ)
    parts = np.linspace(0.0, 1.0, count, endpoint)
    last = np.tensordot(parts, ȳ, 1)
    return np.sum(ȳ, 0) - last, last


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


@nondifferentiable
def listed(x):
    """Lists as those that the array gave, whose items a program may have changed since."""
    return np.zeros(np.shape(x), x.dtype).tolist()


cotangents(
    np.ndarray.tolist, "self", self=lambda ȳ, self: reshaped(collect(ȳ, listed(self)) if np.ndim(self) else ȳ, self)
)
linear(np.real, "val", lambda ȳ, val: unbroadcast(ȳ, val))
linear(np.imag, "val", lambda ȳ, val: imaginary(ȳ, val))
linear((np.ndarray.real, np.generic.real), "self", lambda ȳ, self: unbroadcast(ȳ, self))
linear((np.ndarray.imag, np.generic.imag), "self", lambda ȳ, self: imaginary(ȳ, self))
linear((np.ndarray.conjugate, np.ndarray.conj, np.generic.conj, np.generic.conjugate), "self", lambda ȳ: conj(ȳ))


def imaginary(ȳ, z):
    """The cotangent of what ``ȳ`` is that of the imaginary part of: none where that is no variable."""
    return unbroadcast(1j * ȳ if np.iscomplexobj(z) else np.zeros(np.shape(ȳ)), z)


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


METHODS = "choose compress diagonal fill put repeat resize sort swapaxes take to_device trace transpose view".split()


def as_array(name):
    def method(self, *args, **options):
        made = getattr(np.asarray(self), name)(*args, **options)
        return made[()] if isinstance(made, np.ndarray) else made

    return method


@defines(np.ndarray.to_device)
def to_device(self, device, /, *, stream=None):
    """``array.to_device("cpu")``: the array itself."""
    if device != "cpu" or stream is not None:
        raise ValueError(f"to_device({device!r}, stream={stream!r}): NumPy's arrays are on the cpu")
    return self


for _name in METHODS:
    defines(getattr(np.generic, _name))(as_array(_name))
