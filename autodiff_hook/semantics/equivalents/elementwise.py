"""Python code for what NumPy does with arrays of objects: operators of their elements, one after the other."""

from __future__ import annotations

import copy
import operator
from typing import Any, Final

import numpy as np

from autodiff_hook.registry import nondifferentiable


def by_element(operation: Any, *operands: Any) -> Any:
    """What a ufunc makes of arrays of objects."""
    arrays = [as_objects(x) for x in operands]
    shape, axes = np.broadcast_shapes(*[x.shape for x in arrays]), axes_in_memory(arrays)
    rows = [np.transpose(np.broadcast_to(x, shape), axes) for x in arrays]
    made = np.empty([shape[axis] for axis in axes], object)
    for index in np.ndindex(*made.shape):
        made[index] = operation(*[row[index] for row in rows])
    return np.transpose(made, places_of(axes)) if shape else made[()]


@nondifferentiable
def axes_in_memory(operands: Any) -> tuple[int, ...]:
    """The axes of what a ufunc makes of operands, in the order in which it goes along them, the last one fastest."""
    flags: Any = [["readonly"]] * len(operands) + [["writeonly", "allocate"]]
    made = np.nditer([*operands, None], ["refs_ok", "zerosize_ok"], flags, order="K").operands[-1]
    return tuple(np.argsort([-abs(step) for step in made.strides], kind="stable").tolist())


@nondifferentiable
def places_of(axes: Any) -> tuple[int, ...]:
    """Where each axis has gone."""
    return tuple(np.argsort(axes).tolist())


def by_element_several(operation: Any, *operands: Any) -> Any:
    """What a ufunc with several results makes of arrays of objects."""
    rows = by_element(operation, *operands)
    if not isinstance(rows, np.ndarray):
        return rows
    return tuple([by_element(operator.itemgetter(place), rows) for place in range(len(rows.flat[0]))])


def as_objects(value: Any) -> Any:
    """An array of objects that has the elements of an operand."""
    if isinstance(value, (list, tuple)):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return value if value.dtype == object else value.astype(object)
    made = np.empty((), object)
    made[()] = value
    return made


