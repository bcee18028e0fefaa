"""Reshaping, transposing, and adding or dropping axes."""

import numpy as np

from autodiff_hook.extend import cotangents, linear, pure
from autodiff_hook.registry import nondifferentiable, rrule
from autodiff_hook.runtime.spreading import first_spread
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import reshaped, unbroadcast
from autodiff_rules.numpy.indexing import numbered, take_cotangent

linear(
    np.reshape,
    "a, /, shape, order='C', *, copy=None",
    lambda ȳ, a, order: unbroadcast(np.reshape(ȳ, np.shape(a), resolved_order(a, order)), a),
)
linear(
    np.ndarray.reshape,
    "self, /, *shape, order='C', copy=None",
    lambda ȳ, self, order: ȳ.reshape(self.shape, order=resolved_order(self, order)),
)


def resolved_order(a, order):
    """ "C" or "F": the order in which "A" reads ``a``."""
    if order in ("C", "F"):
        return order
    flags = np.asarray(a).flags
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


linear(np.ravel, "a, order='C'", lambda ȳ, a, order: unravel(ȳ, a, order))
linear((np.ndarray.ravel, np.generic.ravel), "self, order='C'", lambda ȳ, self, order: unravel(ȳ, self, order))
linear((np.ndarray.flatten, np.generic.flatten), "self, order='C'", lambda ȳ, self, order: unravel(ȳ, self, order))


def unravel(ȳ, a, order):
    """``ȳ`` in the shape of ``a``, which was read in ``order``."""
    if order == "K":
        return take_cotangent(ȳ, a, memory_order(a), None)
    return unbroadcast(np.reshape(ȳ, np.shape(a), resolved_order(a, order)), a)


@nondifferentiable
def memory_order(a):
    """The positions of the elements of ``a`` in the order "K"."""
    positions = np.empty_like(a, int, "K")
    positions[...] = numbered(a)
    return np.ravel(positions, "K")


linear(
    np.transpose, "a, axes=None", lambda ȳ, axes: np.transpose(ȳ, None if axes is None else inverse_permutation(axes))
)
linear(np.ndarray.transpose, "self, *axes", lambda ȳ, axes: ȳ.transpose(permutation_back(axes)))


def permutation_back(axes):
    """The inverse of the permutation that the arguments of ``ndarray.transpose`` say."""
    if len(axes) == 1 and (axes[0] is None or np.ndim(axes[0])):
        axes = axes[0]
    return None if axes is None or len(axes) == 0 else inverse_permutation(axes)


@nondifferentiable
def inverse_permutation(axes):
    inverse = [0] * len(axes)
    for i, axis in enumerate(axes):
        inverse[axis] = i
    return tuple(inverse)


linear(np.ndarray.T, "self", lambda ȳ: ȳ.T)
linear(np.ndarray.mT, "self", lambda ȳ: ȳ.mT)
linear((np.matrix_transpose, np.linalg.matrix_transpose), "x, /", lambda ȳ: np.matrix_transpose(ȳ))
linear((np.swapaxes, np.ndarray.swapaxes), "a, axis1, axis2", lambda ȳ, axis1, axis2: ȳ.swapaxes(axis1, axis2))
linear(np.moveaxis, "a, source, destination", lambda ȳ, source, destination: np.moveaxis(ȳ, destination, source))


@cotangents(np.rollaxis, "a, axis, start=0")
def rollaxis_cotangent(ȳ, axis, start):
    origin = axis % np.ndim(ȳ)
    target = start % np.ndim(ȳ) if start < np.ndim(ȳ) else start
    return np.moveaxis(ȳ, target - 1 if origin < target else target, origin)


linear((np.squeeze, np.ndarray.squeeze, np.generic.squeeze), "a, axis=None", lambda ȳ, a: reshaped(ȳ, a))
linear(np.expand_dims, "a, axis", lambda ȳ, a: reshaped(ȳ, a))
linear(np.broadcast_to, "array, shape, subok=False", lambda ȳ, array: unbroadcast(ȳ, array))


@defines(np.broadcast_to.__wrapped__.__globals__["_broadcast_to"])
def broadcast_of_class(array, shape, subok, readonly):
    """What ``np.broadcast_to`` and ``np.broadcast_arrays`` do with an array of a class of its own."""
    given = np.asanyarray(array) if subok else np.asarray(array)
    shown = np.broadcast_to(np.ndarray.view(given, np.ndarray), shape)
    if type(given) is np.ndarray:
        return shown
    shown = np.ndarray.view(shown, type(given))
    shown.__array_finalize__(given)
    return shown


cotangents(np.broadcast_arrays, "*args, subok=False", 0, args=lambda ȳ, args: unbroadcast_back(ȳ, args))


linear(first_spread, "array, *others", lambda ȳ, array: unbroadcast(ȳ, array))
pure(first_spread)


def unbroadcast_back(ȳ, arrays):
    return [None if c is None else unbroadcast(c, x) for c, x in zip(ȳ, arrays)]


def atleast_rule(target):
    def rule(*arys):
        def atleast_pullback(ȳ):
            return reshaped_back(ȳ, arys)

        return target(*arys), atleast_pullback

    return rule


ATLEAST = [atleast_rule(target) for target in (np.atleast_1d, np.atleast_2d)]
for target, rule in zip((np.atleast_1d, np.atleast_2d, np.atleast_3d), (*ATLEAST, atleast_rule(np.atleast_3d))):
    rrule(target)(rule)


def reshaped_back(ȳ, arrays):
    """The cotangents of arrays that were given axes of length 1, one array bare."""
    cotangents = (ȳ,) if len(arrays) == 1 else ȳ
    return tuple([None if c is None else unbroadcast(c.reshape(np.shape(x)), x) for c, x in zip(cotangents, arrays)])
