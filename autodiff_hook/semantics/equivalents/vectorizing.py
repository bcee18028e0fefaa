"""``np.vectorize`` of a function of numbers, as typed programs follow it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.registry import nondifferentiable


@nondifferentiable
def require_float(value: Any) -> None:
    """The first value decides of what type all are."""


def vectorized(function: Any, array: Any, /, *rest: Any, **options: Any) -> Any:
    """A call for the type, and one for each number."""
    require_float(function(np.ravel(array)[0], *rest, **options))
    return vectorized_as_float(function, array, *rest, **options)


def vectorized_as_float(function: Any, array: Any, /, *rest: Any, **options: Any) -> Any:
    """A call for each number."""
    flat = np.ravel(array)
    made = np.zeros(len(flat))
    for place, x in enumerate(flat):
        made[place] = float(function(float(x), *rest, **options))
    return np.reshape(made, np.shape(array))


def vectorized_once(function: Any, /, *rest: Any, **options: Any) -> Any:
    """The same of numbers alone."""
    require_float(function(*rest, **options))
    return vectorized_once_as_float(function, *rest, **options)


def vectorized_once_as_float(function: Any, /, *rest: Any, **options: Any) -> Any:
    """One call."""
    return np.asarray(float(function(*rest, **options)))


def vectorized_together(function: Any, first: Any, second: Any, /, *rest: Any, **options: Any) -> Any:
    """The same of two arrays that are broadcast, or of a float and one."""
    first, second = np.broadcast_arrays(first, second)
    require_float(function(np.ravel(first)[0], np.ravel(second)[0], *rest, **options))
    return vectorized_together_as_float(function, first, second, *rest, **options)


def vectorized_together_as_float(function: Any, first: Any, second: Any, /, *rest: Any, **options: Any) -> Any:
    """A call for each pair of numbers."""
    first, second = np.broadcast_arrays(first, second)
    one, other = np.ravel(first), np.ravel(second)
    made = np.zeros(len(one))
    for place in range(len(one)):
        made[place] = float(function(float(one[place]), float(other[place]), *rest, **options))
    return np.reshape(made, np.shape(first))
