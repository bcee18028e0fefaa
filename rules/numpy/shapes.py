"""Reshaping, transposing, and adding or dropping axes."""

from __future__ import annotations

import numpy as np

from autodiff_hook.registry import nondifferentiable, rrule
from autodiff_rules.numpy._shared import array_rrule, float_dtype, reshaped, unbroadcast
from autodiff_rules.numpy.indexing import scatter_add


@array_rrule(np.reshape)
def reshape_rule(a, /, shape, order="C", *, copy=None):
    y = np.reshape(a, shape, order, copy=copy)
    memory = resolved_order(a, order)

    def reshape_pullback(ȳ):
        return unbroadcast(np.reshape(ȳ, np.shape(a), memory), a), None, None

    return y, reshape_pullback


@rrule(np.ndarray.reshape)
def reshape_method_rule(self, /, *shape, order="C", copy=None):
    memory = resolved_order(self, order)

    def reshape_pullback(ȳ):
        return ȳ.reshape(self.shape, order=memory), *[None] * len(shape)

    return self.reshape(*shape, order=order, copy=copy), reshape_pullback


def resolved_order(a, order):
    """ "C" or "F": the order in which "A" reads ``a``."""
    if order in ("C", "F"):
        return order
    flags = np.asarray(a).flags
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


@array_rrule(np.ravel)
def ravel_rule(a, order="C"):
    def ravel_pullback(ȳ):
        return unravel(ȳ, a, order), None

    return np.ravel(a, order), ravel_pullback


@rrule(np.generic.ravel)
@rrule(np.ndarray.ravel)
def ravel_method_rule(self, order="C"):
    def ravel_pullback(ȳ):
        return unravel(ȳ, self, order), None

    return self.ravel(order), ravel_pullback


@rrule(np.generic.flatten)
@rrule(np.ndarray.flatten)
def flatten_rule(self, order="C"):
    def flatten_pullback(ȳ):
        return unravel(ȳ, self, order), None

    return self.flatten(order), flatten_pullback


def unravel(ȳ, a, order):
    """``ȳ`` in the shape of ``a``, which was read in ``order``."""
    if order == "K":
        return scatter_add((np.size(a),), float_dtype(a), memory_order(a), ȳ).reshape(np.shape(a))
    return unbroadcast(np.reshape(ȳ, np.shape(a), resolved_order(a, order)), a)


@nondifferentiable
def memory_order(a):
    """The positions of the elements of ``a`` in the order "K"."""
    positions = np.empty_like(a, int, "K")
    positions[...] = np.arange(np.size(a)).reshape(np.shape(a))
    return np.ravel(positions, "K")


@array_rrule(np.transpose)
def transpose_rule(a, axes=None):
    def transpose_pullback(ȳ):
        return np.transpose(ȳ, None if axes is None else inverse_permutation(axes)), None

    return np.transpose(a, axes), transpose_pullback


@rrule(np.ndarray.transpose)
def transpose_method_rule(self, *axes):
    def transpose_pullback(ȳ):
        return ȳ.transpose(permutation_back(axes)), *[None] * len(axes)

    return self.transpose(*axes), transpose_pullback


def permutation_back(axes):
    """The inverse of the permutation that the arguments of ``ndarray.transpose`` say."""
    if len(axes) == 1 and not isinstance(axes[0], int):
        axes = axes[0]
    return inverse_permutation(axes) if axes else None


@nondifferentiable
def inverse_permutation(axes):
    """The permutation that undoes ``axes``."""
    inverse = [0] * len(axes)
    for i, axis in enumerate(axes):
        inverse[axis] = i
    return tuple(inverse)


@rrule(np.ndarray.T)
def T_rule(self):
    def T_pullback(ȳ):
        return (ȳ.T,)

    return self.T, T_pullback


@rrule(np.ndarray.mT)
def mT_rule(self):
    def mT_pullback(ȳ):
        return (ȳ.mT,)

    return self.mT, mT_pullback


