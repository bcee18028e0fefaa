"""Calls of ufuncs with options, and their methods: made of calls without."""

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import Constant, cotangents, method_of, pure
from autodiff_hook.registry import nondifferentiable, registry
from autodiff_hook.semantics.equivalents import elementwise
from autodiff_hook.semantics.equivalents.elementwise import OPERATIONS
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import apply, means, natively
from autodiff_hook.semantics.object_arrays import has_objects
from autodiff_hook.semantics.opaque import call_constant
from autodiff_hook.semantics.subclasses import call_behind, is_subclass
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import float_dtype, into
from autodiff_rules.numpy.accumulations import greatest_so_far, least_so_far
from autodiff_rules.numpy.extremes import greatest_number, least_number
from autodiff_rules.numpy.indexing import scatter_add
from autodiff_rules.numpy.log_sums import log2_sum, log_sum

REDUCTIONS = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.fmax: greatest_number,
    np.fmin: least_number,
    np.logaddexp: log_sum,
    np.logaddexp2: log2_sum,
}
"""The functions that ``ufunc.reduce`` is the core of."""
ACCUMULATIONS = {
    np.add: np.cumsum,
    np.multiply: np.cumprod,
    np.maximum: greatest_so_far,
    np.minimum: least_so_far,
}
"""Those that ``ufunc.accumulate`` is."""

OPTIONS = ("axis", "dtype", "out", "keepdims", "initial", "where")
SILENT = {"dtype": None, "out": None, "keepdims": False, "initial": np._NoValue, "where": True}
"""The options of ``ufunc.reduce``, and what says nothing."""


def define_with_options(ufunc):
    """Define the calls of a ufunc with ``where``, ``dtype`` and options that say nothing about values."""

    def call(
        *args, out=None, where=True, dtype=None, casting="same_kind", order="K", subok=True, signature=None, sig=None
    ):
        dtype = dtype_of(ufunc, dtype, sig if signature is None else signature)
        if dtype is not None:
            args = [np.asarray(x).astype(dtype, casting=casting)[()] for x in args]
        result = ufunc(*args) if where is True else partial_result(ufunc, args, where)
        return result if order == "K" else lying_in(result, args, order)

    defines(ufunc)(call)


def define_product_with_options(ufunc):
    """The same for a product of vectors or matrices in stacks, also with other axes."""

    def call(
        *args, out=None, axes=None, axis=None, keepdims=False, dtype=None, casting="same_kind", order="K", subok=True
    ):
        if dtype is not None:
            args = [np.asarray(x).astype(dtype, casting=casting) for x in args]
        if axes is None and axis is None:
            return np.expand_dims(ufunc(*args), -1) if keepdims else ufunc(*args)
        places = [*map(as_axes, axes or [axis, axis])]
        y = ufunc(*[np.moveaxis(x, at, range(-len(at), 0)) for x, at in zip(args, places)])
        at = places[2] if len(places) > 2 else places[0] if keepdims else ()
        return np.expand_dims(y, at) if keepdims else np.moveaxis(y, range(-len(at), 0), at)

    defines(ufunc)(call)


@nondifferentiable
def as_axes(place):
    return tuple(place) if isinstance(place, (tuple, list)) else (place,)


@nondifferentiable
def dtype_of(ufunc, dtype, signature):
    """The one dtype that all operands get; None if nothing is said of it."""
    if signature is None:
        return dtype
    kinds = (
        set(signature.replace("->", "")) if isinstance(signature, str) else {x and np.dtype(x).char for x in signature}
    )
    if len(kinds) != 1:
        raise NotDifferentiable(f"np.{ufunc.__name__} with different types in signature= is not differentiated")
    return np.dtype(kinds.pop())


def partial_result(ufunc, args, where):
    """``ufunc(*args, where=where)``, whose other elements are not determined."""
    shape = np.broadcast_shapes(np.shape(np.asarray(where, bool)), *[np.shape(x) for x in args])
    chosen = np.broadcast_to(np.asarray(where, bool), shape)
    parts = ufunc(*[np.broadcast_to(x, shape)[chosen] for x in args])
    if isinstance(parts, tuple):
        return tuple([filled(part, chosen) for part in parts])
    return filled(parts, chosen)


def lying_in(result, args, order):
    """The result of a ufunc that is told in which order its elements are to lie."""
    if isinstance(result, tuple):
        return tuple([lying_in(part, args, order) for part in result])
    if order == "A":
        order = "F" if all([np.asarray(x).flags.f_contiguous for x in args]) else "C"
    return np.asarray(result, order=order) if np.ndim(result) else result


