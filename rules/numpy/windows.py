"""Views that show elements several times: windows that slide over an array, and views with strides of their own."""

import math

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, linear
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.signatures import Array
from autodiff_rules.numpy._shared import float_dtype, unbroadcast

as_strided = np.lib.stride_tricks.as_strided


def added_windows(shape, dtype, steps, c):
    """Zeros of ``shape`` to which ``c`` is added where a view shows them: the transpose of one.

    The ``steps`` of the view are numbers of elements. What shows no element twice is added at once.
    """
    out = np.zeros(shape, dtype)
    if not np.size(c):
        return out
    repeating = repeating_axes(c.shape, steps)
    order = repeating + [axis for axis in range(c.ndim) if axis not in repeating]
    shown = as_strided(out, c.shape, strides_of(steps, out)).transpose(order)
    c = c.transpose(order)
    for place in np.ndindex(c.shape[: len(repeating)]):
        shown[place] += c[place]
    return out


@nondifferentiable
def repeating_axes(lengths, steps):
    """The axes of a view without which it shows no element twice: long ones are none of them, if that can be."""
    kept, repeating = [], []
    for axis in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        reach, apart = 0, True
        for step, length in sorted((abs(steps[i]), lengths[i]) for i in (*kept, axis) if lengths[i] > 1):
            apart = apart and step > reach
            reach += step * (length - 1)
        (kept if apart else repeating).append(axis)
    return repeating


@nondifferentiable
def strides_of(steps, array):
    return [step * array.itemsize for step in steps]


cotangents(
    added_windows,
    "shape, dtype, steps, c",
    0,
    c=lambda ȳ, steps, c: unbroadcast(np.array(as_strided(np.ascontiguousarray(ȳ), c.shape, strides_of(steps, ȳ))), c),
)

linear(
    np.lib.stride_tricks.sliding_window_view,
    "x, window_shape, axis=None, *, subok=False, writeable=False",
    lambda ȳ, x, window_shape, axis: added_windows(
        np.shape(x), float_dtype(x), window_steps(np.shape(x), window_shape, axis), ȳ
    ),
)


@nondifferentiable
def window_steps(shape, window_shape, axis):
    return np.lib.stride_tricks.sliding_window_view(np.empty(shape, np.int8), window_shape, axis).strides


@cotangents(as_strided, "x, shape=None, strides=None, subok=False, writeable=True", ((Array,),))
def as_strided_cotangent(ȳ, x, strides):
    return added_windows(x.shape, float_dtype(x), strided_steps(x, np.shape(ȳ), strides), ȳ)


@nondifferentiable
def strided_steps(x, shape, strides):
    """By how many elements of ``x`` a view of ``shape`` goes on along each axis."""
    if not x.flags.c_contiguous:
        raise NotDifferentiable("np.lib.stride_tricks.as_strided is differentiable for arrays in C order: np.array(x)")
    strides = x.strides if strides is None else strides
    steps = [0 if length < 2 else stride for length, stride in zip(shape, strides)]
    ends = [step * (length - 1) for step, length in zip(steps, shape)]
    beyond = sum(min(end, 0) for end in ends) < 0 or sum(max(end, 0) for end in ends) >= x.nbytes
    if math.prod(shape) and (beyond or any(step % x.itemsize for step in steps)):
        raise NotDifferentiable("np.lib.stride_tricks.as_strided leads out of the array")
    return [step // x.itemsize for step in steps]
