"""What NumPy's own Python code asks about array-likes, and makes arrays of: classes of C as classes in Python."""

import math
from itertools import islice

import numpy as np
from numpy._core._multiarray_umath import _array_converter

from autodiff_rules._definitions import defines


@defines(_array_converter)
def converter(*given):
    return Converter(given)


class Converter:
    """Array-likes as arrays, and results in the form of what was given."""

    def __init__(self, given):
        self.given = given
        self.arrays = tuple([np.asanyarray(x) for x in given])
        self.scalar_input = tuple([not isinstance(x, np.ndarray) and np.ndim(x) == 0 for x in given])

    def __getitem__(self, index):
        return self.as_arrays()[index]

    def __len__(self):
        return len(self.given)

    def as_arrays(self, *, subok=True, pyscalars="convert_if_no_array"):
        """The arrays; Python's numbers as they are if ``pyscalars`` says so."""
        scalars = [type(x) in (int, float, complex) for x in self.given]
        kept = pyscalars == "preserve" or pyscalars == "convert_if_no_array" and not all(scalars)
        pairs = zip(self.given, self.arrays, scalars)
        found = tuple([x if kept and scalar else array for x, array, scalar in pairs])
        return found if subok else tuple([np.asarray(x) if isinstance(x, np.ndarray) else x for x in found])

    def result_type(self, extra_dtype=None, ensure_inexact=False):
        kinds = [x if type(x) in (int, float, complex) else array.dtype for x, array in zip(self.given, self.arrays)]
        dtype = np.result_type(*kinds, *([] if extra_dtype is None else [extra_dtype]))
        return np.result_type(dtype, 1.0) if ensure_inexact else dtype

    def wrap(self, arr, /, to_scalar=None):
        """A result, as a scalar if all that was given are scalars."""
        scalar = all(self.scalar_input) if to_scalar is None else to_scalar
        return arr[()] if scalar and isinstance(arr, np.ndarray) else arr


@defines(np.broadcast)
def broadcast(*arrays):
    return Broadcast(arrays)


class Broadcast:
    """Arrays that are gone through together."""

    def __init__(self, arrays):
        self.shape = np.broadcast_shapes(*map(np.shape, arrays))
        self._arrays = [np.broadcast_to(array, self.shape) for array in arrays]
        self.ndim = self.nd = len(self.shape)
        self.size, self.numiter = math.prod(self.shape), len(arrays)
        self.reset()

    @property
    def iters(self):
        return tuple([iter(np.ravel(array)) for array in self._arrays])

    def reset(self):
        self.index = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.index == self.size:
            raise StopIteration
        self.index += 1
        return tuple([array[np.unravel_index(self.index - 1, self.shape)] for array in self._arrays])


@defines(np.fromiter)
def from_iterator(iter, dtype, count=-1, *, like=None):
    items = list(iter if count < 0 else islice(iter, count))
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return np.array(items, dtype)
