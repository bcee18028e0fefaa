"""``np.vectorize`` of a function of numbers, as typed programs follow it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.registry import nondifferentiable


@nondifferentiable
def require_float(value: Any) -> None:
    """The first value decides of what type all are."""


def vectorized(function: Any, array: Any, *rest: Any) -> Any:
    """A call for the type, and one for each number."""
    require_float(function(np.ravel(array)[0], *rest))
    return vectorized_as_float(function, array, *rest)


def vectorized_as_float(function: Any, array: Any, *rest: Any) -> Any:
    """A call for each number."""
    flat = np.ravel(array)
    made = np.zeros(len(flat))
    for place, x in enumerate(flat):
        made[place] = float(function(float(x), *rest))
    return np.reshape(made, np.shape(array))