def filled(part, chosen):
    """An array whose ``chosen`` elements are those of ``part``."""
    result = np.empty(chosen.shape, part.dtype)
    result[chosen] = part
    return result if chosen.shape else result[()]


def define_all_with_options(functions):
    """``define_with_options`` of the ufuncs among ``functions`` that have rules and work element by element."""
    # Asking about one function would import other packs, which need this one whole.
    registered = set(map(id, registry.targets("autodiff_rules")))
    for function in functions:
        if isinstance(function, np.ufunc) and function.signature is None and id(function) in registered:
            define_with_options(function)


@defines(np.ufunc.outer)
def outer(ufunc, A, B, /, **options):
    axes = tuple(range(np.ndim(A), np.ndim(A) + np.ndim(B)))
    return ufunc(np.expand_dims(A, axes), B, **options)


@means(np.ufunc.reduce)
def reduce(alg, t, args, kwargs):
    """``ufunc.reduce``: a function of NumPy's where there is one for it, else Python code."""
    ufunc, array, *options = args
    if is_subclass(array):
        return call_behind(alg, t, np.ufunc.reduce, args, kwargs)
    if isinstance(array, np.ndarray) and array.dtype == object and ufunc in OPERATIONS:
        return enter(alg, (None, *t), reduced_objects, args, kwargs)
    named = {"axis": 0, **dict(zip(OPTIONS, options)), **kwargs}
    if registry.is_constant(ufunc) and named.get("out") is None:
        return call_constant(alg, np.ufunc.reduce, args, kwargs)
    of_objects = type(array) in (list, tuple) and has_objects((array,))
    if ufunc not in REDUCTIONS or of_objects or named.get("out") is not None or named.get("dtype") is not None:
        return enter(alg, (None, *t), reduced, args, kwargs)
    moving = dict(zip((*OPTIONS[: len(options)], *kwargs), t[2:]))
    named = {name: value for name, value in named.items() if value is not SILENT.get(name, named)}
    return apply(alg, (None, t[1], *[moving.get(name) for name in named]), REDUCTIONS[ufunc], (array,), named)


def reduction(ufunc, args, kwargs):
    """The function that a typed call of ``ufunc.reduce`` is, if it is one, and its arguments by position."""
    array, *options = args
    given = {"axis": Constant(0), **dict(zip(OPTIONS, options)), **kwargs}
    spoken = [i for i, name in enumerate(OPTIONS) if name in given and not _is_silent(given[name], name)]
    if registry.is_constant(ufunc) and 2 not in spoken:
        return whole, [Constant(ufunc), array, *[given.get(name, Constant(SILENT.get(name))) for name in OPTIONS]]
    if ufunc not in REDUCTIONS or not {1, 2}.isdisjoint(spoken):
        return None
    # The others of these functions have no ``dtype``.
    names = OPTIONS if ufunc in (np.add, np.multiply) else ("axis", *OPTIONS[2:])
    names = names[: names.index(OPTIONS[spoken[-1]]) + 1] if spoken else ()
    return REDUCTIONS[ufunc], [array, *[given.get(name, Constant(SILENT.get(name))) for name in names]]


def _is_silent(operand, name):
    return name in SILENT and isinstance(operand, Constant) and operand.value is SILENT[name]


method_of(np.ufunc.reduce, reduction)


@nondifferentiable
def whole(ufunc, array, axis, dtype, out, keepdims, initial, where):
    """``ufunc.reduce`` of a ufunc without derivative."""
    return ufunc.reduce(array, axis, dtype, out, keepdims, initial, where)


pure(whole)


def single(out):
    return out[0] if isinstance(out, tuple) else out


@nondifferentiable
def written_in(dtype, out):
    """The type that ``reduce`` computes with: that of the array for its result, if nothing is said."""
    return single(out).dtype if dtype is None else dtype


def reduced_objects(ufunc, array, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True):
    return into(out, elementwise.reduced(OPERATIONS[ufunc], array, axis, keepdims, initial, where))


def reduced(ufunc, array, /, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True):
    if out is not None:
        return into(single(out), ufunc.reduce(array, axis, written_in(dtype, out), None, keepdims, initial, where))
    a = np.asarray(array) if dtype is None else np.asarray(array).astype(dtype)
    options = {} if initial is np._NoValue else {"initial": initial}
    if where is not True:
        options["where"] = where
    if ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](a, axis, keepdims=keepdims, **options)
    y = folded(ufunc, a, axis, initial, where)
    require_same(ufunc, a, axis, initial, where, y)
    return np.expand_dims(y, tuple(range(np.ndim(a))) if axis is None else axis) if keepdims else y