def reduced(
    operation: Any, array: Any, axis: Any = 0, keepdims: bool = False, initial: Any = np._NoValue, where: Any = True
) -> Any:
    """What the ``reduce`` of a ufunc makes of an array of objects."""
    array = as_objects(array)
    axes = tuple(range(array.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple([i % array.ndim for i in axes]) if array.ndim else ()
    rest = tuple([i for i in range(array.ndim) if i not in axes])
    order, shape = (*rest, *axes), tuple([array.shape[i] for i in rest])
    rows = np.reshape(np.transpose(array, order), (*shape, -1))
    chosen = np.reshape(np.transpose(np.broadcast_to(where, array.shape), order), (*shape, -1))
    made = np.empty(shape, object)
    for index in np.ndindex(*shape):
        made[index] = combined(operation, rows[(*index, slice(None))], chosen[(*index, slice(None))], initial)
    if keepdims:
        return np.reshape(made, [1 if i in axes else n for i, n in enumerate(array.shape)])
    return made if shape else made[()]


def combined(operation: Any, items: Any, chosen: Any, initial: Any) -> Any:
    """One value of some objects, from the first to the last."""
    total = initial
    for item, counts in zip(items, chosen):
        if counts:
            total = item if total is np._NoValue else operation(total, item)
    if total is not np._NoValue:
        return total
    if operation not in EMPTY:
        raise ValueError("zero-size array to reduction operation which has no identity")
    return EMPTY[operation]


def product(a: Any, b: Any) -> Any:
    """``np.dot`` of arrays of objects."""
    a, b = as_objects(a), as_objects(b)
    if not a.ndim or not b.ndim:
        return by_element(operator.mul, a, b)
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise ValueError(f"shapes {a.shape} and {b.shape} not aligned")
    lead, middle, last = a.shape[:-1], b.shape[:-2], b.shape[-1:] if b.ndim > 1 else ()
    made = np.empty((*lead, *middle, *last), object)
    for index in np.ndindex(*made.shape):
        column = (*index[len(lead) : len(lead) + len(middle)], slice(None), *index[len(lead) + len(middle) :])
        pairs = zip(a[(*index[: len(lead)], slice(None))], b[column])
        total = np._NoValue
        for x, y in pairs:
            total = x * y if total is np._NoValue else total + x * y
        made[index] = 0 if total is np._NoValue else total
    return made if made.shape else made[()]


def in_order(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """``np.sort`` of objects."""
    rows = np.moveaxis(np.ravel(a) if axis is None else a, -1 if axis is None else axis, -1).copy()
    for index in np.ndindex(*rows.shape[:-1]):
        rows[(*index, slice(None))] = sorted(rows[(*index, slice(None))].tolist())
    return rows if axis is None else np.moveaxis(rows, -1, axis)


def running(operation: Any, a: Any, axis: Any) -> Any:
    """What the ``accumulate`` of a ufunc makes of an array of objects."""
    made = np.ravel(a).copy() if axis is None else a.copy()
    rows = np.moveaxis(made, 0 if axis is None else axis, 0)
    for place in range(1, len(rows)):
        rows[place] = operation(rows[place - 1], rows[place])
    return made


def running_sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``array.cumsum()`` of objects."""
    return running(operator.add, a, axis)


def running_product(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``array.cumprod()`` of objects."""
    return running(operator.mul, a, axis)


def copied_deeply(array: Any, memo: Any) -> Any:
    """``copy.deepcopy`` of an array of objects."""
    made = np.empty(array.shape, object)
    for index in np.ndindex(*array.shape):
        made[index] = copy.deepcopy(array[index], memo)
    return made


def trace(array: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> Any:
    """``array.trace()`` of objects."""
    return np.sum(np.diagonal(array, offset, axis1, axis2), -1)


def larger(a: Any, b: Any) -> Any:
    """``np.maximum`` of objects."""
    return a if a >= b else b


def smaller(a: Any, b: Any) -> Any:
    """``np.minimum`` of objects."""
    return a if a <= b else b


def square(x: Any) -> Any:
    """``np.square`` of an object."""
    return x * x


def reciprocal(x: Any) -> Any:
    """``np.reciprocal`` of an object."""
    return 1 / x


def method(name: str) -> Any:
    """What a ufunc without an operator calls on each object."""

    def called(x: Any) -> Any:
        return getattr(x, name)()

    return called


def as_numbers(array: Any, dtype: Any) -> Any:
    """An array of objects as one of numbers."""
    return np.reshape(np.array(listed(np.ravel(array)), dtype), array.shape)


def listed(array: Any) -> Any:
    """``array.tolist()`` of objects."""
    if not array.ndim:
        return array[()]
    return [array[i] if array.ndim == 1 else listed(array[i, ...]) for i in range(len(array))]


def listed_texts(array: Any) -> Any:
    """``array.tolist()`` of texts."""
    return [listed_texts(array[i, ...]) for i in range(len(array))] if array.ndim else array.item()


def item_of(array: Any, *place: Any) -> Any:
    """``array.item()`` of objects."""
    if len(place) == 1 and isinstance(place[0], tuple):
        place = place[0]
    return np.ravel(array)[place[0] if place else 0] if len(place) < 2 else array[place]


EMPTY: Final = {operator.add: 0, operator.mul: 1}
OPERATIONS: Final[dict[Any, Any]] = {
    **{np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.true_divide: operator.truediv},
    **{np.floor_divide: operator.floordiv, np.remainder: operator.mod, np.power: operator.pow},
    **{np.negative: operator.neg, np.positive: operator.pos, np.absolute: abs, np.square: square},
    **{np.maximum: larger, np.minimum: smaller, np.reciprocal: reciprocal},
    **{
        getattr(np, name): method(name)
        for name in "sqrt exp log sin cos tan sinh cosh tanh arcsin arccos arctan log10 log2 conjugate".split()
    },
}
