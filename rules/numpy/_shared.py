"""What the rules share: shapes and dtypes of cotangents, and the transposes of broadcasting and nesting."""

from array import array
from collections import deque
from collections.abc import Mapping
from functools import wraps
from itertools import product
from types import GetSetDescriptorType, MethodDescriptorType

import numpy as np

from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.extend import linear
from autodiff_hook.registry import Deferred, registry
from autodiff_hook.signatures import Any, Kind

REAL = frozenset({float, np.float64})
ABSENT = np._NoValue
ALONG_FIRST = "a, axis=0, out=None, keepdims=False, initial=np._NoValue, where=True"
"""The signature of ``reduce`` of a ufunc, without the type."""


def unbroadcast(c, x):
    """The cotangent ``c`` of a broadcast ``x``: summed to its shape, real if ``x`` is, in its precision.

    A bool has none.
    """
    if isinstance(x, np.ndarray):
        if c.__class__ is np.ndarray:
            if c.shape == x.shape and c.dtype is x.dtype:
                return c
        elif c.__class__ is np.float64 and x.shape == () and x.dtype is c.dtype:
            return c
    elif isinstance(x, (float, int)) and isinstance(c, float):
        return c
    return _project(c, x)


def _project(c, x):
    if x.__class__ in REAL and c.__class__ is np.ndarray:
        c = c.sum() if c.ndim else c[()]
        if isinstance(c, float):
            return float(c) if x.__class__ is float else c
    if isinstance(x, (bool, np.bool_)):
        return None
    if isinstance(x, (np.ndarray, list, tuple)):
        shape = np.shape(x)
        if np.shape(c) != shape:
            c = _sum_to(np.asarray(c), shape)
        return _cast(c, x) if isinstance(x, np.ndarray) else nest(c, x)
    return _cast(c.sum() if isinstance(c, np.ndarray) else c, x)


def _sum_to(c, shape):
    lead = c.ndim - len(shape)
    if lead < 0:
        # A store takes what has more axes, of length one.
        if set(shape[:-lead]) == {1}:
            return _sum_to(c, shape[-lead:]).reshape(shape)
        raise ValueError(f"a cotangent of shape {c.shape} cannot belong to a value of shape {shape}")
    stretched = [lead + i for i, n in enumerate(shape) if n == 1 and c.shape[lead + i] != 1]
    return c.sum((*range(lead), *stretched)).reshape(shape) if shape else c.sum()


def _cast(c, x):
    """``c`` real if ``x`` is, in the floating dtype of ``x``, and a scalar if ``x`` is one."""
    if not isinstance(x, np.ndarray) and isinstance(c, np.ndarray):
        c = c[()]
    if isinstance(x, (np.ndarray, np.generic)):
        kind = x.dtype.kind
        if kind != "c" and np.iscomplexobj(c):
            c = c.real
        if kind in "fc" and not (isinstance(c, (np.ndarray, np.generic)) and c.dtype == x.dtype):
            c = np.asarray(c, x.dtype)[()] if np.ndim(c) == 0 else c.astype(x.dtype)
        return c
    if not isinstance(x, complex) and np.iscomplexobj(c):
        c = c.real
    if isinstance(c, float) or not isinstance(c, (np.generic, np.ndarray)):
        return c
    return c.item()


def into(out, y):
    """``y``, or ``out`` with it: what a function with this option returns."""
    if out is None:
        return y
    out[...] = y
    return out


def reshaped(c, x):
    """The cotangent of ``x``, which was only given another shape."""
    return unbroadcast(np.reshape(c, np.shape(x)), x)


linear(
    unbroadcast,
    "c, x",
    lambda ȳ, c, x: widened(collect(ȳ, x) if isinstance(x, (list, tuple)) else ȳ, c),
    kinds=((),),
)


def float_dtype(x):
    """The dtype of a cotangent of ``x``: its own, or float64 for integers."""
    dtype = getattr(x, "dtype", None)
    return np.dtype(np.float64) if dtype is None or dtype.kind not in "fc" else dtype


def expand(c, x):
    """``c`` broadcast to the shape of ``x``, in its precision: the transpose of ``unbroadcast``."""
    if not isinstance(x, np.ndarray):
        # A scalar of NumPy's may stand for an array without axes, which is indexed.
        return np.float64(c) if c.__class__ is float and isinstance(x, np.generic) else c
    dtype = float_dtype(x)
    if dtype.kind != "c" and np.iscomplexobj(c):
        dtype = np.result_type(c)
    if x.size > 10_000:
        return np.broadcast_to(np.asarray(c, dtype), x.shape)
    y = np.empty(x.shape, dtype)
    y[...] = c
    return y


linear(expand, "c, x", lambda ȳ, c: unbroadcast(ȳ, c), kinds=((),))


def widened(c, x):
    """``expand(c, x)``, which is real if ``x`` is."""
    y = expand(c, x)
    return np.real(y) if np.iscomplexobj(y) and not np.iscomplexobj(x) else y


linear(widened, "c, x", lambda ȳ, c: unbroadcast(ȳ, c), kinds=((),))


def stretched(ẏ, y):
    """A tangent in the shape of its value."""
    if ẏ.__class__ is np.ndarray and ẏ.shape == y.shape:
        return ẏ
    return np.broadcast_to(ẏ, np.shape(y))


