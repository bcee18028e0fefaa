"""Arrays: reading and writing what may share memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.algebras.placing import PARTS_OF_COMPLEX
from autodiff_hook.algebras.shadows import Algebra, Result, kind
from autodiff_hook.runtime.losses import array_mutation
from autodiff_hook.semantics.library import viewed
from autodiff_hook.semantics.meanings import apply, means
from autodiff_hook.semantics.opaque import call_opaque
from autodiff_hook.semantics.structures import gather


def store_array(alg: Algebra, t: Any, array: Any, key: Any, value: Any) -> None:
    """``array[key] = value``."""
    moving = t[2]
    form = kind(value)
    if form in ("list", "tuple"):
        if gather(alg, value, moving) is not None:
            value, moving = apply(alg, (None, moving), np.array, (value,), {})
        else:
            moving = None
    elif form == "array":
        moving = alg.read(value, moving)
    if array.dtype.kind == "O" and (moving is not None or t[0] is not None):
        raise array_mutation("this store writes to an array of objects:")
    alg.write(array, key, value, t[0], moving)


@means(np.ndarray.view)
def view(alg: Algebra, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``array.view()`` or ``array.view(cls)``: the same elements."""
    array, *kinds = *args, *kwargs.values()
    dtypes = [np.dtype(kind) for kind in kinds if not (isinstance(kind, type) and issubclass(kind, np.ndarray))]
    if dtypes and dtypes[0] != array.dtype:
        if len(kinds) > 1 or {array.dtype, dtypes[0]} not in PARTS_OF_COMPLEX:
            reason = "which has no rule for another type of the elements"
            return call_opaque(alg, t, np.ndarray.view, args, kwargs, reason)
        return apply(alg, (None, t[0], None), viewed, (array, dtypes[0]), {})
    value = np.ndarray.view(*args, **kwargs)
    return value, alg.part(array, ..., value, t[0])


@means(np.ndarray.__getitem__)
def item(alg: Algebra, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``ndarray.__getitem__(array, key)``, past what a class makes of it."""
    array, key = args
    value = np.ndarray.__getitem__(array, key)
    return value, alg.part(array, key, value, t[0])


@means(np.ndarray.__setitem__)
def store_item(alg: Algebra, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``ndarray.__setitem__(array, key, value)``, past what a class makes of it."""
    array, key, value = args
    store_array(alg, t, np.ndarray.view(array, np.ndarray), key, value)
    return None, None