@nondifferentiable
def require_same(ufunc, a, axis, initial, where, computed):
    """Raise where NumPy's vector loops reduce to something else (2.4: ``np.power``, ``np.arctan2``)."""
    if not np.allclose(ufunc.reduce(a, axis, initial=initial, where=where), computed, equal_nan=True):
        raise NotDifferentiable(f"np.{ufunc.__name__}.reduce does not give what the calls of np.{ufunc.__name__} give")


def folded(ufunc, a, axis, initial, where):
    """The elements along ``axis``, one after the other, joined by ``ufunc``."""
    axes = tuple(range(a.ndim)) if axis is None or a.ndim == 0 else axis if isinstance(axis, tuple) else (axis,)
    first = tuple(range(len(axes)))
    rows = np.moveaxis(a, axes, first)
    rows = np.reshape(rows, (-1, *rows.shape[len(axes) :]))
    chosen = np.moveaxis(np.broadcast_to(where, a.shape), axes, first).reshape(rows.shape)
    start = 0
    if initial is np._NoValue or initial is None:
        if where is True and len(rows):
            start, initial = 1, rows[0]
        elif ufunc.identity is None:
            raise ValueError(f"reduction operation '{ufunc.__name__}' does not have an identity")
        else:
            initial = ufunc.identity
    total = np.broadcast_to(initial, rows.shape[1:])[()]
    for i in range(start, len(rows)):
        joined = ufunc(total, rows[i])
        total = joined if where is True else np.where(chosen[i], joined, total)
    return total


def single_axis(a, axis):
    """The axis along which ``accumulate`` and ``reduceat`` go: None is the only one."""
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) != 1:
        raise ValueError("accumulate and reduceat do not allow multiple axes")
    return axes[0]


@defines(np.ufunc.accumulate)
def accumulate(ufunc, array, /, axis=0, dtype=None, out=None):
    if out is not None:
        return into(single(out), ufunc.accumulate(array, axis, written_in(dtype, out)))
    a = np.asarray(array) if dtype is None else np.asarray(array).astype(dtype)
    axis = single_axis(a, axis)
    if ufunc in ACCUMULATIONS:
        return ACCUMULATIONS[ufunc](a, axis)
    rows = np.moveaxis(a, axis, 0)
    parts = []
    for i in range(len(rows)):
        parts.append(ufunc(parts[-1], rows[i]) if parts else rows[0])
    return np.stack(parts, axis) if parts else a


def accumulation(ufunc, args, kwargs):
    """The function that a typed call of ``ufunc.accumulate`` is, if it is one, and its arguments by position."""
    array, *options = args
    given = {"axis": Constant(0), **dict(zip(("axis", "dtype", "out"), options)), **kwargs}
    if ufunc not in ACCUMULATIONS or set(given) != {"axis"} or getattr(given["axis"], "value", 0) is None:
        return None
    return ACCUMULATIONS[ufunc], [array, given["axis"]]


method_of(np.ufunc.accumulate, accumulation)


@defines(np.ufunc.reduceat)
def reduceat(ufunc, array, indices, axis=0, dtype=None, out=None):
    if out is not None:
        return into(single(out), ufunc.reduceat(array, indices, axis, written_in(dtype, out)))
    a = np.asarray(array) if dtype is None else np.asarray(array).astype(dtype)
    axis = single_axis(a, axis)
    rows = np.moveaxis(a, axis, 0)
    if ufunc is np.add:
        return np.moveaxis(summed_at(rows, indices), 0, axis)
    starts, counts = parts_at(indices, len(rows))
    parts = [ufunc.reduce(rows[start : start + count]) for start, count in zip(starts, counts)]
    return np.stack(parts, axis)


@nondifferentiable
def parts_at(indices, length):
    """Where the parts that ``ufunc.reduceat`` reduces begin, and how long they are."""
    starts = np.asarray(indices)
    return starts.tolist(), np.maximum(np.append(starts[1:], length) - starts, 1).tolist()


def summed_at(rows, indices):
    return np.add.reduceat(rows, indices)


@cotangents(summed_at, "rows, indices", 0)
def summed_at_cotangent(ȳ, rows, indices):
    starts, counts = parts_at(indices, len(rows))
    places = np.concatenate([np.arange(start, start + count) for start, count in zip(starts, counts)])
    return scatter_add(np.shape(rows), float_dtype(rows), places, np.repeat(ȳ, counts, 0))


define_all_with_options(vars(np).values())
for product in (np.matmul, np.vecdot, np.matvec, np.vecmat):
    define_product_with_options(product)
natively(np.frompyfunc)  # what it makes calls the Python function for each element, and is followed there
