"""Arrays of what are no numbers, and stores that have no derivative."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.placing import FLOATING
from autodiff_hook.algebras.shadows import Token
from autodiff_hook.algebras.stores import Layout
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import describe
from autodiff_hook.runtime.buffers import lender_of, overlaps_itself
from autodiff_hook.runtime.losses import array_mutation

_ODD: Final = "OVUSTmM"
_TIMES: Final = (np.datetime64, np.timedelta64)


def is_odd(value: Any) -> bool:
    """Whether a value is an array of what are no numbers, or a time."""
    return isinstance(value, np.ndarray) and value.dtype.kind in _ODD or isinstance(value, _TIMES)


def holds_places(value: Any) -> bool:
    """Whether an array of objects holds lists of whole numbers alone, such as the places of neighbours."""
    lists = value.flat if isinstance(value, np.ndarray) and value.dtype.kind == "O" else (value,)
    return all([type(x) is list and all([type(i) is int for i in x]) for x in lists])


def odd_result(function: Any, value: Any) -> NotDifferentiable:
    """The error for a call that gives an array of objects, or a structured one, or times."""
    if value.dtype.kind in "mM":
        return NotDifferentiable(
            f"{describe(function)} returned times, which NumPy counts in whole numbers (compute with numbers, and "
            f"make times of them at the end)"
        )
    return NotDifferentiable(f"{describe(function)} returned an array of what are no numbers, which has no derivative")


def truncates(array: Any, value: Any) -> bool:
    """Whether a store rounds to whole numbers, which have no derivative."""
    if array.dtype.kind not in "iub":
        return False
    return type(value) is float or np.asarray(value).dtype.kind in FLOATING


def refuse_shared(array: Any, moving: Token, layout: Layout | None = None) -> None:
    """Raise for a store with a derivative of what is no number, that others may see, or that meets itself."""
    if moving is None:
        if layout is not None and layout.overlaps():
            raise NotDifferentiable(_MEETS_ITSELF)
        return
    if array.dtype.kind in _ODD:
        raise array_mutation("this store writes to an array of what are no numbers:")
    lender = lender_of(array) if layout is None else layout.lender(array)
    if lender is not None:
        raise NotDifferentiable(
            f"a store into memory that belongs to a {type(lender).__qualname__}, which others may use, is not "
            f"differentiated; make an array of your own of it (np.array)"
        )
    if overlaps_itself(array) if layout is None else layout.overlaps():
        raise NotDifferentiable(_MEETS_ITSELF)


_MEETS_ITSELF: Final = "a store into a view whose elements share memory is not differentiated"