linear(stretched, "ẏ, y", lambda ȳ, ẏ: unbroadcast(ȳ, ẏ), kinds=((),))


def expand_reduced(c, x, axis, keepdims):
    """The cotangent of a reduction of ``x`` along ``axis``, broadcast to the shape of ``x``."""
    return expand(restore_axes(c, x, axis, keepdims), x)


linear(
    expand_reduced,
    "c, x, axis, keepdims",
    lambda ȳ, c, axis: unbroadcast(ȳ, c) if np.ndim(c) == 0 else reshaped(np.sum(ȳ, axis), c),
    kinds=((),),
)


def restore_axes(c, x, axis, keepdims):
    """``c`` with the axes that a reduction of ``x`` removed as axes of length 1."""
    if axis is None or np.ndim(c) == 0 or keepdims and keepdims is not ABSENT:
        return c
    return c.reshape(reduced_shape(x, axis))


linear(restore_axes, "c, x, axis, keepdims", lambda ȳ, c: reshaped(ȳ, c), kinds=((),))


def reduced_shape(x, axis):
    """The shape of a reduction of ``x`` that keeps its dimensions."""
    shape = list(np.shape(x))
    for i in axis if isinstance(axis, tuple) else (axis,):
        shape[i] = 1
    return tuple(shape)


def conj(x):
    """The conjugate, which costs nothing where it does nothing."""
    if isinstance(x, float):
        return x
    return x.conjugate() if x.__class__ is np.ndarray or not isinstance(x, np.ndarray) else np.conjugate(x)


linear(conj, "x", lambda ȳ: conj(ȳ), kinds=((),))


PLAIN = frozenset({float, int, np.float64})


def nest(c, x):
    """The array ``c`` as nested lists and tuples like ``x``, whose leaves are numbers and arrays."""
    if not isinstance(x, (list, tuple)):
        return _cast(c, x)
    if PLAIN.issuperset(map(type, x)):
        parts = c.real.tolist()
    else:
        parts = [nest(part, v) for part, v in zip(c, x)]
    return parts if isinstance(x, list) else tuple(parts)


linear(nest, "c, x", lambda ȳ, x: collect(ȳ, x), kinds=((),))


def collect(c, x):
    """Nested lists and tuples of cotangents of ``x`` as one array, None being zeros."""
    return np.array(_without_none(c, x))


def _without_none(c, x):
    if c is None:
        return np.zeros(np.shape(x))
    if isinstance(c, (list, tuple)) or isinstance(x, (list, tuple)):
        return [_without_none(part, v) for part, v in zip(c, x)]
    return c


linear(collect, "c, x", lambda ȳ, x: nest(ȳ, x), kinds=((),))


def array_rrule(target, arity=1):
    """``rrule`` for all types, which lets the first ``arity`` arguments be lists and tuples of numbers."""

    def register(rule):
        through = through_arrays(rule, arity)
        for signature in sequences(arity):
            registry.add(target, signature, through)
        registry.add(target, (), rule)
        return rule

    return register


def add_for_arrays(target, rule, arity=1):
    """``array_rrule`` of a rule that is made when it is asked for; the first argument of a method is an array."""
    if arity > 1 or not isinstance(target, (MethodDescriptorType, GetSetDescriptorType)):
        through = Deferred(rule.module, lambda: through_arrays(rule.made(), arity))
        for signature in sequences(arity):
            registry.add(target, signature, through)
    registry.add(target, (), rule)


BUILTIN_SEQUENCE = Kind(
    "BuiltinSequence", 1, lambda cls: issubclass(cls, (list, tuple, range, deque, array, memoryview))
)
"""The sequences that say nothing themselves of arithmetic with arrays."""


def is_sequence(cls):
    """Whether NumPy makes an array of such a value, which is none yet."""
    if BUILTIN_SEQUENCE.contains(cls):
        return True
    if issubclass(cls, (str, bytes, bytearray, Mapping)) or hasattr(cls, "ndim"):
        return False
    return hasattr(cls, "__array__") or hasattr(cls, "__len__") and hasattr(cls, "__getitem__")


SEQUENCE = Kind("Sequence", 1, is_sequence)
"""Lists, tuples, and what else NumPy reads the items of: ranges, deques, objects with ``__array__``."""


def sequences(arity):
    """The signatures with a sequence among ``arity`` arguments, those with more of them first."""
    return sorted(product((SEQUENCE, Any), repeat=arity), key=lambda entries: entries.count(Any))[:-1]


def through_arrays(rule, arity):
    """The rule for sequences that makes arrays of those among the first ``arity`` arguments."""

    @wraps(rule)
    def sequence_rule(*args, **options):
        arrays = [np.array(arg) if is_sequence(type(arg)) else arg for arg in args[:arity]]
        y, pullback = rule(*arrays, *args[arity:], **options)

        def sequence_pullback(ȳ):
            cotangents = pullback(ȳ)
            count = min(arity, len(args))
            return (*[from_array(c, arg) for c, arg in zip(cotangents, args[:count])], *cotangents[count:])

        return y, sequence_pullback

    sequence_rule.arity = arity
    return sequence_rule


def from_array(c, x):
    """The cotangent of a sequence from that of its array."""
    if c is None or isinstance(c, NotImplementedCotangent) or not is_sequence(type(x)):
        return c
    return nest(c, x) if isinstance(x, (list, tuple)) else None
