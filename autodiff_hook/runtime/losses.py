"""Errors where derivatives are lost, and what tells whether an array was written to."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook import config
from autodiff_hook.errors import CONSTANT, CUT, REMEDIES, RULE, NotDifferentiable, opt_in, user_location
from autodiff_hook.registry import describe
from autodiff_hook.runtime.lookup import find_in_type

NOT_OPTED_IN: Final = "which is not opted in and has no rule"
NOT_PYTHON: Final = "which is not Python code and has no rule (AUTODIFF_MODULES does not reach it)"


def failure(function: Any, reason: str) -> NotDifferentiable:
    """The error for a call through which a derivative would be lost: what is wrong, where, and what helps."""
    module = config.module_of(function) if reason is NOT_OPTED_IN else None
    remedies = REMEDIES if module is None else (opt_in(module), *REMEDIES)
    called = describe(function)
    what = f"the gradient would have to pass through the call of {called}, {reason}"
    return NotDifferentiable(what, place=user_location(), remedies=remedies)


def array_mutation(what: str) -> NotDifferentiable:
    """The error for a store into an array that a derivative depends on."""
    return NotDifferentiable(
        f"{what} an array that the gradient depends on, and this way of writing is not differentiated",
        remedies=(
            "store with a[...] = b or a += b",
            "make a new array instead (np.where, np.concatenate, np.stack)",
            RULE,
            CONSTANT,
            CUT,
        ),
    )


def option_without_derivative(function: Any, name: str) -> NotDifferentiable:
    """The error for an option of a call that depends on what is differentiated, of which the rule knows nothing."""
    return NotDifferentiable(
        f"the rule of {describe(function)} has no derivative with respect to the option {name!r}, which depends on "
        f"what is differentiated",
        remedies=(f"make it a constant (autodiff_hook.stop_gradient({name}))", RULE),
    )


def plain(array: Any) -> Any:
    """An array without what its class makes of it: of copies, comparisons and items."""
    return array if type(array) is np.ndarray else np.ndarray.view(array, np.ndarray)


def stores_into_part(cls: type, ndim: int, key: Any) -> bool:
    """Whether ``array[key] = value`` stores into what a class makes, in Python, of ``array[key]``, which is a view."""
    if cls is np.ndarray or type(find_in_type(cls, "__getitem__")) is not FunctionType or key is Ellipsis:
        return False
    places = key if type(key) is tuple else (key,)
    numbers = [x for x in places if isinstance(x, (int, np.integer)) and not isinstance(x, bool)]
    views = [x for x in places if x is None or x is Ellipsis or type(x) is slice]
    return len(numbers) + len(views) == len(places) and (bool(views) or len(numbers) < ndim)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a number, an array or a list, without what the class of an array makes of ``np.shape``."""
    return np.shape(plain(value) if isinstance(value, np.ndarray) else value)


def is_changed(array: Any, before: Any) -> bool:
    """Whether an array has other content than ``before``, a plain copy of it."""
    return bool(plain(array).tobytes() != before.tobytes())
