"""Arrays of what are no numbers, and stores that have no derivative."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.placing import FLOATING
from autodiff_hook.algebras.shadows import Algebra, Token, lose
from autodiff_hook.algebras.stores import Layout
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import describe
from autodiff_hook.runtime.buffers import _overlaps_itself as overlaps_itself
from autodiff_hook.runtime.buffers import lender_of, root_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.losses import array_mutation

_ODD: Final = "OV"
_REAL: Final = frozenset({float, int, bool, np.float64})


def is_odd(value: Any) -> bool:
    """Whether a value is an array of what are no numbers."""
    return isinstance(value, np.ndarray) and value.dtype.kind in _ODD


def holds_odd(value: Any) -> bool:
    """Whether a value is an array of what are no numbers, looked at one by one where it is one of objects."""
    return is_odd(value) and (value.dtype.kind == "V" or not _REAL.issuperset(map(type, value.flat)))


def is_odd_part(array: Any, value: Any) -> bool:
    """Whether ``value``, which is in an array, is no number in a buffer, nor an array of such."""
    kind = array.dtype.kind
    if kind == "O":
        return type(value) not in _REAL and type(value) is not np.ndarray
    return kind not in "fciu"


def odd_part(alg: Algebra, array: Any, value: Any, token: Token) -> Token:
    """The token of an item of an array of what are no numbers, which is unknown if that of the array is."""
    if token is None or array.dtype.kind not in _ODD:
        return None
    return lose(alg, value, token) if kind_of(type(value)) in ("tuple", "list", "dict", "object") else token


def odd_result(function: Any) -> NotDifferentiable:
    """The error for a call that gives an array of objects, or a structured one."""
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
    if array.dtype.kind in _ODD or root_of(array).dtype.hasobject:
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
