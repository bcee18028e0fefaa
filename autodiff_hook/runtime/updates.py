"""Stores into arrays as values: what specialised programs make of ``array[key] = value``."""

from __future__ import annotations

from typing import Any

from autodiff_hook.registry import rrule
from autodiff_hook.runtime.buffers import sum_to_shape, winners
from autodiff_hook.transform.improve.shortcuts import fresh


def updated(array: Any, key: Any, value: Any) -> Any:
    """A copy of ``array`` in which ``value`` is stored at ``key``."""
    result = array.copy()
    result[key] = value
    return result


def cleared(cotangent: Any, key: Any) -> Any:
    """The cotangent of an array before a store: nothing of what was overwritten."""
    import numpy as np

    result = np.array(cotangent)
    result[key] = 0
    return result


def stored_cotangent(cotangent: Any, array: Any, key: Any, value: Any) -> Any:
    """The cotangent of a stored value, summed over what it was broadcast to; None if it is cut off by the store."""
    import numpy as np

    if array.dtype.kind not in "fc" and np.asarray(value).dtype.kind in "fc":
        return None
    whole = np.asarray(cotangent)
    found = sum_to_shape(winners(whole, key, np.array(whole[key])), np.shape(value))
    if np.iscomplexobj(found) and not np.iscomplexobj(value):
        found = found.real
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return np.asarray(found, value.dtype)
    return found.item() if isinstance(value, (int, float)) and not isinstance(value, np.generic) else found


@rrule(updated)
def updated_rule(array: Any, key: Any, value: Any) -> Any:
    def updated_pullback(c: Any) -> Any:
        return cleared(c, key), None, stored_cotangent(c, array, key, value)

    return updated(array, key, value), updated_pullback


fresh(updated, cleared)