@array_rrule(np.linalg.matrix_transpose)
@array_rrule(np.matrix_transpose)
def matrix_transpose_rule(x, /):
    def matrix_transpose_pullback(ȳ):
        return (np.matrix_transpose(ȳ),)

    return np.matrix_transpose(x), matrix_transpose_pullback


@array_rrule(np.swapaxes)
@rrule(np.ndarray.swapaxes)
def swapaxes_rule(a, axis1, axis2):
    def swapaxes_pullback(ȳ):
        return ȳ.swapaxes(axis1, axis2), None, None

    return np.swapaxes(a, axis1, axis2), swapaxes_pullback


@array_rrule(np.moveaxis)
def moveaxis_rule(a, source, destination):
    def moveaxis_pullback(ȳ):
        return np.moveaxis(ȳ, destination, source), None, None

    return np.moveaxis(a, source, destination), moveaxis_pullback


@array_rrule(np.rollaxis)
def rollaxis_rule(a, axis, start=0):
    origin = axis % np.ndim(a)
    target = start % np.ndim(a) if start < np.ndim(a) else start
    place = target - 1 if origin < target else target

    def rollaxis_pullback(ȳ):
        return np.moveaxis(ȳ, place, origin), None, None

    return np.rollaxis(a, axis, start), rollaxis_pullback


@array_rrule(np.squeeze)
@rrule(np.ndarray.squeeze)
@rrule(np.generic.squeeze)
def squeeze_rule(a, axis=None):
    def squeeze_pullback(ȳ):
        return reshaped(ȳ, a), None

    return np.squeeze(a, axis), squeeze_pullback


@array_rrule(np.expand_dims)
def expand_dims_rule(a, axis):
    def expand_dims_pullback(ȳ):
        return reshaped(ȳ, a), None

    return np.expand_dims(a, axis), expand_dims_pullback


@array_rrule(np.broadcast_to)
def broadcast_to_rule(array, shape, subok=False):
    def broadcast_to_pullback(ȳ):
        return unbroadcast(ȳ, array), None, None

    return np.broadcast_to(array, shape, subok), broadcast_to_pullback


@array_rrule(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view_rule(x, window_shape, axis=None, *, subok=False, writeable=False):
    x = np.asarray(x)

    def sliding_window_view_pullback(ȳ):
        places = np.lib.stride_tricks.sliding_window_view(np.arange(x.size).reshape(x.shape), window_shape, axis)
        return scatter_add((x.size,), float_dtype(x), places, ȳ).reshape(x.shape), None, None

    return np.lib.stride_tricks.sliding_window_view(
        x, window_shape, axis, subok=subok, writeable=writeable
    ), sliding_window_view_pullback


@rrule(np.broadcast_arrays)
def broadcast_arrays_rule(*args, subok=False):
    def broadcast_arrays_pullback(ȳ):
        return tuple([None if c is None else unbroadcast(c, x) for c, x in zip(ȳ, args)])

    return np.broadcast_arrays(*args, subok=subok), broadcast_arrays_pullback


@rrule(np.atleast_1d)
def atleast_1d_rule(*arys):
    def atleast_1d_pullback(ȳ):
        return reshaped_back(ȳ, arys)

    return np.atleast_1d(*arys), atleast_1d_pullback


@rrule(np.atleast_2d)
def atleast_2d_rule(*arys):
    def atleast_2d_pullback(ȳ):
        return reshaped_back(ȳ, arys)

    return np.atleast_2d(*arys), atleast_2d_pullback


@rrule(np.atleast_3d)
def atleast_3d_rule(*arys):
    def atleast_3d_pullback(ȳ):
        return reshaped_back(ȳ, arys)

    return np.atleast_3d(*arys), atleast_3d_pullback


def reshaped_back(ȳ, arrays):
    """The cotangents of arrays that were given axes of length 1, one array bare."""
    cotangents = (ȳ,) if len(arrays) == 1 else ȳ
    return tuple([None if c is None else unbroadcast(c.reshape(np.shape(x)), x) for c, x in zip(cotangents, arrays)])
